// SPDX-License-Identifier: Apache-2.0
// What every algorithm's messages do to the data, and that they are the flows of its coupled form.
#include <dlnb/collective.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace dlnb {
namespace {

std::vector<Member> members(int nodes, int per_node, int nics) {
  std::vector<Member> members;
  for (int i = 0; i < nodes * per_node; ++i)
    members.push_back({i, i / per_node, i % per_node * nics / per_node});
  return members;
}

/// Every member's vector, after the rounds have been done to what it begins with. A value is a set of contributions:
/// bit m for member m's.
using Data = std::vector<std::vector<std::uint64_t>>;

Data apply(const std::vector<Round>& rounds, Data data) {
  for (const Round& round : rounds) {
    const Data before = data;  // hops of a round go on at once
    for (const Hop& hop : round)
      for (std::int64_t e = hop.first; e < hop.first + hop.count; ++e) {
        const std::uint64_t sent = before[std::size_t(hop.from)][std::size_t(e)];
        std::uint64_t& there = data[std::size_t(hop.to)][std::size_t(e)];
        EXPECT_TRUE(!hop.reduces || (there & sent) == 0) << "added twice";
        there = hop.reduces ? there | sent : sent;
      }
  }
  return data;
}

struct Case {
  const Collective* collective;
  OperationKind kind;
  std::vector<Member> group;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Collective* collective : collectives::all()) {
    if (collective->rounds == nullptr) continue;
    for (int k = 0; k <= int(OperationKind::remote_call); ++k) {
      if (!collective->handles(OperationKind(k))) continue;
      for (const auto& group : {members(1, 2, 1), members(1, 3, 1), members(1, 8, 1), members(2, 2, 2),
                                members(3, 4, 2), members(4, 2, 2), members(5, 1, 1), members(8, 4, 4)})
        if (collective->fits == nullptr || collective->fits(OperationKind(k), shape_of(group)))
          all.push_back({collective, OperationKind(k), group});
    }
  }
  return all;
}

std::string called(const Case& c) {
  return std::string(c.collective->name) + " " + name_of(c.kind) + " of " + std::to_string(c.group.size()) +
         " on " + std::to_string(shape_of(c.group).nodes);
}

TEST(Rounds, DoWhatTheCollectiveIsFor) {
  for (const Case& c : cases())
    for (const std::int64_t elements :
         {std::int64_t{1}, std::int64_t{7}, std::int64_t(c.group.size()) * 4 + 1}) {
      SCOPED_TRACE(called(c) + ", " + std::to_string(elements) + " elements");
      const auto n = std::int64_t(c.group.size());
      const auto part = [&](std::int64_t m) {
        const auto begin = [&](std::int64_t i) { return elements / n * i + elements % n * i / n; };
        return std::pair{begin(m), begin(m + 1)};
      };
      const std::uint64_t everybody = (std::uint64_t{1} << n) - 1;
      Data data(c.group.size(), std::vector<std::uint64_t>(std::size_t(elements), 0));
      for (std::int64_t m = 0; m < n; ++m)
        for (std::int64_t e = 0; e < elements; ++e) {
          const bool own = part(m).first <= e && e < part(m).second;
          const bool has =
              c.kind == OperationKind::broadcast ? m == 0 : c.kind != OperationKind::all_gather || own;
          if (has) data[std::size_t(m)][std::size_t(e)] = std::uint64_t{1} << m;
        }
      const std::vector<Round> rounds = c.collective->rounds(c.kind, c.group, elements);
      if (c.kind == OperationKind::all_to_all) {  // parts change places: everyone's to everyone, once
        std::map<std::pair<int, int>, std::int64_t> sent;
        for (const Round& round : rounds)
          for (const Hop& hop : round) {
            EXPECT_EQ(std::pair(hop.first, hop.first + hop.count), part(hop.to));
            EXPECT_TRUE(sent.emplace(std::pair(hop.from, hop.to), hop.count).second);
          }
        EXPECT_EQ(std::int64_t(sent.size()), n * (n - 1));
        continue;
      }

      const Data after = apply(rounds, data);

      for (std::int64_t m = 0; m < n; ++m)
        for (std::int64_t e = 0; e < elements; ++e) {
          const std::uint64_t value = after[std::size_t(m)][std::size_t(e)];
          std::int64_t owner = 0;
          while (e >= part(owner).second) ++owner;
          const bool sums = c.kind == OperationKind::all_reduce || c.kind == OperationKind::barrier;
          if (c.kind == OperationKind::reduce_scatter && owner != m) continue;
          const std::uint64_t expected = sums || c.kind == OperationKind::reduce_scatter ? everybody
                                         : c.kind == OperationKind::broadcast            ? 1
                                                                              : std::uint64_t{1} << owner;
          ASSERT_EQ(value, expected) << "member " << m << " element " << e;
        }
    }
}

