// SPDX-License-Identifier: Apache-2.0
// Dragonfly: groups of switches, each pair of groups joined by parallel global cables.
//                        [Kim, Dally, Scott, Abts, ISCA 2008; Slingshot: De Sensi et al., SC 2020]
// A group's switches are fully connected (Slingshot), or stand in rows and columns that are (Aries: Alverson et al.,
// Cray XC Series Network, 2012). Its global cables are dealt to them (machine/global_cables.hpp).
//   minimal routes take at most one global cable:  [local] global [local], local being two cables where neither row
//   nor column is shared, over either corner
//   global_paths = "shortest"  the global cables that need the fewest local hops
//                = "parallel"  any of the L, as load-adaptive hardware uses them; up to two hops longer
//   detours (Valiant): over a third switch inside a group, over a third group between two
#include <fmt/format.h>

#include <algorithm>
#include <dlnb/error.hpp>

#include "machine/attachment.hpp"
#include "machine/global_cables.hpp"
#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

enum class GlobalPaths : std::uint8_t { shortest, parallel };

struct Parameters {
  int groups = 1;
  int switches = 1;
  int rows = 1;
  int ports = 1;
  int node_ports = 1;
  int node_switches = 1;
  int local_links = 1;
  int column_links = 1;
  int global_links = 1;
  int local_ports = 0;
  int global_ports = 0;
  GlobalPaths global_paths = GlobalPaths::shortest;
  BytesPerSecond endpoint_capacity;
  BytesPerSecond local_capacity;
  BytesPerSecond column_capacity;
  BytesPerSecond global_capacity;
  Seconds endpoint_latency;
  Seconds switch_latency;
  Seconds global_latency;
};
constexpr auto parameters = options(
    option("groups", &Parameters::groups, "groups", count_range),
    option("switches", &Parameters::switches, "switches in a group", count_range),
    option("rows", &Parameters::rows,
           "rows they stand in; cables join the switches of a row and those of a column", count_range),
    option("ports", &Parameters::ports, "endpoints on a switch", count_range),
    option("node_ports", &Parameters::node_ports, "endpoints (NICs) of one node", count_range),
    option("node_switches", &Parameters::node_switches, "switches a node's endpoints are spread over",
           count_range),
    option("local_links", &Parameters::local_links, "cables between each two switches of a row", count_range),
    option("column_links", &Parameters::column_links, "cables between each two switches of a column",
           count_range),
    option("global_links", &Parameters::global_links, "cables between each two groups", count_range),
    option("local_ports", &Parameters::local_ports, "ports a switch has for its group; 0: as many as needed",
           count_or_none),
    option("global_ports", &Parameters::global_ports,
           "ports a switch has for other groups; 0: as many as needed", count_or_none),
    choice("global_paths", &Parameters::global_paths, "which cables between two groups flows are spread over",
           std::array{Word<GlobalPaths>{"shortest", GlobalPaths::shortest},
                      Word<GlobalPaths>{"parallel", GlobalPaths::parallel}}),
    option("endpoint_capacity", &Parameters::endpoint_capacity, "endpoint to switch, per direction",
           bandwidth_range),
    option("local_capacity", &Parameters::local_capacity, "of a cable in a group, per direction",
           bandwidth_range),
    option("column_capacity", &Parameters::column_capacity, "of a cable in a column; none: as in a row",
           Range{0, bandwidth_range.high}),
    option("global_capacity", &Parameters::global_capacity, "of a cable between groups", bandwidth_range),
    option("endpoint_latency", &Parameters::endpoint_latency, "of sending, and of receiving", latency_range),
    option("switch_latency", &Parameters::switch_latency, "of each switch passed", latency_range),
    option("global_latency", &Parameters::global_latency, "of a global cable, on top", latency_range));

