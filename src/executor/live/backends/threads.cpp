// SPDX-License-Identifier: Apache-2.0
// The reference backend: ranks are threads of one process and data moves by memcpy.
//
// The members of a transfer meet; when the last one has arrived, the whole transfer is carried out at once:
// by the last arriver where it blocks, else by a mover thread, so that ranks compute meanwhile. Sums are
// formed in float32 over the members in ascending order and rounded once. Waiting ranks sleep.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "executor/live/backend.hpp"
#include "executor/live/reduction.hpp"

namespace dlnb {
namespace {

/// The members of one transfer coming together.
struct Meeting {
  enum State : int { open, done, failed };

  std::vector<Transfer> parts;  // by member; of a message: sender, receiver
  int missing = 0;
  std::string problem;  // written before `state` becomes failed
  std::atomic<int> state{open};

  void finish(State outcome) {
    state.store(outcome, std::memory_order_release);
    state.notify_all();
  }
};
using Ticket = std::shared_ptr<Meeting>;  // shared: whoever is last to look frees it

std::int64_t bytes(std::int64_t elements, const Transfer& part) { return elements * size_of(part.dtype); }

void copy(const Transfer& from, std::int64_t source, const Transfer& to, std::int64_t target,
          std::int64_t elements) {
  const bool is_there = to.receive + bytes(target, to) == from.send + bytes(source, from);  // in place
  if (elements > 0 && !is_there)
    std::memcpy(to.receive + bytes(target, to), from.send + bytes(source, from),
                std::size_t(bytes(elements, from)));
}

/// Adds up the members' elements [source, source + elements) and hands each rounded block to `deliver`.
template <class Operand, class Deliver>
void reduce(const std::vector<Transfer>& parts, std::int64_t elements, Operand operand, Deliver deliver) {
  constexpr std::int64_t block = 4096;
  float sum[block];
  for (std::int64_t first = 0; first < elements; first += block) {
    const std::int64_t count = std::min(block, elements - first);
    std::fill_n(sum, count, 0.0f);
    for (const Transfer& part : parts)
      reduction::accumulate(part.dtype, operand(part) + bytes(first, part), sum, count);
    deliver(sum, first, count);
  }
}

void exchange(std::vector<Transfer>& parts) {
  const std::size_t members = parts.size();
  const std::int64_t part = parts[0].elements_sent / std::int64_t(members);
  std::vector<std::int64_t> arrived(members);  // elements of each, from the members before
  for (std::size_t from = 0; from < members; ++from) {
    const Transfer& source = parts[from];
    std::int64_t left = 0;
    for (std::size_t to = 0; to < members; ++to) {
      const std::int64_t elements = source.parts_sent ? source.parts_sent[to] : part;
      copy(source, left, parts[to], arrived[to], elements);
      left += elements;
      arrived[to] += elements;
    }
  }
}

// Every pair of members swaps what it has for each other.
void exchange_in_place(std::vector<Transfer>& parts) {
  const std::size_t members = parts.size();
  const std::int64_t part = bytes(parts[0].elements_sent, parts[0]) / std::int64_t(members);
  for (std::size_t one = 0; one < members; ++one)
    for (std::size_t other = one + 1; other < members; ++other) {
      std::byte* const mine = parts[one].receive + std::int64_t(other) * part;
      std::swap_ranges(mine, mine + part, parts[other].receive + std::int64_t(one) * part);
    }
}

void carry_out(std::vector<Transfer>& parts) {
  const auto members = std::int64_t(parts.size());
  const Transfer& any = parts.front();
  switch (any.kind) {
    case OperationKind::all_reduce:
      reduce(
          parts, any.elements_sent, [](const Transfer& part) { return part.send; },
          [&](const float* sum, std::int64_t first, std::int64_t count) {
            for (Transfer& part : parts)
              reduction::round_to(part.dtype, sum, part.receive + bytes(first, part), count);
          });
      break;
    case OperationKind::reduce_scatter:
      for (std::int64_t to = 0; to < members; ++to) {
        const Transfer& target = parts[std::size_t(to)];
        const std::int64_t shard = target.elements_received;
        reduce(
            parts, shard, [&](const Transfer& part) { return part.send + bytes(to * shard, part); },
            [&](const float* sum, std::int64_t first, std::int64_t count) {
              reduction::round_to(target.dtype, sum, target.receive + bytes(first, target), count);
            });
      }
      break;
    case OperationKind::all_gather:
      for (const Transfer& to : parts)
        for (std::int64_t from = 0; from < members; ++from)
          copy(parts[std::size_t(from)], 0, to, from * any.elements_sent, any.elements_sent);
      break;
    case OperationKind::all_to_all:
      any.send == any.receive && !any.parts_sent ? exchange_in_place(parts) : exchange(parts);
      break;
    case OperationKind::broadcast: {
      Transfer root = parts[std::size_t(any.peer)];
      root.send = root.receive;
      for (std::int64_t to = 0; to < members; ++to)
        if (to != any.peer) copy(root, 0, parts[std::size_t(to)], 0, any.elements_received);
      break;
    }
    case OperationKind::send: copy(parts[0], 0, parts[1], 0, parts[0].elements_sent); break;
    default: break;  // a barrier moves nothing
  }
}

std::string uneven_disagreement(const std::vector<Transfer>& parts) {
  for (std::size_t from = 0; from < parts.size(); ++from)
    for (std::size_t to = 0; to < parts.size(); ++to)
      if (parts[from].parts_sent[to] != parts[to].parts_received[from])
        return fmt::format("member {} sends {} elements to member {}, which expects {}", from,
                           parts[from].parts_sent[to], to, parts[to].parts_received[from]);
  return {};
}

/// What is wrong with the parts of one transfer, or nothing.
std::string disagreement(const std::vector<Transfer>& parts) {
  if (parts[0].kind == OperationKind::send) {
    if (parts[0].dtype == parts[1].dtype && parts[0].elements_sent == parts[1].elements_received) return {};
    return fmt::format("a message of {} {} meets a receive of {} {}", parts[0].elements_sent,
                       name_of(parts[0].dtype), parts[1].elements_received, name_of(parts[1].dtype));
  }
  for (const Transfer& part : parts) {
    const bool uneven = part.parts_sent && parts[0].parts_sent;  // checked pair by pair
    if (part.kind != parts[0].kind || part.dtype != parts[0].dtype || part.peer != parts[0].peer ||
        !part.parts_sent != !parts[0].parts_sent ||
        (!uneven && (part.elements_sent != parts[0].elements_sent ||
                     part.elements_received != parts[0].elements_received)))
      return fmt::format("{} of {} {} meets {} of {} {} in one group", name_of(parts[0].kind),
                         parts[0].elements_sent, name_of(parts[0].dtype), name_of(part.kind),
                         part.elements_sent, name_of(part.dtype));
  }
  return parts[0].parts_sent ? uneven_disagreement(parts) : std::string();
}

void conclude(Meeting& meeting) {
  meeting.problem = disagreement(meeting.parts);
  if (meeting.problem.empty()) carry_out(meeting.parts);
  meeting.finish(meeting.problem.empty() ? Meeting::done : Meeting::failed);
}

/// Carries out what nobody waits for.
class Movers {
 public:
  explicit Movers(int threads) {
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (...) {
      close();
      throw;
    }
  }
  ~Movers() { close(); }
  Movers(const Movers&) = delete;
  Movers& operator=(const Movers&) = delete;
  void add(Ticket meeting) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(meeting));
    }
    arrived_.notify_one();
  }

 private:
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const Ticket meeting = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      conclude(*meeting);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Ticket> queue_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

