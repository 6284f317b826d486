// SPDX-License-Identifier: Apache-2.0
// [software] of a machine file, and library files.
#include <gtest/gtest.h>

#include "machine/library.hpp"
#include "machines.hpp"

namespace dlnb {
namespace {

using namespace literals;
using test::Folder;

const std::string header =
    "name = 'toy'\nsource = 's'\ndevice = 'toy.toml'\ndevices_per_node = 2\n"  // 1-4
    "[node]\ntopology = 'mesh'\ncapacity = '10 GB/s'\n"                        // 5-7
    "[software]\nsource = 's'\n";                                              // 8-9
const std::string library =
    "name = 'lib'\nsource = 's'\n"
    "[[cost]]\nalgorithm = 'ring'\nprotocol = 'simple'\nstart = '8 us'\nnode_step = '3 us'\n"
    "network_step = '14 us'\nbandwidth = [1, 0.5, 0.25]\nsize_correction = [0.5, 0.9]\n"
    "[[cost]]\nalgorithm = 'ring'\nprotocol = 'll'\nstart = '6 us'\nbandwidth = 0.5\n"
    "[[limit]]\nprotocol = 'll'\ndevices = ['toy']\nmost = ['3 GB/s', '2 GB/s', '1 GB/s']\n";

Machine load(const std::string& text) {
  const Folder folder;
  folder.write("toy.toml", test::device_file);
  const std::string file = folder.write("lib.toml", library);
  std::string whole = header + text;
  if (const std::size_t at = whole.find("LIB"); at != std::string::npos) whole.replace(at, 3, file);
  return load_machine(folder.write("machine.toml", whole), "--machine");
}

TEST(Software, ReadsALibraryAndWhatTheMachineChangesOfIt) {
  const Machine machine = load(
      "library = 'LIB'\nefficiency = 0.9\nnode_efficiency = 0.75\npiece = '4 MiB'\nleast_pieces = 2\nnvls = "
      "true\n"
      "network_protocols = ['simple', 'll']\n"
      "[[software.cost]]\nalgorithm = 'ring'\nprotocol = 'simple'\nnode_step = '1 us'\n");

  const Software& software = machine.software;
  ASSERT_NE(software.library, nullptr);
  EXPECT_EQ(software.library->name, "lib");
  const TuningCost* own = software.tuned_cost("ring", Protocol::simple);
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->start, 8_us);
  EXPECT_EQ(own->node_step, 1_us);
  EXPECT_EQ(own->bandwidth.at(1), 1);
  EXPECT_EQ(own->bandwidth.at(2), 0.5);
  EXPECT_EQ(own->bandwidth.at(3), 0.25);
  EXPECT_EQ(software.library->find("ring", Protocol::simple)->node_step, 3_us);
  EXPECT_EQ(software.tuned_cost("ring", Protocol::ll)->bandwidth.at(7), 0.5);
  EXPECT_EQ(software.tuned_cost("tree", Protocol::ll), nullptr);
  EXPECT_EQ(software.library->limits.at(0).most.at(2).value, 2e9);
  EXPECT_EQ(software.efficiency_of(LinkClass::node), 0.75);
  EXPECT_EQ(software.efficiency_of(LinkClass::device), 0.75);
  EXPECT_EQ(software.efficiency_of(LinkClass::nic), 0.9);
  EXPECT_EQ(software.piece.value, 4 << 20);
  EXPECT_EQ(software.least_pieces, 2);
  EXPECT_EQ(software.network_protocols, 0b101u);
  EXPECT_TRUE(software.node_reduces);
  EXPECT_FALSE(software.network_reduces);
}

TEST(Software, ReadsATuningTable) {
  const Machine machine = load(
      "algorithm = 'tree/ll'\n"
      "[[software.tuning]]\noperation = 'all-reduce'\nmax_size = '64 KiB'\nmax_ranks = 8\nmax_nodes = 2\n"
      "algorithm = 'tree'\n[[software.tuning]]\nalgorithm = 'ring'\n");

  ASSERT_EQ(machine.software.tuning.size(), 2u);
  const TuningRule& rule = machine.software.tuning[0];
  EXPECT_EQ(rule.operation, "all-reduce");
  EXPECT_EQ(rule.max_size, 64_KiB);
  EXPECT_EQ(rule.max_ranks, 8);
  EXPECT_EQ(rule.max_nodes, 2);
  EXPECT_EQ(rule.algorithm, "tree");
  EXPECT_NE(rule.where.find("machine.toml:16"), std::string::npos) << rule.where;
  EXPECT_EQ(machine.software.tuning[1].operation, "");
  EXPECT_EQ(machine.software.forced, "tree/ll");
}

struct Bad {
  const char* name;
  std::string text;
  const char* says;
};
const Bad bad[] = {
    {"unknown_library", "library = 'ncl'\n", ":10 software.library"},
    {"cost_said_twice", "library = 'nccl'\nstep = '1 us'\n", ":11 software.step"},
    {"cost_of_no_library", "[[software.cost]]\nalgorithm = 'ring'\nprotocol = 'll'\n", "no library"},
    {"unknown_protocol", "network_protocols = ['simple', 'lll']\n", "software.network_protocols"},
    {"no_protocol", "network_protocols = []\n", "names no protocol"},
    {"unknown_operation", "[[software.tuning]]\noperation = 'all-reduc'\nalgorithm = 'ring'\n",
     "software.tuning.operation"},
    {"rule_without_algorithm", "[[software.tuning]]\nmax_size = '1 MiB'\n", "software.tuning.algorithm"},
    {"unknown_key_of_rule", "[[software.tuning]]\nmax_sizes = '1 MiB'\nalgorithm = 'ring'\n", "max_sizes"},
    {"cost_twice",
     "library = 'nccl'\n[[software.cost]]\nalgorithm = 'ring'\nprotocol = 'll'\n"
     "[[software.cost]]\nalgorithm = 'ring'\nprotocol = 'll'\n",
     "is there already"},
    {"two_bandwidths",
     "library = 'nccl'\n[[software.cost]]\nalgorithm = 'ring'\nprotocol = 'll'\nbandwidth = [1, 2]\n",
     "one value or three"},
    {"no_bandwidth",
     "library = 'nccl'\n[[software.cost]]\nalgorithm = 'ring'\nprotocol = 'll'\nbandwidth = 0\n",
     "software.cost.bandwidth"},
    {"node_efficiency_above_one", "node_efficiency = 1.01\n", "software.node_efficiency"},
};

class BadSoftware : public testing::TestWithParam<Bad> {};

TEST_P(BadSoftware, IsAUserErrorThatSaysWhere) {
  try {
    load(GetParam().text);
    FAIL() << "was read";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(".toml"), std::string::npos) << message;
    EXPECT_NE(message.find(GetParam().says), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadSoftware, testing::ValuesIn(bad),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Libraries, ShippedOnesAreRead) {
  ASSERT_FALSE(shipped_libraries().empty());
  for (const std::string& name : shipped_libraries()) {
    const auto read = load_library(name, "test");
    EXPECT_EQ(read->name, name);
    EXPECT_NE(read->find("ring", Protocol::simple), nullptr) << name;
    EXPECT_NE(read->find("message", Protocol::simple), nullptr) << name;
  }
}

}  // namespace
}  // namespace dlnb
