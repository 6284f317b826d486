// SPDX-License-Identifier: Apache-2.0
// Handles and waits become numbers once per role: the k-th operation on a line in iteration i is number
// i · (operations per iteration) + k, on every rank, and a line completes its operations in order.
#include "executor/sim/program.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "executor/sim/paths.hpp"

namespace dlnb::sim {
namespace {

Doing doing_of(OperationKind kind) {
  if (kind == OperationKind::compute) return Doing::compute;
  if (is_collective(kind)) return Doing::collective;
  if (kind == OperationKind::send) return Doing::send;
  if (kind == OperationKind::recv) return Doing::recv;
  if (is_wait(kind)) return Doing::wait;
  throw Unavailable("simulate", fmt::format("'{}' is not simulated", name_of(kind)), "use a plan without it");
}

std::int32_t line_of(Role& role, Doing doing, const Operation& operation) {
  const std::int32_t peer = doing == Doing::collective ? nothing : operation.peer;
  for (std::size_t l = 0; l < role.lines.size(); ++l) {
    const Line& line = role.lines[l];
    if (line.doing == doing && line.axes == operation.axes && line.peer == peer) return std::int32_t(l);
  }
  role.lines.push_back({.doing = doing, .axes = operation.axes, .peer = peer});
  return std::int32_t(role.lines.size() - 1);
}

double bytes_of(const Operation& operation) {
  return double(std::max(operation.elements_sent, operation.elements_received)) *
         double(size_of(operation.dtype));
}

/// What the trace keeps of the operations of a role.
std::shared_ptr<const SharedTimes::Form> form_of(Role& role) {
  SharedTimes::Form form;
  for (Action& action : role.actions) {
    const bool moves =
        action.doing != Doing::nothing && action.doing != Doing::compute && action.doing != Doing::wait;
    if (moves && (!action.blocking || action.eager)) {
      action.completion = std::int32_t(form.completions++);
      role.lines[std::size_t(action.line)].keeps_completions = true;
    }
    form.completion.push_back(action.completion);
  }
  return std::make_shared<const SharedTimes::Form>(std::move(form));
}

/// An eager send is over when it is issued; everything else on a line has to complete.
std::int32_t count_to_await(const Role& role, const Line& line) {
  for (std::size_t k = line.actions.size(); k-- > 0;)
    if (!role.actions[std::size_t(line.actions[k])].eager) return std::int32_t(k + 1);
  return 0;
}

void await_one(Role& role, Action& wait, std::int32_t handle,
               const std::vector<std::int32_t>& action_of_handle) {
  DLNB_REQUIRE(handle >= 0 && std::size_t(handle) < action_of_handle.size() &&
                   action_of_handle[std::size_t(handle)] >= 0,
               fmt::format("a wait follows the operation with its handle {}", handle));
  const Action& awaited = role.actions[std::size_t(action_of_handle[std::size_t(handle)])];
  if (awaited.doing == Doing::nothing || awaited.eager) return;
  role.targets.push_back({awaited.line, awaited.ordinal + 1});
  wait.targets = 1;
}

void await_all(Role& role, Action& wait, AxisSet axes) {
  for (std::size_t l = 0; l < role.lines.size(); ++l) {
    const Line& line = role.lines[l];
    if (line.axes != axes) continue;
    const std::int32_t count = count_to_await(role, line);
    if (count == 0) continue;
    role.targets.push_back({std::int32_t(l), count});
    ++wait.targets;
  }
}

void find_stretches(Role& role) {
  for (std::size_t first = 0; first < role.actions.size(); ++first) {
    Action& action = role.actions[first];
    const auto continues = [&](const Action& other) {
      return other.doing == Doing::collective && other.blocking && other.line == action.line;
    };
    if (action.doing != Doing::collective || !action.blocking) continue;
    std::size_t last = first;
    for (std::size_t next = first + 1; next < role.actions.size(); ++next) {
      const Action& other = role.actions[next];
      if (continues(other)) last = next;
      else if (other.doing != Doing::compute && other.doing != Doing::nothing) break;
    }
    action.stretch = std::int32_t(last - first);
    first = last;
  }
}

}  // namespace

std::int32_t Role::line_over(AxisSet axes) const {
  for (std::size_t l = 0; l < lines.size(); ++l)
    if (lines[l].doing == Doing::collective && lines[l].axes == axes) return std::int32_t(l);
  return -1;
}

Role reduce(const Program& program, const ProcessGrid& grid) {
  Role role;
  std::vector<std::int32_t> action_of_handle;
  // A lowered program has millions of operations, and nothing to put in another order.
  const bool in_order = std::ranges::none_of(program.operations, &Operation::ahead);
  const std::vector<Operation> reordered = in_order ? std::vector<Operation>{} : execution_order(program);
  role.actions.reserve(program.operations.size());
  for (const Operation& operation : in_order ? program.operations : reordered) {
    const std::int32_t index = std::int32_t(role.actions.size());
    Action action{.doing = doing_of(operation.kind),
                  .blocking = operation.blocking || !moves_data(operation.kind),
                  .kind = operation.kind,
                  .phase = operation.phase};
    // A group of one has nobody to talk to: libraries return at once.
    if (action.doing == Doing::collective && grid.size(operation.axes) == 1) action.doing = Doing::nothing;

    switch (action.doing) {
      case Doing::nothing: break;
      case Doing::compute: action.amount = operation.cost.time.value; break;
      case Doing::wait:
        action.ordinal = std::int32_t(role.targets.size());
        if (operation.kind == OperationKind::wait)
          await_one(role, action, operation.handle, action_of_handle);
        else await_all(role, action, operation.axes);
        break;
      case Doing::collective:
      case Doing::send:
      case Doing::recv: {
        action.amount = operation.kind == OperationKind::barrier ? 0 : bytes_of(operation);
        action.line = line_of(role, action.doing, operation);
        Line& line = role.lines[std::size_t(action.line)];
        action.ordinal = std::int32_t(line.actions.size());
        action.eager = action.doing == Doing::send && action.amount <= eager_limit;
        line.actions.push_back(index);
        break;
      }
    }
    if (moves_data(operation.kind) && operation.handle >= 0) {
      action_of_handle.resize(std::max(action_of_handle.size(), std::size_t(operation.handle) + 1), -1);
      action_of_handle[std::size_t(operation.handle)] = index;
    }
    role.actions.push_back(action);
  }
  find_stretches(role);
  role.form = form_of(role);
  return role;
}

void share_actions(std::vector<Role>& roles) {
  // Where all differ, comparing each with each would take longer than it saves.
  constexpr std::size_t most_compared = 8;
  Role& last = roles.back();
  std::size_t compared = 0;
  for (std::size_t r = roles.size() - 1; r-- > 0 && compared < most_compared;) {
    const Role& other = roles[r];
    if (other.actions.size() != last.actions.size() || other.targets.size() != last.targets.size()) continue;
    ++compared;
    if (!(other.actions == last.actions && other.targets == last.targets)) continue;
    last.actions = other.actions;
    last.targets = other.targets;
    last.form = other.form;
    return;
  }
}

}  // namespace dlnb::sim
