// SPDX-License-Identifier: Apache-2.0
// Which cores of a host are taken by runs that have bound ranks to them, so that two runs at once never sit on the
// same core while others are idle. A taken hardware thread is a lock on one byte of a common file; the kernel drops
// it with the process, however that ends. Containers that do not share the file do not see each other.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "executor/live/topology.hpp"

namespace dlnb {

class CoreClaims {
 public:
  /// Where all runs on this host look.
  static std::filesystem::path usual_file() { return "/dev/shm/dlnetbench-cores"; }

  /// Gives back what `take` took when it goes.
  explicit CoreClaims(const std::filesystem::path& file = usual_file());
  ~CoreClaims();
  CoreClaims(CoreClaims&& other) noexcept;
  CoreClaims(const CoreClaims&) = delete;
  CoreClaims& operator=(const CoreClaims&) = delete;

  /// Why nothing can be taken; empty where it can.
  const std::string& problem() const { return problem_; }
  /// Takes `wanted` of these cores (indices into `cores`, ascending), spread evenly over those that nobody has
  /// taken; none where there are fewer.
  std::vector<std::size_t> take(std::span<const Core> cores, std::size_t wanted);
  /// How many of these cores others have taken.
  std::size_t taken(std::span<const Core> cores) const;

 private:
  bool lock(const Cpus& threads);
  void unlock(const Cpus& threads);

  int file_ = -1;
  std::string problem_;
};

}  // namespace dlnb
