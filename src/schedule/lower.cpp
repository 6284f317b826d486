// SPDX-License-Identifier: Apache-2.0
// Collectives as sends and receives. In a lowered schedule every rank has a program of its own and all messages travel
// along the one axis "rank". Of every round of an algorithm a rank posts its receives and sends and waits for them
// before it begins the next.
// Adding up costs nothing, as in the coupled form. A non-blocking collective is done where it is issued: a program has
// no second thread that could go on with its rounds.
#include <dlnb/error.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

class Lowering {
 public:
  Lowering(const Schedule& schedule, const LowerSpec& spec) : schedule_(schedule), spec_(spec) {}

  Schedule run() {
    refuse_many();
    Schedule lowered = schedule_;
    lowered.grid = ProcessGrid({{"rank", schedule_.grid.ranks()}});
    lowered.role_axis = 0;
    lowered.programs.clear();
    for (std::int64_t rank = 0; rank < schedule_.grid.ranks(); ++rank)
      lowered.programs.push_back(program_of(rank));
    lowered.notes.push_back(
        "collectives are sends and receives; non-blocking ones are done where they are issued");
    return lowered;
  }

 private:
  /// One member's hops of one collective, by rounds.
  using Own = std::vector<std::vector<Hop>>;
  struct Done {
    std::vector<std::int64_t> ranks;
    std::vector<Own> of_member;
  };

  Program program_of(std::int64_t rank) {
    const Program& original = schedule_.program_of(rank);
    Program program{rank, {}, original.held_parameters, original.memory};
    int free_handle = 0;
    for (const Operation& operation : original.operations)
      free_handle = std::max(free_handle, operation.handle + 1);
    std::map<std::int32_t, AxisSet> outstanding;  // messages of the original
    for (Operation operation : execution_order(original)) {
      operation.ahead = false;
      if (is_collective(operation.kind)) {
        add_collective(program, rank, operation, free_handle);
      } else if (is_message(operation.kind)) {
        operation.peer = std::int32_t(peer_of(schedule_, rank, operation));
        if (!operation.blocking) outstanding[operation.handle] = operation.axes;
        operation.axes = 1;
        program.operations.push_back(operation);
      } else if (operation.kind == OperationKind::wait) {
        if (outstanding.erase(operation.handle) == 0) continue;  // of a collective: it is done
        operation.axes = 1;
        program.operations.push_back(operation);
      } else if (operation.kind == OperationKind::wait_all) {
        std::erase_if(outstanding, [&](const auto& message) {
          if (message.second == operation.axes)
            program.operations.push_back(wait_for(operation, message.first));
          return message.second == operation.axes;
        });
      } else {
        program.operations.push_back(operation);
      }
    }
    added_ += std::int64_t(program.operations.size());
    if (added_ > most_operations) refuse(rank);
    return program;
  }

  [[noreturn]] void refuse(std::int64_t rank) const {
    throw UserError(spec_.where,
                    fmt::format("more than {} operations, with rank {} of {}", most_operations, rank,
                                schedule_.grid.ranks()),
                    "lower a smaller plan: messages grow with the square of a group");
  }

  /// Before the rounds of large groups take more memory than their programs may: from what algorithms say of themselves.
  void refuse_many() const {
    std::map<Key, std::int64_t> of_member;
    std::int64_t added = 0;
    for (std::int64_t rank = 0; rank < schedule_.grid.ranks(); ++rank) {
      for (const Operation& operation : schedule_.program_of(rank).operations) {
        if (!is_collective(operation.kind)) {
          added += is_wait(operation.kind) ? 0 : 1;
          continue;
        }
        const Group group = schedule_.grid.group(rank, operation.axes);
        const auto [at, is_new] = of_member.try_emplace(key_of(group, operation));
        if (is_new) at->second = operations_of_member(group, operation);
        added += at->second;
      }
      if (added > most_operations) refuse(rank);
    }
  }

  /// A send and a receive of each of its messages, and a wait for each of these; 0 where they are few.
  std::int64_t operations_of_member(const Group& group, const Operation& operation) const {
    if (group.size() < 2) return 0;
    const std::vector<Member> members = members_of(group.ranks());
    const Collective& algorithm = algorithm_for(operation.kind, members);
    if (algorithm.messages == nullptr) return 0;
    return 4 * algorithm.messages(operation.kind, members, elements_of(operation)) / group.size();
  }

