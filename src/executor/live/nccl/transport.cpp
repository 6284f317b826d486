// SPDX-License-Identifier: Apache-2.0
// A rank of a world over NCCL or RCCL. Buffers are the accelerator's.
//
// Every communicator has a stream of its own, so that only what runs in one communicator is ordered; operations of
// different communicators run side by side wherever the schedule lets them. Starting one puts it into its stream with an
// event behind it, testing and waiting look at the event and at the library's asynchronous errors.
//
// Why ranks never wait for each other in a circle. In a stream an operation starts when the one before it is done, so a
// stream is safe where all members of its communicator put the same operations into it in the same order: then the
// operation that all have come to first is the next one everywhere, and completes. What `check` accepts completes where
// every operation is carried out once all its ranks have issued it, whatever else is under way; it holds the order of
//   * collectives over each set of axes: such a set has its own communicator, and
//   * messages from one rank to another: each such direction has its own communicator of two ranks. With both
//     directions, or several peers, in one stream, two ranks that send first and receive then would wait for ever.
// This needs that streams do not wait for each other on the device: for one of its queues (driver.cpp asks for as many
// as there are), or for room, where the kernels under way fill all multiprocessors. NCCL_MAX_CTAS keeps them small; a
// plan has a handful of communicators under way at once.
// It also needs that starting does not wait. The first operation of a kind connects the members inside the call, so each
// is tried once before, in an order that all share: by verification, or where that is off by a rehearsal
// (`connects_on_first_use`).
//
// Communicators are made blocking. In the library's other mode every group of calls would be carried out by a thread made
// for it, which is not what is to be measured; a watchdog of its own ends a rank that waits too long for the others.
// They are not split from one another: parts would share channels with the whole, and run one after the other.
#include "executor/live/nccl/transport.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/gpu/device.hpp"
#include "executor/live/watchdog.hpp"

namespace dlnb::nccl {
namespace {

bool adds_up(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::reduce_scatter;
}

// Where nothing is added up, float8 goes as bytes, which every version has.
Type type_of(OperationKind kind, DataType dtype) {
  switch (dtype) {
    case DataType::float32: return Type::float32;
    case DataType::float16: return Type::float16;
    case DataType::bfloat16: return Type::bfloat16;
    case DataType::float8: return adds_up(kind) ? Type::float8_e4m3 : Type::uint8;
  }
  return Type::uint8;
}

std::byte* pointer(gpu::Address address) { return std::bit_cast<std::byte*>(address); }
gpu::Address address(const std::byte* pointer) { return std::bit_cast<gpu::Address>(pointer); }

/// A communicator of the library and the stream that its operations run in.
struct Line {
  gpu::OwnedStream stream;
  OwnedCommunicator communicator;
  int members = 1;
  int me = 0;
};

/// A member that messages go to or come from, and the line they take.
struct Way {
  int member;
  bool outward;
  const Line* line;
};

/// One of ours: its line, and those of the messages between its members.
struct End {
  std::string key;
  const Line* line;
  gpu::DeviceMemory token;  ///< what a barrier adds up
  std::vector<Way> ways;
};

/// Two buffers of which a library reads one and writes the other.
struct Operands {
  const std::byte* send;
  std::byte* receive;
};

/// Between the host's memory and the device's: pinned memory, and the device's own.
struct Staging {
  std::int64_t bytes = 0;
  gpu::HostMemory host;
  gpu::DeviceMemory device;
};

struct Slot {
  gpu::OwnedEvent event;
  const Line* line = nullptr;
  Staging sent, received;
  std::byte* deliver_to = nullptr;  ///< where `received` goes when it is there
  std::int64_t delivered = 0;
};

/// Ways to a new communicator: its identifier has been exchanged.
struct Invitation {
  UniqueId id;
  int members;
  int me;
};

class NcclTransport final : public Transport {
 public:
  NcclTransport(const Library& library, const gpu::Driver& driver, int device, const World& world)
      : library_(library), world_(world), device_(driver, device), copies_(device_.stream()) {
    reserve(0);
  }

