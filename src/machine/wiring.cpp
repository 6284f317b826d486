// SPDX-License-Identifier: Apache-2.0
#include "machine/wiring.hpp"

#include <fmt/format.h>

#include <dlnb/error.hpp>

namespace dlnb {

Wiring::Wiring(int endpoints, std::int64_t switches, std::int64_t cables)
    : endpoints_(endpoints), vertices_(int(endpoints + switches)) {
  DLNB_REQUIRE(endpoints <= most_endpoints && cables <= most_cables + most_endpoints,
               "a topology checks sizes before it builds");
  links_.reserve(std::size_t(2 * cables));
  ends_.reserve(std::size_t(2 * cables));
}

void Wiring::route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const {
  minimal_route(from, to, spread(from, to, flow), out);
}

void Wiring::lay(int from, int to, const Link& forth, const Link& back) {
  DLNB_REQUIRE(from >= 0 && from < vertices_ && to >= 0 && to < vertices_ && from != to,
               "a cable joins two different vertices");
  links_.push_back(forth);
  links_.push_back(back);
  ends_.push_back({from, to});
  ends_.push_back({to, from});
}

void check_cables(const Value& table, std::string_view topology,
                  std::initializer_list<std::initializer_list<std::int64_t>> kinds) {
  double cables = 0;  // as floating point a product too large for integers is only inexact
  for (const auto& factors : kinds) {
    double product = 1;
    for (const std::int64_t factor : factors) product *= double(factor);
    cables += product;
  }
  if (cables > double(most_cables))
    throw UserError(
        table.where(),
        fmt::format("{}: {:.3g} cables between switches are more than {}", topology, cables, most_cables),
        "check the numbers of switches and of parallel links");
}

}  // namespace dlnb