TEST(Rounds, MoveWhatTheCoupledFormMoves) {
  for (const Case& c : cases()) {
    if (c.kind == OperationKind::barrier) continue;
    SCOPED_TRACE(called(c));
    const std::int64_t elements = 2 * 3 * 5 * 256;  // no rest in any of the groups
    std::map<std::pair<int, int>, double> messages, flows;
    for (const Round& round : c.collective->rounds(c.kind, c.group, elements))
      for (const Hop& hop : round)
        if (hop.count > 0) messages[{hop.from, hop.to}] += double(hop.count);

    for (const Flow& flow : c.collective->traffic(c.kind, c.group, double(elements)).flows)
      flows[{flow.from, flow.to}] += flow.bytes;

    ASSERT_EQ(messages.size(), flows.size());
    for (const auto& [pair, bytes] : flows)
      EXPECT_NEAR(messages[pair], bytes, 1e-6 * bytes) << pair.first << " to " << pair.second;
  }
}

TEST(Rounds, HaveAsManyMessagesAsTheySay) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(called(c));
    for (const std::int64_t elements : {0, 1, 1 << 20}) {
      std::int64_t messages = 0;
      for (const Round& round : c.collective->rounds(c.kind, c.group, elements))
        messages += std::ranges::count_if(round, [&](const Hop& h) { return h.count > 0 || elements == 0; });
      if (c.collective->messages != nullptr)
        EXPECT_EQ(c.collective->messages(c.kind, c.group, elements), messages) << elements;
      else EXPECT_LE(messages, 128 * std::int64_t(c.group.size()) * shape_of(c.group).rails);
    }
  }
}

TEST(Rounds, AreAsManyAsTheStepsOfTheLongestWay) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(called(c));
    const Traffic traffic = c.collective->traffic(c.kind, c.group, 1);
    // One element is one piece.
    const std::size_t rounds = c.collective->rounds(c.kind, c.group, 1).size();
    const Steps steps = c.collective->steps(c.kind, shape_of(c.group));

    EXPECT_EQ(int(rounds), traffic.steps);
    EXPECT_DOUBLE_EQ(steps.node + steps.network, traffic.steps);
  }
}

TEST(Load, IsThatOfTheBusiestDeviceAndNic) {
  for (const Collective* collective : collectives::all())
    for (int k = 0; k <= int(OperationKind::remote_call); ++k) {
      const OperationKind kind = OperationKind(k);
      if (!collective->handles(kind)) continue;
      for (const auto& group : {members(1, 4, 1), members(2, 4, 4), members(4, 4, 2), members(8, 8, 8)}) {
        GroupShape shape = shape_of(group);
        shape.node_reduces = shape.network_reduces = true;
        if (collective->fits && !collective->fits(kind, shape)) continue;
        SCOPED_TRACE(std::string(collective->name) + " " + name_of(kind) + " on " +
                     std::to_string(shape.nodes));
        std::map<int, double> inside;
        std::map<std::pair<int, int>, double> nics;
        for (const Flow& flow : collective->traffic(kind, group, 1).flows) {
          const Member &from = group[std::size_t(flow.from)], &to = group[std::size_t(flow.to)];
          if (from.node == to.node) inside[flow.from] += flow.bytes;
          else nics[{from.node, from.nic}] += flow.bytes;
        }
        double device = 0, nic = 0;
        for (const auto& [who, bytes] : inside) device = std::max(device, bytes);
        for (const auto& [who, bytes] : nics) nic = std::max(nic, bytes);

        const Load load = collective->load(kind, shape);

        EXPECT_NEAR(load.nic, nic, 1e-12);
        // Where a device's last edge leaves the node it sends less inside: the load is a bound then.
        EXPECT_GE(load.device, device - 1e-12);
        EXPECT_LE(load.device, std::max(1.5 * device, 1e-12));
      }
    }
}

}  // namespace
}  // namespace dlnb
