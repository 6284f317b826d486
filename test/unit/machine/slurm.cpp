// SPDX-License-Identifier: Apache-2.0
#include "machine/slurm.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <sstream>

#include <dlnb/error.hpp>

#include "machines.hpp"

namespace dlnb {
namespace {

using Names = std::vector<std::string>;

Names names(const std::string& text) { return slurm_node_list(text, "test", 1000); }

TEST(SlurmNodeList, ExpandsBrackets) {
  EXPECT_EQ(names("n1"), (Names{"n1"}));
  EXPECT_EQ(names("n[1-3,07],m5"), (Names{"n1", "n2", "n3", "n07", "m5"}));
  EXPECT_EQ(names("n[08-11]"), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_EQ(names("r[1-2]n[1-2]x"), (Names{"r1n1x", "r1n2x", "r2n1x", "r2n2x"}));
  EXPECT_EQ(names("a-b_c.d"), (Names{"a-b_c.d"}));
}

TEST(SlurmNodeList, RefusesWhatIsNone) {
  for (const char* text : {"",      ",",      "n1,",           "n[",        "n[]",
                           "n[1",   "n[1-",   "n[1-]",         "n[3-1]",    "n[1,]",
                           "n[a]",  "n]1",    "n 1",           "n[1-9999]", "n[1-100]m[1-100]",
                           "n1,n1", "n[1,1]", "n[1234567890]", "n[[1]]",    "[",
                           "n{1}"})
    EXPECT_THROW(names(text), UserError) << text;
}

std::string fixture(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(std::string(DLNB_TEST_DATA) + "/fixtures/slurm/" + name).rdbuf();
  return text.str();
}

TEST(SlurmTopology, IsTheSameFromTheFileAndFromScontrol) {
  const SlurmTree file = parse_slurm_topology(fixture("topology.conf"), "topology.conf");
  const SlurmTree printed = parse_slurm_topology(fixture("scontrol.txt"), "scontrol");

  for (const SlurmTree* tree : {&file, &printed}) {
    ASSERT_EQ(tree->nodes.size(), 12u);
    EXPECT_EQ(tree->nodes[6], "n07");
    ASSERT_EQ(tree->switches.size(), 7u);
    EXPECT_EQ(tree->switches[2].name, "leaf3");
    EXPECT_EQ(tree->switches[2].nodes, (std::vector<int>{6, 7, 8}));
    EXPECT_EQ(tree->switches[2].parent, 5);
    EXPECT_EQ(tree->switches[5].parent, 6);
    EXPECT_EQ(tree->switches[6].parent, -1);
    EXPECT_EQ(tree->switches[6].level, 2);
  }
}

TEST(SlurmTopology, JoinsSeveralTops) {
  const SlurmTree tree =
      parse_slurm_topology("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2\n", "t");

  ASSERT_EQ(tree.switches.size(), 3u);
  EXPECT_EQ(tree.switches[0].parent, 2);
  EXPECT_EQ(tree.switches[1].parent, 2);
}

struct Bad {
  const char* text;
  const char* says;
};

TEST(SlurmTopology, SaysWhereItIsWrong) {
  for (const auto& [text, says] : std::initializer_list<Bad>{
           {"", "t: describes no switch"},
           {"\n# nothing\n", "t: describes no switch"},
           {"SwitchName=a\n", "t:1: 'a' has neither Nodes nor Switches"},
           {"\nNodes=n1\n", "t:2: a line names its SwitchName"},
           {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "t:2: a switch 'a' has been named already"},
           {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n", "t:2: the node 'n1' hangs on 'a' already"},
           {"SwitchName=a Nodes=n1\nSwitchName=b Switches=c\n", "t:2: no line describes the switch 'c'"},
           {"SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n",
            "t:3: 'a' hangs on 'b' already"},
           {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "hang on each other in a circle"},
           {"SwitchName=a Switches=a\n", "hang on each other in a circle"},
           {"SwitchName=a Nodes=n[1-2]\nSwitchName=b Switches=a Nodes=n[1-3]\n",
            "t:2: the node 'n3' hangs on none of the Switches of 'b'"},
           {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Switches=a Nodes=n2\n"
            "SwitchName=d Switches=b,c\n",
            "t:3: the node 'n2' hangs on none of the Switches of 'c'"},
           {"SwitchName=a Node=n1\n", "t:1: nothing is called 'Node'"},
           {"SwitchName=a Nodes=n1 Nodes=n2\n", "t:1: Nodes is said twice"},
           {"SwitchName= Nodes=n1\n", "t:1: SwitchName is empty"},
           {"SwitchName=a Nodes=n[1-\n", "t:1: the node list 'n[1-' lacks a number"},
           {"SwitchName=a Nodes=n[1-1048577]\n", "has more than 1048576 names"},
           {"SwitchName=a \\\n Nodes=n1\n Nodes\n", "t:3: 'Nodes' is no Key=value"},
       }) {
    try {
      parse_slurm_topology(text, "t");
      ADD_FAILURE() << "was read: " << text;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos)
          << error.what() << "\nshould say " << says;
    }
  }
}

// As long as all are under each other: 60,000 steps up from the lowest, not their square.
TEST(SlurmTopology, ReadsALongChainAtOnce) {
  constexpr int length = 60'000;
  std::string text = "SwitchName=s0 Nodes=n1\n";
  for (int s = 1; s < length; ++s) text += fmt::format("SwitchName=s{} Switches=s{}\n", s, s - 1);

  const SlurmTree tree = parse_slurm_topology(text, "t");

  EXPECT_EQ(tree.switches.back().level, length - 1);
}

TEST(SlurmTopology, DoesNotWaitForAPipe) {
  const test::Folder folder;
  const std::string pipe = folder.write("m.toml", "") + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);

  EXPECT_THROW(read_slurm_topology(pipe, "m.toml:3"), UserError);
}

// Whatever is thrown at them the readers give a value or a UserError.
TEST(SlurmTopology, SurvivesWhatIsNoTopology) {
  std::mt19937 random{11};
  const auto below = [&](std::size_t n) { return std::size_t(random()) % n; };
  const std::string good[] = {fixture("topology.conf"), fixture("scontrol.txt")};
  const std::string letters = "SwitchName=Nodes[]-,01259 \\\n#=\t\r\0nz";
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good[below(2)];
    for (std::size_t change = 1 + below(6); change > 0 && !text.empty(); --change) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0: text[at] = letters[below(letters.size())]; break;
        case 1: text.erase(at, below(20)); break;
        case 2: text.insert(at, text.substr(below(text.size()), below(40))); break;
        default: text[at] = char(below(256));
      }
    }
    try {
      const SlurmTree tree = parse_slurm_topology(text, "t");
      for (const SlurmSwitch& one : tree.switches)
        for (const int node : one.nodes) ASSERT_LT(std::size_t(node), tree.nodes.size());
      ++read;
    } catch (const UserError&) {
    }
  }
  EXPECT_GT(read, 10);
}

}  // namespace
}  // namespace dlnb
