// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dlnb {

/// The clock a session runs on, nanoseconds; a test puts its own in.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now() = 0;
  /// May return late, never early.
  virtual void sleep(std::int64_t nanoseconds) = 0;
};

/// CLOCK_MONOTONIC. The calling thread's timer slack is set to 1 ns on first use by that thread.
Clock& monotonic_clock();

/// Called while a rank computes, because libraries such as MPI move data only when called.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Whether calling `poll` can achieve anything now.
  virtual bool wanted() const = 0;
  virtual void poll() = 0;
};

/// Emulates compute: keeps a rank busy until a deadline.
///
/// Sleeps to shortly before the deadline, because the sleeping core may be needed by the library, then spins,
/// because a sleep ends 30 to 100 µs late. What a phase was too long or too short is taken off the next one,
/// so that the sum of all phases does not drift; at most half a phase is taken off.
class ComputeEmulator {
 public:
  struct Accuracy {
    double relative = 0;           ///< mean |measured − asked| / asked
    std::int64_t nanoseconds = 0;  ///< mean |measured − asked|
    std::int64_t phases = 0;
  };

  static constexpr std::int64_t spin_margin = 120'000;    ///< ns before the deadline at which sleeping ends
  static constexpr std::int64_t poll_interval = 200'000;  ///< ns between polls

  /// `spin`: false where ranks share cores and a spinning one would starve the others; it then only naps.
  ComputeEmulator(Clock& clock, bool spin, Progress* progress)
      : clock_(clock), spin_(spin), progress_(progress) {}

  /// Computes for `asked` ns from `begin` (a reading of the clock); returns the reading at the end.
  std::int64_t run(std::int64_t begin, std::int64_t asked);

  /// Of the phases since the last `forget`.
  Accuracy accuracy() const;
  void forget();
  /// What the next phase will be longer (or, negative, shorter) to make up for the ones before.
  std::int64_t carried() const { return carried_; }

 private:
  void pass_until(std::int64_t deadline, std::int64_t asked);

  Clock& clock_;
  bool spin_;
  Progress* progress_;
  std::int64_t carried_ = 0;
  std::int64_t longest_poll_ = 0;
  double relative_sum_ = 0;
  std::int64_t error_sum_ = 0;
  std::int64_t phases_ = 0;
};

}  // namespace dlnb
