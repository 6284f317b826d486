// SPDX-License-Identifier: Apache-2.0
// Machine and device files: what is read, and what is wrong with bad ones.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace dlnb {
namespace {

using namespace literals;
using test::Folder;

const std::string header =
    "name = 'toy'\nsource = 'invented'\ndevice = 'toy.toml'\ndevices_per_node = 2\n";               // 1-4
const std::string cluster = header + "nodes = 2\nnics_per_node = 1\n";                              // 5-6
const std::string node = "[node]\ntopology = 'mesh'\ncapacity = '10 GB/s'\n";                       // 3 lines
const std::string network = "[network]\ntopology = 'switch'\nport = 'nic'\ncapacity = '1 GB/s'\n";  // 4 lines

Machine load(const std::string& text) {
  const Folder folder;
  folder.write("toy.toml", test::device_file);
  return load_machine(folder.write("machine.toml", text), "--machine");
}

std::string with_network(const std::string& lines) { return cluster + node + "[network]\n" + lines; }

const std::string plus =
    "topology = 'dragonfly_plus'\ngroups = 2\nleaves = 1\nspines = 1\nports = 1\nendpoint_capacity = '1 "
    "GB/s'\n"
    "leaf_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'\n";
const std::string fly =
    "topology = 'dragonfly'\ngroups = 2\nswitches = 2\nports = 1\nendpoint_capacity = '1 GB/s'\n"
    "local_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'\n";
const std::string tree =
    "topology = 'fat_tree'\nleaves = 2\nspines = 1\nports = 1\nendpoint_capacity = '1 GB/s'\nleaf_capacity = "
    "'1 GB/s'\n";

TEST(MachineFile, GivesAMachine) {
  const Machine machine =
      load(cluster + node + network +
           "[software]\ncollective_start = '8 us'\nstep = '3 us'\nmessage_start = '2 us'\n"
           "efficiency = 0.9\nsource = 'invented'\n");

  EXPECT_EQ(machine.name, "toy");
  EXPECT_EQ(machine.device.name, "toy");
  EXPECT_EQ(machine.devices(), 4);
  EXPECT_EQ(machine.node_fabric->endpoints(), 2);
  EXPECT_EQ(machine.network->endpoints(), 2);
  EXPECT_EQ(machine.topology, "switch");
  EXPECT_EQ(machine.software.collective_start, 8_us);
  EXPECT_EQ(machine.software.step, 3_us);
  EXPECT_EQ(machine.software.message_start, 2_us);
  EXPECT_EQ(machine.software.efficiency, 0.9);
}

TEST(MachineFile, SaysHowFlowsFindTheirWay) {
  EXPECT_EQ(load(cluster + node + network).routing, Routing::ecmp);
  EXPECT_EQ(load(with_network(fly)).routing, Routing::adaptive);  // what a dragonfly is built for
  EXPECT_EQ(load(with_network(fly + "routing = 'minimal'\n")).routing, Routing::minimal);
  EXPECT_EQ(load(cluster + node + network + "routing = 'spray'\n").routing, Routing::spray);
}

TEST(MachineFile, MayHaveAnotherNumberOfNodes) {
  const Folder folder;
  folder.write("toy.toml", test::device_file);
  const std::string file = folder.write("machine.toml", cluster + node + network);

  EXPECT_EQ(load_machine(file, "--machine", 7).nodes, 7);
  EXPECT_EQ(load_machine(file, "--machine", 7).network->endpoints(), 7);
  EXPECT_EQ(load_machine(file, "--machine").nodes, 2);
  try {
    load_machine(file, "--machine", 9'000'000);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("--nodes"), std::string::npos) << error.what();
  }
}

