// SPDX-License-Identifier: Apache-2.0
// What a rank leaves behind for the test to read.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "stand-in/stand_in.hpp"

namespace stand_in {

int own_rank() {
  for (const char* variable : {"DLNETBENCH_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const rank = std::getenv(variable)) return std::atoi(rank);
  return -1;
}

int launch_named_by(const char* variable) {
  const char* const text = std::getenv(variable);
  const char* const colon = text ? std::strchr(text, ':') : nullptr;
  return colon && std::atoi(text) == own_rank() ? std::atoi(colon + 1) : -1;
}

void record(const std::string& line) {
  static const int file = [] {
    const char* const folder = std::getenv("DLNB_STAND_IN_RECORD");
    if (!folder || own_rank() < 0) return -1;
    return open(fmt::format("{}/{}.txt", folder, own_rank()).c_str(),
                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  }();
  const std::string text = line + "\n";
  if (file >= 0 && write(file, text.data(), text.size()) < 0) std::abort();
}

void violation(const std::string& what) {
  record("violation: " + what);
  const std::string text = fmt::format("stand-in: rank {}: violation: {}\n", own_rank(), what);
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
}

}  // namespace stand_in

// For the stand-in of an MPI library.
STAND_IN_EXPORT void stand_in_note(const char* line, int is_violation) {
  is_violation ? stand_in::violation(line) : stand_in::record(line);
}