  // In the order made, which is the same everywhere: to leave a communicator may take all its members.
  ~NcclTransport() override {
    enter_thread();
    while (!lines_.empty()) lines_.pop_front();
  }

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  std::string library() const override { return library_.name(); }
  std::string device() const override { return device_.address(); }
  const gpu::Device* gpu() const override { return &device_; }
  bool reduces_in_place() const override { return true; }
  bool works_in_place(OperationKind kind) const override { return kind != OperationKind::all_to_all; }
  bool takes_uneven_parts() const override { return true; }
  bool takes_tags() const override { return false; }
  bool connects_on_first_use() const override { return true; }
  std::int64_t device_memory() const override { return device_.free_memory(); }

  std::string lacks(OperationKind kind, DataType dtype, std::int64_t) const override {
    if (dtype != DataType::float8 || !adds_up(kind) || library_.version >= first_with_float8) return {};
    return fmt::format("{} adds up no float8; {} 2.24 and later do", library_.name(), library_.title);
  }

  int communicator(std::span<const int> members) override {
    const std::vector<int> list(members.begin(), members.end());
    const auto place = std::ranges::find(list, rank());
    DLNB_REQUIRE(place != list.end(), "a rank makes only communicators it is a member of");
    const std::string key = key_of(list);
    const int me = int(place - list.begin());
    if (me == 0) invite(key);
    const Line* const line = make_lines({{invitation(key), int(list.size()), me}}).front();
    ends_.push_back({key, line, device_.memory(sizeof(float)), {}});
    return int(ends_.size()) - 1;
  }

  void connect(int communicator, std::span<const int> destinations, std::span<const int> sources) override {
    End& end = ends_[std::size_t(communicator)];
    const int me = end.line->me;
    const auto key = [&](int from, int to) { return fmt::format("{}-from-{}-to-{}", end.key, from, to); };
    for (const int to : destinations) invite(key(me, to));
    std::vector<Invitation> invitations;
    for (const int to : destinations) invitations.push_back({invitation(key(me, to)), 2, 0});
    for (const int from : sources) invitations.push_back({invitation(key(from, me)), 2, 1});
    const std::vector<const Line*> lines = make_lines(invitations);
    std::size_t next = 0;
    for (const int to : destinations) end.ways.push_back({to, true, lines[next++]});
    for (const int from : sources) end.ways.push_back({from, false, lines[next++]});
  }

  std::byte* allocate(std::int64_t bytes) override {
    gpu::DeviceMemory memory = device_.memory(std::max<std::int64_t>(bytes, 1));
    std::byte* const begin = pointer(memory.get());
    memory_.emplace(begin, std::move(memory));
    return begin;
  }
  void release(std::byte* memory) noexcept override { memory_.erase(memory); }
  void write(std::byte* memory, const std::byte* host, std::int64_t bytes) override {
    if (bytes == 0) return;
    to_device(address(memory), host, bytes, copies_);
    device_.finish(copies_);
  }
  void read(std::byte* host, const std::byte* memory, std::int64_t bytes) override {
    if (bytes == 0) return;
    to_host(host, address(memory), bytes, copies_);
    device_.finish(copies_);
  }

  void share_cores() override {
    shares_cores_ = true;
    prctl(PR_SET_TIMERSLACK, 1UL);  // of this thread, which is the one that waits: naps as short as asked for
  }

  // One more than asked for, for blocking transfers.
  void reserve(int slots) override {
    slots_.resize(std::size_t(slots) + 1);
    for (Slot& slot : slots_) {
      if (!slot.event.get()) slot.event = device_.event();
      // What is agreed on while time is taken is a few bytes.
      grow(slot.sent, small), grow(slot.received, small);
    }
  }