/// Cables among the switches of one group.
constexpr std::int64_t local_cables(const Parameters& shape) {
  const int columns = shape.switches / shape.rows;
  return shape.rows * pairs_of(columns) * shape.local_links +
         columns * pairs_of(shape.rows) * shape.column_links;
}

class Dragonfly final : public Wiring {
 public:
  Dragonfly(const Parameters& shape, const Attachment& attachment, std::int64_t local, std::int64_t global,
            int endpoints)
      : Wiring(endpoints, std::int64_t{shape.groups} * shape.switches, endpoints + local + global),
        attachment_(attachment),
        groups_(shape.groups),
        switches_(shape.switches),
        rows_(shape.rows),
        columns_(shape.switches / shape.rows),
        local_links_(shape.local_links),
        column_links_(shape.column_links),
        global_links_(shape.global_links),
        paths_(shape.global_paths),
        local_cables_(endpoints),
        group_cables_(local_cables(shape)),
        row_cables_(rows_ * pairs_of(columns_) * local_links_),
        global_cables_(int(endpoints + local)) {
    const Link up{shape.endpoint_capacity, shape.endpoint_latency + shape.switch_latency, LinkClass::nic};
    const Link down{shape.endpoint_capacity, shape.endpoint_latency, LinkClass::nic};
    for (int e = 0; e < endpoints; ++e) lay(e, endpoints + attachment.switch_of(e), up, down);

    const BytesPerSecond upright =
        shape.column_capacity.value > 0 ? shape.column_capacity : shape.local_capacity;
    const Link along{shape.local_capacity, shape.switch_latency, LinkClass::group};
    const Link across{upright, shape.switch_latency, LinkClass::group};
    for (int g = 0; g < groups_; ++g) {
      const int first = endpoints + g * switches_;
      for (int row = 0; row < rows_; ++row)
        for (int i = 0; i < columns_; ++i)
          for (int j = i + 1; j < columns_; ++j)
            for (int copy = 0; copy < local_links_; ++copy)
              lay(first + row * columns_ + i, first + row * columns_ + j, along, along);
      for (int column = 0; column < columns_; ++column)
        for (int i = 0; i < rows_; ++i)
          for (int j = i + 1; j < rows_; ++j)
            for (int copy = 0; copy < column_links_; ++copy)
              lay(first + i * columns_ + column, first + j * columns_ + column, across, across);
    }

    const Link between{shape.global_capacity, shape.switch_latency + shape.global_latency, LinkClass::global};
    for (int g = 0; g < groups_; ++g)
      for (int h = g + 1; h < groups_; ++h)
        for (int k = 0; k < global_links_; ++k)
          lay(endpoints + g * switches_ + gateway(g, h, k), endpoints + h * switches_ + gateway(h, g, k),
              between, between);
  }

  int switch_of(int endpoint) const override { return attachment_.switch_of(endpoint); }
  int group_of(int endpoint) const override { return attachment_.group_of(endpoint); }
  int group_of_switch(int index) const override { return index / switches_; }

  std::int64_t minimal_routes(int from, int to) const override {
    const int a = switch_of(from), b = switch_of(to);
    if (a == b) return 1;
    const int group_a = a / switches_, group_b = b / switches_;
    if (group_a == group_b) return local_routes();
    const std::int64_t cables = candidates(group_a, a % switches_, group_b, b % switches_).number;
    return cables * local_routes() * local_routes();
  }

