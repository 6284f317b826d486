// SPDX-License-Identifier: Apache-2.0
// The communication library's part. A communicator is a board in shared memory on which its members post what they
// have come to. Collectives go in two steps, so that nobody writes what another has still to read: all read, all write.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "executor/live/nccl/functions.hpp"
#include "executor/live/reduction.hpp"
#include "stand-in/stand_in.hpp"

using dlnb::DataType;
using dlnb::nccl::Communicator;
using dlnb::nccl::Reduction;
using dlnb::nccl::Result;
using dlnb::nccl::Type;
using dlnb::nccl::UniqueId;

namespace stand_in {
namespace {

constexpr int most_members = 16;

enum class Kind : int { all_reduce, reduce_scatter, all_gather, broadcast, send, receive };
constexpr const char* names[] = {"all-reduce", "reduce-scatter", "all-gather",
                                 "broadcast",  "send",           "receive"};

/// What is posted: readable by all members once `number` counts it.
struct Post {
  std::atomic<std::uint64_t> number;
  Kind kind;
  Type type;
  int root;
  std::uint64_t count;
  Place place;
};
/// From one member to another, one message at a time.
struct Mail {
  std::atomic<std::uint64_t> sent, received;
  Type type;
  std::uint64_t count;
  Place place;
};
struct Board {
  std::atomic<std::uint32_t> bell;  // counts changes
  std::atomic<int> ranks, joined;
  char devices[most_members][16];
  Post posts[most_members];
  std::atomic<std::uint64_t> read[most_members];
  Mail mail[most_members][most_members];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct Operation {
  Kind kind;
  Address send, receive;
  std::size_t count;
  Type type;
  int peer;
  Communicator communicator;
  Stream stream;
};

}  // namespace
}  // namespace stand_in

struct dlnb::nccl::OpaqueCommunicator {
  int number = 0, me = 0, members = 1;
  stand_in::Board* board = nullptr;
  stand_in::Stream stream = nullptr;
  std::uint64_t collectives = 0;
  std::array<std::uint64_t, stand_in::most_members> sent{}, received{};
  std::atomic<int> pending = 0;
  std::atomic<bool> aborted = false;
  std::atomic<Result> error = Result::success;
};

namespace stand_in {
namespace {

struct State {
  std::mutex mutex;
  std::set<Communicator> communicators;
  std::vector<std::unique_ptr<dlnb::nccl::OpaqueCommunicator>>
      all;  // work under way looks at those that are gone
  int numbers = 0, launches = 0;
};
State& state() {
  static State* const only = new State;
  return *only;
}

struct Init {
  Communicator* out;
  int members;
  UniqueId id;
  int me;
  std::string device;
};
thread_local int depth = 0;
thread_local std::vector<Operation> operations;
thread_local std::vector<Init> inits;

bool is_communicator(Communicator communicator) {
  const std::lock_guard lock(state().mutex);
  if (state().communicators.contains(communicator)) return true;
  violation("a communicator that is not there");
  return false;
}

std::size_t size_of(Type type) {
  switch (type) {
    case Type::uint8:
    case Type::float8_e4m3: return 1;
    case Type::float16:
    case Type::bfloat16: return 2;
    case Type::float32: return 4;
  }
  return 0;
}
DataType data_type(Type type) {
  switch (type) {
    case Type::float16: return DataType::float16;
    case Type::bfloat16: return DataType::bfloat16;
    case Type::float32: return DataType::float32;
    default: return DataType::float8;
  }
}

std::size_t sent_bytes(const Operation& o, int members) {
  if (o.kind == Kind::receive) return 0;
  return o.count * size_of(o.type) * (o.kind == Kind::reduce_scatter ? std::size_t(members) : 1);
}
std::size_t received_bytes(const Operation& o, int members) {
  if (o.kind == Kind::send) return 0;
  return o.count * size_of(o.type) * (o.kind == Kind::all_gather ? std::size_t(members) : 1);
}

void ring(Board& board) {
  board.bell.fetch_add(1);
  syscall(SYS_futex, &board.bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Looks until it is so, and tells when that takes long. False where the communicator was aborted.
template <class Claim>
bool until(const Communicator c, const std::string& what, Claim claim) {
  const auto begin = std::chrono::steady_clock::now();
  for (bool told = false;;) {
    const std::uint32_t heard = c->board->bell;
    if (claim()) return true;
    if (c->aborted) return false;
    if (!told && std::chrono::steady_clock::now() - begin > std::chrono::seconds(60)) {
      told = true;
      violation(fmt::format("communicator {} waits for ever in {}", c->number, what));
    }
    const timespec patience{0, 20'000'000};
    syscall(SYS_futex, &c->board->bell, FUTEX_WAIT, heard, &patience, nullptr, 0);
  }
}

void reduce(const Operation& o, const std::vector<const std::byte*>& parts, std::size_t first,
            std::byte* out) {
  std::vector<float> sum(o.count, 0.0f);
  const DataType type = data_type(o.type);
  for (const std::byte* part : parts)
    dlnb::reduction::accumulate(type, part + first * size_of(o.type), sum.data(), std::int64_t(o.count));
  dlnb::reduction::round_to(type, sum.data(), out, std::int64_t(o.count));
}

void combine(const Operation& o, const std::vector<const std::byte*>& parts, std::size_t part_bytes, int me,
             std::byte* out) {
  switch (o.kind) {
    case Kind::all_reduce: return reduce(o, parts, 0, out);
    case Kind::reduce_scatter: return reduce(o, parts, std::size_t(me) * o.count, out);
    case Kind::all_gather:
      for (std::size_t i = 0; i < parts.size(); ++i) std::memcpy(out + i * part_bytes, parts[i], part_bytes);
      return;
    case Kind::broadcast: std::memcpy(out, parts[std::size_t(o.peer)], part_bytes); return;
    default: return;
  }
}

void collective(const Communicator c, const Operation& o, std::uint64_t number) {
  Board& board = *c->board;
  const std::string what = fmt::format("{} {}", names[int(o.kind)], number);
  Post& own = board.posts[c->me];
  own.kind = o.kind, own.type = o.type, own.root = o.peer, own.count = o.count;
  own.place = place_of(o.send, sent_bytes(o, c->members));
  own.number.store(number + 1, std::memory_order_release);
  ring(board);
  for (int member = 0; member < c->members; ++member) {
    Post& post = board.posts[member];
    if (!until(c, what, [&] { return post.number.load(std::memory_order_acquire) > number; })) return;
    if (post.kind != o.kind || post.type != o.type || post.count != o.count || post.root != o.peer) {
      violation(fmt::format("communicator {}: {} of {} meets {} of {} of member {}", c->number, what, o.count,
                            names[int(post.kind)], post.count, member));
      c->error = Result::invalid_usage;
      return;
    }
  }
  const std::size_t part_bytes = sent_bytes(o, c->members);
  std::vector<const std::byte*> parts;
  for (int member = 0; member < c->members; ++member)
    parts.push_back(data_at(board.posts[member].place, part_bytes));
  std::vector<std::byte> result(received_bytes(o, c->members));
  if (!result.empty()) combine(o, parts, part_bytes, c->me, result.data());
  board.read[c->me].store(number + 1, std::memory_order_release);
  ring(board);
  for (int member = 0; member < c->members; ++member)
    if (!until(c, what, [&] { return board.read[member].load(std::memory_order_acquire) > number; })) return;

  if (!result.empty()) std::memcpy(data_of(o.receive, result.size()), result.data(), result.size());
}

struct Message {
  Operation operation;
  std::uint64_t number;
  bool posted = false, done = false;
};

// All messages of a group make progress together.
void messages(const Communicator c, std::vector<Message> all) {
  Board& board = *c->board;
  const auto step = [&](Message& m) {
    const Operation& o = m.operation;
    if (o.kind == Kind::send) {
      Mail& mail = board.mail[c->me][o.peer];
      if (!m.posted && mail.sent == m.number && mail.received == m.number) {
        mail.type = o.type, mail.count = o.count;
        mail.place = place_of(o.send, o.count * size_of(o.type));
        mail.sent.store(m.number + 1, std::memory_order_release);
        ring(board);
        m.posted = true;
      }
      m.done = mail.received.load(std::memory_order_acquire) > m.number;
      return;
    }
    Mail& mail = board.mail[o.peer][c->me];
    if (mail.sent.load(std::memory_order_acquire) != m.number + 1) return;
    const std::size_t bytes = o.count * size_of(o.type);
    if (mail.count != o.count || mail.type != o.type)
      violation(fmt::format("communicator {}: a message of {} meets a receive of {}", c->number, mail.count,
                            o.count));
    else if (bytes > 0) std::memcpy(data_of(o.receive, bytes), data_at(mail.place, bytes), bytes);
    mail.received.store(m.number + 1, std::memory_order_release);
    ring(board);
    m.done = true;
  };
  until(c, fmt::format("{} of {} messages", all.size(), names[int(all[0].operation.kind)]), [&] {
    for (Message& m : all)
      if (!m.done) step(m);
    return std::ranges::all_of(all, &Message::done);
  });
}

/// The operations of a group in one communicator: one launch.
void launch(const std::vector<Operation>& group) {
  const Communicator c = group.front().communicator;
  const Stream stream = group.front().stream;
  const bool message = group.front().kind >= Kind::send;
  int launched = 0;
  {
    const std::lock_guard lock(state().mutex);
    launched = ++state().launches;
  }
  if (c->stream && c->stream != stream)
    violation(fmt::format("communicator {} on a second stream", c->number));
  c->stream = stream;
  Work work;
  std::vector<Message> posts;
  std::vector<std::pair<Operation, std::uint64_t>> in_order;
  std::string kinds;
  for (const Operation& o : group) {
    if (o.stream != stream) violation(fmt::format("communicator {} on two streams in one group", c->number));
    if ((o.kind >= Kind::send) != message) violation("collectives and messages in one group");
    work.ranges.push_back({o.send, sent_bytes(o, c->members), false});
    work.ranges.push_back({o.receive, received_bytes(o, c->members), true});
    kinds += fmt::format(" {}:{}:{}", names[int(o.kind)], o.count, o.peer);
    if (o.kind == Kind::send) posts.push_back({o, c->sent[std::size_t(o.peer)]++});
    else if (o.kind == Kind::receive) posts.push_back({o, c->received[std::size_t(o.peer)]++});
    else in_order.emplace_back(o, c->collectives++);
  }
  std::erase_if(work.ranges, [](const Range& range) { return range.bytes == 0; });
  work.name = fmt::format("communicator={} launch={}{}", c->number, launched, kinds);
  ++c->pending;
  const std::string name = work.name;
  const bool fails = launched == launch_named_by("DLNB_STAND_IN_FAIL");
  const bool hangs = launched == launch_named_by("DLNB_STAND_IN_HANG");
  const bool spoils = launched == launch_named_by("DLNB_STAND_IN_SPOIL");
  work.run = [=, ranges = work.ranges] {
    std::this_thread::sleep_for(std::chrono::microseconds(50));  // the host goes on meanwhile
    if (fails) c->error = Result::remote_error;
    if (fails || hangs) {
      while (!c->aborted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;
    }
    if (!posts.empty()) messages(c, posts);
    for (const auto& [operation, number] : in_order) collective(c, operation, number);
    for (const Range& range : ranges)
      if (spoils && range.written) data_of(range.begin, range.bytes)[range.bytes - 1] ^= std::byte{1};
    --c->pending;
  };
  const std::uint64_t at = enqueue(stream, std::move(work));
  record(fmt::format("launch stream={} at={} {}", number_of(stream), at, name));
}

Result add(const Operation& o) {
  if (!is_communicator(o.communicator)) return Result::invalid_argument;
  if (!is_stream(o.stream)) return Result::invalid_argument;
  if (current_device().empty()) violation("an operation in a thread that has chosen no device");
  if (o.communicator->error != Result::success) return o.communicator->error;
  if (o.kind >= Kind::broadcast && (o.peer < 0 || o.peer >= o.communicator->members))
    return Result::invalid_argument;
  if (depth > 0) operations.push_back(o);
  else launch({o});
  return Result::success;
}

Board* open_board(const UniqueId& id) {
  const int file = open(id.bytes, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Board*>(memory);
}

Result join(const Init& init) {
  Board* const board = open_board(init.id);
  if (!board || init.members > most_members || init.device.empty()) return Result::system_error;
  int none = 0;
  if (!board->ranks.compare_exchange_strong(none, init.members) && none != init.members) {
    violation(fmt::format("a communicator of {} members is one of {} for others", init.members, none));
    return Result::invalid_argument;
  }
  std::strncpy(board->devices[init.me], init.device.c_str(), sizeof board->devices[0] - 1);
  board->joined.fetch_add(1);
  ring(*board);
  auto made = std::make_unique<dlnb::nccl::OpaqueCommunicator>();
  const Communicator c = made.get();
  c->me = init.me, c->members = init.members, c->board = board;
  until(c, "its making", [&] { return board->joined >= init.members; });
  for (int a = 0; a < init.members; ++a)
    for (int b = 0; b < a; ++b)
      if (std::strcmp(board->devices[a], board->devices[b]) == 0) {
        violation(fmt::format("members {} and {} are on one device", a, b));
        return Result::invalid_usage;
      }
  const std::lock_guard lock(state().mutex);
  c->number = ++state().numbers;
  state().communicators.insert(c);
  state().all.push_back(std::move(made));
  record(fmt::format("made communicator={} members={} me={}", c->number, c->members, c->me));
  *init.out = c;
  return Result::success;
}

Result end_of_group() {
  if (!inits.empty() && !operations.empty()) violation("communicators are made and used in one group");
  std::vector<Result> results(inits.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < inits.size(); ++i)
    threads.emplace_back([&results, i, init = inits[i]] { results[i] = join(init); });
  for (std::thread& thread : threads) thread.join();
  inits.clear();
  std::vector<std::vector<Operation>> groups;
  for (const Operation& o : operations) {
    const auto place = std::ranges::find_if(
        groups, [&](const auto& group) { return group.front().communicator == o.communicator; });
    if (place == groups.end()) groups.push_back({o});
    else place->push_back(o);
  }
  operations.clear();
  for (const auto& group : groups) launch(group);
  for (const Result result : results)
    if (result != Result::success) return result;
  return Result::success;
}

void leave(Communicator c) {
  const std::lock_guard lock(state().mutex);
  state().communicators.erase(c);
}

struct Report {
  ~Report() {
    const std::lock_guard lock(state().mutex);
    record(fmt::format("left: communicators={}", state().communicators.size()));
  }
} report;

Address address(const void* pointer) { return reinterpret_cast<Address>(pointer); }

}  // namespace
}  // namespace stand_in

using namespace stand_in;

STAND_IN_EXPORT Result ncclGetVersion(int* version) {
  const char* const text = std::getenv("DLNB_STAND_IN_VERSION");
  *version = text ? std::atoi(text) : 22700;
  return Result::success;
}
STAND_IN_EXPORT Result ncclGetUniqueId(UniqueId* id) {
  const int file = memfd_create("stand-in board", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, sizeof(Board)) != 0) return Result::system_error;
  const char* const network = std::getenv("NCCL_SOCKET_IFNAME");
  record(fmt::format("identifier network={}", network ? network : "any"));
  std::strncpy(id->bytes, fmt::format("/proc/{}/fd/{}", getpid(), file).c_str(), sizeof id->bytes - 1);
  return Result::success;
}
STAND_IN_EXPORT Result ncclCommInitRank(Communicator* communicator, int members, UniqueId id, int me) {
  *communicator = nullptr;
  const Init init{communicator, members, id, me, current_device()};
  if (depth == 0) return join(init);
  inits.push_back(init);
  return Result::success;
}
STAND_IN_EXPORT Result ncclCommDestroy(Communicator c) {
  if (!is_communicator(c)) return Result::invalid_argument;
  record(fmt::format("destroy communicator={}", c->number));
  if (c->pending > 0) violation(fmt::format("communicator {} is destroyed with work under way", c->number));
  leave(c);
  return Result::success;
}
STAND_IN_EXPORT Result ncclCommAbort(Communicator c) {
  if (!is_communicator(c)) return Result::invalid_argument;
  record(fmt::format("abort communicator={}", c->number));
  c->aborted = true;
  leave(c);
  return Result::success;
}
STAND_IN_EXPORT Result ncclCommGetAsyncError(Communicator c, Result* error) {
  if (!is_communicator(c)) return Result::invalid_argument;
  *error = c->error;
  return Result::success;
}
STAND_IN_EXPORT const char* ncclGetErrorString(Result result) {
  switch (result) {
    case Result::success: return "no error";
    case Result::remote_error: return "remote process exited or there was a network error";
    case Result::invalid_usage: return "invalid usage";
    default: return "an error of the stand-in";
  }
}
STAND_IN_EXPORT const char* ncclGetLastError(Communicator) { return ""; }

STAND_IN_EXPORT Result ncclAllReduce(const void* send, void* receive, std::size_t count, Type type, Reduction,
                                     Communicator c, Stream stream) {
  return add({Kind::all_reduce, address(send), address(receive), count, type, 0, c, stream});
}
STAND_IN_EXPORT Result ncclReduceScatter(const void* send, void* receive, std::size_t count, Type type,
                                         Reduction, Communicator c, Stream stream) {
  return add({Kind::reduce_scatter, address(send), address(receive), count, type, 0, c, stream});
}
STAND_IN_EXPORT Result ncclAllGather(const void* send, void* receive, std::size_t count, Type type,
                                     Communicator c, Stream stream) {
  return add({Kind::all_gather, address(send), address(receive), count, type, 0, c, stream});
}
STAND_IN_EXPORT Result ncclBroadcast(const void* send, void* receive, std::size_t count, Type type, int root,
                                     Communicator c, Stream stream) {
  return add({Kind::broadcast, address(send), address(receive), count, type, root, c, stream});
}
STAND_IN_EXPORT Result ncclSend(const void* memory, std::size_t count, Type type, int peer, Communicator c,
                                Stream stream) {
  return add({Kind::send, address(memory), 0, count, type, peer, c, stream});
}
STAND_IN_EXPORT Result ncclRecv(void* memory, std::size_t count, Type type, int peer, Communicator c,
                                Stream stream) {
  return add({Kind::receive, 0, address(memory), count, type, peer, c, stream});
}
STAND_IN_EXPORT Result ncclGroupStart() {
  ++depth;
  return Result::success;
}
STAND_IN_EXPORT Result ncclGroupEnd() {
  if (depth == 0) {
    violation("a group ends that has not begun");
    return Result::invalid_usage;
  }
  return --depth > 0 ? Result::success : end_of_group();
}
