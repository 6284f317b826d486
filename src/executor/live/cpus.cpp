// SPDX-License-Identifier: Apache-2.0
#include "executor/live/cpus.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include <dlnb/error.hpp>

namespace dlnb {

Cpus cpus_of(const cpu_set_t& set) {
  Cpus cpus;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) cpus[cpu] = CPU_ISSET(cpu, &set);
  return cpus;
}

Cpus cpus_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return cpus_of(set);
}

void move_thread(pthread_t thread, const Cpus& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu)
    if (cpus[cpu]) CPU_SET(cpu, &set);
  if (const int failure = pthread_setaffinity_np(thread, sizeof set, &set); failure != 0)
    throw Unavailable("--binding",
                      fmt::format("cannot run on {} only: {}", list_text(cpus), std::strerror(failure)),
                      "use --binding none");
}

bool take_memory_from(int numa) {
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 1024 / bits> nodes{};
  if (numa < 0) return syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) == 0;
  if (std::size_t(numa) >= nodes.size() * bits) return false;
  nodes[std::size_t(numa) / bits] = 1UL << (std::size_t(numa) % bits);
  // The kernel takes the number of bits plus one.
  return syscall(SYS_set_mempolicy, MPOL_BIND, nodes.data(), nodes.size() * bits + 1) == 0;
}

std::string list_text(const Cpus& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size(); ++first) {
    if (!cpus[first]) continue;
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1]) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) text += fmt::format("-{}", last);
    first = last;
  }
  return text;
}

}  // namespace dlnb
