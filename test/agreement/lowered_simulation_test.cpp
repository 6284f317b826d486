// SPDX-License-Identifier: Apache-2.0
// `simulate --lower` beside `simulate`: whole plans without compute, so that only communication counts, and with nothing
// that contends. A step and a message cost the same in software.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <dlnb/error.hpp>
#include <dlnb/run.hpp>

#include "unit/scratch.hpp"

namespace dlnb {
namespace {

/// Eight devices on a switch; with `nodes` > 1 each has a NIC of its own on another one.
std::string machine_file(const Scratch& scratch, int nodes, const std::string& algorithm) {
  const std::string costs =
      "[software]\nsource = \"a test\"\nstep = \"3 us\"\nmessage_start = \"3 us\"\npiece = \"16 "
      "GiB\"\nleast_pieces = 32\nalgorithm = \"" +
      algorithm + "\"\n";
  std::string text =
      "name = \"test\"\nsummary = \"a test\"\nsource = \"a test\"\ndevice = \"a100\"\nnodes = " +
      std::to_string(nodes) + "\ndevices_per_node = " + (nodes > 1 ? "4" : "8") +
      "\nnics_per_node = " + (nodes > 1 ? "4" : "0") +
      "\n[node]\ntopology = \"switch\"\ncapacity = \"200 GB/s\"\nswitch_latency = \"1 us\"\n";
  if (nodes > 1)
    text += "[network]\ntopology = \"switch\"\ncapacity = \"25 GB/s\"\nswitch_latency = \"1 us\"\n";
  return scratch.write(algorithm + std::to_string(nodes) + ".toml", text + costs).string();
}

struct Times {
  double coupled = 0, lowered = 0;
  double ratio() const { return lowered / coupled; }
};

Times both(const std::string& algorithm, const std::string& plan, const std::string& model, int ranks,
           int nodes) {
  const Scratch scratch;
  std::vector<Assignment> given = {{"plan", plan, "--plan"},
                                   {"model", model, "--model"},
                                   {"machine", machine_file(scratch, nodes, algorithm), "--machine"},
                                   {"ranks", std::to_string(ranks), "--ranks"},
                                   {"compute_scale", "0", "--compute-scale"},
                                   {"iterations", "1", "--iterations"},
                                   {"warmup", "0", "--warmup"}};
  if (plan == "dp") given.push_back({"plan.data.buckets", "2", "--set plan.data.buckets"});
  const auto time = [&] {
    return simulate(read_spec({}, make_overrides(given))).metrics.iterations.at(0).time;
  };
  Times times;
  times.coupled = time();
  given.push_back({"lower", algorithm, "--lower"});
  times.lowered = time();
  return times;
}

// Each step moves a part of its own over links that are its own: both are Σ (α + part/β), to a nanosecond for each.
TEST(LoweredSimulation, TakesAsLongForRingsAndHalving) {
  for (const char* algorithm : {"ring", "halving_doubling"})
    for (const char* plan : {"tensor=8", "fsdp=8"})
      EXPECT_NEAR(both(algorithm, plan, "llama3-8b", 8, 1).ratio(), 1, 1e-5) << algorithm << " " << plan;
}

// All-to-all by pairwise; gradients by ring in both, whose latencies the coupled form hides behind the exchange.
TEST(LoweredSimulation, TakesAsLongForExchange) {
  EXPECT_NEAR(both("pairwise", "expert=8", "mixtral-8x7b", 8, 1).ratio(), 1, 0.01);
}

// The vector is cut into 32 pieces, each of which pays its steps' latencies there; how the first pieces share links with
// those behind them differs (docs/models/simulator.md, "As messages").
TEST(LoweredSimulation, TakesAboutAsLongForTrees) {
  EXPECT_NEAR(both("tree", "dp", "llama3-8b", 16, 4).ratio(), 1, 0.06);
}

// Phases follow each other there and overlap in the coupled form.
TEST(LoweredSimulation, TakesUpToTwiceAsLongForHierarchies) {
  const double ratio = both("hierarchical", "dp", "llama3-8b", 16, 4).ratio();

  EXPECT_GE(ratio, 1);
  EXPECT_LE(ratio, 2.001);
}

TEST(LoweredSimulation, IsRefusedForSwitchesAndLiveRuns) {
  EXPECT_THROW(both("nvls", "data=rest", "vit-h", 8, 1), UserError);
  const RunSpec live =
      read_spec({}, make_overrides({{"lower", "ring", "--lower"}, {"ranks", "2", "--ranks"}}));
  EXPECT_THROW(run(live), UserError);
}

}  // namespace
}  // namespace dlnb
