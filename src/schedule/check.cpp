// SPDX-License-Identifier: Apache-2.0
// What must hold before a schedule is executed. All ranks of a role run one program, so one rank per role stands for
// the rest: the cost is that of the programs, not of the ranks.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include <dlnb/schedule.hpp>

#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

class Checker {
 public:
  explicit Checker(const Schedule& schedule) : schedule_(schedule) {}

  std::vector<std::string> run() {
    for (const Program& program : schedule_.programs)
      for (std::size_t i = 0; i < program.operations.size(); ++i) check_sizes(program, i);
    for (const Program& program : schedule_.programs) check_waits(program);
    if (problems_.empty()) check_progress();
    return std::move(problems_);
  }

 private:
  std::string name(const Program& program, std::size_t index) const {
    const Operation& op = program.operations[index];
    std::string text = fmt::format("role {} operation {}: {} {}", program.role, index, name_of(op.kind),
                                   schedule_.grid.text(op.axes));
    if (op.microbatch != nothing) text += fmt::format(" micro-batch {}", op.microbatch);
    if (op.layer != nothing) text += fmt::format(" layer {}", op.layer);
    if (op.unit != nothing) text += fmt::format(" unit {}", op.unit);
    return text;
  }

  void problem(const Program& program, std::size_t index, std::string_view what) {
    problems_.push_back(name(program, index) + ": " + std::string(what));
  }

  // Bytes are conserved: what a group sends is what it receives.
  void check_sizes(const Program& program, std::size_t index) {
    const Operation& op = program.operations[index];
    const std::int64_t sent = op.elements_sent, received = op.elements_received;
    if (sent < 0 || received < 0) problem(program, index, "negative number of elements");
    if (!moves_data(op.kind)) return;
    if (op.axes == 0 || (op.axes & ~schedule_.grid.all()) != 0) {
      problem(program, index, "runs over an axis that the grid has not");
      return;
    }
    const std::int64_t n = schedule_.grid.size(op.axes);
    switch (op.kind) {
      case OperationKind::all_reduce:
      case OperationKind::broadcast:
        if (sent != received) problem(program, index, "sends and receives different numbers of elements");
        break;
      case OperationKind::all_gather:
        if (received != n * sent) problem(program, index, "does not receive one shard from every rank");
        break;
      case OperationKind::reduce_scatter:
        if (sent != n * received) problem(program, index, "does not send one shard to every rank");
        break;
      case OperationKind::all_to_all:
        if (sent != received || sent % n != 0)
          problem(program, index, "parts of different size for its peers");
        break;
      case OperationKind::send:
      case OperationKind::recv: check_message(program, index, n); break;
      default: break;
    }
  }

  void check_message(const Program& program, std::size_t index, std::int64_t n) {
    const Operation& op = program.operations[index];
    if ((op.axes & (op.axes - 1)) != 0) problem(program, index, "a message travels along one axis");
    else if (schedule_.role_axis < 0 || op.axes != AxisSet{1} << schedule_.role_axis)
      problem(program, index, "a message travels along the axis that tells roles apart");
    else if (op.peer < 0 || op.peer >= n) problem(program, index, "its peer is outside the axis");
    else if (op.peer == program.role) problem(program, index, "is sent to the rank itself");
  }

