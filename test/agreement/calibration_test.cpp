// SPDX-License-Identifier: Apache-2.0
// A machine whose costs are known is measured, on the simulator itself, and its costs are found again.
#include <gtest/gtest.h>

#include <cmath>

#include "calibration/machine_file.hpp"
#include "machine/machine.hpp"
#include "pipeline.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

constexpr const char* structure = R"(
name = "toy"
source = "made up"
device = "a100"
nodes = 4
devices_per_node = 1
nics_per_node = 1
[network]
topology = "switch"
port = "nic"
capacity = "1 Gbit/s"
endpoint_latency = "2 us"
)";
constexpr const char* costs = R"([software]
source = "made up"
[software.all-reduce]
start = "30 us"
step = "11 us"
efficiency = 0.8
[software.message]
start = "25 us"
efficiency = 0.9
)";

std::vector<CollTable> measured_on(const std::string& machine) {
  std::vector<CollTable> tables;
  for (const std::int64_t groups : {1, 2})
    for (const CollOperation operation : {CollOperation::all_reduce, CollOperation::send_recv}) {
      CollSpec spec;
      spec.machine = machine;
      spec.operations = {operation};
      spec.pattern = MessagePattern::ping_pong;
      spec.min_size = {64};
      spec.factor = 8;
      spec.ranks = 4;
      spec.groups = groups;
      tables.push_back(simulate(spec));
    }
  return tables;
}

TEST(Calibration, FindsTheCostsOfASimulatedMachineAgain) {
  const Scratch folder;
  const std::string base = folder.write("base.toml", structure).string();
  const std::string real = folder.write("real.toml", std::string(structure) + costs).string();

  const Calibration found = calibrate(base, measured_on(real));

  const OperationCost& reduce = found.costs.at("all-reduce");
  EXPECT_NEAR(reduce.start.value, 30e-6, 0.3e-6);
  EXPECT_NEAR(reduce.step.value, 11e-6, 0.1e-6);
  EXPECT_NEAR(reduce.efficiency, 0.8, 0.002);
  EXPECT_NEAR(found.costs.at("message").start.value + found.costs.at("message").step.value, 25e-6, 0.3e-6);
  EXPECT_NEAR(found.costs.at("message").efficiency, 0.9, 0.002);
  for (const CalibrationRow& row : found.rows) EXPECT_LT(std::abs(row.error()), 0.005) << row.bytes;
}

// The costs belong to the algorithm they were fitted with.
TEST(Calibration, KeepsTheAlgorithmOfTheStructure) {
  const Scratch folder;
  const std::string base =
      folder
          .write("base.toml",
                 std::string(structure) + "[software]\nsource = \"told\"\nalgorithm = \"ring\"\n")
          .string();
  Calibration found;
  found.costs["all-reduce"] = {{30e-6}, {11e-6}, 0.8};

  const std::string written = machine_file(read_document(base), found, "toy", "measured");

  const Machine machine = load_machine(folder.write("written.toml", written).string(), "test");
  EXPECT_EQ(machine.software.forced, "ring");
  EXPECT_EQ(machine.software.cost_of("all-reduce").efficiency, 0.8);
}

// Sizes at which a library is slow say nothing of the others.
TEST(Calibration, IsNotPulledByAFewSlowSizes) {
  const Scratch folder;
  const std::string base = folder.write("base.toml", structure).string();
  const std::string real = folder.write("real.toml", std::string(structure) + costs).string();
  std::vector<CollTable> measured = measured_on(real);
  measured.front().rows[2].time *= 2;

  const Calibration found = calibrate(base, measured);

  EXPECT_NEAR(found.costs.at("all-reduce").efficiency, 0.8, 0.02);
  EXPECT_NEAR(found.costs.at("all-reduce").step.value, 11e-6, 1e-6);
}

// 30 % noise on one size moves a cost; the error of the sizes that were not fitted shows it.
TEST(Calibration, SaysHowFarOffItIs) {
  const Scratch folder;
  const std::string base = folder.write("base.toml", structure).string();
  const std::string real = folder.write("real.toml", std::string(structure) + costs).string();
  std::vector<CollTable> measured = measured_on(real);
  for (CollTable& table : measured)
    for (std::size_t i = 1; i < table.rows.size(); i += 2)
      table.rows[i].time *= 1.3;  // none of these is fitted to

  const Calibration found = calibrate(base, measured);

  for (const CalibrationRow& row : found.rows)
    EXPECT_NEAR(row.error(), row.fitted ? 0 : 1 / 1.3 - 1, 0.01) << row.bytes;
}

}  // namespace
}  // namespace dlnb
