// SPDX-License-Identifier: Apache-2.0
#include "executor/live/neighbours.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

namespace dlnb {
namespace {

template <std::size_t N>
void put(std::array<char, N>& place, const std::string& text) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), place.begin());
}

Whereabouts of_this_rank(const std::string& device) {
  Whereabouts here;
  gethostname(here.host.data(), here.host.size() - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  put(here.machine, boot.empty() ? here.host.data() : boot);
  put(here.device, device);
  here.allowed = cpus_of_this_thread();
  return here;
}

}  // namespace

Neighbours find_neighbours(const Control& control) {
  Neighbours found;
  found.all = control.gather_values(of_this_rank(control.transport().device()));
  found.all.resize(std::size_t(control.transport().size()));
  std::string bytes(reinterpret_cast<const char*>(found.all.data()), found.all.size() * sizeof(Whereabouts));
  bytes = control.broadcast(std::move(bytes));
  std::memcpy(static_cast<void*>(found.all.data()), bytes.data(), bytes.size());

  const int rank = control.transport().rank();
  const auto machine_of = [&](int other) {
    return std::string_view(found.all[std::size_t(other)].machine.data());
  };
  for (int other = 0; other < control.transport().size(); ++other) {
    if (machine_of(other) != machine_of(rank)) continue;
    if (other == rank) found.own = int(found.ranks.size());
    found.ranks.push_back(other);
  }
  return found;
}

}  // namespace dlnb
