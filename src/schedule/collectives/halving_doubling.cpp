// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling. With p = 2^k members, S bytes:
//   all-reduce       halves of halves are exchanged and added with the members at distance 1, 2, 4, …, then spread
//                    back the same way (vector halving with distance doubling: the large messages stay near):
//                    2 log2 p steps, 2(p-1)/p · S sent
//   reduce-scatter   distances p/2, …, 1, so that everybody ends with its own part: log2 p steps, (p-1)/p · S
//   all-gather       the same backwards
// Where n is not a power of two, the last n-p members of an all-reduce first hand their vector to a partner and get the
// result in the end: two more steps of S bytes.
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", IJHPCA
// 19(1), 2005; R. Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004.
#include <algorithm>
#include <bit>

#include "parts.hpp"

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier ||
         kind == OperationKind::all_gather || kind == OperationKind::reduce_scatter;
}

bool is_both(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier;
}

bool fits(OperationKind kind, const GroupShape& shape) {
  return is_both(kind) || std::has_single_bit(unsigned(shape.members));
}

/// Every member's messages, in rounds. With a vector large enough to be halved without a rest these are the flows too.
std::vector<Round> rounds(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  const int n = int(members.size());
  const int power = int(std::bit_floor(unsigned(n)));
  const int levels = std::bit_width(unsigned(power)) - 1;
  std::vector<Round> rounds;
  const Part all{0, elements};
  auto fold = [&](bool reduces) {
    if (power == n) return;
    Round& round = rounds.emplace_back();
    for (int extra = power; extra < n; ++extra)
      round.push_back(reduces ? hop(extra, extra - power, all, true) : hop(extra - power, extra, all, false));
  };

  // What a member still works on after `level` halvings, as a range of the p parts.
  struct Range {
    int first, end;
  };
  const auto distance = [&](int level) { return is_both(kind) ? 1 << level : power >> (level + 1); };
  const auto held = [&](int member, int level) {
    Range range{0, power};
    for (int l = 0; l < level; ++l) {
      const int middle = (range.first + range.end) / 2;
      ((member & distance(l)) != 0 ? range.first : range.end) = middle;
    }
    const Part last = part_of(all, range.end - 1, power), first = part_of(all, range.first, power);
    return Part{first.first, last.first + last.count - first.first};
  };

  if (is_both(kind)) fold(true);
  if (kind != OperationKind::all_gather)
    for (int level = 0; level < levels; ++level) {
      Round& round = rounds.emplace_back();
      for (int i = 0; i < power; ++i) {
        const int partner = i ^ distance(level);
        round.push_back(hop(i, partner, held(partner, level + 1), true));
      }
    }
  if (kind != OperationKind::reduce_scatter)
    for (int level = levels; level-- > 0;) {
      Round& round = rounds.emplace_back();
      for (int i = 0; i < power; ++i) round.push_back(hop(i, i ^ distance(level), held(i, level + 1), false));
    }
  if (is_both(kind)) fold(false);
  return rounds;
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  Traffic traffic;
  if (members.size() < 2) return traffic;
  const std::int64_t whole = std::int64_t(std::bit_floor(members.size()));  // halves without a rest
  for (const Round& round : rounds(kind, members, whole)) {
    for (const Hop& each : round)
      traffic.flows.push_back(
          {each.from, each.to,
           kind == OperationKind::barrier ? 0 : double(each.count) / double(whole) * bytes});
    ++traffic.steps;
  }
  return traffic;
}

int levels_of(int members) { return std::bit_width(std::bit_floor(unsigned(members))) - 1; }

Steps steps(OperationKind kind, const GroupShape& shape) {
  const int each = is_both(kind) ? 2 : 1;
  const double all =
      each * (levels_of(shape.members) + (std::has_single_bit(unsigned(shape.members)) ? 0 : 1));
  if (shape.nodes == 1) return {all, 0};
  // Neighbours share a node.
  const double inside = shape.even ? each * levels_of(shape.members / shape.nodes) : 0;
  return {inside, all - inside};
}

Load load(OperationKind kind, const GroupShape& shape) {
  if (kind == OperationKind::barrier) return {};
  const double here = shape.per_node(), n = shape.nodes;
  if (is_both(kind)) return {2 * (here - 1) / here, n > 1 ? 2 * (n - 1) / n / shape.rails : 0};
  // The largest messages go farthest.
  return {(here - 1) / here / n, n > 1 ? (n - 1) / n * here / shape.rails : 0};
}

}  // namespace

extern constinit const Collective halving_doubling{
    .name = "halving_doubling",
    .summary = "recursive halving and doubling; bandwidth-optimal in logarithmic steps",
    .handles = handles,
    .fits = fits,
    .traffic = traffic,
    .steps = steps,
    .load = load,
    .rounds = rounds,
};

}  // namespace dlnb::collectives
