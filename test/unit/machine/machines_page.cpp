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

// What the links from one set of switches to others carry, in GB/s.
template <class Inside, class Outside>
double leaving(const Wiring& wiring, Inside inside, Outside outside) {
  double sum = 0;
  for (LinkIndex link = 0; link < LinkIndex(wiring.links().size()); ++link) {
    const auto [from, to] = wiring.ends(link);
    if (from < wiring.endpoints() || to < wiring.endpoints()) continue;
    if (inside(from - wiring.endpoints()) && outside(to - wiring.endpoints()))
      sum += wiring.links()[std::size_t(link)].capacity.value / 1e9;
  }
  return sum;
}

std::string structure_of(const Machine& machine) {
  if (machine.nodes == 1) return {};
  const Wiring& wiring = test::wiring_of(*machine.network);
  const double port = wiring.links()[0].capacity.value / 1e9;
  const int groups = 1 + machine.network->group_of(wiring.endpoints() - 1);
  const auto group = [&](int index) { return wiring.group_of_switch(index); };
  int ports = 0, nodes = 0;  // of the first switch, of the first group
  for (int e = 0; e < wiring.endpoints(); ++e) {
    ports += wiring.switch_of(e) == 0 ? 1 : 0;
    nodes += wiring.group_of(e) == 0 && e % machine.nics_per_node == 0 ? 1 : 0;
  }
  const double up = leaving(wiring, [](int s) { return s == 0; }, [](int s) { return s != 0; });
  const double out =
      leaving(wiring, [&](int s) { return group(s) == 0; }, [&](int s) { return group(s) != 0; });
  const double half = leaving(
      wiring, [&](int s) { return group(s) >= 0 && group(s) < groups / 2; },
      [&](int s) { return group(s) < 0 || group(s) >= groups / 2; });
  return fmt::format("| {} | {} × {:g} | {:g} | {:g} | {} × {} | {:g} | {:g} | {:.4g} |\n", machine.name,
                     machine.nics_per_node, port, ports * port, up, groups, nodes,
                     nodes * machine.nics_per_node * port, out, half / 1e3);
}

TEST(MachinesPage, HoldsTheStructureOfTheShippedNetworks) {
  std::string table =
      "| machine | NICs of a node, GB/s | a switch's nodes send, GB/s | its other ports, GB/s | groups × "
      "nodes | a group's "
      "nodes send, GB/s | out of it, GB/s | out of half the groups, TB/s "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (const std::string& name : shipped_machines()) table += structure_of(load_machine(name, "test"));
  std::stringstream page;
  page << std::ifstream(std::string(DLNB_TEST_DATA) + "/../docs/models/machines.md").rdbuf();

  EXPECT_NE(page.str().find(table), std::string::npos) << "the page should hold\n" << table;
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
