// SPDX-License-Identifier: Apache-2.0
// Degraded and failed cables. Both directions of a cable share its fate.
//   degraded   the capacity is multiplied by `factor`; routes stay
//   failed     the routes that use the cable are gone. Its flows take the next minimal route in order, where all have
//              gone a detour of the topology, and where those have gone too a shortest way that is left.
// Static routing (minimal, ecmp) is thus what a subnet manager makes of it after a sweep, not what happens before.
#include "machine/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <queue>
#include <utility>

#include <dlnb/error.hpp>

#include "machine/draw.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb {
namespace {

constexpr std::array link_classes{
    Word<LinkClass>{"nic", LinkClass::nic}, Word<LinkClass>{"leaf", LinkClass::leaf},
    Word<LinkClass>{"group", LinkClass::group}, Word<LinkClass>{"global", LinkClass::global}};
constexpr int any = -1;
constexpr Range index_range{0, 1e9};

struct Chosen {
  LinkClass links = LinkClass::global;
  int node = any, nic = any, group = any, other_group = any, from = any, to = any;
  std::string cables;
  double share = 1;
  std::int64_t seed = 1;
  double factor = 1;
  bool failed = false;
};
constexpr auto choice_options =
    options(choice("links", &Chosen::links, "which kind of cables", link_classes),
            option("node", &Chosen::node, "only those of this node; nic alone", index_range),
            option("nic", &Chosen::nic, "only that of this NIC of a node", index_range),
            option("group", &Chosen::group, "only those with an end in this group (or pod)", index_range),
            option("other_group", &Chosen::other_group, "and the other end in this one", index_range),
            option("switch", &Chosen::from, "only those with an end at this switch, counted over the network",
                   index_range),
            option("other_switch", &Chosen::to, "and the other end at this one", index_range),
            option("cables", &Chosen::cables, "of what is left these, in the order they are laid: \"0-3,8\""),
            option("share", &Chosen::share, "of what is left this part, drawn at random", Range{0, 1}),
            option("seed", &Chosen::seed, "of that draw"),
            option("factor", &Chosen::factor, "capacity left, of the nominal one", Range{1e-9, 1}),
            option("failed", &Chosen::failed, "nothing goes over them"));

bool joins(int a, int b, int first, int second) {
  if (first == any) return true;
  if (second == any) return a == first || b == first;
  return (a == first && b == second) || (a == second && b == first);
}

class Selection {
 public:
  Selection(const Wiring& wiring, int nics_per_node) : wiring_(wiring), nics_(nics_per_node) {}

  std::vector<int> cables(const Chosen& choice) const {
    std::vector<int> chosen;
    for (int cable = 0; 2 * cable < int(wiring_.links().size()); ++cable)
      if (matches(choice, cable)) chosen.push_back(cable);
    return chosen;
  }

 private:
  bool matches(const Chosen& choice, int cable) const {
    if (wiring_.links()[std::size_t(2 * cable)].link_class != choice.links) return false;
    const auto [a, b] = wiring_.ends(2 * cable);
    const auto owns = [&](int vertex) {
      return vertex < wiring_.endpoints() && (choice.node == any || vertex / nics_ == choice.node) &&
             (choice.nic == any || vertex % nics_ == choice.nic);
    };
    if ((choice.node != any || choice.nic != any) && !owns(a) && !owns(b)) return false;
    return joins(group(a), group(b), choice.group, choice.other_group) &&
           joins(a - wiring_.endpoints(), b - wiring_.endpoints(), choice.from, choice.to);
  }
  int group(int vertex) const {
    return vertex < wiring_.endpoints() ? wiring_.group_of(vertex)
                                        : wiring_.group_of_switch(vertex - wiring_.endpoints());
  }

  const Wiring& wiring_;
  int nics_;
};

// "0-3,8" of `count` cables.
std::vector<bool> listed(const std::string& text, std::size_t count, const std::string& where) {
  std::vector<bool> chosen(count);
  const char *at = text.data(), *end = at + text.size();
  const auto refuse = [&](const std::string& problem) {
    throw UserError(where, fmt::format("{} {}", in_quotes(text), problem), "for example \"0-3,8\"");
  };
  const auto number = [&] {
    std::size_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{}) refuse("is no list of cables");
    if (value >= count) refuse(fmt::format("names cable {}, but {} are chosen, from 0 on", value, count));
    at = next;
    return value;
  };
  for (;;) {
    const std::size_t first = number();
    std::size_t last = first;
    if (at != end && *at == '-') ++at, last = number();
    if (last < first) refuse("runs backwards");
    std::fill(chosen.begin() + std::ptrdiff_t(first), chosen.begin() + std::ptrdiff_t(last) + 1, true);
    if (at == end) return chosen;
    if (*at++ != ',') refuse("is no list of cables");
  }
}