  void start(int slot, const Transfer& transfer) override { begin(slots_[std::size_t(slot)], transfer); }
  bool test(int slot) override {
    enter_thread();
    return complete(slots_[std::size_t(slot)]);
  }
  void wait(int slot) override { await(slots_[std::size_t(slot)]); }
  void run(const Transfer& transfer) override {
    begin(slots_.back(), transfer);
    await(slots_.back());
  }

  // May be called while the rank hangs inside the library, so that nothing is waited for without end; a rank that only
  // looks whether something is complete has time to notice.
  void abort(int code, const std::string& why) override {
    if (ended_.exchange(true)) park();
    const std::string line = why.empty() ? why : "error: " + why + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(code);
    nap(100'000'000);
    static std::atomic<bool> aborted = false;
    std::thread([this] {
      const std::lock_guard lock(making_);
      device_.use();
      for (const Line& made : lines_) library_.call.abort(made.communicator.get());
      aborted = true;
    }).detach();
    for (int naps = 0; naps < 200 && !aborted; ++naps) nap(10'000'000);
    _exit(code);
  }

 private:
  static constexpr std::int64_t small = 256;
  static constexpr int looks_before_yields = 1000, yields_before_naps = 5;

  static void nap(long nanoseconds) {
    const timespec time{0, nanoseconds};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }
  /// For threads of a process that is about to end: what they wait for may look complete once it is aborted.
  [[noreturn]] static void park() {
    for (;;) pause();
  }

  /// The driver's calls are for the device that a thread has chosen.
  void enter_thread() const {
    thread_local const gpu::Device* chosen = nullptr;
    if (chosen == &device_) return;
    device_.use();
    chosen = &device_;
  }

  /// Equal for the members of one communicator, and for no other.
  std::string key_of(const std::vector<int>& members) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const int member : members) hash = (hash ^ std::uint64_t(member)) * 0x100000001b3;
    return fmt::format("communicator-{}-{:016x}-{}", members.size(), hash, made_[members]++);
  }

  void invite(const std::string& key) const {
    UniqueId id{};
    library_.check(library_.call.get_unique_id(&id), "ncclGetUniqueId");
    world_.tell(key, {id.bytes, sizeof id.bytes});
  }
  UniqueId invitation(const std::string& key) const {
    const std::string bytes = world_.hear(key);
    UniqueId id{};
    if (bytes.size() != sizeof id.bytes) throw std::runtime_error("store: " + key + " is not whole");
    std::memcpy(id.bytes, bytes.data(), sizeof id.bytes);
    return id;
  }

