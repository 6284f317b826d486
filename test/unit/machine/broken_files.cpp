// SPDX-License-Identifier: Apache-2.0
// Machine files with random changes are read, or refused as the user's mistake; nothing else happens. The number of
// files is small here; DLNB_BROKEN_FILES asks for more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "machines.hpp"

namespace dlnb {
namespace {

const char* const seeds[] = {
    "name = 't'\nsource = 's'\ndevice = 'a100'\nnodes = 6\ndevices_per_node = 2\nnics_per_node = 2\n"
    "node_names = 'n[01-06]'\n[node]\ntopology = 'mesh'\ncapacity = '25 GB/s'\nhubs = 1\n"
    "links = ['0-1 x4', '0-2', '1-2 64 GB/s']\n"
    "[network]\ntopology = 'dragonfly'\nrouting = 'adaptive'\ngroups = 3\nswitches = 4\nrows = 2\nports = "
    "2\nnode_ports = 2\n"
    "node_switches = 2\nlocal_links = 2\ncolumn_links = 3\nglobal_links = 2\nglobal_paths = 'parallel'\n"
    "endpoint_capacity = '25 GB/s'\nlocal_capacity = '25 GB/s'\nglobal_capacity = '25 GB/s'\nswitch_latency "
    "= '350 ns'\n"
    "[[degraded]]\nlinks = 'global'\ngroup = 0\nother_group = 1\ncables = '0-1'\nfailed = true\n"
    "[[degraded]]\nlinks = 'group'\nshare = 0.25\nseed = 3\nfactor = 0.5\n"
    "[software]\nstep = '3 us'\nefficiency = 0.9\nsource = 's'\n[software.all-reduce]\nstart = '1 us'\n",
    "name = 't'\nsource = 's'\ndevice = 'v100'\nnodes = 8\ndevices_per_node = 1\nnics_per_node = 1\n"
    "[network]\ntopology = 'fat_tree'\nrouting = 'spray'\npods = 0\nleaves = 2\nspines = 2\nports = "
    "2\nleaf_links = 2\n"
    "core_links = 2\nradix = 16\nendpoint_capacity = '25 GB/s'\nleaf_capacity = '25 GB/s'\ncore_capacity = "
    "'25 GB/s'\n",
    "name = 't'\nsource = 's'\ndevice = 'v100'\nnodes = 8\ndevices_per_node = 1\nnics_per_node = 1\n"
    "[network]\ntopology = 'torus'\nshape = '2x2x2'\nendpoint_capacity = '25 GB/s'\ncapacity = '25 GB/s'\n",
    "name = 't'\nsource = 's'\ndevice = 'v100'\nnodes = 8\ndevices_per_node = 1\nnics_per_node = 1\n"
    "[network]\ntopology = 'dragonfly_plus'\ngroups = 3\nleaves = 2\nspines = 2\nports = 2\nglobal_links = "
    "2\nradix = 9\n"
    "endpoint_capacity = '25 GB/s'\nleaf_capacity = '25 GB/s'\nglobal_capacity = '25 GB/s'\n",
};
const char* const words[] = {"0",   "-1",        "7",     "64",       "1e30",    "99999999", "4294967296",
                             "0.5", "nan",       "'x'",   "'0 GB/s'", "'1 us'",  "true",     "[]",
                             "{}",  "'n[1-99]'", "'0-9'", "'mesh'",   "'torus'", "'switch'", "''"};

// Changes a value, a line or a letter.
std::string broken(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::size_t(random()) % n; };
  for (std::size_t change = 1 + below(2); change > 0; --change) {
    std::vector<std::size_t> lines{0};
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      if (at + 1 < text.size()) lines.push_back(at + 1);
    const std::size_t begin = lines[below(lines.size())], end = std::min(text.find('\n', begin), text.size());
    const std::size_t equals = text.find(" = ", begin);
    switch (below(5)) {
      case 0:
      case 1:
        if (equals < end) text.replace(equals + 3, end - equals - 3, words[below(std::size(words))]);
        break;
      case 2: text.erase(begin, end - begin); break;
      case 3: text.insert(begin, text.substr(lines[below(lines.size())], below(60)) + "\n"); break;
      default: text[begin + below(end - begin + 1) * (begin < end)] = char(32 + below(95));
    }
    if (text.empty()) text = "x";
  }
  return text;
}

TEST(BrokenMachineFiles, AreReadOrRefused) {
  const char* asked = std::getenv("DLNB_BROKEN_FILES");
  const int files = asked ? std::atoi(asked) : 400;
  std::mt19937 random{5};
  const test::Folder folder;
  int read = 0, routes = 0;
  for (int file = 0; file < files; ++file) {
    const std::string text = broken(seeds[random() % std::size(seeds)], random);
    try {
      const Machine machine = load_machine(folder.write("m.toml", text), "--machine");
      ++read;
      if (machine.devices() > 10'000) continue;
      std::vector<LinkIndex> links;
      for (int pair = 0; pair < 20; ++pair) {
        links.clear();
        machine.route(int(random() % unsigned(machine.devices())),
                      int(random() % unsigned(machine.devices())), random(), links);
        for (const LinkIndex link : links) ASSERT_GT(machine.link(link).capacity.value, 0) << text;
        ++routes;
      }
    } catch (const UserError&) {
    } catch (const Unavailable&) {
    }
  }
  EXPECT_GT(read, files / 20);
  EXPECT_GT(routes, read);
}

}  // namespace
}  // namespace dlnb
