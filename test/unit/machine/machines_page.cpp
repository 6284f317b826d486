// SPDX-License-Identifier: Apache-2.0
// The table in docs/models/machines.md is what the shipped files say; a wrong page fails here with the right
// table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <tuple>

#include "machines.hpp"

namespace dlnb {
namespace {

std::string rows_of(const Machine& machine) {
  std::string rows;
  const auto add = [&](const Fabric* fabric, const char* part) {
    if (!fabric) return;
    std::map<std::tuple<LinkClass, double>, std::int64_t> cables;
    for (std::size_t i = 0; i < fabric->links().size(); i += 2)
      ++cables[{fabric->links()[i].link_class, fabric->links()[i].capacity.value}];
    for (const auto& [kind, count] : cables)
      rows += fmt::format("| {} | {} | {} | {} | {:g} GB/s | {:.4g} TB/s |\n", machine.name, part,
                          name_of(std::get<0>(kind)), count, std::get<1>(kind) / 1e9,
                          double(count) * std::get<1>(kind) / 1e12);
  };
  add(machine.node_fabric.get(), "one node");
  add(machine.network.get(), "network");
  return rows;
}

TEST(MachinesPage, HoldsTheCapacitiesOfTheShippedFiles) {
  std::string table =
      "| machine | where | class | cables | each, per direction | all, per direction "
      "|\n|---|---|---|---|---|---|\n";
  for (const std::string& name : shipped_machines()) table += rows_of(load_machine(name, "test"));
  std::stringstream page;
  page << std::ifstream(std::string(DLNB_TEST_DATA) + "/../docs/models/machines.md").rdbuf();

  EXPECT_NE(page.str().find(table), std::string::npos) << "the page should hold\n" << table;
}

}  // namespace
}  // namespace dlnb