struct Arrival {
  Ticket meeting;
  bool last = false;
};

/// Where the members of one communicator meet. Collectives meet by count, messages by sender, receiver and
/// tag.
class Group {
 public:
  Group(std::vector<int> members, const std::atomic<bool>& ended)
      : members_(std::move(members)), ended_(ended), arrivals_(members_.size()) {}

  int index_of(int rank) const {
    const auto place = std::lower_bound(members_.begin(), members_.end(), rank);
    DLNB_REQUIRE(place != members_.end() && *place == rank,
                 "a rank uses only communicators it is a member of");
    return int(place - members_.begin());
  }

  Arrival arrive(int member, const Transfer& transfer) {
    const std::lock_guard lock(mutex_);
    if (ended_) return {};
    return is_message(transfer.kind) ? arrive_message(member, transfer) : arrive_collective(member, transfer);
  }

  void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    for (auto& [count, meeting] : collectives_) fail(*meeting, why);
    for (auto& [key, queue] : messages_)
      for (const Ticket& meeting : queue) fail(*meeting, why);
    collectives_.clear();
    messages_.clear();
  }

 private:
  static void fail(Meeting& meeting, const std::string& why) {
    meeting.problem = why;
    meeting.finish(Meeting::failed);
  }

  Arrival arrive_collective(int member, const Transfer& transfer) {
    const std::int64_t count = arrivals_[std::size_t(member)]++;
    Ticket& place = collectives_[count];
    if (!place) {
      place = std::make_shared<Meeting>();
      place->parts.resize(members_.size());
      place->missing = int(members_.size());
    }
    const Ticket meeting = place;
    meeting->parts[std::size_t(member)] = transfer;
    if (--meeting->missing > 0) return {meeting, false};
    collectives_.erase(count);
    return {meeting, true};
  }

  Arrival arrive_message(int member, const Transfer& transfer) {
    const bool sends = transfer.kind == OperationKind::send;
    const int from = sends ? member : transfer.peer, to = sends ? transfer.peer : member;
    auto& queue = messages_[{from, to, transfer.tag}];
    // All that wait in a queue are on the same side: the other side would have met them.
    if (!queue.empty() && queue.front()->parts[sends ? 0 : 1].kind == OperationKind::barrier) {
      const Ticket meeting = queue.front();
      queue.pop_front();
      meeting->parts[sends ? 0 : 1] = transfer;
      return {meeting, true};
    }
    const auto meeting = std::make_shared<Meeting>();
    meeting->parts.resize(2);  // the absent side is left a barrier
    meeting->parts[sends ? 0 : 1] = transfer;
    queue.push_back(meeting);
    return {meeting, false};
  }

  const std::vector<int> members_;
  const std::atomic<bool>& ended_;
  std::mutex mutex_;
  std::vector<std::int64_t> arrivals_;  // collectives that each member has come to
  std::map<std::int64_t, Ticket> collectives_;
  std::map<std::tuple<int, int, int>, std::deque<Ticket>> messages_;
};

