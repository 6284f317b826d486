// SPDX-License-Identifier: Apache-2.0
// Torus: routers on a grid of any number of dimensions, closed in each; TPU pods, Fugaku's Tofu, Blue Gene.
//                                                              [Dally, Towles: Principles and Practices, 2004]
//   minimal routes: the shorter way in every dimension, dimension after dimension in any order, each order in turn
//   (adaptive routing chooses among these; a staircase that changes dimension more often is not taken). Where both
//   ways round are equally short either is taken. A ring of two routers has one cable.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <dlnb/error.hpp>
#include <numeric>

#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

constexpr std::size_t most_dimensions = 6;

struct Parameters {
  std::string shape;
  int ports = 1;
  BytesPerSecond endpoint_capacity;
  BytesPerSecond capacity;
  Seconds endpoint_latency;
  Seconds latency;
};
constexpr auto parameters = options(
    option("shape", &Parameters::shape, "routers in each dimension, \"8x8x4\""),
    option("ports", &Parameters::ports, "endpoints on a router", count_range),
    option("endpoint_capacity", &Parameters::endpoint_capacity, "endpoint to router, per direction",
           bandwidth_range),
    option("capacity", &Parameters::capacity, "of a cable between two routers, per direction",
           bandwidth_range),
    option("endpoint_latency", &Parameters::endpoint_latency, "of sending, and of receiving", latency_range),
    option("latency", &Parameters::latency, "of a cable and the router it leads from", latency_range));

// "8x8x4"
std::vector<int> dimensions_of(const std::string& text, const std::string& where) {
  std::vector<int> dimensions;
  std::int64_t routers = 1;
  const char *at = text.data(), *end = at + text.size();
  const auto refuse = [&](const std::string& problem) {
    throw UserError(where, fmt::format("{}: {}", in_quotes(text), problem), "for example \"8x8x4\"");
  };
  for (;;) {
    int size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc{} || next == at || size < 1) refuse("is no list of sizes");
    dimensions.push_back(size);
    routers *= size;
    if (routers > most_endpoints) refuse(fmt::format("more than {} routers", most_endpoints));
    if (dimensions.size() > most_dimensions) refuse(fmt::format("more than {} dimensions", most_dimensions));
    if (next == end) return dimensions;
    if (*next != 'x') refuse("is no list of sizes");
    at = next + 1;
  }
}

// Rings of one router have no cable, rings of two one.
std::int64_t cables_of(const std::vector<int>& dimensions, std::int64_t routers) {
  std::int64_t cables = 0;
  for (const int size : dimensions) cables += size > 2 ? routers : size == 2 ? routers / 2 : 0;
  return cables;
}

class Torus final : public Wiring {
 public:
  Torus(const Parameters& shape, const std::vector<int>& dimensions, std::int64_t routers, int endpoints)
      : Wiring(endpoints, routers, endpoints + cables_of(dimensions, routers)),
        dimensions_(dimensions),
        ports_(shape.ports) {
    const Link up{shape.endpoint_capacity, shape.endpoint_latency, LinkClass::nic};
    for (int e = 0; e < endpoints; ++e) lay(e, endpoints + switch_of(e), up, up);

    const Link link{shape.capacity, shape.latency, LinkClass::group};
    int stride = 1, first = endpoints;
    for (const int size : dimensions_) {
      strides_.push_back(stride);
      first_cable_.push_back(first);
      // The cable from router r onwards in this dimension is number r of them, of r/2 in rings of two.
      for (int r = 0; r < int(routers); ++r) {
        const int at = r / stride % size;
        if (size == 1 || (size == 2 && at == 1)) continue;
        lay(endpoints + r, endpoints + r + (at + 1 == size ? 1 - size : 1) * stride, link, link);
        ++first;
      }
      stride *= size;
    }
  }

  int switch_of(int endpoint) const override { return endpoint / ports_; }

  std::int64_t minimal_routes(int from, int to) const override {
    std::int64_t routes = 1;
    for (int n = int(leg_count(from, to)); n > 1; --n) routes *= n;
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      if (2 * forward(from, to, d) == dimensions_[d] && dimensions_[d] > 2) routes *= 2;
    return routes;
  }

  void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(2 * from);
    Pick pick{choice};
    std::array<std::size_t, most_dimensions> legs{};
    std::size_t count = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      if (forward(from, to, d) != 0) legs[count++] = d;
    int at = switch_of(from);
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(legs[i], legs[i + std::size_t(pick.below(int(count - i)))]);
      at = walk(at, switch_of(to), legs[i], pick, out);
    }
    out.push_back(2 * to + 1);
  }

 private:
  int coordinate(int router, std::size_t d) const { return router / strides_[d] % dimensions_[d]; }
  // Cables from one endpoint's router to the other's in dimension d, going upwards.
  int forward(int from, int to, std::size_t d) const {
    const int a = coordinate(switch_of(from), d), b = coordinate(switch_of(to), d);
    return (b - a + dimensions_[d]) % dimensions_[d];
  }
  std::size_t leg_count(int from, int to) const {
    std::size_t count = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) count += forward(from, to, d) != 0 ? 1 : 0;
    return count;
  }

  // The cable from a router upwards in dimension d.
  int cable(int router, std::size_t d) const {
    if (dimensions_[d] > 2) return first_cable_[d] + router;
    return first_cable_[d] + router / (2 * strides_[d]) * strides_[d] + router % strides_[d];
  }

  int walk(int at, int to, std::size_t d, Pick& pick, std::vector<LinkIndex>& out) const {
    const int size = dimensions_[d], stride = strides_[d];
    const int up = (coordinate(to, d) - coordinate(at, d) + size) % size;
    const bool either = 2 * up == size && size > 2;
    const bool forth = either ? pick.below(2) == 0 : 2 * up <= size;
    for (int left = forth ? up : size - up; left > 0; --left) {
      const int here = coordinate(at, d);
      const int next =
          at + (forth ? (here + 1 == size ? 1 - size : 1) : (here == 0 ? size - 1 : -1)) * stride;
      const bool laid_forth = size > 2 ? forth : here == 0;
      out.push_back(2 * cable(laid_forth ? at : next, d) + (laid_forth ? 0 : 1));
      at = next;
    }
    return at;
  }

  std::vector<int> dimensions_, strides_, first_cable_;
  int ports_;
};

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "torus", shape);
  require_members(table, "torus", {"shape", "endpoint_capacity", "capacity"});
  const std::vector<int> dimensions =
      dimensions_of(shape.shape, located(*table.find("shape"), "torus.shape"));
  const std::int64_t routers =
      std::accumulate(dimensions.begin(), dimensions.end(), std::int64_t{1}, std::multiplies<>{});
  if (routers * shape.ports < endpoints)
    throw UserError(
        table.where(),
        fmt::format("{} endpoints do not fit {} routers × {} ports", endpoints, routers, shape.ports),
        "lower the number of nodes or enlarge the shape");
  if (cables_of(dimensions, routers) > most_cables)
    throw UserError(table.where(),
                    fmt::format("torus: {} has more than {} cables", shape.shape, most_cables));
  return std::make_shared<Torus>(shape, dimensions, routers, endpoints);
}

}  // namespace

extern constinit const Topology torus{
    .name = "torus",
    .summary = "routers on a closed grid of any number of dimensions",
    .options = [] { return parameters.info(Parameters{}); },
    .routing = Routing::ecmp,
    .build = build,
};

}  // namespace dlnb::topologies
