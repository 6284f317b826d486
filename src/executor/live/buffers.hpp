// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "executor/live/binding.hpp"

namespace dlnb {

/// The memory of a rank's lanes, written to once so that no page is missing while time is taken.
/// Zeroed: sums of zeros stay finite however often they are repeated.
class Buffers {
 public:
  Buffers(Transport& transport, const std::vector<Lane>& lanes);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  std::byte* send(int lane) const { return send_[std::size_t(lane)]; }
  std::byte* receive(int lane) const { return receive_[std::size_t(lane)]; }

 private:
  void release() noexcept;

  Transport& transport_;
  std::vector<std::byte*> send_, receive_;
};

}  // namespace dlnb