  using Key = std::tuple<AxisSet, std::int64_t, OperationKind, std::int64_t>;
  static Key key_of(const Group& group, const Operation& operation) {
    return {operation.axes, group.base, operation.kind, elements_of(operation)};
  }
  static std::int64_t elements_of(const Operation& operation) {
    return std::max(operation.elements_sent, operation.elements_received);
  }
  std::vector<Member> members_of(const std::vector<std::int64_t>& ranks) const {
    std::vector<Member> members;
    for (const std::int64_t each : ranks)
      members.push_back(spec_.members.empty() ? Member{int(each), 0, 0} : spec_.members[std::size_t(each)]);
    return members;
  }

  static Operation wait_for(const Operation& like, std::int32_t handle) {
    Operation wait;
    wait.kind = OperationKind::wait;
    wait.phase = like.phase;
    wait.dtype = like.dtype;
    wait.axes = 1;
    wait.handle = handle;
    wait.layer = like.layer, wait.microbatch = like.microbatch, wait.unit = like.unit;
    return wait;
  }

  void add_collective(Program& program, std::int64_t rank, const Operation& operation, int free_handle) {
    const Done& done = rounds_of(rank, operation);
    const auto me = std::size_t(std::ranges::find(done.ranks, rank) - done.ranks.begin());
    if (done.of_member.empty()) return;  // alone
    for (const std::vector<Hop>& round : done.of_member[me]) {
      int handle = free_handle;
      const auto post = [&](const Hop& each, bool sends) {
        Operation message = wait_for(operation, handle++);
        message.kind = sends ? OperationKind::send : OperationKind::recv;
        message.blocking = false;
        message.peer = std::int32_t(done.ranks[std::size_t(sends ? each.to : each.from)]);
        (sends ? message.elements_sent : message.elements_received) = each.count;
        program.operations.push_back(message);
      };
      for (const Hop& each : round)
        if (each.to == std::int32_t(me)) post(each, false);
      for (const Hop& each : round)
        if (each.from == std::int32_t(me)) post(each, true);
      for (int waited = free_handle; waited < handle; ++waited)
        program.operations.push_back(wait_for(operation, waited));
    }
  }

  const Done& rounds_of(std::int64_t rank, const Operation& operation) {
    const Group group = schedule_.grid.group(rank, operation.axes);
    const std::int64_t elements = elements_of(operation);
    const auto [at, is_new] = done_.try_emplace(key_of(group, operation));
    Done& done = at->second;
    if (!is_new) return done;
    done.ranks = group.ranks();
    if (done.ranks.size() < 2) return done;
    const std::vector<Member> members = members_of(done.ranks);
    const std::vector<Round> rounds =
        algorithm_for(operation.kind, members).rounds(operation.kind, members, elements);
    done.of_member.resize(done.ranks.size());
    std::vector<std::size_t> last(done.ranks.size(), std::size_t(-1));
    for (std::size_t r = 0; r < rounds.size(); ++r)
      for (const Hop& each : rounds[r]) {
        // A part without elements is no message, unless the operation itself is empty.
        if (each.count == 0 && elements > 0) continue;
        for (const std::int32_t end : {each.from, each.to}) {
          if (last[std::size_t(end)] != r) done.of_member[std::size_t(end)].emplace_back();
          last[std::size_t(end)] = r;
          done.of_member[std::size_t(end)].back().push_back(each);
        }
      }
    return done;
  }

  const Collective& algorithm_for(OperationKind kind, std::span<const Member> members) const {
    const GroupShape shape = shape_of(members);
    const auto can = [&](const Collective& algorithm) {
      return algorithm.handles(kind) && algorithm.rounds != nullptr &&
             (algorithm.fits == nullptr || algorithm.fits(kind, shape));
    };
    if (spec_.algorithm != nullptr && can(*spec_.algorithm)) return *spec_.algorithm;
    for (const char* usual : {"ring", "pairwise"})
      if (const Collective& algorithm = entry_called(collectives::all(), usual, spec_.where); can(algorithm))
        return algorithm;
    DLNB_REQUIRE(false, "ring and pairwise do every collective");
    return *spec_.algorithm;
  }

  /// Each takes about 100 bytes.
  static constexpr std::int64_t most_operations = 20'000'000;

  const Schedule& schedule_;
  const LowerSpec& spec_;
  std::map<Key, Done> done_;
  std::int64_t added_ = 0;
};

}  // namespace

Schedule lower(const Schedule& schedule, const LowerSpec& spec) {
  if (spec.algorithm != nullptr && spec.algorithm->rounds == nullptr)
    throw UserError(spec.where,
                    fmt::format("'{}' is done by switches, not by messages", spec.algorithm->name),
                    "choose one of those that ranks can do, such as ring, tree or halving_doubling");
  return Lowering(schedule, spec).run();
}

}  // namespace dlnb
