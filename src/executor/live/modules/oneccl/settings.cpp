// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/oneccl/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace dlnb::oneccl {
namespace {

/// Ranks that say the same reach each other through one loopback.
std::string own_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code ignored;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", ignored);
  return std::string(name.data()) + " " + boot + " " + network.string();
}

std::vector<std::string> hosts_of_all(const ModuleOptions& options, const Store& store) {
  constexpr std::chrono::hours patience(24);  // who watches the start (arrival.hpp) ends it much earlier
  const auto key = [](int rank) { return "oneccl.host." + std::to_string(rank); };
  store.set(key(options.rank), own_host());
  std::vector<std::string> hosts;
  for (int rank = 0; rank < options.size; ++rank) hosts.push_back(store.get(key(rank), patience));
  return hosts;
}

void set_unless_set(const char* name, const std::string& value) { setenv(name, value.c_str(), 0); }

}  // namespace

void set_environment(const ModuleOptions& options, const Store& store) {
  const std::vector<std::string> hosts = hosts_of_all(options, store);
  const auto own = hosts.begin() + options.rank;
  set_unless_set("CCL_PROCESS_LAUNCHER", "none");
  set_unless_set("CCL_LOCAL_RANK", std::to_string(std::count(hosts.begin(), own, *own)));
  set_unless_set("CCL_LOCAL_SIZE", std::to_string(std::ranges::count(hosts, *own)));
  set_unless_set("CCL_ATL_TRANSPORT", "ofi");
  // Its worker thread spins all the time, on a core that a rank may need. Without it transfers move while they are
  // tested or waited for.
  set_unless_set("CCL_WORKER_OFFLOAD", "0");
  // Debian's libfabric loads libinfinipath, whose handlers end the process with 1 on any signal unless told not to.
  set_unless_set("IPATH_NO_BACKTRACE", "1");
  // It warns of every setting that is not its default.
  set_unless_set("CCL_LOG_LEVEL", "error");
  if (std::ranges::count(hosts, *own) < options.size) return;
  set_unless_set("FI_PROVIDER", "tcp");
  set_unless_set("FI_TCP_IFACE", "lo");
}

}  // namespace dlnb::oneccl
