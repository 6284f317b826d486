// SPDX-License-Identifier: Apache-2.0
#include <dlnb/collective.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace dlnb {
namespace {

constexpr double size = 12000;

const Collective& algorithm(std::string_view name) { return entry_called(collectives::all(), name, "test"); }

std::vector<Member> members(int nodes, int per_node) {
  std::vector<Member> members;
  for (int i = 0; i < nodes * per_node; ++i) members.push_back({i, i / per_node, i % per_node});
  return members;
}

double sum(const Traffic& traffic) {
  double bytes = 0;
  for (const Flow& flow : traffic.flows) bytes += flow.bytes;
  return bytes;
}

TEST(Ring, CarriesTheTextbookAmounts) {
  const auto four = members(1, 4);
  const Collective& ring = algorithm("ring");

  const Traffic all_reduce = ring.traffic(OperationKind::all_reduce, four, size);
  const Traffic gather = ring.traffic(OperationKind::all_gather, four, size);
  const Traffic broadcast = ring.traffic(OperationKind::broadcast, four, size);
  const Traffic barrier = ring.traffic(OperationKind::barrier, four, 0);

  ASSERT_EQ(all_reduce.flows.size(), 4u);
  EXPECT_DOUBLE_EQ(all_reduce.flows[0].bytes, 2.0 * 3 / 4 * size);
  EXPECT_EQ(all_reduce.steps, 2 * 3);
  EXPECT_DOUBLE_EQ(gather.flows[0].bytes, 3.0 / 4 * size);
  EXPECT_EQ(gather.steps, 3);
  EXPECT_EQ(broadcast.flows.size(), 3u);
  EXPECT_DOUBLE_EQ(sum(broadcast), 3 * size);
  EXPECT_EQ(sum(barrier), 0);
  EXPECT_EQ(barrier.steps, 2 * 3);
}

TEST(Ring, LeavesEachNodeOncePerRailAndStaysOnIt) {
  const auto group = members(4, 4);

  const Traffic traffic = algorithm("ring").traffic(OperationKind::all_reduce, group, size);

  // Four rings of 16 edges with a quarter each; per node and ring one edge out, each through another NIC.
  ASSERT_EQ(traffic.flows.size(), 4u * 16);
  EXPECT_DOUBLE_EQ(traffic.flows[0].bytes, 2.0 * 15 / 16 * size / 4);
  std::map<int, std::multiset<int>> nics_out;
  for (const Flow& flow : traffic.flows) {
    const Member &from = group[std::size_t(flow.from)], &to = group[std::size_t(flow.to)];
    if (from.node == to.node) continue;
    nics_out[from.node].insert(from.nic);
    EXPECT_EQ(from.nic, to.nic);
  }
  ASSERT_EQ(nics_out.size(), 4u);
  for (const auto& [node, nics] : nics_out)
    EXPECT_EQ(nics, (std::multiset<int>{0, 1, 2, 3})) << "node " << node;
}

TEST(Ring, VisitsNodesOneAfterTheOtherWhateverTheOrderOfTheGroup) {
  const std::vector<Member> scattered{{0, 0, 0}, {4, 1, 0}, {1, 0, 1}, {5, 1, 1}, {8, 2, 0}, {9, 2, 1}};

  const Traffic traffic = algorithm("ring").traffic(OperationKind::all_gather, scattered, size);

  int between_nodes = 0;
  for (const Flow& flow : traffic.flows)
    between_nodes += scattered[std::size_t(flow.from)].node != scattered[std::size_t(flow.to)].node;
  EXPECT_EQ(traffic.flows.size(), 2u * 6);
  EXPECT_EQ(between_nodes, 2 * 3);
}

TEST(Ring, HasAsManyRingsAsTheNodeWithTheFewestNics) {
  const std::vector<Member> uneven{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {4, 1, 0}, {5, 1, 1}};

  const Traffic traffic = algorithm("ring").traffic(OperationKind::all_gather, uneven, size);

  EXPECT_EQ(traffic.flows.size(), 2u * 5);
}

TEST(MeshRings, SpreadOverAllCables) {
  const Traffic traffic = algorithm("mesh_rings").traffic(OperationKind::all_reduce, members(1, 4), size);

  std::map<std::pair<int, int>, double> cable;
  for (const Flow& flow : traffic.flows) cable[{flow.from, flow.to}] += flow.bytes;
  ASSERT_EQ(cable.size(), 4u * 3);
  for (const auto& [ends, bytes] : cable) EXPECT_NEAR(bytes, 2.0 * 3 / 4 * size / 3, 1e-9);
}

class Exchange : public testing::TestWithParam<const char*> {};

TEST_P(Exchange, SendsOnePartToEachOther) {
  const Traffic traffic = algorithm(GetParam()).traffic(OperationKind::all_to_all, members(2, 4), size);

  std::set<std::pair<int, int>> pairs;
  for (const Flow& flow : traffic.flows) {
    pairs.emplace(flow.from, flow.to);
    EXPECT_DOUBLE_EQ(flow.bytes, size / 8);
    EXPECT_NE(flow.from, flow.to);
  }
  EXPECT_EQ(pairs.size(), 8u * 7);
  EXPECT_EQ(traffic.flows.size(), 8u * 7);
  EXPECT_EQ(traffic.steps, std::string_view(GetParam()) == "direct" ? 1 : 7);
}
INSTANTIATE_TEST_SUITE_P(AllToAll, Exchange, testing::Values("direct", "pairwise"));

TEST(Tree, LeadsFromTheDeepestMemberToTheRootAndBackInLogarithmicSteps) {
  int depth = 0;  // floor(log2(N-1)) + 1
  for (int nodes = 2; nodes <= 70; ++nodes) {
    if (((nodes - 1) & (nodes - 2)) == 0) ++depth;

    const Traffic traffic = algorithm("tree").traffic(OperationKind::all_reduce, members(nodes, 4), size);

    ASSERT_EQ(traffic.critical.size(), std::size_t(2 * (depth + 4 - 1))) << nodes;
    EXPECT_EQ(traffic.steps, int(traffic.critical.size()));
    for (std::size_t i = 1; i < traffic.critical.size(); ++i)
      EXPECT_EQ(traffic.flows[std::size_t(traffic.critical[i])].from,
                traffic.flows[std::size_t(traffic.critical[i - 1])].to);
  }
}

TEST(Tree, SpansTheGroupTwicePerRail) {
  for (const int nodes : {2, 3, 8, 13}) {
    const auto group = members(nodes, 2);
    const Traffic traffic = algorithm("tree").traffic(OperationKind::all_reduce, group, size);

    // n-1 edges, up and down, in two trees on each of two rails, with S/4 each.
    ASSERT_EQ(traffic.flows.size(), (group.size() - 1) * 2 * 2 * 2);
    const std::size_t one_tree = traffic.flows.size() / 4;
    for (std::size_t tree = 0; tree < 4; ++tree) {
      std::set<int> children;
      for (std::size_t f = tree * one_tree; f < (tree + 1) * one_tree; f += 2) {
        EXPECT_TRUE(children.insert(traffic.flows[f].from).second);  // one parent each
        EXPECT_DOUBLE_EQ(traffic.flows[f].bytes, size / 4);
        EXPECT_EQ(traffic.flows[f].from, traffic.flows[f + 1].to);
        EXPECT_EQ(traffic.flows[f].to, traffic.flows[f + 1].from);
      }
      EXPECT_EQ(children.size(), group.size() - 1);
    }
  }
}

TEST(Tree, LetsNoNicSendMoreThanTheVectorTwice) {
  for (const int nodes : {2, 3, 8, 13, 64}) {
    const auto group = members(nodes, 1);
    const Traffic traffic = algorithm("tree").traffic(OperationKind::all_reduce, group, size);

    std::map<int, double> sent;
    for (const Flow& flow : traffic.flows) sent[flow.from] += flow.bytes;
    for (const auto& [member, bytes] : sent)
      EXPECT_LE(bytes, 2 * size * (1 + 1e-12)) << nodes << " nodes, " << member;
  }
}

TEST(EveryCollective, HandlesSomethingAndIsProportionalToTheBytes) {
  for (const Collective* collective : collectives::all())
    for (int k = 0; k <= int(OperationKind::remote_call); ++k) {
      const OperationKind kind = OperationKind(k);
      if (!collective->handles(kind)) continue;
      EXPECT_TRUE(is_collective(kind)) << collective->name;
      for (const auto& group : {members(1, 1), members(1, 2), members(3, 2), members(2, 5), members(4, 4)}) {
        GroupShape shape = shape_of(group);
        shape.node_reduces = shape.network_reduces = true;
        if (collective->fits && !collective->fits(kind, shape)) continue;
        const Traffic one = collective->traffic(kind, group, size),
                      three = collective->traffic(kind, group, 3 * size);

        ASSERT_EQ(one.flows.size(), three.flows.size()) << collective->name;
        EXPECT_EQ(one.flows.empty(), group.size() == 1) << collective->name;
        for (std::size_t i = 0; i < one.flows.size(); ++i) {
          EXPECT_NEAR(3 * one.flows[i].bytes, three.flows[i].bytes, 1e-6) << collective->name;
          EXPECT_NE(one.flows[i].from, one.flows[i].to) << collective->name;
        }
      }
    }
}

}  // namespace
}  // namespace dlnb
