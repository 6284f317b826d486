// SPDX-License-Identifier: Apache-2.0
// Cables straight between the endpoints: every pair (NVLink between four GPUs), or a list (the GCDs of MI250X
// nodes). A pair without a cable is routed over the fewest cables, then the widest narrowest one, then the
// lowest numbers; data passing through an endpoint costs that endpoint nothing but the cables. Several cables
// between a pair act as one of their summed capacity: transfers are striped over them. Hubs are what else has cables
// and passes data on, such as the processors of a node.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <dlnb/error.hpp>
#include <limits>

#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

struct Parameters {
  BytesPerSecond capacity;
  Seconds latency;
  int hubs = 0;
  std::vector<std::string> links;
};
constexpr auto parameters = options(
    option("capacity", &Parameters::capacity, "of one link, per direction", bandwidth_range),
    option("latency", &Parameters::latency, "of one link", latency_range),
    option("hubs", &Parameters::hubs, "processors and the like, numbered after the endpoints", Range{0, 64}),
    option("links", &Parameters::links,
           "\"0-1 x4\" or \"0-1 64 GB/s\": the pairs that have links, and how many or how wide; none: one "
           "per pair"));

struct Cable {
  int a = 0, b = 0, width = 1;
  BytesPerSecond capacity{};  // all of it; 0: of `width` links
};

constexpr int largest_partial_mesh = 512;  // its routes are computed once, in n² steps of n

// "0-1", "0-1 x4" or "0-1 64 GB/s"
Cable parse_cable(const std::string& text, const std::string& where, int endpoints) {
  Cable cable;
  const char *at = text.data(), *end = at + text.size();
  auto number = [&](int& out) {
    const auto [next, error] = std::from_chars(at, end, out);
    const bool good = error == std::errc{} && next != at;
    at = next;
    return good;
  };
  bool good = number(cable.a) && at != end && *at++ == '-' && number(cable.b);
  if (good && at != end) {
    good = end - at > 2 && *at++ == ' ';
    if (good && *at == 'x') {
      ++at;
      good = number(cable.width) && at == end;
    } else if (good) {
      const Value rate{std::string(at, end), where};
      read_value(rate, "", cable.capacity);
      check_range(rate, "", cable.capacity.value, bandwidth_range);
    }
  }
  if (!good)
    throw UserError(where, fmt::format("'{}' is not a link", text),
                    "write \"0-1\", \"0-1 x4\" or \"0-1 64 GB/s\"");
  if (cable.a < 0 || cable.b < 0 || cable.a >= endpoints || cable.b >= endpoints)
    throw UserError(where, fmt::format("'{}' leaves the {} endpoints", text, endpoints),
                    fmt::format("endpoints are 0 to {}", endpoints - 1));
  if (cable.a == cable.b) throw UserError(where, fmt::format("'{}' joins an endpoint with itself", text));
  if (cable.width < 1 || cable.width > 1024)
    throw UserError(where, fmt::format("'{}': a pair has 1 to 1024 links", text));
  return cable;
}

class FullMesh final : public Wiring {
 public:
  FullMesh(const Parameters& shape, int endpoints) : Wiring(endpoints, 0, pairs_of(endpoints)) {
    const Link link{shape.capacity, shape.latency, LinkClass::node};
    for (int a = 0; a < endpoints; ++a)
      for (int b = a + 1; b < endpoints; ++b) lay(a, b, link, link);
  }

  void route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    const auto pair = pair_index(std::min(from, to), std::max(from, to), endpoints());
    out.push_back(LinkIndex(2 * pair + (from > to)));
  }
};

class PartialMesh final : public Wiring {
 public:
  PartialMesh(const Value& table, const Parameters& shape, const std::vector<Cable>& cables, int endpoints)
      : Wiring(endpoints, shape.hubs, std::int64_t(cables.size())),
        next_(std::size_t(vertices()) * std::size_t(endpoints), -1) {
    for (const Cable& cable : cables) {
      const BytesPerSecond capacity =
          cable.capacity.value > 0 ? cable.capacity : shape.capacity * cable.width;
      const Link link{capacity, shape.latency, LinkClass::node};
      lay(cable.a, cable.b, link, link);
    }
    for (int to = 0; to < endpoints; ++to) find_routes(table, to);
  }

