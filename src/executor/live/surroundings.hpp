// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dlnb {

/// The world a launcher has put this process in, from the environment it left.
struct Surroundings {
  bool inside = false;
  std::string library;     ///< "openmpi" or "mpich": whose ranks the launcher can connect
  std::string started_by;  ///< the variable that told
  int rank = 0;
};

/// `lookup(name)` is getenv, or a test's.
Surroundings surroundings(const char* (*lookup)(const char* name));
Surroundings surroundings();

}  // namespace dlnb