  void check_waits(const Program& program) {
    std::map<std::int32_t, AxisSet> outstanding;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      const Operation& op = program.operations[i];
      if (moves_data(op.kind) && !op.blocking && !outstanding.emplace(op.handle, op.axes).second)
        problem(program, i, "reuses the handle of an operation that nobody has waited for");
      if (op.kind == OperationKind::wait && outstanding.erase(op.handle) == 0)
        problem(program, i, "waits for an operation that is not outstanding");
      if (op.kind == OperationKind::wait_all)
        std::erase_if(outstanding, [&](const auto& entry) { return entry.second == op.axes; });
    }
    if (!outstanding.empty())
      problems_.push_back(
          fmt::format("role {}: nobody waits for handle {}", program.role, outstanding.begin()->first));
  }

  // Runs one rank per role with rendezvous messages and collectives that wait for every role of their group.
  // Collectives inside one role have the same order on all members by construction.
  struct Rank {
    std::size_t next = 0;
    bool posted = false;                   // the blocking operation at `next` has been announced
    std::map<std::int32_t, bool> done;     // handle → completed
    std::map<std::int32_t, AxisSet> axes;  // handle → axes, until waited for
  };
  struct Post {
    std::int64_t role;
    std::size_t index;
  };

  void check_progress() {
    // The order in which a device runs: operations marked `ahead` have moved up.
    for (const Program& program : schedule_.programs)
      ordered_.push_back({program.role, execution_order(program), program.held_parameters});
    ranks_.resize(ordered_.size());
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t role = 0; role < ranks_.size(); ++role)
        while (step(role)) progress = true;
    }
    for (std::size_t role = 0; role < ranks_.size(); ++role)
      if (ranks_[role].next < ordered_[role].operations.size())
        problem(ordered_[role], ranks_[role].next, "can never complete: the ranks wait for each other");
    if (!problems_.empty()) return;
    for (const auto& [key, posts] : messages_)
      for (const Post& post : posts)
        problem(ordered_[std::size_t(post.role)], post.index, "has no counterpart");
  }

  bool step(std::size_t role) {
    Rank& rank = ranks_[role];
    const std::vector<Operation>& operations = ordered_[role].operations;
    if (rank.next == operations.size()) return false;
    const Operation& op = operations[rank.next];
    if (op.kind == OperationKind::wait) {
      if (!rank.done[op.handle]) return false;
      rank.axes.erase(op.handle);
    } else if (op.kind == OperationKind::wait_all) {
      for (const auto& [handle, axes] : rank.axes)
        if (axes == op.axes && !rank.done[handle]) return false;
      std::erase_if(rank.axes, [&](const auto& entry) { return entry.second == op.axes; });
    } else if (moves_data(op.kind)) {
      if (!rank.posted) {
        rank.posted = true;
        finished_.erase({role, rank.next});
        post(role, rank.next);
      }
      if (op.blocking && !finished_.contains({role, rank.next})) return false;
      if (!op.blocking && !rank.done.contains(op.handle)) rank.done[op.handle] = false;
      if (!op.blocking) rank.axes[op.handle] = op.axes;
    }
    rank.posted = false;
    ++rank.next;
    return true;
  }

  void complete(std::size_t role, std::size_t index) {
    const Operation& op = ordered_[role].operations[index];
    finished_.insert({role, index});
    if (!op.blocking) ranks_[role].done[op.handle] = true;
  }

  void post(std::size_t role, std::size_t index) {
    const Operation& op = ordered_[role].operations[index];
    if (is_message(op.kind)) post_message(role, index);
    else if (schedule_.role_axis >= 0 && (op.axes >> schedule_.role_axis & 1)) post_collective(role, index);
    else complete(role, index);
  }

  void post_message(std::size_t role, std::size_t index) {
    const Operation& op = ordered_[role].operations[index];
    const bool sends = op.kind == OperationKind::send;
    const std::int64_t me = std::int64_t(role), from = sends ? me : op.peer, to = sends ? op.peer : me;
    std::deque<Post>& others = messages_[{from, to, !sends}];
    if (others.empty()) {
      messages_[{from, to, sends}].push_back({me, index});
      return;
    }
    const Post other = others.front();
    others.pop_front();
    const Operation& match = ordered_[std::size_t(other.role)].operations[other.index];
    if (std::max(match.elements_sent, match.elements_received) !=
            std::max(op.elements_sent, op.elements_received) ||
        match.dtype != op.dtype)
      problem(ordered_[role], index,
              "meets " + name(ordered_[std::size_t(other.role)], other.index) + " of another size or type");
    complete(role, index);
    complete(std::size_t(other.role), other.index);
  }

  void post_collective(std::size_t role, std::size_t index) {
    const Operation& op = ordered_[role].operations[index];
    std::vector<std::deque<Post>>& arrived = collectives_[op.axes];
    arrived.resize(ranks_.size());
    arrived[role].push_back({std::int64_t(role), index});
    for (const auto& posts : arrived)
      if (posts.empty()) return;
    for (auto& posts : arrived) {
      const Post post = posts.front();
      posts.pop_front();
      const Operation& match = ordered_[std::size_t(post.role)].operations[post.index];
      if (match.kind != op.kind || match.dtype != op.dtype || match.elements_sent != op.elements_sent)
        problem(ordered_[role], index,
                "meets " + name(ordered_[std::size_t(post.role)], post.index) + " in the same group");
      complete(std::size_t(post.role), post.index);
    }
  }

  const Schedule& schedule_;
  std::vector<Program> ordered_;
  std::vector<std::string> problems_;
  std::vector<Rank> ranks_;
  std::map<std::tuple<std::int64_t, std::int64_t, bool>, std::deque<Post>> messages_;
  std::map<AxisSet, std::vector<std::deque<Post>>> collectives_;
  std::set<std::pair<std::size_t, std::size_t>> finished_;
};

}  // namespace

std::vector<std::string> check(const Schedule& schedule) { return Checker(schedule).run(); }

}  // namespace dlnb
