// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <dlnb/registry.hpp>

namespace dlnb {

/// What one unit of an activity's rate takes of a link's capacity.
struct Use {
  std::int32_t link = 0;
  double weight = 0;
};

/// Activities that compete for links. Numbers are local to the system.
struct System {
  std::span<const std::int32_t> first;  ///< activity a has uses[first[a]] … uses[first[a + 1]]
  std::span<const Use> uses;            ///< weights > 0
  std::span<const double> capacity;     ///< per link, > 0
  std::span<const double> limit;        ///< per activity: its rate when alone, > 0

  std::size_t activities() const { return limit.size(); }
  std::span<const Use> uses_of(std::size_t activity) const {
    return uses.subspan(std::size_t(first[activity]), std::size_t(first[activity + 1] - first[activity]));
  }
};

/// How links are shared. One file each in networks/.
struct Network {
  std::string_view name;
  std::string_view summary;
  /// Gives every activity its rate: Σ weight·rate ≤ capacity on every link, rate ≤ limit. Deterministic.
  void (*solve)(const System&, std::span<double> rates);
  /// Whether a link that the rates without it do not overload may change them all the same, and an activity counts by what
  /// it takes of a link and not by its rate. Else such links are left out of systems, and replicas that are alike are one
  /// activity of the weight of all, which is faster.
  bool every_link = false;
};
namespace networks {
Registry<Network> all();
}

}  // namespace dlnb