/// A fabric with other capacities and with cables that no route uses.
class Damaged final : public Fabric {
 public:
  Damaged(std::shared_ptr<const Fabric> whole, const Wiring& wiring)
      : whole_(std::move(whole)),
        wiring_(wiring),
        links_(wiring.links().begin(), wiring.links().end()),
        failed_(links_.size()) {}

  void degrade(int cable, double factor) {
    for (const int link : {2 * cable, 2 * cable + 1})
      links_[std::size_t(link)].capacity = links_[std::size_t(link)].capacity * factor;
  }
  void fail(int cable) {
    any_failed_ = true;
    failed_[std::size_t(2 * cable)] = failed_[std::size_t(2 * cable + 1)] = true;
  }
  /// After the last failure: what is left. Gives an endpoint that endpoint 0 cannot reach, if there is one.
  std::optional<int> connect() {
    if (!any_failed_) return std::nullopt;
    first_.assign(std::size_t(wiring_.vertices()) + 1, 0);
    for (LinkIndex link = 0; link < LinkIndex(links_.size()); ++link)
      if (!failed_[std::size_t(link)]) ++first_[std::size_t(wiring_.ends(link).from) + 1];
    for (std::size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
    leaving_.resize(std::size_t(first_.back()));
    std::vector<int> next(first_.begin(), first_.end() - 1);
    for (LinkIndex link = 0; link < LinkIndex(links_.size()); ++link)
      if (!failed_[std::size_t(link)])
        leaving_[std::size_t(next[std::size_t(wiring_.ends(link).from)]++)] = link;
    const std::vector<LinkIndex> reached = search(0, any);
    for (int e = 1; e < endpoints(); ++e)
      if (reached[std::size_t(e)] < 0) return e;
    return std::nullopt;
  }

  int endpoints() const override { return wiring_.endpoints(); }
  std::span<const Link> links() const override { return links_; }
  int switch_of(int endpoint) const override { return wiring_.switch_of(endpoint); }
  int group_of(int endpoint) const override { return wiring_.group_of(endpoint); }
  std::int64_t minimal_routes(int from, int to) const override { return wiring_.minimal_routes(from, to); }

  void route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const override {
    minimal_route(from, to, spread(from, to, flow), out);
  }
  void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    const auto count = std::uint64_t(wiring_.minimal_routes(from, to));
    const std::size_t before = out.size();
    for (std::uint64_t i = 0; i < std::min(count, tries); ++i) {
      wiring_.minimal_route(from, to, (choice % count + i) % count, out);
      if (intact(out, before)) return;
      out.resize(before);
    }
    for (std::uint64_t i = 0; i < tries; ++i) {
      wiring_.detour(from, to, spread(from, to, choice + i), out);
      if (out.size() > before && intact(out, before)) return;
      out.resize(before);
    }
    shortest(from, to, out);
  }
  void detour(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    const std::size_t before = out.size();
    for (std::uint64_t i = 0; i < tries; ++i) {
      wiring_.detour(from, to, i == 0 ? choice : spread(from, to, choice + i), out);
      if (out.size() == before || intact(out, before)) return;
      out.resize(before);
    }
  }

 private:
  static constexpr std::uint64_t tries = 64;

  bool intact(const std::vector<LinkIndex>& route, std::size_t from) const {
    return !any_failed_ || std::none_of(route.begin() + std::ptrdiff_t(from), route.end(),
                                        [&](LinkIndex link) { return failed_[std::size_t(link)]; });
  }