  void route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    for (int at = from; at != to;) {
      const LinkIndex link = next(at, to);
      out.push_back(link);
      at = ends(link).to;
    }
  }

 private:
  LinkIndex& next(int at, int to) {
    return next_[std::size_t(at) * std::size_t(endpoints()) + std::size_t(to)];
  }
  LinkIndex next(int at, int to) const {
    return next_[std::size_t(at) * std::size_t(endpoints()) + std::size_t(to)];
  }

  // Breadth first from the destination: an endpoint's first link leads one hop nearer, over the widest rest.
  void find_routes(const Value& table, int to) {
    constexpr int unreached = std::numeric_limits<int>::max();
    std::vector<int> hops(std::size_t(vertices()), unreached);
    std::vector<double> width(std::size_t(vertices()), 0.0);
    hops[std::size_t(to)] = 0;
    width[std::size_t(to)] = std::numeric_limits<double>::infinity();
    for (int distance = 1; distance <= vertices(); ++distance)
      for (LinkIndex link = 0; link < LinkIndex(links().size()); ++link) {
        const auto [at, via] = ends(link);
        if (hops[std::size_t(via)] != distance - 1 || hops[std::size_t(at)] < distance) continue;
        const double rest = std::min(width[std::size_t(via)], links()[std::size_t(link)].capacity.value);
        if (hops[std::size_t(at)] == distance && rest <= width[std::size_t(at)]) continue;
        hops[std::size_t(at)] = distance;
        width[std::size_t(at)] = rest;
        next(at, to) = link;
      }
    for (int at = 0; at < endpoints(); ++at)
      if (hops[std::size_t(at)] == unreached)
        throw UserError(located(table, "mesh.links"),
                        fmt::format("no way from endpoint {} to endpoint {}", at, to));
  }

  std::vector<LinkIndex> next_;  // [at][to]: the link to take; hubs are no destinations
};

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "mesh", shape);
  require_members(table, "mesh", {"capacity"});
  if (!table.find("links")) {
    if (shape.hubs > 0)
      throw UserError(located(*table.find("hubs"), "mesh.hubs"), "hubs need `links` that lead to them");
    if (pairs_of(endpoints) > most_cables)
      throw UserError(table.where(), fmt::format("a full mesh of {} endpoints has more than {} cables",
                                                 endpoints, most_cables));
    return std::make_shared<FullMesh>(shape, endpoints);
  }

  const Value& list = *table.find("links");
  if (endpoints > largest_partial_mesh)
    throw UserError(
        located(list, "mesh.links"),
        fmt::format("a partial mesh has at most {} endpoints, this one {}", largest_partial_mesh, endpoints));
  std::vector<Cable> cables;
  const int vertices = endpoints + shape.hubs;
  std::vector<bool> seen(std::size_t(pairs_of(vertices)));
  for (std::size_t i = 0; i < shape.links.size(); ++i) {
    const std::string where = located(list.is_array() ? list.array()[i] : list, "mesh.links");
    const Cable cable = parse_cable(shape.links[i], where, vertices);
    const auto pair =
        std::size_t(pair_index(std::min(cable.a, cable.b), std::max(cable.a, cable.b), vertices));
    if (seen[pair])
      throw UserError(where, fmt::format("the pair {}-{} is listed twice", cable.a, cable.b),
                      "write its number of links once, \"0-1 x2\"");
    seen[pair] = true;
    cables.push_back(cable);
  }
  return std::make_shared<PartialMesh>(table, shape, cables, endpoints);
}

}  // namespace

extern constinit const Topology mesh{
    .name = "mesh",
    .summary = "cables straight between endpoints, every pair or a list",
    .options = [] { return parameters.info(Parameters{}); },
    .routing = Routing::minimal,
    .build = build,
};

}  // namespace dlnb::topologies