TEST(MachineFile, NamesItsNodes) {
  EXPECT_EQ(load(cluster + "node_names = 'n[07-09]'\n" + node + network).node_names,
            (std::vector<std::string>{"n07", "n08"}));

  const Folder folder;
  folder.write("toy.toml", test::device_file);
  folder.write("topology.conf",
               "SwitchName=s1 Nodes=b[1-2]\nSwitchName=s2 Nodes=a1\nSwitchName=s Switches=s[1-2]\n");
  const Machine machine =
      load_machine(folder.write("m.toml", header + "nodes = 3\nnics_per_node = 2\n" + node +
                                              "[network]\ntopology = 'slurm_tree'\nfile = 'topology.conf'\n"
                                              "endpoint_capacity = '10 GB/s'\ntaper = 2\n"),
                   "--machine");

  EXPECT_EQ(machine.node_names, (std::vector<std::string>{"b1", "b2", "a1"}));
  std::vector<LinkIndex> links;
  machine.network->route(0, 4, 0, links);  // b1's first NIC to a1's
  ASSERT_EQ(links.size(), 4u);
  EXPECT_EQ(machine.network->links()[std::size_t(links[1])].capacity.value,
            2 * 2 * 10e9 / 2);  // of two nodes
  EXPECT_EQ(machine.network->links()[std::size_t(links[2])].capacity.value, 1 * 2 * 10e9 / 2);
}

TEST(MachineFile, HasAllNodesOfABatchSystemUnlessItSaysHowMany) {
  const Folder folder;
  folder.write("toy.toml", test::device_file);
  folder.write("topology.conf", "SwitchName=s1 Nodes=n[1-3]\nSwitchName=s2 Nodes=n[4-5]\n");
  const std::string rest = "nics_per_node = 1\n" + node +
                           "[network]\ntopology = 'slurm_tree'\nfile = 'topology.conf'\n"
                           "endpoint_capacity = '10 GB/s'\n";

  EXPECT_EQ(load_machine(folder.write("all.toml", header + rest), "--machine").nodes, 5);
  EXPECT_EQ(load_machine(folder.write("some.toml", header + "nodes = 2\n" + rest), "--machine").nodes, 2);
  EXPECT_EQ(load_machine(folder.write("all.toml", header + rest), "--machine", 4).nodes, 4);
}

TEST(MachineFile, NeedsNoNetworkForOneNode) {
  const Machine machine = load(header + node);

  EXPECT_EQ(machine.devices(), 2);
  EXPECT_EQ(machine.network, nullptr);
  EXPECT_EQ(machine.topology, "mesh");
}

TEST(MachineFile, NeedsNoNodeFabricForOneDevice) {
  const Machine machine = load(
      "name = 't'\nsource = 's'\ndevice = 'toy.toml'\ndevices_per_node = 1\nnodes = 2\n"
      "nics_per_node = 1\n" +
      network);

  EXPECT_EQ(machine.node_fabric, nullptr);
  EXPECT_EQ(machine.network->endpoints(), 2);
}

TEST(MachineFile, MayNameAShippedDevice) {
  const Machine machine = load("name = 't'\nsource = 's'\ndevice = 'a100'\ndevices_per_node = 2\n" + node);

  EXPECT_NEAR(machine.device.peak.value, 312e12, 1e9);
}

struct Bad {
  const char* name;
  std::string text;
  std::string says;  // part of the message, which begins with the file
};

const std::string round_about =
    "topology = 'torus'\nendpoint_capacity = '1 GB/s'\ncapacity = '1 GB/s'\n";  // 11-13

std::string degraded(const std::string& lines) {
  return cluster + node + network + "[[degraded]]\n" + lines;
}  // 14

