// SPDX-License-Identifier: Apache-2.0
#include "executor/live/hosts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <dlnb/units.hpp>

namespace dlnb {
namespace {

/// The number in a one-line file, or −1 ("max" of a control group included).
std::int64_t number_in(const char* file) {
  std::ifstream stream(file);
  std::int64_t number = -1;
  return stream >> number ? number : -1;
}

/// MemAvailable, or what the control group leaves where that is less.
std::int64_t available_memory() {
  std::int64_t available = -1;
  std::ifstream stream("/proc/meminfo");
  std::string name, unit;
  for (std::int64_t kibibytes = 0; stream >> name >> kibibytes; std::getline(stream, unit))
    if (name == "MemAvailable:") available = kibibytes * 1024;
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const std::int64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit < 0 || used < 0) return available;
  const std::int64_t left = std::max<std::int64_t>(0, limit - used);
  return available < 0 ? left : std::min(available, left);
}

bool same_machine(std::string_view a, std::string_view b) {
  const auto boot = [](std::string_view identity) { return identity.substr(identity.rfind(' ') + 1); };
  return a == b || (!boot(a).empty() && boot(a) == boot(b));
}

}  // namespace

HostFacts facts_of_this_host() {
  HostFacts facts;
  std::array<char, 64> name{};
  gethostname(name.data(), name.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const std::string identity = std::string(name.data()) + " " + boot;
  std::copy_n(identity.begin(), std::min(identity.size(), facts.identity.size() - 1), facts.identity.begin());
  CPU_ZERO(&facts.cores);
  sched_getaffinity(0, sizeof facts.cores, &facts.cores);
  facts.available = available_memory();
  return facts;
}

bool one_clock(std::span<const HostFacts> ranks) {
  return std::ranges::all_of(ranks, [&](const HostFacts& one) { return one.identity == ranks[0].identity; });
}

std::vector<HostUse> hosts_of(std::span<const HostFacts> ranks) {
  std::vector<HostUse> hosts;
  std::vector<cpu_set_t> cores;
  for (const HostFacts& facts : ranks) {
    const std::string identity = facts.identity.data();
    auto host = std::ranges::find_if(
        hosts, [&](const HostUse& known) { return same_machine(known.identity, identity); });
    if (host == hosts.end()) {
      hosts.push_back({.identity = identity, .available = facts.available});
      cores.push_back(facts.cores);
      host = hosts.end() - 1;
    }
    cpu_set_t& set = cores[std::size_t(host - hosts.begin())];
    CPU_OR(&set, &set, &facts.cores);  // bound ranks have different ones
    host->cores = std::max(1, CPU_COUNT(&set));
    host->available = std::min(host->available, facts.available);
    host->ranks += 1;
    host->threads += facts.threads;
    host->buffers += facts.buffers;
    host->library += facts.library;
  }
  return hosts;
}

std::string memory_shortage(std::span<const HostUse> hosts) {
  for (const HostUse& host : hosts)
    if (host.available >= 0 && host.buffers + host.library > host.available)
      return fmt::format(
          "needs {} for buffers and about {} in the library for {} ranks on host {}; {} is available",
          to_text(Bytes{host.buffers}), to_text(Bytes{host.library}), host.ranks,
          host.identity.substr(0, host.identity.find(' ')), to_text(Bytes{host.available}));
  return {};
}

}  // namespace dlnb
