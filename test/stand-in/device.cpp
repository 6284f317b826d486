// SPDX-License-Identifier: Apache-2.0
// The driver's part: devices, memory, streams with a thread each, events, kernels that take the time they are told.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#ifdef STAND_IN_HIP
#include "executor/live/gpu/hiprtc.hpp"
#endif
#include "stand-in/stand_in.hpp"

using dlnb::gpu::Context;
using dlnb::gpu::Event;
using dlnb::gpu::Kernel;
using dlnb::gpu::Module;
using dlnb::gpu::Status;

struct dlnb::gpu::OpaqueContext {
  int device = 0;
};

struct dlnb::gpu::OpaqueStream {
  int number = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<stand_in::Work>> queue;  // the first is under way
  std::uint64_t enqueued = 0;
  std::atomic<std::uint64_t> completed = 0;
  bool closing = false;
  std::thread worker;
};

struct dlnb::gpu::OpaqueEvent {
  int number = 0;
  std::atomic<dlnb::gpu::OpaqueStream*> stream = nullptr;
  std::atomic<std::uint64_t> awaited = 0;
};

struct dlnb::gpu::OpaqueModule {
  std::string image;
};
struct dlnb::gpu::OpaqueKernel {
  std::string name;
};

namespace stand_in {
namespace {

constexpr Status invalid_value{1}, invalid_context{201}, invalid_handle{400};

struct Block {
  std::size_t bytes;
  int file;
  std::byte* data;
  std::uint64_t number;
};

struct State {
  std::mutex mutex;
  std::map<Address, Block> blocks;
  std::map<void*, std::size_t> pinned;
  std::set<Stream> streams;
  std::vector<std::unique_ptr<dlnb::gpu::OpaqueStream>>
      all_streams;  // an event may still ask those that are gone
  std::set<Event> events;
  std::set<Module> modules;
  std::vector<std::unique_ptr<dlnb::gpu::OpaqueKernel>> kernels;
  std::vector<std::pair<Stream, std::shared_ptr<Work>>> pending;
  std::vector<dlnb::gpu::OpaqueContext> contexts = std::vector<dlnb::gpu::OpaqueContext>(64);
  int numbers = 0, contexts_held = 0;
  std::uint64_t blocks_made = 0;
};
State& state() {
  static State* const only = new State;  // outlives every thread
  return *only;
}

thread_local Context current = nullptr;

int devices() {
  const char* const text = std::getenv("DLNB_STAND_IN_DEVICES");
  return text ? std::atoi(text) : 8;
}

/// Of the device's clock, in ns.
int tick() {
  const char* const text = std::getenv("DLNB_STAND_IN_TICK");
  return text ? std::atoi(text) : 1;
}

bool overlap(const Range& a, const Range& b) {
  return (a.written || b.written) && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

std::map<Address, Block>::iterator block_with(Address begin, std::size_t bytes) {
  auto place = state().blocks.upper_bound(begin);
  if (place == state().blocks.begin()) return state().blocks.end();
  --place;
  return begin + bytes <= place->first + place->second.bytes ? place : state().blocks.end();
}

/// What would race with it on the device, or touch memory that is not there.
void look_for_conflicts(Stream stream, const Work& work) {
  for (const Range& range : work.ranges)
    if (block_with(range.begin, range.bytes) == state().blocks.end())
      violation(fmt::format("{} touches {} bytes that are no device memory", work.name, range.bytes));
  for (const auto& [other, pending] : state().pending)
    if (other != stream)
      for (const Range& a : pending->ranges)
        for (const Range& b : work.ranges)
          if (overlap(a, b))
            violation(fmt::format("{} on stream {} shares memory with {} on stream {}", work.name,
                                  stream->number, pending->name, other->number));
}

void serve(Stream stream) {
  std::unique_lock lock(stream->mutex);
  for (;;) {
    stream->changed.wait(lock, [&] { return stream->closing || !stream->queue.empty(); });
    if (stream->queue.empty()) return;
    const std::shared_ptr<Work> work = stream->queue.front();
    lock.unlock();
    record(fmt::format("begin stream={} {}", stream->number, work->name));
    work->run();
    record(fmt::format("end stream={} {}", stream->number, work->name));
    {
      const std::lock_guard all(state().mutex);
      std::erase_if(state().pending, [&](const auto& one) { return one.second == work; });
    }
    lock.lock();
    stream->queue.pop_front();
    stream->completed.fetch_add(1);
    stream->changed.notify_all();
  }
}

void finish(Stream stream) {
  std::unique_lock lock(stream->mutex);
  const std::uint64_t awaited = stream->enqueued;
  stream->changed.wait(lock, [&] { return stream->completed >= awaited; });
}

bool is_pinned(const void* memory, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  auto place = state().pinned.upper_bound(const_cast<void*>(memory));
  if (place == state().pinned.begin()) return false;
  --place;
  return static_cast<const std::byte*>(memory) + bytes <=
         static_cast<std::byte*>(place->first) + place->second;
}

// The driver copies pageable memory before it returns.
Status copy(Stream stream, Work work, const void* host, std::size_t bytes) {
  if (!current) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  enqueue(stream, std::move(work));
  if (!is_pinned(host, bytes)) finish(stream);
  return Status::success;
}

struct Report {
  ~Report() {
    const std::lock_guard lock(state().mutex);
    record(fmt::format("left: streams={} events={} blocks={} pinned={} modules={} contexts={}",
                       state().streams.size(), state().events.size(), state().blocks.size(),
                       state().pinned.size(), state().modules.size(), state().contexts_held));
  }
} report;

}  // namespace

int own_rank() {
  for (const char* variable : {"DLNETBENCH_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const rank = std::getenv(variable)) return std::atoi(rank);
  return -1;
}

int launch_named_by(const char* variable) {
  const char* const text = std::getenv(variable);
  const char* const colon = text ? std::strchr(text, ':') : nullptr;
  return colon && std::atoi(text) == own_rank() ? std::atoi(colon + 1) : -1;
}

void record(const std::string& line) {
  static const int file = [] {
    const char* const folder = std::getenv("DLNB_STAND_IN_RECORD");
    if (!folder || own_rank() < 0) return -1;
    return open(fmt::format("{}/{}.txt", folder, own_rank()).c_str(),
                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }();
  const std::string text = line + "\n";
  if (file >= 0 && write(file, text.data(), text.size()) < 0) std::abort();
}

void violation(const std::string& what) {
  record("violation: " + what);
  const std::string text = fmt::format("stand-in: rank {}: violation: {}\n", own_rank(), what);
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
}

std::byte* data_of(Address begin, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto block = block_with(begin, bytes);
  if (block == state().blocks.end()) return nullptr;
  return block->second.data + (begin - block->first);
}

Place place_of(Address begin, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto block = block_with(begin, bytes);
  if (block == state().blocks.end()) return {};
  return {getpid(), block->second.file, block->second.number, begin - block->first};
}

const std::byte* data_at(const Place& place, std::size_t bytes) {
  thread_local std::map<std::pair<int, std::uint64_t>, const std::byte*> mapped;  // process, block
  if (bytes == 0) return nullptr;
  const std::byte*& block = mapped[{place.process, place.block}];
  if (!block) {
    const int file =
        open(fmt::format("/proc/{}/fd/{}", place.process, place.file).c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    void* const memory = file < 0 || fstat(file, &status) != 0
                             ? MAP_FAILED
                             : mmap(nullptr, std::size_t(status.st_size), PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (memory == MAP_FAILED) {
      violation("another process' memory cannot be seen");
      std::abort();
    }
    block = static_cast<const std::byte*>(memory);
  }
  return block + place.offset;
}

std::uint64_t enqueue(Stream stream, Work work) {
  const auto shared = std::make_shared<Work>(std::move(work));
  {
    const std::lock_guard lock(state().mutex);
    look_for_conflicts(stream, *shared);
    state().pending.emplace_back(stream, shared);
  }
  const std::lock_guard lock(stream->mutex);
  stream->queue.push_back(shared);
  stream->changed.notify_all();
  return ++stream->enqueued;
}

bool is_stream(Stream stream) {
  const std::lock_guard lock(state().mutex);
  if (state().streams.contains(stream)) return true;
  violation("a stream that is not there");
  return false;
}

int number_of(Stream stream) { return stream->number; }

std::string current_device() {
  return current ? fmt::format("0000:{:02X}:00.0", current->device + 1) : std::string();
}

}  // namespace stand_in

using namespace stand_in;

// For the stand-in of an MPI library. The host's view of device memory, or nothing where it is none.
STAND_IN_EXPORT void* stand_in_data(const void* address, std::size_t bytes, int written, const char* who) {
  const Range range{reinterpret_cast<Address>(address), bytes, written != 0};
  {
    const std::lock_guard lock(state().mutex);
    if (block_with(range.begin, 0) == state().blocks.end()) return nullptr;
    if (block_with(range.begin, bytes) == state().blocks.end())
      violation(fmt::format("{} touches {} bytes, more than there are", who, bytes));
    for (const auto& [stream, work] : state().pending)
      for (const Range& other : work->ranges)
        if (overlap(range, other))
          violation(fmt::format("{} shares memory with {} on stream {}", who, work->name, stream->number));
  }
  if (!current) violation(fmt::format("{} in a thread that has chosen no device", who));
  return data_of(range.begin, 0);
}
STAND_IN_EXPORT void stand_in_note(const char* line, int is_violation) {
  is_violation ? violation(line) : record(line);
}
// HIP's are nobody's to give back.
STAND_IN_EXPORT int stand_in_contexts() {
#ifdef STAND_IN_HIP
  return 1;
#else
  const std::lock_guard lock(state().mutex);
  return state().contexts_held;
#endif
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuInit, hipInit)(unsigned) {
  return devices() > 0 ? Status::success : Status::no_device;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetCount, hipGetDeviceCount)(int* count) {
  *count = devices();
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGet, hipDeviceGet)(int* device, int ordinal) {
  *device = ordinal;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetName, hipDeviceGetName)(char* name, int length, int) {
  std::strncpy(name, "stand-in", std::size_t(length));
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char* address, int length,
                                                                                int device) {
  if (device < 0 || device >= devices()) return invalid_value;
  std::strncpy(address, fmt::format("0000:{:02X}:00.0", device + 1).c_str(), std::size_t(length));
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetAttribute,
                                     hipDeviceGetAttribute)(int* value, dlnb::gpu::Attribute attribute, int) {
  using dlnb::gpu::Attribute;
#ifdef STAND_IN_HIP
  if (attribute == Attribute::wall_clock_kilohertz_of_hip) {
    *value = 1'000'000 / tick();
    return Status::success;
  }
#endif
  if (attribute != STAND_IN_NAME(Attribute::multiprocessors_of_cuda, Attribute::multiprocessors_of_hip))
    return invalid_value;
  *value = 10;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemGetInfo_v2, hipMemGetInfo)(std::size_t* free, std::size_t* total) {
  const char* const text = std::getenv("DLNB_STAND_IN_MEMORY");
  *total = text ? std::size_t(std::atoll(text)) : std::size_t{1} << 33;
  const std::lock_guard lock(state().mutex);
  *free = *total;
  for (const auto& [begin, block] : state().blocks) *free -= std::min(*free, block.bytes);
  return current ? Status::success : invalid_context;
}

#ifdef STAND_IN_HIP
STAND_IN_EXPORT Status hipSetDevice(int device) {
  const std::lock_guard lock(state().mutex);
  current = &state().contexts[std::size_t(device)];
  current->device = device;
  return Status::success;
}
STAND_IN_EXPORT const char* hipGetErrorName(Status) { return "hipErrorOfStandIn"; }
STAND_IN_EXPORT const char* hipGetErrorString(Status) { return "an error of the stand-in"; }
#else
STAND_IN_EXPORT Status cuDevicePrimaryCtxRetain(Context* context, int device) {
  const std::lock_guard lock(state().mutex);
  ++state().contexts_held;
  state().contexts[std::size_t(device)].device = device;
  *context = &state().contexts[std::size_t(device)];
  return Status::success;
}
STAND_IN_EXPORT Status cuDevicePrimaryCtxRelease_v2(int) {
  const std::lock_guard lock(state().mutex);
  --state().contexts_held;
  return Status::success;
}
STAND_IN_EXPORT Status cuCtxSetCurrent(Context context) {
  current = context;
  return Status::success;
}
STAND_IN_EXPORT Status cuGetErrorName(Status status, const char** name) {
  *name = status == Status::no_device ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OF_STAND_IN";
  return Status::success;
}
STAND_IN_EXPORT Status cuGetErrorString(Status status, const char** text) {
  *text = status == Status::no_device ? "no CUDA-capable device is detected" : "an error of the stand-in";
  return Status::success;
}
#endif

STAND_IN_EXPORT Status STAND_IN_NAME(cuMemAlloc_v2, hipMalloc)(dlnb::gpu::Address* out, std::size_t bytes) {
  if (!current) return invalid_context;
  if (bytes == 0) return invalid_value;
  std::size_t free = 0, total = 0;
  STAND_IN_NAME(cuMemGetInfo_v2, hipMemGetInfo)(&free, &total);
  if (bytes > free) return Status::out_of_memory;
  const int file = memfd_create("stand-in", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(bytes)) != 0) return Status::out_of_memory;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* const addresses = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED || addresses == MAP_FAILED) return Status::out_of_memory;
  std::memset(data, 0x5a, bytes);
  const Address memory = reinterpret_cast<Address>(addresses);
  *out = dlnb::gpu::Address(memory);
  const std::lock_guard lock(state().mutex);
  state().blocks[memory] = {bytes, file, static_cast<std::byte*>(data), ++state().blocks_made};
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemFree_v2, hipFree)(dlnb::gpu::Address device) {
  const Address memory{std::uintptr_t(device)};
  if (!current) return invalid_context;
  const std::lock_guard lock(state().mutex);
  const auto block = state().blocks.find(memory);
  if (block == state().blocks.end()) {
    violation("memory is freed that is not there");
    return invalid_value;
  }
  const Range all{memory, block->second.bytes, true};
  for (const auto& [stream, work] : state().pending)
    for (const Range& range : work->ranges)
      if (overlap(all, range)) violation("memory is freed that " + work->name + " uses");
  munmap(block->second.data, block->second.bytes);
  munmap(reinterpret_cast<void*>(memory), block->second.bytes);
  close(block->second.file);
  state().blocks.erase(block);
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemHostAlloc, hipHostMalloc)(void** memory, std::size_t bytes,
                                                                    unsigned) {
  if (!current) return invalid_context;
  *memory = std::malloc(bytes);
  const std::lock_guard lock(state().mutex);
  state().pinned[*memory] = bytes;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemFreeHost, hipHostFree)(void* memory) {
  const std::lock_guard lock(state().mutex);
  if (state().pinned.erase(memory) == 0) violation("pinned memory is freed that is not there");
  std::free(memory);
  return Status::success;
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuMemsetD8Async, hipMemsetD8Async)(dlnb::gpu::Address device,
                                                                        unsigned char value,
                                                                        std::size_t bytes, Stream stream) {
  const Address memory{std::uintptr_t(device)};
  if (!current) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  enqueue(stream,
          {"fill", [=] { std::memset(data_of(memory, bytes), value, bytes); }, {{memory, bytes, true}}});
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemcpyHtoDAsync_v2,
                                     hipMemcpyHtoDAsync)(dlnb::gpu::Address device, const void* host,
                                                         std::size_t bytes, Stream stream) {
  const Address memory{std::uintptr_t(device)};
  return copy(stream,
              {"copy-in", [=] { std::memcpy(data_of(memory, bytes), host, bytes); }, {{memory, bytes, true}}},
              host, bytes);
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemcpyDtoHAsync_v2,
                                     hipMemcpyDtoHAsync)(void* host, dlnb::gpu::Address device,
                                                         std::size_t bytes, Stream stream) {
  const Address memory{std::uintptr_t(device)};
  return copy(
      stream,
      {"copy-out", [=] { std::memcpy(host, data_of(memory, bytes), bytes); }, {{memory, bytes, false}}}, host,
      bytes);
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuStreamCreate, hipStreamCreateWithFlags)(Stream* stream,
                                                                               unsigned flags) {
  if (!current) return invalid_context;
  if (flags != dlnb::gpu::stream_non_blocking) violation("a stream that waits for the default stream");
  *stream = new dlnb::gpu::OpaqueStream;
  (*stream)->worker = std::thread(serve, *stream);
  const std::lock_guard lock(state().mutex);
  (*stream)->number = ++state().numbers;
  state().all_streams.emplace_back(*stream);
  state().streams.insert(*stream);
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuStreamDestroy_v2, hipStreamDestroy)(Stream stream) {
  if (!is_stream(stream)) return invalid_handle;
  {
    const std::lock_guard lock(state().mutex);
    state().streams.erase(stream);
  }
  {
    const std::lock_guard lock(stream->mutex);
    if (!stream->queue.empty())
      violation(fmt::format("stream {} is destroyed with work in it", stream->number));
    stream->closing = true;
    stream->changed.notify_all();
  }
  stream->worker.join();
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuStreamSynchronize, hipStreamSynchronize)(Stream stream) {
  if (!current) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  finish(stream);
  return Status::success;
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuEventCreate, hipEventCreateWithFlags)(Event* event, unsigned) {
  if (!current) return invalid_context;
  *event = new dlnb::gpu::OpaqueEvent;
  const std::lock_guard lock(state().mutex);
  (*event)->number = ++state().numbers;
  state().events.insert(*event);
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuEventDestroy_v2, hipEventDestroy)(Event event) {
  const std::lock_guard lock(state().mutex);
  if (state().events.erase(event) == 0) {
    violation("an event is destroyed that is not there");
    return invalid_handle;
  }
  delete event;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuEventRecord, hipEventRecord)(Event event, Stream stream) {
  if (!current) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  const std::lock_guard lock(stream->mutex);
  event->awaited = stream->enqueued;
  event->stream = stream;
  record(fmt::format("record event={} stream={} behind={}", event->number, stream->number, stream->enqueued));
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuEventQuery, hipEventQuery)(Event event) {
  if (!current) {
    violation("an event is asked in a thread that has chosen no device");
    return invalid_context;
  }
  {
    const std::lock_guard lock(state().mutex);
    if (!state().events.contains(event)) {
      violation("an event is asked that is not there");
      return invalid_handle;
    }
  }
  const Stream stream = event->stream;
  if (!stream) violation("an event is asked that was never recorded");
  return !stream || stream->completed >= event->awaited ? Status::success : Status::not_ready;
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuModuleLoadData, hipModuleLoadData)(Module* module, const void* image) {
  if (!current) return invalid_context;
  if (const char* const status = std::getenv("DLNB_STAND_IN_LOAD")) return Status{std::atoi(status)};
  const std::string text = static_cast<const char*>(image);
#ifdef STAND_IN_HIP
  if (!text.starts_with("code of ")) return Status{200};
#else
  if (text.find(".version ") == std::string::npos || text.find(".visible .entry ") == std::string::npos)
    return Status{218};
#endif
  *module = new dlnb::gpu::OpaqueModule{text};
  const std::lock_guard lock(state().mutex);
  state().modules.insert(*module);
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuModuleUnload, hipModuleUnload)(Module module) {
  const std::lock_guard lock(state().mutex);
  if (state().modules.erase(module) == 0) violation("a module is unloaded that is not there");
  delete module;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuModuleGetFunction, hipModuleGetFunction)(Kernel* kernel, Module module,
                                                                                const char* name) {
  if (module->image.find(name) == std::string::npos) return Status{500};
  const std::lock_guard lock(state().mutex);
  state().kernels.push_back(std::make_unique<dlnb::gpu::OpaqueKernel>(dlnb::gpu::OpaqueKernel{name}));
  *kernel = state().kernels.back().get();
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuLaunchKernel, hipModuleLaunchKernel)(Kernel kernel, unsigned grid_x,
                                                                            unsigned, unsigned,
                                                                            unsigned block_x, unsigned,
                                                                            unsigned, unsigned, Stream stream,
                                                                            void** parameters, void**) {
  if (!current) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  std::uint64_t ticks = 0;
  std::memcpy(&ticks, parameters[0], sizeof ticks);
  const std::uint64_t nanoseconds = ticks * std::uint64_t(tick());
  enqueue(stream,
          {fmt::format("kernel {} grid={} block={} ns={}", kernel->name, grid_x, block_x, nanoseconds),
           [=] { std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds)); },
           {}});
  return Status::success;
}

#ifdef STAND_IN_HIP
// AMD's run-time compiler: what it makes is the source, marked.
namespace dlnb::gpu::hiprtc {
struct OpaqueProgram {
  std::string source, code;
};
}  // namespace dlnb::gpu::hiprtc
using dlnb::gpu::hiprtc::Program;
using Compiled = dlnb::gpu::hiprtc::Result;

STAND_IN_EXPORT Compiled hiprtcCreateProgram(Program* program, const char* source, const char*, int,
                                             const char**, const char**) {
  *program = new dlnb::gpu::hiprtc::OpaqueProgram{source, {}};
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcDestroyProgram(Program* program) {
  delete *program;
  *program = nullptr;
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcCompileProgram(Program program, int, const char**) {
  if (std::getenv("DLNB_STAND_IN_COMPILER_FAILS")) return Compiled{6};
  program->code = "code of " + program->source;
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetProgramLogSize(Program, std::size_t* bytes) {
  *bytes = sizeof "no such architecture";
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetProgramLog(Program, char* text) {
  std::strcpy(text, "no such architecture");
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetCodeSize(Program program, std::size_t* bytes) {
  *bytes = program->code.size();
  return Compiled::success;
}
STAND_IN_EXPORT Compiled hiprtcGetCode(Program program, char* code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return Compiled::success;
}
STAND_IN_EXPORT const char* hiprtcGetErrorString(Compiled) { return "HIPRTC_ERROR_OF_STAND_IN"; }
#endif