const std::vector<Bad> bad_files{
    {"syntax", "name = \n", ":1"},
    {"no_name", "source = 's'\ndevice = 'toy.toml'\ndevices_per_node = 2\n" + node, "name: is missing"},
    {"no_source", "name = 's'\ndevice = 'toy.toml'\ndevices_per_node = 2\n" + node, "source: is missing"},
    {"no_device", "name = 's'\nsource = 's'\ndevices_per_node = 2\n" + node, "device: is missing"},
    {"unknown_device", "name = 's'\nsource = 's'\ndevice = 'a101'\ndevices_per_node = 2\n" + node,
     ":3 device"},
    {"missing_device_file", "name = 's'\nsource = 's'\ndevice = 'no.toml'\ndevices_per_node = 2\n" + node,
     "no.toml"},
    {"unknown_key", header + "colour = 'red'\n" + node, ":5 colour: nothing is called"},
    {"unknown_table", header + node + "[nodes]\n", "nodes"},
    {"no_devices", "name = 's'\nsource = 's'\ndevice = 'toy.toml'\ndevices_per_node = 0\n" + node,
     ":4 devices_per_node: must be at least 1"},
    {"negative_nodes", header + "nodes = -3\n" + node, ":5 nodes: must be at least 1"},
    {"nodes_as_text", header + "nodes = 'many'\n" + node, ":5 nodes"},
    {"too_many_devices", header + "nodes = 9000000\nnics_per_node = 1\n" + node + network,
     ":5 nodes: 9000000 nodes × 2"},
    {"nodes_beyond_integers", header + "nodes = 99999999999\n" + node, ":5 nodes"},
    {"no_nics", header + "nodes = 2\n" + node + network, "nics_per_node: 2 nodes need at least one NIC"},
    {"more_nics_than_devices", header + "nodes = 2\nnics_per_node = 3\n" + node + network,
     ":6 nics_per_node: 3 NICs"},
    {"no_network", cluster + node, "network: several nodes need a [network]"},
    {"idle_network", header + node + network, ":8 network: nothing hangs on it"},
    {"no_node_fabric", cluster + network, "node: several devices in a node need a [node] fabric"},
    {"node_is_text", header + "node = 'mesh'\n", ":5"},
    {"no_topology", header + "[node]\ncapacity = '1 GB/s'\n", "node.topology: is missing"},
    {"unknown_topology", header + "[node]\ntopology = 'mash'\ncapacity = '1 GB/s'\n",
     ":6 node.topology: nothing is called 'mash'"},
    {"unknown_topology_key", header + node + "width = 4\n", ":8 mesh.width: nothing is called"},
    {"no_capacity", header + "[node]\ntopology = 'mesh'\n", "mesh.capacity: is missing"},
    {"zero_capacity", header + "[node]\ntopology = 'mesh'\ncapacity = '0 GB/s'\n",
     ":7 mesh.capacity: must be at least"},
    {"negative_capacity", header + "[node]\ntopology = 'mesh'\ncapacity = '-5 GB/s'\n", ":7 mesh.capacity"},
    {"capacity_of_another_unit", header + "[node]\ntopology = 'mesh'\ncapacity = '5 us'\n",
     ":7 mesh.capacity"},
    {"negative_latency", header + node + "latency = '-1 us'\n", ":8 mesh.latency"},
    {"infinite_latency", header + node + "latency = inf\n", ":8 mesh.latency"},
    {"link_outside", header + node + "links = ['0-2']\n", ":8 mesh.links: '0-2' leaves the 2 endpoints"},
    {"link_to_itself", header + node + "links = ['1-1']\n",
     ":8 mesh.links: '1-1' joins an endpoint with itself"},
    {"link_twice", header + node + "links = ['0-1', '1-0']\n", ":8 mesh.links: the pair 1-0 is listed twice"},
    {"link_badly_written", header + node + "links = ['0 to 1']\n", ":8 mesh.links: '0 to 1' is not a link"},
    {"link_with_rest", header + node + "links = ['0-1 x2y']\n", ":8 mesh.links: '0-1 x2y' is not a link"},
    {"link_of_no_width", header + node + "links = ['0-1 x0']\n",
     ":8 mesh.links: '0-1 x0': a pair has 1 to 1024 links"},
    {"no_way", header + node + "links = []\n", "mesh.links: no way from endpoint 1 to endpoint 0"},
    {"unknown_port", with_network("topology = 'switch'\ncapacity = '1 GB/s'\nport = 'usb'\n"),
     ":13 switch.port: nothing is called 'usb'"},
    {"no_planes", with_network("topology = 'switch'\ncapacity = '1 GB/s'\nplanes = 0\n"),
     ":13 switch.planes"},
    {"too_many_planes",
     header + "nodes = 200\nnics_per_node = 1\n" + node +
         "[network]\ntopology = 'switch'\ncapacity = '1 GB/s'\nplanes = 10000000\n",
     "200 endpoints × 10000000 planes are more than 20000000 cables"},
    {"does_not_fit",
     cluster + node + "[network]\n" + plus.substr(0, plus.find("groups")) +
         "groups = 1\nleaves = 1\nspines = 1\nports = 1\nendpoint_capacity = '1 GB/s'\n"
         "leaf_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'\n",
     "2 endpoints do not fit 1 groups × 1 switches × 1 ports = 1"},
    {"spine_without_ports", with_network(plus + "radix = 2\nglobal_links = 2\n"),
     "dragonfly_plus.radix: a spine needs 3 ports, a switch has 2"},
    {"leaf_without_ports", with_network(plus + "radix = 1\n"), "dragonfly_plus.radix: a leaf needs 2 ports"},
    {"too_many_cables",
     with_network(plus.substr(0, plus.find("groups")) +
                  "groups = 9999\nleaves = 1\nspines = 1\nports = 1\nglobal_links = 9999999\n"
                  "endpoint_capacity = '1 GB/s'\nleaf_capacity = '1 GB/s'\n"
                  "global_capacity = '1 GB/s'\n"),
     "cables between switches are more than 20000000"},
    {"huge_network",
     with_network(fly.substr(0, fly.find("groups")) +
                  "groups = 10000000\nswitches = 10000000\nports = 10000000\nendpoint_capacity = '1 "
                  "GB/s'\nlocal_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'\n"),
     "are more than 10000000 endpoints"},
    {"many_switches",
     with_network(fly.substr(0, fly.find("groups")) +
                  "groups = 1\nswitches = 9999999\nports = 1\nendpoint_capacity = '1 GB/s'\n"
                  "local_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'\n"),
     "cables between switches are more than 20000000"},
    {"no_local_ports", with_network(fly + "local_ports = 1\nlocal_links = 2\n"),
     "dragonfly.local_ports: the links of its group need 2 ports, a switch has 1"},
    {"no_global_ports", with_network(fly + "global_ports = 1\nglobal_links = 3\n"),
     "dragonfly.global_ports: 1 other groups × 3 links over 2 switches need 2 ports, a switch has 1"},
    {"uneven_nodes", with_network(fly + "node_ports = 4\nnode_switches = 3\n"),
     "node_ports = 4 cannot be spread evenly over node_switches = 3"},
    {"node_on_too_many_switches", with_network(fly + "node_ports = 4\nnode_switches = 4\n"),
     "node_switches = 4, but a group has only 2 switches"},
    {"split_nodes", with_network(fly + "node_ports = 3\n"),
     "a group's 2 ports do not hold whole nodes of 3 ports"},
    {"unknown_paths", with_network(fly + "global_paths = 'longest'\n"),
     "dragonfly.global_paths: nothing is called"},
    {"pods_without_cores", with_network(tree + "pods = 2\n"), "fat_tree.core_links: is missing"},
    {"cores_without_pods", with_network(tree + "core_links = 2\n"),
     "fat_tree.core_links: one pod has no cores"},
    {"hubs_without_links", header + node + "hubs = 2\n", ":8 mesh.hubs: hubs need `links`"},
    {"hub_outside", header + node + "hubs = 1\nlinks = ['0-1', '0-3']\n",
     ":9 mesh.links: '0-3' leaves the 3 endpoints"},
    {"link_of_no_rate", header + node + "links = ['0-1 fast']\n", ":8"},
    {"link_of_another_unit", header + node + "links = ['0-1 5 us']\n", ":8"},
    {"link_of_no_bandwidth", header + node + "links = ['0-1 0 GB/s']\n", ":8"},
    {"too_few_names", cluster + "node_names = 'n1'\n" + node + network, ":7 node_names: 1 names for 2 nodes"},
    {"bad_names", cluster + "node_names = 'n[1-'\n" + node + network,
     ":7 node_names: the node list 'n[1-' lacks a number"},
    {"no_slurm_file",
     with_network("topology = 'slurm_tree'\nendpoint_capacity = '1 GB/s'\nfile = 'none.conf'\n"),
     ":13 slurm_tree.file: there is no file"},
    {"rows_do_not_fit", with_network(fly + "rows = 3\n"),
     ":18 dragonfly.rows: 2 switches cannot stand in 3 rows"},
    {"columns_of_one_row", with_network(fly + "column_links = 2\n"),
     ":18 dragonfly.column_links: one row has no columns"},
    {"rows_and_shortest", with_network(fly + "rows = 2\n"), "dragonfly.global_paths: groups of several rows"},
    {"torus_of_words", with_network(round_about + "shape = '4 by 4'\n"),
     ":14 torus.shape: '4 by 4': is no list of sizes"},
    {"torus_without_end", with_network(round_about + "shape = '4x'\n"),
     ":14 torus.shape: '4x': is no list of sizes"},
    {"torus_of_nothing", with_network(round_about + "shape = '4x0'\n"), ":14 torus.shape"},
    {"huge_torus", with_network(round_about + "shape = '99999x99999'\n"), "more than 10000000 routers"},
    {"flat_torus", with_network(round_about + "shape = '1x1x1x1x1x1x1'\n"), "more than 6 dimensions"},
    {"small_torus", with_network(round_about + "shape = '1x1'\n"),
     "2 endpoints do not fit 1 routers × 1 ports"},
    {"unknown_routing", cluster + node + network + "routing = 'valiant'\n",
     ":14 network.routing: nothing is called 'valiant'"},
    {"routing_in_a_node", header + node + "routing = 'ecmp'\n", ":8 mesh.routing: nothing is called"},
    {"degraded_without_network", header + node + "[[degraded]]\nlinks = 'nic'\nfactor = 0.5\n",
     ":8 degraded: there is no [network]"},
    {"degraded_without_links", degraded("factor = 0.5\n"), "degraded.links: is missing"},
    {"degraded_by_a_table", cluster + node + network + "[degraded]\nlinks = 'nic'\n",
     "degraded: expected a list"},
    {"degraded_unknown_class", degraded("links = 'core'\nfactor = 0.5\n"),
     ":15 degraded.links: nothing is called 'core'"},
    {"degraded_unknown_key", degraded("links = 'nic'\nfaktor = 0.5\n"),
     ":16 degraded.faktor: nothing is called"},
    {"degraded_to_nothing", degraded("links = 'nic'\nfactor = 0\n"), ":16 degraded.factor: must be at least"},
    {"degraded_to_more", degraded("links = 'nic'\nfactor = 1.5\n"), ":16 degraded.factor"},
    {"degraded_how", degraded("links = 'nic'\n"), "either failed or have a factor"},
    {"degraded_both_ways", degraded("links = 'nic'\nfailed = true\nfactor = 0.5\n"),
     "either failed or have a factor"},
    {"degraded_nowhere", degraded("links = 'global'\nfactor = 0.5\n"), ":14 degraded: no link is like this"},
    {"degraded_no_such_node", degraded("links = 'nic'\nnode = 2\nfactor = 0.5\n"), "no link is like this"},
    {"degraded_node_of_switches", degraded("links = 'leaf'\nnode = 1\nfactor = 0.5\n"),
     "degraded.node: goes with links"},
    {"degraded_half_a_pair", degraded("links = 'nic'\nother_group = 1\nfactor = 0.5\n"),
     "degraded.other_group: goes with group"},
    {"degraded_seed_alone", degraded("links = 'nic'\nseed = 1\nfactor = 0.5\n"),
     "degraded.seed: goes with share"},
    {"degraded_cable_outside", degraded("links = 'nic'\ncables = '0-2'\nfactor = 0.5\n"),
     ":16 degraded.cables: '0-2' names cable 2, but 2 are chosen"},
    {"degraded_cables_of_words", degraded("links = 'nic'\ncables = 'all'\nfactor = 0.5\n"),
     "is no list of cables"},
    {"degraded_cables_backwards", degraded("links = 'nic'\ncables = '1-0'\nfactor = 0.5\n"),
     "runs backwards"},
    {"cut_off", degraded("links = 'nic'\nnode = 1\nfailed = true\n"), "cut NIC 0 of node 1 off from node 0"},
    {"software_without_source", header + node + "[software]\nstep = '1 us'\n", "software.source: is missing"},
    {"efficiency_above_one", header + node + "[software]\nefficiency = 1.5\nsource = 's'\n",
     ":9 software.efficiency"},
    {"no_efficiency", header + node + "[software]\nefficiency = 0\nsource = 's'\n", ":9 software.efficiency"},
    {"unknown_cost", header + node + "[software]\nstart = '1 us'\nsource = 's'\n", ":9 software.start"},
};

