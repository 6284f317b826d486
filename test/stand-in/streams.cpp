// SPDX-License-Identifier: Apache-2.0
// The driver's streams, with a thread each, what is enqueued on them, and events.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "stand-in/device.hpp"

using dlnb::gpu::Event;

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

namespace stand_in {
namespace {

struct State {
  std::mutex mutex;
  std::set<Stream> streams;
  std::vector<std::unique_ptr<dlnb::gpu::OpaqueStream>>
      all_streams;  // an event may still ask those that are gone
  std::set<Event> events;
  std::vector<std::pair<Stream, std::shared_ptr<Work>>> pending;
  int numbers = 0;
};
State& state() {
  static State* const only = new State;  // outlives every thread
  return *only;
}

bool overlap(const Range& a, const Range& b) {
  return (a.written || b.written) && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

/// What would race with it on the device, or touch memory that is not there.
void look_for_conflicts(Stream stream, const Work& work) {
  for (const Range& range : work.ranges) {
    if (!is_memory(range))
      violation(fmt::format("{} touches {} bytes that are no device memory", work.name, range.bytes));
    for (const std::string& user : users_of(range, stream))
      violation(fmt::format("{} on stream {} shares memory with {}", work.name, stream->number, user));
  }
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

// The driver copies pageable memory before it returns.
Status copy(Stream stream, Work work, const void* host, std::size_t bytes) {
  if (!has_device()) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  enqueue(stream, std::move(work));
  if (!is_pinned(host, bytes)) finish(stream);
  return Status::success;
}

struct Report {
  ~Report() {
    const std::lock_guard lock(state().mutex);
    record(fmt::format("left: streams={} events={}", state().streams.size(), state().events.size()));
  }
} report;

}  // namespace

std::vector<std::string> users_of(const Range& range, Stream stream) {
  std::vector<std::string> users;
  const std::lock_guard lock(state().mutex);
  for (const auto& [other, work] : state().pending)
    if (other != stream &&
        std::ranges::any_of(work->ranges, [&](const Range& one) { return overlap(one, range); }))
      users.push_back(fmt::format("{} on stream {}", work->name, other->number));
  return users;
}

void finish(Stream stream) {
  std::unique_lock lock(stream->mutex);
  const std::uint64_t awaited = stream->enqueued;
  stream->changed.wait(lock, [&] { return stream->completed >= awaited; });
}

std::uint64_t enqueue(Stream stream, Work work) {
  const auto shared = std::make_shared<Work>(std::move(work));
  look_for_conflicts(stream, *shared);
  {
    const std::lock_guard lock(state().mutex);
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

}  // namespace stand_in

using namespace stand_in;

STAND_IN_EXPORT Status STAND_IN_NAME(cuMemsetD8Async, hipMemsetD8Async)(dlnb::gpu::Address device,
                                                                        unsigned char value,
                                                                        std::size_t bytes, Stream stream) {
  const Address memory{std::uintptr_t(device)};
  if (!has_device()) return invalid_context;
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
  if (!has_device()) return invalid_context;
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
  if (!has_device()) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  finish(stream);
  return Status::success;
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuEventCreate, hipEventCreateWithFlags)(Event* event, unsigned) {
  if (!has_device()) return invalid_context;
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
  if (!has_device()) return invalid_context;
  if (!is_stream(stream)) return invalid_handle;
  const std::lock_guard lock(stream->mutex);
  event->awaited = stream->enqueued;
  event->stream = stream;
  record(fmt::format("record event={} stream={} behind={}", event->number, stream->number, stream->enqueued));
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuEventQuery, hipEventQuery)(Event event) {
  if (!has_device()) {
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
