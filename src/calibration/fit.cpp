// SPDX-License-Identifier: Apache-2.0
// A simulated time is linear in x = (start, step, 1/efficiency) for as long as the simulator chooses the same algorithm:
//   t(x) = start + steps · step + latencies + bytes · weight / (capacity · efficiency)
// so Gauss–Newton on relative errors r = t(x)/measured − 1 takes one solution of a linear least squares problem per
// choice of algorithms and has settled after a few. What is least is Σ |r|, by weights 1 / max(|r|, 0.02) of the squares:
// libraries have sizes at which they are twice as slow as at their neighbours, and squares would follow those
// (Holland, Welsch, Comm. Stat. 6(9), 1977). The linear problem has three unknowns that are not negative: the best of
// the solutions with some of them left out (at zero) that has no negative one.
#include "calibration/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

constexpr std::size_t unknowns = 3;
using Vector = std::array<double, unknowns>;

struct Equation {
  Vector slope{};
  double value = 0;
};

/// Bits of `chosen`: which unknowns are not left out. Gauss–Jordan on the normal equations.
std::optional<Vector> solve(std::span<const Equation> equations, unsigned chosen) {
  std::array<std::array<double, unknowns + 1>, unknowns> rows{};
  for (std::size_t i = 0; i < unknowns; ++i) {
    if (!(chosen >> i & 1)) {
      rows[i][i] = 1;
      continue;
    }
    for (const Equation& equation : equations) {
      for (std::size_t j = 0; j < unknowns; ++j)
        if (chosen >> j & 1) rows[i][j] += equation.slope[i] * equation.slope[j];
      rows[i][unknowns] += equation.slope[i] * equation.value;
    }
  }
  for (std::size_t column = 0; column < unknowns; ++column) {
    const auto pivot =
        std::max_element(rows.begin() + std::ptrdiff_t(column), rows.end(),
                         [&](auto& a, auto& b) { return std::abs(a[column]) < std::abs(b[column]); });
    if (std::abs((*pivot)[column]) < 1e-12) return std::nullopt;
    std::swap(*pivot, rows[column]);
    for (std::size_t row = 0; row < unknowns; ++row) {
      if (row == column) continue;
      const double factor = rows[row][column] / rows[column][column];
      for (std::size_t k = column; k <= unknowns; ++k) rows[row][k] -= factor * rows[column][k];
    }
  }
  Vector solution;
  for (std::size_t i = 0; i < unknowns; ++i) solution[i] = rows[i][unknowns] / rows[i][i];
  return solution;
}

double residual(std::span<const Equation> equations, const Vector& x) {
  double sum = 0;
  for (const Equation& equation : equations) {
    double off = -equation.value;
    for (std::size_t i = 0; i < unknowns; ++i) off += equation.slope[i] * x[i];
    sum += off * off;
  }
  return sum;
}

std::optional<Vector> not_negative_solution(std::span<const Equation> equations) {
  constexpr unsigned inverse_efficiency = 1U << 2;  // never zero
  std::optional<Vector> best;
  for (unsigned chosen = inverse_efficiency; chosen < (1U << unknowns); ++chosen) {
    if (!(chosen & inverse_efficiency)) continue;
    const std::optional<Vector> x = solve(equations, chosen);
    if (!x || (*x)[2] <= 0 || std::ranges::any_of(*x, [](double each) { return each < 0; })) continue;
    if (!best || residual(equations, *x) < residual(equations, *best)) best = x;
  }
  return best;
}

// In units in which the three are of the same size.
constexpr Vector unit{1e-5, 1e-5, 1};

OperationCost cost_of(const Vector& x) {
  return {{x[0] * unit[0]}, {x[1] * unit[1]}, 1 / std::clamp(x[2] * unit[2], 1e-3, 1e6)};
}

}  // namespace

OperationCost fit(const TimesOfCost& model, std::span<const double> measured) {
  constexpr int rounds = 16;
  constexpr double exact = 0.02;  // relative errors below this are squared
  constexpr double nudge = 1e-3;
  Vector x{1, 1, 1};
  for (int round = 0; round < rounds; ++round) {
    const std::vector<double> here = model(cost_of(x));
    DLNB_REQUIRE(here.size() == measured.size(), "a model gives one time for every measurement");
    std::vector<Equation> equations(measured.size());
    for (std::size_t i = 0; i < unknowns; ++i) {
      Vector beside = x;
      beside[i] += nudge;
      const std::vector<double> there = model(cost_of(beside));
      for (std::size_t k = 0; k < measured.size(); ++k)
        equations[k].slope[i] = (there[k] - here[k]) / nudge / measured[k];
    }
    for (std::size_t k = 0; k < measured.size(); ++k) {
      Equation& equation = equations[k];
      const double error = here[k] / measured[k] - 1;
      equation.value = -error;
      for (std::size_t i = 0; i < unknowns; ++i) equation.value += equation.slope[i] * x[i];
      if (round == 0) continue;  // nothing is known yet
      const double weight = 1 / std::sqrt(std::max(std::abs(error), exact));
      for (double& slope : equation.slope) slope *= weight;
      equation.value *= weight;
    }
    const std::optional<Vector> next = not_negative_solution(equations);
    if (!next) break;
    // Half of the way once it has not settled: two choices of algorithms may call for each other.
    for (std::size_t i = 0; i < unknowns; ++i)
      x[i] = round < rounds / 2 ? (*next)[i] : (x[i] + (*next)[i]) / 2;
  }
  return cost_of(x);
}

}  // namespace dlnb
