// SPDX-License-Identifier: Apache-2.0
#include "executor/live/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstring>
#include <map>
#include <vector>

#include "executor/live/compute.hpp"
#include "executor/live/pattern.hpp"
#include "executor/live/reduction.hpp"

namespace dlnb {
namespace {

/// What is checked once. All participants have the same, and go through theirs in ascending order, so that no
/// two can wait for each other.
struct Key {
  AxisSet axes;
  OperationKind kind;  ///< of messages always send
  bool blocking;       ///< of messages always true: the two sides may differ
  DataType dtype;
  std::int64_t from, to;  ///< of messages; else root and 0
  std::int64_t elements_sent, elements_received;

  auto operator<=>(const Key&) const = default;
};

Key key_of(const Operation& operation, const Transfer& transfer, int rank) {
  if (!is_message(operation.kind))
    return {operation.axes,         operation.kind,
            operation.blocking,     operation.dtype,
            transfer.peer,          0,
            transfer.elements_sent, transfer.elements_received};
  const bool sends = operation.kind == OperationKind::send;
  const std::int64_t elements = std::max(transfer.elements_sent, transfer.elements_received);
  return {operation.axes,
          OperationKind::send,
          true,
          operation.dtype,
          sends ? rank : transfer.peer,
          sends ? transfer.peer : rank,
          elements,
          elements};
}

Pattern pattern_of(const Key& key, std::int64_t members) {
  return {key.dtype, members, mix(std::uint64_t(key.elements_sent), std::uint64_t(key.kind), key.axes)};
}

/// Calls `look` for all positions, or of a large buffer for both ends and a few thousand between.
template <class Look>
void each_position(std::int64_t elements, Look look) {
  constexpr std::int64_t all = 65'536, ends = 1024, between = 4096;
  if (elements <= all) {
    for (std::int64_t i = 0; i < elements; ++i) look(i);
    return;
  }
  for (std::int64_t i = 0; i < ends; ++i) look(i), look(elements - 1 - i);
  for (std::int64_t i = ends; i < elements - ends; i += elements / between | 1) look(i);
}

class Check {
 public:
  Check(const Key& key, const Transfer& transfer, std::int64_t members, std::int64_t me)
      : key_(key), transfer_(transfer), pattern_(pattern_of(key, members)), members_(members), me_(me) {}

  void prepare(std::byte* send) {
    std::byte* const receive = transfer_.receive;
    const std::int64_t sent = transfer_.elements_sent, received = transfer_.elements_received;
    // What is not written shows.
    std::memset(receive, 0xa5, std::size_t(received * size_of(key_.dtype)));
    switch (transfer_.kind) {
      case OperationKind::all_reduce:
      case OperationKind::reduce_scatter: pattern_.fill_numbers(send, sent, me_); break;
      case OperationKind::all_gather: pattern_.fill_tags(send, sent, me_, 0); break;
      case OperationKind::all_to_all:
        for (std::int64_t to = 0; to < members_; ++to)
          pattern_.fill_tags(part(send, to), sent / members_, me_, to);
        break;
      case OperationKind::broadcast:
        if (me_ == transfer_.peer) pattern_.fill_tags(receive, received, me_, 0);
        break;
      case OperationKind::send: pattern_.fill_tags(send, sent, key_.from, key_.to); break;
      default: break;
    }
  }

  void clear(std::byte* send) {
    const std::int64_t size = size_of(key_.dtype);
    std::memset(transfer_.receive, 0, std::size_t(transfer_.elements_received * size));
    if (transfer_.kind != OperationKind::broadcast)
      std::memset(send, 0, std::size_t(transfer_.elements_sent * size));
  }

