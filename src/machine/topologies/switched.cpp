// SPDX-License-Identifier: Apache-2.0
// One switch, or several planes of them: NVSwitch in a DGX, the NVLink switches of an NVL72 rack, a small
// cluster.
//   route: endpoint → switch → endpoint; a flow takes one plane
// Switches themselves do not block, unless a backplane's capacity is given: then all that crosses one shares it (the
// memory of a host whose ranks copy through it). NVSwitch spreads every transfer over all its chips, so it is one plane
// with the accelerator's whole bandwidth; planes that a flow cannot use together (rails of NICs) are given as
// planes.
#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

struct Parameters {
  int planes = 1;
  LinkClass port = LinkClass::device;
  BytesPerSecond capacity;
  BytesPerSecond backplane;
  Seconds endpoint_latency;
  Seconds switch_latency;
};
constexpr auto parameters = options(
    option("planes", &Parameters::planes, "switches every endpoint has a link to; a flow takes one",
           count_range),
    choice("port", &Parameters::port, "what the endpoints are: ports of accelerators, or NICs",
           std::array{Word<LinkClass>{"device", LinkClass::device}, Word<LinkClass>{"nic", LinkClass::nic}}),
    option("capacity", &Parameters::capacity, "of a link, per direction", bandwidth_range),
    option("backplane", &Parameters::backplane, "what all that crosses a switch shares; 0: it does not block",
           Range{0, bandwidth_range.high}),
    option("endpoint_latency", &Parameters::endpoint_latency, "of sending, and of receiving", latency_range),
    option("switch_latency", &Parameters::switch_latency, "from port to port", latency_range));

class Switch final : public Wiring {
 public:
  Switch(const Parameters& shape, int endpoints)
      : Wiring(endpoints, std::int64_t{shape.planes} * (blocks(shape) ? 2 : 1),
               (std::int64_t{endpoints} + (blocks(shape) ? 1 : 0)) * shape.planes),
        planes_(shape.planes),
        first_backplane_(blocks(shape) ? 2 * endpoints * shape.planes : -1) {
    const Link up{shape.capacity, shape.endpoint_latency + shape.switch_latency, shape.port};
    const Link down{shape.capacity, shape.endpoint_latency, shape.port};
    for (int endpoint = 0; endpoint < endpoints; ++endpoint)
      for (int plane = 0; plane < planes_; ++plane) lay(endpoint, endpoints + plane, up, down);
    // From the switch's one side to its other; only the way there is used.
    const Link through{shape.backplane, Seconds{0}, shape.port};
    for (int plane = 0; plane < planes_ && first_backplane_ >= 0; ++plane)
      lay(endpoints + plane, endpoints + planes_ + plane, through, through);
  }

  std::int64_t minimal_routes(int from, int to) const override { return from == to ? 1 : planes_; }

  void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    const int plane = int(choice % std::uint64_t(planes_));
    out.push_back(2 * (from * planes_ + plane));
    if (first_backplane_ >= 0) out.push_back(first_backplane_ + 2 * plane);
    out.push_back(2 * (to * planes_ + plane) + 1);
  }

 private:
  static bool blocks(const Parameters& shape) { return shape.backplane.value > 0; }

  int planes_;
  LinkIndex first_backplane_;
};

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "switch", shape);
  require_members(table, "switch", {"capacity"});
  if (std::int64_t{endpoints} * shape.planes > most_cables)
    throw UserError(table.where(), fmt::format("{} endpoints × {} planes are more than {} cables", endpoints,
                                               shape.planes, most_cables));
  return std::make_shared<Switch>(shape, endpoints);
}

}  // namespace

// The file cannot be called `switch`: its stem is a name in C++.
extern constinit const Topology switched{
    .name = "switch",
    .summary = "every endpoint on one switch, or on each of several planes of switches",
    .options = [] { return parameters.info(Parameters{}); },
    .routing = Routing::ecmp,
    .build = build,
};

}  // namespace dlnb::topologies