class World {
 public:
  explicit World(int size)
      : size_(size), movers_(std::clamp(int(std::thread::hardware_concurrency()), 1, size)) {}

  int size() const { return size_; }
  Movers& movers() { return movers_; }

  /// The `nth` communicator of these members (axes of one rank make the same members more than once).
  Group& group(const std::vector<int>& members, int nth) {
    const std::lock_guard lock(mutex_);
    auto& group = groups_[{members, nth}];
    if (!group) group = std::make_unique<Group>(members, ended_);
    return *group;
  }

  void end(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    why_ = why;
    ended_ = true;
    for (auto& [key, group] : groups_) group->fail(why);
  }
  std::string why() {
    const std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  const int size_;
  std::mutex mutex_;
  std::map<std::pair<std::vector<int>, int>, std::unique_ptr<Group>> groups_;
  std::atomic<bool> ended_ = false;
  std::string why_;
  Movers movers_;  // last: its threads stop before the rest goes
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(World& world, int rank) : world_(world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.size(); }
  std::string library() const override { return "threads"; }
  bool reduces_in_place() const override { return true; }
  bool works_in_place(OperationKind kind) const override { return !is_message(kind); }
  bool takes_uneven_parts() const override { return true; }

  int communicator(std::span<const int> members) override {
    const std::vector<int> list(members.begin(), members.end());
    Group& group = world_.group(list, made_[list]++);
    ends_.push_back({&group, group.index_of(rank_)});
    return int(ends_.size()) - 1;
  }

  void reserve(int slots) override { slots_.resize(std::size_t(slots)); }

  void start(int slot, const Transfer& transfer) override {
    auto [meeting, last] = arrive(transfer);
    slots_[std::size_t(slot)] = meeting;
    if (last) world_.movers().add(std::move(meeting));
  }

  bool test(int slot) override {
    Ticket& meeting = slots_[std::size_t(slot)];
    const int state = meeting->state.load(std::memory_order_acquire);
    if (state == Meeting::open) return false;
    settle(*meeting, state);
    meeting.reset();
    return true;
  }

  void wait(int slot) override {
    wait(*slots_[std::size_t(slot)]);
    slots_[std::size_t(slot)].reset();
  }

  void run(const Transfer& transfer) override {
    const auto [meeting, last] = arrive(transfer);
    if (last) conclude(*meeting);
    wait(*meeting);
  }

  void abort(int, const std::string& why) override { world_.end(why); }

 private:
  struct End {
    Group* group;
    int member;
  };

  Arrival arrive(const Transfer& transfer) {
    const End end = ends_[std::size_t(transfer.communicator)];
    Arrival arrival = end.group->arrive(end.member, transfer);
    if (!arrival.meeting) throw LostRank("threads", world_.why());
    return arrival;
  }
  static void settle(const Meeting& meeting, int state) {
    if (state == Meeting::failed) throw LostRank("threads", meeting.problem);
  }
  static void wait(Meeting& meeting) {
    meeting.state.wait(Meeting::open, std::memory_order_acquire);
    settle(meeting, meeting.state.load(std::memory_order_acquire));
  }

  World& world_;
  const int rank_;
  std::map<std::vector<int>, int> made_;
  std::vector<End> ends_;
  std::vector<Ticket> slots_;
};

/// A failure as the user is to see it. The C++ library says by this code that the system gives no more threads.
std::exception_ptr current_failure(std::int64_t ranks) {
  try {
    throw;
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return std::current_exception();
    return std::make_exception_ptr(Unavailable(
        "--ranks", fmt::format("the system gives no more threads ({} ranks want two each, or three)", ranks),
        "use fewer ranks or raise the limits (ulimit -u, ulimit -v)"));
  } catch (...) {
    return std::current_exception();
  }
}

/// The threads of all ranks, and the first of their failures.
class Ranks {
 public:
  Ranks(const WorldOptions& options, const std::function<void(Transport&)>& body)
      : world_(int(options.ranks)), body_(body) {}