  std::string mismatch() const {
    const std::int64_t received = transfer_.elements_received;
    switch (transfer_.kind) {
      case OperationKind::all_reduce: return compare_sums(0);
      case OperationKind::reduce_scatter: return compare_sums(me_ * received);
      case OperationKind::all_gather:
        return compare_parts(received / members_,
                             [](std::int64_t from) { return std::pair{from, std::int64_t{0}}; });
      case OperationKind::all_to_all:
        return compare_parts(received / members_, [this](std::int64_t from) { return std::pair{from, me_}; });
      case OperationKind::broadcast: return compare_tags(transfer_.receive, received, 0, transfer_.peer, 0);
      case OperationKind::recv: return compare_tags(transfer_.receive, received, 0, key_.from, key_.to);
      default: return {};
    }
  }

 private:
  std::byte* part(std::byte* buffer, std::int64_t index) const {
    return buffer + index * (transfer_.elements_sent / members_) * size_of(key_.dtype);
  }

  std::string compare_sums(std::int64_t first) const {
    std::string problem;
    const std::int64_t size = size_of(key_.dtype);
    each_position(transfer_.elements_received, [&](std::int64_t i) {
      const float found = reduction::decode(key_.dtype, transfer_.receive + i * size);
      const float expected = float(pattern_.sum(first + i));
      if (problem.empty() && found != expected)
        problem = fmt::format("element {} of {} is {}, should be {}", i, transfer_.elements_received, found,
                              expected);
    });
    return problem;
  }

  template <class Tag>
  std::string compare_parts(std::int64_t elements, Tag tag) const {
    for (std::int64_t from = 0; from < members_; ++from) {
      const auto [source, target] = tag(from);
      const std::int64_t first = from * elements;
      if (std::string problem =
              compare_tags(transfer_.receive + first * size_of(key_.dtype), elements, first, source, target);
          !problem.empty())
        return problem;
    }
    return {};
  }

  std::string compare_tags(const std::byte* data, std::int64_t elements, std::int64_t first,
                           std::int64_t from, std::int64_t to) const {
    std::string problem;
    const std::size_t size = std::size_t(size_of(key_.dtype));
    each_position(elements, [&](std::int64_t i) {
      std::array<std::byte, 4> expected{};
      pattern_.tag(from, to, i, expected.data());
      const std::byte* const found = data + std::size_t(i) * size;
      if (problem.empty() && std::memcmp(found, expected.data(), size) != 0)
        problem =
            fmt::format("element {} of {} is not what member {} sent there (bytes {:02x}, should be {:02x})",
                        first + i, transfer_.elements_received, from, int(found[0]), int(expected[0]));
    });
    return problem;
  }

  const Key& key_;
  const Transfer& transfer_;
  const Pattern pattern_;
  const std::int64_t members_, me_;
};

}  // namespace

Verification verify(const Schedule& schedule, const Binding& binding, Transport& transport,
                    Watchdog& watchdog) {
  std::map<Key, std::size_t> distinct;
  for (std::size_t i = 0; i < binding.actions.size(); ++i) {
    const Action& action = binding.actions[i];
    if (action.what == Action::What::run || action.what == Action::What::start)
      distinct.try_emplace(key_of(binding.operations[i], action.transfer, transport.rank()), i);
  }
  Verification result;
  for (const auto& [key, index] : distinct) {
    const Action& action = binding.actions[index];
    const Group group = schedule.grid.group(transport.rank(), key.axes);
    Check check(key, action.transfer, group.size(), group.index_of(transport.rank()));
    std::byte* const send =
        const_cast<std::byte*>(action.transfer.send);  // our own buffer, const to libraries only
    check.prepare(send);
    watchdog.enter(int(index), monotonic_clock().now());
    if (action.what == Action::What::run) {
      transport.run(action.transfer);
    } else {
      transport.start(action.slot, action.transfer);
      transport.wait(action.slot);
    }
    watchdog.leave();
    ++result.operations;
    if (std::string problem = check.mismatch(); result.mismatch.empty() && !problem.empty())
      result.mismatch = fmt::format("rank {}, {}: {}", transport.rank(),
                                    describe(schedule, binding.operations[index], index), problem);
    check.clear(send);
  }
  return result;
}

}  // namespace dlnb