  /// All at once: others may come to them in another order.
  std::vector<const Line*> make_lines(const std::vector<Invitation>& invitations) {
    const Seconds patience{std::chrono::duration<double>(world_.patience()).count()};
    Watchdog watchdog(patience, [&](int, double seconds) {
      abort(int(Exit::lost_rank),
            fmt::format("rank {} has waited {:.1f} s for the other members of a communicator", rank(),
                        seconds));
    });
    std::vector<Communicator> made(invitations.size());
    watchdog.enter(0, monotonic_clock().now());
    library_.check(library_.call.group_start(), "ncclGroupStart");
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto& [id, members, me] = invitations[i];
      library_.check(library_.call.init(&made[i], members, id, me), "ncclCommInitRank");
    }
    library_.check(library_.call.group_end(), "making communicators");
    watchdog.leave();
    std::vector<const Line*> lines;
    const std::lock_guard lock(making_);
    for (std::size_t i = 0; i < made.size(); ++i) {
      OwnedCommunicator communicator(made[i], library_.call.destroy);
      lines_.push_back(
          {device_.stream(), std::move(communicator), invitations[i].members, invitations[i].me});
      lines.push_back(&lines_.back());
    }
    return lines;
  }

  void grow(Staging& staging, std::int64_t bytes) {
    if (staging.bytes >= bytes) return;
    staging.host = device_.host_memory(bytes);
    staging.device = device_.memory(bytes);
    staging.bytes = bytes;
  }
  void to_device(gpu::Address memory, const void* host, std::int64_t bytes,
                 const gpu::OwnedStream& stream) const {
    device_.driver().check(device_.driver().call.to_device(memory, host, std::size_t(bytes), stream.get()),
                           "copying to the device");
  }
  void to_host(void* host, gpu::Address memory, std::int64_t bytes, const gpu::OwnedStream& stream) const {
    device_.driver().check(device_.driver().call.to_host(host, memory, std::size_t(bytes), stream.get()),
                           "copying from the device");
  }

  /// What ranks tell each other in memory of the host goes through the communicator itself: it is blocking, or one
  /// thing after the other in the same order everywhere.
  const Line& line_of(const Transfer& t) const {
    const End& end = ends_[std::size_t(t.communicator)];
    if (t.on_host || !is_message(t.kind)) return *end.line;
    if (t.tag != 0) throw std::runtime_error(library_.name() + ": messages carry no tags");
    const bool outward = t.kind == OperationKind::send;
    for (const Way& way : end.ways)
      if (way.member == t.peer && way.outward == outward) return *way.line;
    throw std::runtime_error(fmt::format("{}: a message {} member {} was not announced", library_.name(),
                                         outward ? "to" : "from", t.peer));
  }

  void begin(Slot& slot, const Transfer& t) {
    if (ended_.load(std::memory_order_relaxed)) park();
    const Line& line = line_of(t);
    slot.line = &line;
    slot.delivered = 0;
    if (t.on_host) {
      const Operands operands = stage(slot, t, line);
      enqueue(t, line, operands);
      fetch(slot, t, line);
    } else {
      enqueue(t, line, {t.send, t.receive});
    }
    device_.record(slot.event, line.stream);
  }

  // A broadcast's root has its data where others receive.
  Operands stage(Slot& slot, const Transfer& t, const Line& line) {
    const std::int64_t size = size_of(t.dtype);
    const bool broadcast = t.kind == OperationKind::broadcast;
    const std::int64_t sent = broadcast ? 0 : t.elements_sent * size, received = t.elements_received * size;
    grow(slot.sent, sent), grow(slot.received, received);
    if (sent > 0) upload(slot.sent, t.send, sent, line);
    if (broadcast && line.me == t.peer && received > 0) upload(slot.received, t.receive, received, line);
    return {pointer(slot.sent.device.get()), pointer(slot.received.device.get())};
  }
  void upload(const Staging& staging, const std::byte* data, std::int64_t bytes, const Line& line) const {
    std::memcpy(staging.host.get(), data, std::size_t(bytes));
    to_device(staging.device.get(), staging.host.get(), bytes, line.stream);
  }
  void fetch(Slot& slot, const Transfer& t, const Line& line) const {
    slot.deliver_to = t.receive;
    slot.delivered = t.elements_received * size_of(t.dtype);
    if (slot.delivered > 0)
      to_host(slot.received.host.get(), slot.received.device.get(), slot.delivered, line.stream);
  }

  void enqueue(const Transfer& t, const Line& line, const Operands& o) const {
    const Functions& call = library_.call;
    const Communicator communicator = line.communicator.get();
    const Stream stream = line.stream.get();
    const Type type = type_of(t.kind, t.dtype);
    const auto sent = std::size_t(t.elements_sent), received = std::size_t(t.elements_received);
    switch (t.kind) {
      case OperationKind::all_reduce:
        return check(call.all_reduce(o.send, o.receive, received, type, Reduction::sum, communicator, stream),
                     "ncclAllReduce", line);
      case OperationKind::reduce_scatter:
        return check(
            call.reduce_scatter(o.send, o.receive, received, type, Reduction::sum, communicator, stream),
            "ncclReduceScatter", line);
      case OperationKind::all_gather:
        return check(call.all_gather(o.send, o.receive, sent, type, communicator, stream), "ncclAllGather",
                     line);
      case OperationKind::broadcast:
        return check(call.broadcast(o.receive, o.receive, received, type, t.peer, communicator, stream),
                     "ncclBroadcast", line);
      case OperationKind::all_to_all: return exchange(t, line, o);
      // The receiver of a message's line is member 1.
      case OperationKind::send:
        return check(call.send(o.send, sent, type, t.on_host ? t.peer : 1, communicator, stream), "ncclSend",
                     line);
      case OperationKind::recv:
        return check(call.receive(o.receive, received, type, t.on_host ? t.peer : 0, communicator, stream),
                     "ncclRecv", line);
      default: return meet(ends_[std::size_t(t.communicator)]);
    }
  }

  // A group: all messages of an exchange are under way together.
  void exchange(const Transfer& t, const Line& line, const Operands& o) const {
    const Functions& call = library_.call;
    const Type type = type_of(t.kind, t.dtype);
    const std::int64_t size = size_of(t.dtype), even = t.elements_sent / line.members;
    std::int64_t from = 0, to = 0;
    check(call.group_start(), "ncclGroupStart", line);
    for (int member = 0; member < line.members; ++member) {
      const std::int64_t sent = t.parts_sent ? t.parts_sent[member] : even;
      const std::int64_t received = t.parts_received ? t.parts_received[member] : even;
      if (sent > 0)
        check(call.send(o.send + from * size, std::size_t(sent), type, member, line.communicator.get(),
                        line.stream.get()),
              "ncclSend", line);
      if (received > 0)
        check(call.receive(o.receive + to * size, std::size_t(received), type, member,
                           line.communicator.get(), line.stream.get()),
              "ncclRecv", line);
      from += sent, to += received;
    }
    check(call.group_end(), "ncclGroupEnd", line);
  }

  // The library has no barrier.
  void meet(const End& end) const {
    std::byte* const token = pointer(end.token.get());
    check(library_.call.all_reduce(token, token, 1, Type::float32, Reduction::sum,
                                   end.line->communicator.get(), end.line->stream.get()),
          "ncclAllReduce", *end.line);
  }

  void check(Result result, const char* what, const Line& line) const {
    library_.check(result, what, line.communicator.get());
  }

  bool complete(Slot& slot) {
    if (ended_.load(std::memory_order_relaxed)) park();
    const bool reached = device_.reached(slot.event);
    Result error = Result::success;
    check(library_.call.async_error(slot.line->communicator.get(), &error), "ncclCommGetAsyncError",
          *slot.line);
    if (error != Result::success && error != Result::in_progress)
      check(error, "an asynchronous error", *slot.line);
    if (!reached) return false;
    if (slot.delivered > 0)
      std::memcpy(slot.deliver_to, slot.received.host.get(), std::size_t(slot.delivered));
    return true;
  }

  // A core of its own is spun on; a yield costs little there, and helps where it has not yet been told that it is none.
  void await(Slot& slot) {
    for (int looks = 1; !complete(slot); ++looks) {
      if (looks < (shares_cores_ ? 1 : looks_before_yields)) continue;
      if (!shares_cores_ || looks < yields_before_naps) sched_yield();
      else nap(30'000);
    }
  }

  const Library& library_;
  const World& world_;
  const gpu::Device device_;
  const gpu::OwnedStream copies_;
  std::map<std::vector<int>, int> made_;
  std::map<std::byte*, gpu::DeviceMemory> memory_;
  std::vector<Slot> slots_;
  std::vector<End> ends_;
  std::mutex making_;  // of lines_, which another thread may come to abort
  std::deque<Line> lines_;
  std::atomic<bool> ended_ = false;
  bool shares_cores_ = false;
};

}  // namespace

std::unique_ptr<Transport> make_transport(const Library& library, const gpu::Driver& driver, int device,
                                          const World& world) {
  return std::make_unique<NcclTransport>(library, driver, device, world);
}

}  // namespace dlnb::nccl