  void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(2 * from);
    const int a = switch_of(from), b = switch_of(to);
    const int group_a = a / switches_, group_b = b / switches_;
    Pick pick{choice};
    if (group_a == group_b) {
      step(group_a, a % switches_, b % switches_, pick, out);
    } else {
      const Candidates cables = candidates(group_a, a % switches_, group_b, b % switches_);
      cross(group_a, a % switches_, group_b, b % switches_, cables.at(pick.below(cables.number), switches_),
            pick, out);
    }
    out.push_back(2 * to + 1);
  }

  void detour(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    const int a = switch_of(from), b = switch_of(to);
    const int group_a = a / switches_, group_b = b / switches_, at_a = a % switches_, at_b = b % switches_;
    if (a == b || (group_a == group_b ? switches_ : groups_) < 3) return;
    Pick pick{choice};
    out.push_back(2 * from);
    if (group_a == group_b) {
      const int third = third_of(pick.below(switches_ - 2), at_a, at_b);
      step(group_a, at_a, third, pick, out);
      step(group_a, third, at_b, pick, out);
    } else {
      const int third = third_of(pick.below(groups_ - 2), group_a, group_b);
      const int there = pick.below(global_links_), on = pick.below(global_links_);
      cross(group_a, at_a, third, gateway(third, group_a, there), there, pick, out);
      cross(third, gateway(third, group_a, there), group_b, at_b, on, pick, out);
    }
    out.push_back(2 * to + 1);
  }

 private:
  // The global cables that minimal routes may take: all, or those that begin at one of the two switches.
  struct Candidates {
    int number = 0;
    Dealt near_a, near_b;

    int at(int k, int switches) const {
      if (near_a.count + near_b.count == 0) return k;
      return k < near_a.count ? near_a.first + k * switches : near_b.first + (k - near_a.count) * switches;
    }
  };

  // Which other group `to` is, seen from group `from`.
  static int place(int from, int to) { return to < from ? to : to - 1; }
  // Switch of group `from` that holds its k-th cable to group `to`.
  int gateway(int from, int to, int k) const { return holder(place(from, to), k, global_links_, switches_); }

  Candidates candidates(int group_a, int a, int group_b, int b) const {
    if (paths_ == GlobalPaths::parallel) return {global_links_, {}, {}};
    const Dealt near_a = dealt_to(place(group_a, group_b), a, global_links_, switches_);
    const Dealt near_b = dealt_to(place(group_b, group_a), b, global_links_, switches_);
    const int near = near_a.count + near_b.count;
    return {near > 0 ? near : global_links_, near_a, near_b};
  }

  // Switch to switch in a group, whether or not they are the same, takes a choice below this number.
  std::int64_t local_routes() const {
    return rows_ == 1 ? local_links_ : std::int64_t{2} * local_links_ * column_links_;
  }

  // From switch a of a group to switch b of another over the k-th cable between them.
  void cross(int group_a, int a, int group_b, int b, int k, Pick& pick, std::vector<LinkIndex>& out) const {
    step(group_a, a, gateway(group_a, group_b, k), pick, out);
    const auto pair = pair_index(std::min(group_a, group_b), std::max(group_a, group_b), groups_);
    out.push_back(LinkIndex(2 * (global_cables_ + pair * global_links_ + k) + (group_a > group_b)));
    step(group_b, gateway(group_b, group_a, k), b, pick, out);
  }

  void step(int group, int a, int b, Pick& pick, std::vector<LinkIndex>& out) const {
    const int along = pick.below(local_links_);
    if (rows_ == 1) return row(group, 0, a, b, along, out);
    const int across = pick.below(column_links_);
    const bool row_first = pick.below(2) == 0;
    const int row_a = a / columns_, row_b = b / columns_, column_a = a % columns_, column_b = b % columns_;
    if (row_first) {
      row(group, row_a, column_a, column_b, along, out);
      column(group, column_b, row_a, row_b, across, out);
    } else {
      column(group, column_a, row_a, row_b, across, out);
      row(group, row_b, column_a, column_b, along, out);
    }
  }
  void row(int group, int row, int i, int j, int copy, std::vector<LinkIndex>& out) const {
    if (i == j) return;
    const auto pair = row * pairs_of(columns_) + pair_index(std::min(i, j), std::max(i, j), columns_);
    push_local(group, pair * local_links_ + copy, i > j, out);
  }
  void column(int group, int column, int i, int j, int copy, std::vector<LinkIndex>& out) const {
    if (i == j) return;
    const auto pair = column * pairs_of(rows_) + pair_index(std::min(i, j), std::max(i, j), rows_);
    push_local(group, row_cables_ + pair * column_links_ + copy, i > j, out);
  }
  void push_local(int group, std::int64_t cable, bool back, std::vector<LinkIndex>& out) const {
    out.push_back(LinkIndex(2 * (local_cables_ + group * group_cables_ + cable) + back));
  }

  Attachment attachment_;
  int groups_, switches_, rows_, columns_, local_links_, column_links_, global_links_;
  GlobalPaths paths_;
  int local_cables_;           // the first of them
  std::int64_t group_cables_;  // local cables of a group, …
  std::int64_t row_cables_;    // … of these along rows
  int global_cables_;          // the first of them
};