  void run() {
    try {
      threads_.reserve(std::size_t(world_.size()));
      for (int rank = 0; rank < world_.size(); ++rank) threads_.emplace_back([this, rank] { live(rank); });
    } catch (const std::exception&) {
      fail(int(threads_.size()));
    }
    for (std::thread& thread : threads_) thread.join();
    if (first_) std::rethrow_exception(first_);
  }

 private:
  void live(int rank) {
    try {
      ThreadTransport transport(world_, rank);
      body_(transport);
    } catch (const std::exception&) {
      fail(rank);
    }
  }

  // Keeps the current failure, if it is the first, and releases the ranks that wait for this one.
  void fail(int rank) {
    {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = current_failure(world_.size());
    }
    world_.end(fmt::format("rank {} failed", rank));
  }

  World world_;
  const std::function<void(Transport&)>& body_;
  std::mutex mutex_;
  std::exception_ptr first_;
  std::vector<std::thread> threads_;
};

void open(const WorldOptions& options, const std::function<void(Transport&)>& body) {
  std::unique_ptr<Ranks> ranks;
  try {
    ranks = std::make_unique<Ranks>(options, body);
  } catch (const std::system_error&) {
    std::rethrow_exception(current_failure(options.ranks));
  }
  ranks->run();
}

}  // namespace

namespace backends {
extern constinit const Backend threads{
    .name = "threads",
    .summary = "ranks as threads of one process; the reference",
    .missing = [] { return std::string(); },
    .open = open,
    .launcher = nullptr,
};
}  // namespace backends
}  // namespace dlnb
