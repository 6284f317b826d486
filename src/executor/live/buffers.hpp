// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "executor/live/binding.hpp"

namespace dlnb {

/// The memory of a rank's lanes, written to once so that no page is missing while time is taken.
/// Zeroed: sums of zeros stay finite however often they are repeated.
class Buffers {
 public:
  explicit Buffers(const std::vector<Lane>& lanes);

  std::byte* send(int lane) const { return send_[std::size_t(lane)].get(); }
  std::byte* receive(int lane) const { return receive_[std::size_t(lane)].get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  static Memory allocate(std::int64_t bytes);

  std::vector<Memory> send_, receive_;
};

}  // namespace dlnb