void check_rows(const Value& table, const Parameters& shape) {
  const auto at = [&](std::string_view key) {
    const Value* value = table.find(key);
    return located(value ? *value : table, fmt::format("dragonfly.{}", key));
  };
  if (shape.switches % shape.rows != 0)
    throw UserError(at("rows"), fmt::format("{} switches cannot stand in {} rows of equal length",
                                            shape.switches, shape.rows));
  if (shape.rows == 1)
    for (const char* key : {"column_links", "column_capacity"})
      if (table.find(key)) throw UserError(at(key), "one row has no columns", "set rows, or leave it out");
  if (shape.rows > 1 && shape.groups > 1 && shape.global_paths == GlobalPaths::shortest)
    throw UserError(at("global_paths"), "groups of several rows know no shortest global cable",
                    "set global_paths = \"parallel\"");
}

void check_ports(const Value& table, const Parameters& shape) {
  const std::int64_t columns = shape.switches / shape.rows;
  const std::int64_t local =
      (columns - 1) * shape.local_links + std::int64_t{shape.rows - 1} * shape.column_links;
  const std::int64_t global =
      (std::int64_t{shape.groups - 1} * shape.global_links + shape.switches - 1) / shape.switches;
  if (shape.local_ports > 0 && local > shape.local_ports)
    throw UserError(
        located(*table.find("local_ports"), "dragonfly.local_ports"),
        fmt::format("the links of its group need {} ports, a switch has {}", local, shape.local_ports));
  if (shape.global_ports > 0 && global > shape.global_ports)
    throw UserError(
        located(*table.find("global_ports"), "dragonfly.global_ports"),
        fmt::format("{} other groups × {} links over {} switches need {} ports, "
                    "a switch has {}",
                    shape.groups - 1, shape.global_links, shape.switches, global, shape.global_ports));
}

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "dragonfly", shape);
  require_members(table, "dragonfly",
                  {"groups", "switches", "ports", "endpoint_capacity", "local_capacity", "global_capacity"});
  const Attachment attachment(table,
                              {.groups = shape.groups,
                               .switches = shape.switches,
                               .ports = shape.ports,
                               .node_ports = shape.node_ports,
                               .node_switches = shape.node_switches},
                              endpoints);
  check_rows(table, shape);
  check_ports(table, shape);
  const int columns = shape.switches / shape.rows;
  check_cables(table, "dragonfly",
               {{shape.groups, shape.rows, pairs_of(columns), shape.local_links},
                {shape.groups, columns, pairs_of(shape.rows), shape.column_links},
                {pairs_of(shape.groups), shape.global_links}});
  const std::int64_t local = shape.groups * local_cables(shape);
  const std::int64_t global = pairs_of(shape.groups) * shape.global_links;
  return std::make_shared<Dragonfly>(shape, attachment, local, global, endpoints);
}

}  // namespace

extern constinit const Topology dragonfly{
    .name = "dragonfly",
    .summary = "groups of connected switches, parallel cables between each two groups",
    .options = [] { return parameters.info(Parameters{}); },
    .routing = Routing::adaptive,
    .build = build,
};

}  // namespace dlnb::topologies
