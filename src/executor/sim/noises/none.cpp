// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/noise.hpp"

namespace dlnb::noises {
namespace {

struct Nothing {};
constexpr auto nothing_to_say = options();

sim::Noise make(const Value& table, std::uint64_t) {
  Nothing nothing;
  nothing_to_say.read(table, "noise", nothing);
  return {};
}

}  // namespace

extern constinit const NoiseKind none{
    .name = "none",
    .summary = "nothing is disturbed",
    .options = [] { return std::vector<OptionInfo>{}; },
    .make = make,
};

}  // namespace dlnb::noises
