// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sched.h>

#include <bitset>
#include <string>

namespace dlnb {

/// Hardware threads by the kernel's numbers.
using Cpus = std::bitset<CPU_SETSIZE>;

Cpus cpus_of(const cpu_set_t& set);
/// Where the calling thread may run.
Cpus cpus_of_this_thread();
/// From now on a thread, and threads it starts, run there only. Throws Unavailable.
void move_thread(pthread_t thread, const Cpus& cpus);
inline void move_this_thread(const Cpus& cpus) { move_thread(pthread_self(), cpus); }

/// Pages the calling thread touches first from now on come from this NUMA node only; −1 lifts that.
/// False where the kernel does not allow it (containers often do not).
bool take_memory_from(int numa);

/// As the kernel writes lists: "0-3,8"; empty for none.
std::string list_text(const Cpus& cpus);

}  // namespace dlnb
