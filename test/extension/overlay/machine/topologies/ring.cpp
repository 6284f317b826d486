// SPDX-License-Identifier: Apache-2.0
// One cable from every endpoint to the next, closed; data goes round the shorter way.
#include <dlnb/error.hpp>

#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

struct Parameters {
  BytesPerSecond capacity;
  Seconds latency;
};
constexpr auto parameters =
    options(option("capacity", &Parameters::capacity, "of one cable, per direction", bandwidth_range),
            option("latency", &Parameters::latency, "of one cable", latency_range));

class Ring final : public Wiring {
 public:
  Ring(const Link& link, int endpoints) : Wiring(endpoints, 0, endpoints) {
    for (int at = 0; at < endpoints; ++at) lay(at, (at + 1) % endpoints, link, link);
  }

  void route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    const int n = endpoints(), forth = (to - from + n) % n;
    if (2 * forth <= n)
      for (int at = from; at != to; at = (at + 1) % n) out.push_back(2 * at);
    else
      for (int at = from; at != to; at = (at + n - 1) % n) out.push_back(2 * ((at + n - 1) % n) + 1);
  }
};

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "ring", shape);
  require_members(table, "ring", {"capacity"});
  if (endpoints < 2) throw UserError(table.where(), "a ring needs two endpoints or more");
  return std::make_shared<Ring>(Link{shape.capacity, shape.latency, LinkClass::device}, endpoints);
}

}  // namespace

extern constinit const Topology ring{
    .name = "ring",
    .summary = "every endpoint joined to the next",
    .options = [] { return parameters.info(Parameters{}); },
    .build = build,
};

}  // namespace dlnb::topologies
