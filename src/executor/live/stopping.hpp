// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <dlnb/spec.hpp>

namespace dlnb {

/// Mean and spread of numbers, without keeping them (Welford 1962, Technometrics 4:419).
class Running {
 public:
  void add(double value) {
    const double before = value - mean_;
    mean_ += before / double(++count_);
    squares_ += before * (value - mean_);
  }
  std::int64_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Half of the 95 % confidence interval of the mean over the mean; infinite with fewer than two values.
  double relative_half_width() const;

 private:
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

/// The value that |t| of Student's distribution exceeds with 5 % probability.
double student_t_95(std::int64_t degrees);

/// When a run has measured enough. Asked by rank 0 before every iteration, whether it is the last.
class StoppingRule {
 public:
  explicit StoppingRule(const RunSpec& spec) : spec_(spec) {}

  /// An iteration has taken this long.
  void add(std::int64_t nanoseconds) { times_.add(double(nanoseconds)); }
  /// Why the iteration with this number, counted from 1, is the last one; empty where others follow. `elapsed` ns have
  /// passed since the first began.
  std::string_view last(std::int64_t iteration, std::int64_t elapsed) const;

 private:
  const RunSpec& spec_;
  Running times_;
};

}  // namespace dlnb