class BadMachineFile : public testing::TestWithParam<Bad> {};

TEST_P(BadMachineFile, IsAUserErrorThatSaysWhere) {
  try {
    load(GetParam().text);
    FAIL() << "was read";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(".toml"), std::string::npos) << message;
    EXPECT_NE(message.find(GetParam().says), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadMachineFile, testing::ValuesIn(bad_files),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(MachineFile, ThatIsNotThereNamesTheNearest) {
  EXPECT_THROW(load_machine("leonarde", "--machine"), UserError);
  EXPECT_THROW(load_machine("/no/such/machine.toml", "--machine"), UserError);
}

TEST(DeviceFile, GivesADevice) {
  const Folder folder;
  const std::string file = folder.write(
      "d.toml",
      test::device_file + "[efficiency]\nmatrix = 0.8\nmemory = 0.7\nlaunch = '4 us'\nsource = 'invented'\n");

  const Device device = load_device(file, "--device");

  EXPECT_EQ(device.name, "toy");
  EXPECT_NEAR(device.peak.value, 100e12, 1);
  EXPECT_EQ(device.memory_bandwidth.value, 1e12);
  EXPECT_EQ(device.memory.value, 16'000'000'000);
  EXPECT_EQ(device.efficiency.matrix, 0.8);
  EXPECT_EQ(device.efficiency.attention, 0.8);  // as matrix where it is not given
  EXPECT_EQ(device.efficiency.memory, 0.7);
  EXPECT_EQ(device.efficiency.launch, 4_us);
  EXPECT_EQ(device.efficiency.dispatch.value, 0);
  EXPECT_EQ(device.efficiency.source, "invented");
}

TEST(DeviceFile, WrongOnesAreUserErrors) {
  const Folder folder;
  const auto load_text = [&](const std::string& text) {
    load_device(folder.write("d.toml", text), "--device");
  };

  EXPECT_THROW(load_text("name = 'x'\n"), UserError);
  EXPECT_THROW(load_text(test::device_file + "clock = 1\n"), UserError);
  EXPECT_THROW(load_text(test::device_file + "[efficiency]\nmatrix = 0.8\nmemory = 0.7\nlaunch = '4 us'\n"),
               UserError);
  EXPECT_THROW(load_text(test::device_file +
                         "[efficiency]\nmatrix = 1.8\nmemory = 0.7\nlaunch = '4 us'\nsource = 's'\n"),
               UserError);
  EXPECT_THROW(load_text(test::device_file +
                         "[efficiency]\nmatrix = 0.8\nmemory = 0.7\nlaunch = '4 us'\nsource = ''\n"),
               UserError);
  EXPECT_THROW(load_text("peak = '0 TFLOP/s'\n"), UserError);
}

TEST(ShippedDevices, AllLoadAndAreCited) {
  ASSERT_FALSE(shipped_devices().empty());
  for (const std::string& name : shipped_devices()) {
    const Device device = load_device(name, "test");

    EXPECT_EQ(device.name, name);
    EXPECT_FALSE(device.source.empty());
  }
}

}  // namespace
}  // namespace dlnb
