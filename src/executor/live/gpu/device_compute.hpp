// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "executor/live/compute.hpp"
#include "executor/live/gpu/device.hpp"

namespace dlnb::gpu {

/// Emulates compute on the device: a phase is a kernel that spins for as long, on a stream of its own, so that it takes
/// multiprocessors from, and waits for, the kernels of communication.
///
/// The kernel is told ticks = (asked − overhead) / tick. The overhead is measured before: the median time from the launch
/// of a kernel of 0 ticks until its end is seen. The tick is the device's own word (Device::clock_tick); a kernel of 5 ms
/// is tried, and one that is more than 1 % shorter refused.
/// A phase that is longer than asked for, because its blocks waited for a multiprocessor, is left so: that is what is
/// measured, and nothing is taken off the next one. Phases shorter than the overhead take the overhead.
class DeviceCompute final : public Compute {
 public:
  static constexpr std::int64_t trial = 5'000'000;  ///< ns
  static constexpr unsigned threads =
      1024;  ///< of a block; one block for every multiprocessor that is occupied

  /// `share` of the multiprocessors, above 0 and at most 1, is occupied, at least one. `shares_cores`: a waiting rank
  /// offers its core to others. Throws std::runtime_error.
  DeviceCompute(const Device& device, Clock& clock, Progress* progress, double share, bool shares_cores);

  Outcome run(std::int64_t begin, std::int64_t asked) override;
  /// What a reader of the results has to know.
  std::string description() const;

 private:
  void launch(std::uint64_t ticks);
  std::int64_t time(std::uint64_t ticks);
  void calibrate();
  std::uint64_t ticks_for(std::int64_t asked) const;
  void await(std::int64_t expected);

  const Device& device_;
  Clock& clock_;
  Progress* const progress_;
  const bool shares_cores_;
  const int multiprocessors_;
  const unsigned blocks_;
  const double tick_;  ///< ns
  OwnedModule module_;
  Kernel kernel_{};
  const OwnedStream stream_;
  const OwnedEvent ended_;
  std::int64_t overhead_ = 0, tried_ = 0;  ///< ns
};

}  // namespace dlnb::gpu
