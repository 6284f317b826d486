// SPDX-License-Identifier: Apache-2.0
// Transient outliers of collectives, as Raffi et al. (SC26, Section V-C4, Fig. 9) see them on Alps and LUMI: of
// all-reduces one after the other some take several times as long, between nodes only. A collective is struck with a
// probability, and with it all that begin on its communicator within `duration`; what is struck takes `factor` times as
// long as it would have, whatever that was. Its data has moved in the usual time and links are free again; its members
// wait on. The paper gives no numbers, so that probability and factor have to be said.
#include <algorithm>

#include <dlnb/error.hpp>

#include "executor/sim/noise.hpp"

namespace dlnb::noises {
namespace {

struct Params {
  double probability = 0;
  double factor = 1;
  Seconds duration{0};
  bool inside_nodes = false;
};
constexpr auto params = options(
    option("probability", &Params::probability, "that a collective is struck; has to be given", Range{0, 1}),
    option("factor", &Params::factor, "times as long as it takes then; has to be given", Range{1, 1e6}),
    option("duration", &Params::duration, "for which its communicator stays struck; 0: that collective only",
           Range{0, 1e7}),
    option("inside_nodes", &Params::inside_nodes, "also strikes groups that are on one node"));

class Outliers : public sim::CollectiveNoise {
 public:
  Outliers(const Params& given, std::uint64_t seed) : params_(given), seed_(seed) {}

  double longer(sim::CollectiveState& state, const sim::Moved& moved) const override {
    if (moved.nodes < 2 && !params_.inside_nodes) return 0;
    bool struck = moved.began < state.until;
    if (!struck && sim::draw(seed_, state.stream, std::uint64_t(moved.number)) < params_.probability) {
      struck = true;
      state.until = moved.began + params_.duration.value;
    }
    return struck ? (params_.factor - 1) * moved.took : 0;
  }

 private:
  Params params_;
  std::uint64_t seed_;
};

sim::Noise make(const Value& table, std::uint64_t seed) {
  Params given;
  params.read(table, "noise", given);
  for (const char* needed : {"probability", "factor"})
    if (table.find(needed) == nullptr)
      throw UserError(where_of(table, std::string("noise.") + needed), "is missing",
                      "for example kind = \"outliers\", probability = 0.01, factor = 5");
  return {.ranks = {}, .collectives = std::make_unique<Outliers>(given, seed)};
}

}  // namespace

extern constinit const NoiseKind outliers{
    .name = "outliers",
    .summary = "a share of collectives, by itself or for some time, takes several times as long",
    .options = [] { return params.info(Params{}); },
    .make = make,
};

}  // namespace dlnb::noises
