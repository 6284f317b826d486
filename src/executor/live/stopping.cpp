// SPDX-License-Identifier: Apache-2.0
#include "executor/live/stopping.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace dlnb {

double student_t_95(std::int64_t degrees) {
  // Exact for few degrees of freedom; beyond, the expansion of Abramowitz and Stegun (1964), 26.7.5, is good to
  // three digits.
  constexpr std::array exact{12.706, 4.303, 3.182, 2.776, 2.571, 2.447};
  if (degrees < 1) return std::numeric_limits<double>::infinity();
  if (degrees <= std::int64_t(exact.size())) return exact[std::size_t(degrees - 1)];
  constexpr double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const double n = double(degrees);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

double Running::relative_half_width() const {
  if (count_ < 2 || mean_ <= 0) return std::numeric_limits<double>::infinity();
  const double deviation = std::sqrt(squares_ / double(count_ - 1));
  return student_t_95(count_ - 1) * deviation / std::sqrt(double(count_)) / mean_;
}

std::string_view StoppingRule::last(std::int64_t iteration, std::int64_t elapsed) const {
  if (spec_.forever) return {};
  const double seconds = double(elapsed) * 1e-9;
  if (spec_.max_time.value > 0 && seconds >= spec_.max_time.value) return "max_time";
  const bool enough = iteration >= spec_.iterations && seconds >= spec_.min_time.value;
  if (spec_.spread <= 0) {
    if (!enough) return {};
    return spec_.min_time.value > 0 && iteration > spec_.iterations ? "min_time" : "iterations";
  }
  if (enough && times_.relative_half_width() <= spec_.spread) return "spread";
  return iteration >= spec_.max_iterations ? "max_iterations" : std::string_view();
}

}  // namespace dlnb