  // Breadth first over what is left: the link each vertex was first reached by, -1 where it was not. Data passes
  // through endpoints only where there are no switches.
  std::vector<LinkIndex> search(int from, int to) const {
    std::vector<LinkIndex> by(std::size_t(wiring_.vertices()), -1);
    const bool through = wiring_.vertices() == endpoints();
    std::queue<int> next;
    next.push(from);
    while (!next.empty() && (to == any || by[std::size_t(to)] < 0)) {
      const int at = next.front();
      next.pop();
      if (at != from && at < endpoints() && !through) continue;
      for (int i = first_[std::size_t(at)]; i < first_[std::size_t(at) + 1]; ++i) {
        const LinkIndex link = leaving_[std::size_t(i)];
        const int vertex = wiring_.ends(link).to;
        if (vertex == from || by[std::size_t(vertex)] >= 0) continue;
        by[std::size_t(vertex)] = link;
        next.push(vertex);
      }
    }
    return by;
  }

  void shortest(int from, int to, std::vector<LinkIndex>& out) const {
    const std::vector<LinkIndex> by = search(from, to);
    const std::size_t before = out.size();
    for (int at = to; at != from; at = wiring_.ends(out.back()).from) {
      if (by[std::size_t(at)] < 0)
        throw UserError("degraded", fmt::format("failed links leave no way from NIC {} to NIC {}", from, to),
                        "NICs are counted over all nodes");
      out.push_back(by[std::size_t(at)]);
    }
    std::reverse(out.begin() + std::ptrdiff_t(before), out.end());
  }

  std::shared_ptr<const Fabric> whole_;
  const Wiring& wiring_;  // the same
  std::vector<Link> links_;
  std::vector<bool> failed_;
  bool any_failed_ = false;
  std::vector<int> first_;          // by vertex, into …
  std::vector<LinkIndex> leaving_;  // … the links that are left
};

void check_ends(const Value& table, const Chosen& choice) {
  const auto needs = [&](const char* key, bool given, const char* other) {
    if (given)
      throw UserError(located(*table.find(key), fmt::format("degraded.{}", key)),
                      fmt::format("goes with {}", other));
  };
  needs("other_group", choice.other_group != any && choice.group == any, "group");
  needs("other_switch", choice.to != any && choice.from == any, "switch");
  needs("node", choice.node != any && choice.links != LinkClass::nic, "links = \"nic\"");
  needs("nic", choice.nic != any && choice.links != LinkClass::nic, "links = \"nic\"");
  needs("seed", table.find("seed") && !table.find("share"), "share");
  if (choice.failed == (table.find("factor") != nullptr))
    throw UserError(located(table, "degraded"),
                    "links are either failed or have a factor of their capacity left",
                    "write failed = true, or factor = 0.5");
}

void apply(const Value& table, const Selection& selection, Damaged& damaged) {
  Chosen choice;
  choice_options.read(table, "degraded", choice);
  require_members(table, "degraded", {"links"});
  check_ends(table, choice);

  std::vector<int> cables = selection.cables(choice);
  if (const Value* list = table.find("cables")) {
    const std::vector<bool> kept = listed(choice.cables, cables.size(), located(*list, "degraded.cables"));
    std::size_t place = 0;
    std::erase_if(cables, [&](int) { return !kept[place++]; });
  }
  if (table.find("share")) {
    Draw draw{choice.seed};
    const auto wanted = std::size_t(choice.share * double(cables.size()) + 0.5);
    draw.first(cables, wanted);
    cables.resize(wanted);
  }
  if (cables.empty())
    throw UserError(
        located(table, "degraded"), "no link is like this",
        "`list machines` and docs/models/machines.md tell which classes, groups and switches there are");
  for (const int cable : cables)
    if (choice.failed) damaged.fail(cable);
    else damaged.degrade(cable, choice.factor);
}

}  // namespace

std::shared_ptr<const Fabric> damage(std::shared_ptr<const Fabric> network, const Value& tables,
                                     int nics_per_node) {
  const auto* wiring = dynamic_cast<const Wiring*>(network.get());
  if (!wiring)
    throw UserError(located(tables, "degraded"), "this topology does not say where its cables lie");
  const auto damaged = std::make_shared<Damaged>(network, *wiring);
  const Selection selection(*wiring, nics_per_node);
  for (const Value& table : tables.array("degraded")) apply(table, selection, *damaged);
  if (const std::optional<int> lost = damaged->connect())
    throw UserError(located(tables, "degraded"),
                    fmt::format("the failed links cut NIC {} of node {} off from node 0",
                                *lost % nics_per_node, *lost / nics_per_node),
                    "a node whose NIC has failed cannot be modelled: leave a factor of its capacity");
  return damaged;
}

std::vector<OptionInfo> degraded_options() { return choice_options.info(Chosen{}); }

}  // namespace dlnb
