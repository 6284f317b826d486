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
  /// Lets another thread have the core, if one wants it.
  virtual void yield() = 0;
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

/// One emulated phase of compute.
struct Outcome {
  std::int64_t computed = 0;  ///< when the emulated device had finished
  std::int64_t end = 0;       ///< when the rank could go on
};

/// How exact the phases since the last `forget` were.
struct Accuracy {
  double relative = 0;           ///< mean |measured − asked| / asked
  std::int64_t nanoseconds = 0;  ///< mean |measured − asked|
  std::int64_t phases = 0;
};

/// Emulates compute: keeps a rank busy until a deadline.
class Compute {
 public:
  static constexpr std::int64_t poll_interval = 200'000;  ///< ns between polls

  virtual ~Compute() = default;
  /// Computes for `asked` ns from `begin`, a reading of the clock.
  virtual Outcome run(std::int64_t begin, std::int64_t asked) = 0;

  Accuracy accuracy() const;
  void forget() { relative_sum_ = 0, error_sum_ = 0, phases_ = 0; }

 protected:
  void record(std::int64_t error, std::int64_t asked);

 private:
  double relative_sum_ = 0;
  std::int64_t error_sum_ = 0;
  std::int64_t phases_ = 0;
};

/// For a rank with a core of its own. Sleeps to shortly before the deadline, because the library may need the core,
/// then spins, because a sleep ends 30 to 100 µs late. What a phase was too long or too short is taken off the next
/// one, so that the sum of all phases does not drift; at most half a phase is taken off.
class ExactCompute final : public Compute {
 public:
  static constexpr std::int64_t spin_margin = 120'000;  ///< ns before the deadline at which sleeping ends

  ExactCompute(Clock& clock, Progress* progress) : clock_(clock), progress_(progress) {}

  Outcome run(std::int64_t begin, std::int64_t asked) override;
  /// What the next phase will be longer (or, negative, shorter) to make up for the ones before.
  std::int64_t carried() const { return carried_; }

 private:
  void pass_until(std::int64_t deadline, std::int64_t asked);

  Clock& clock_;
  Progress* progress_;
  std::int64_t carried_ = 0;
  std::int64_t longest_poll_ = 0;
};

/// For ranks that outnumber the cores, where a spinning rank would starve the others. Phases shorter than a lump are
/// owed and paid together, because a sleep cannot be that short; near the deadline the rank offers its core to the
/// others in turn. A phase is computed at its deadline; that the rank goes on later is the doing of other ranks, whose
/// communication holds the cores, and is recorded as such.
class SharedCompute final : public Compute {
 public:
  static constexpr std::int64_t lump = 500'000;         ///< ns, the least that is slept for
  static constexpr std::int64_t yield_margin = 80'000;  ///< ns before the deadline at which sleeping ends

  SharedCompute(Clock& clock, Progress* progress) : clock_(clock), progress_(progress) {}

  Outcome run(std::int64_t begin, std::int64_t asked) override;
  std::int64_t owed() const { return owed_; }

 private:
  Clock& clock_;
  Progress* progress_;
  std::int64_t owed_ = 0;
  std::int64_t last_poll_ = 0;
};

}  // namespace dlnb
