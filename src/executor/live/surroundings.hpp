// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dlnb {

/// The world a launcher has put this process in, from the environment it left.
struct Surroundings {
  bool inside = false;
  std::string library;     ///< "openmpi" or "mpich": whose ranks the launcher can connect; empty: neither's
  std::string started_by;  ///< the variable that told
  int rank = 0;
  int size = 0;  ///< 0: not told
};

/// What our own launcher tells its ranks.
inline constexpr char own_rank_variable[] = "DLNETBENCH_RANK";
inline constexpr char own_size_variable[] = "DLNETBENCH_RANKS";
/// Where the run was given hosts: this rank's, as it was given.
inline constexpr char own_host_variable[] = "DLNETBENCH_HOST";

/// `lookup(name)` is getenv, or a test's.
Surroundings surroundings(const char* (*lookup)(const char* name));
Surroundings surroundings();

}  // namespace dlnb
