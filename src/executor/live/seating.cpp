// SPDX-License-Identifier: Apache-2.0
#include "executor/live/seating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

struct Named {
  std::string_view word;
  BindingMode mode;
};
constexpr Named modes[] = {{"auto", BindingMode::automatic},
                           {"none", BindingMode::none},
                           {"core", BindingMode::core},
                           {"numa", BindingMode::numa},
                           {"gpu", BindingMode::gpu}};

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The part of these cores that is allowed.
std::vector<Core> allowed_of(const std::vector<Core>& cores, const Cpus& allowed) {
  std::vector<Core> left;
  for (const Core& core : cores)
    if (const Cpus threads = core.threads & allowed; threads.any()) left.push_back({threads, core.numa});
  return left;
}

class Host {
 public:
  Host(const Topology& topology, const std::vector<Guest>& guests, int threads, CoreClaims& claims)
      : topology_(topology), guests_(guests), threads_(std::size_t(threads)), claims_(claims) {}

  Seating seat(BindingMode mode) {
    switch (mode) {
      case BindingMode::none: return {{}, "ranks are not bound", {}};
      case BindingMode::core: return on_cores();
      case BindingMode::numa: return on_nodes();
      case BindingMode::gpu: return near_gpus();
      case BindingMode::automatic: break;
    }
    if (!topology_.of_this_host) return none("the topology is not this host's (HWLOC_ variables are set)");
    if (!bound_alike()) return none("the launcher has bound them already");
    const bool on_gpus = std::ranges::all_of(guests_, [&](const Guest& g) { return gpu_at(g.device); });
    if (on_gpus) return near_gpus();
    const std::size_t cores = allowed_of(topology_.cores, guests_.front().allowed).size();
    if (guests_.size() * threads_ > cores)
      return none(fmt::format("{} want {}, they may use {}", counted(guests_.size(), "rank"),
                              counted(guests_.size() * threads_, "core"), counted(cores, "core")));
    Seating seating = on_cores();
    return seating.refusal.empty() ? seating : none(seating.refusal);
  }

 private:
  static Seating none(const std::string& reason) { return {{}, "ranks are not bound: " + reason, {}}; }

  bool bound_alike() const {
    return std::ranges::all_of(guests_, [&](const Guest& g) { return g.allowed == guests_.front().allowed; });
  }

  const Gpu* gpu_at(const std::string& address) const {
    const auto found = std::ranges::find(topology_.gpus, address, &Gpu::address);
    return found == topology_.gpus.end() ? nullptr : &*found;
  }

  Seating on_cores() {
    const std::optional<std::vector<Core>> own = bound_alike() ? take_cores() : own_cores();
    if (!own) return {{}, {}, refusal_};
    Cpus taken;
    for (const Core& core : *own) taken |= core.threads;
    Seating seating{{}, "every rank has a core of its own", {}};
    for (std::size_t rank = 0; rank < guests_.size(); ++rank) {
      const Core& core = (*own)[rank];
      seating.seats.push_back(
          {core.threads, beside(core, guests_[rank].allowed & ~taken, rank), core.numa, -1, {}});
    }
    return seating;
  }

  // Threads that work for a rank go where no rank sits, on its own NUMA node if they can; where every core has a
  // rank, anywhere.
  Cpus beside(const Core& core, const Cpus& free, std::size_t rank) const {
    const auto node = std::ranges::find(topology_.nodes, core.numa, &NumaNode::number);
    if (node != topology_.nodes.end() && (free & node->threads).any()) return free & node->threads;
    return free.any() ? free : guests_[rank].allowed;
  }

  std::optional<std::vector<Core>> take_cores() {
    const std::vector<Core> cores = allowed_of(topology_.cores, guests_.front().allowed);
    const std::vector<std::size_t> chosen = claims_.take(cores, guests_.size());
    if (!claims_.problem().empty()) {
      refusal_ = "it cannot be told which cores other runs use, " + claims_.problem();
      return std::nullopt;
    }
    if (chosen.size() < guests_.size()) {
      const std::size_t others = claims_.taken(cores);
      refusal_ = fmt::format("{}, {}{}", counted(guests_.size(), "rank"), counted(cores.size(), "core"),
                             others > 0 ? fmt::format(", of which other runs have bound {}", others) : "");
      return std::nullopt;
    }
    std::vector<Core> taken;
    for (const std::size_t core : chosen) taken.push_back(cores[core]);
    return taken;
  }

  // Of what the launcher gave every rank, the first core that no other rank has.
  std::optional<std::vector<Core>> own_cores() {
    std::vector<Core> own;
    for (const Guest& guest : guests_) {
      const auto is_free = [&](const Core& core) {
        return std::ranges::none_of(own, [&](const Core& o) { return (o.threads & core.threads).any(); });
      };
      const std::vector<Core> cores = allowed_of(topology_.cores, guest.allowed);
      const auto core = std::ranges::find_if(cores, is_free);
      if (core == cores.end()) {
        refusal_ = fmt::format("the launcher leaves the {}. rank of the host no core of its own in {}",
                               own.size() + 1, list_text(guest.allowed));
        return std::nullopt;
      }
      own.push_back(*core);
    }
    return own;
  }

  Seating on_nodes() const {
    Seating seating{{}, "every rank has a NUMA node, for its memory too", {}};
    for (std::size_t rank = 0; rank < guests_.size(); ++rank) {
      const std::vector<Core> cores = allowed_of(topology_.cores, guests_[rank].allowed);
      if (cores.empty()) return {{}, {}, "hwloc sees none of the cores the ranks may use"};
      const int number = cores[rank * cores.size() / guests_.size()].numa;
      const auto node = std::ranges::find(topology_.nodes, number, &NumaNode::number);
      if (node == topology_.nodes.end()) return {{}, {}, "hwloc sees no NUMA node"};
      const Cpus cpus = node->threads & guests_[rank].allowed;
      seating.seats.push_back({cpus, cpus, number, number, {}});
    }
    return seating;
  }

  Seating near_gpus() const {
    if (topology_.gpus.empty()) return {{}, {}, "hwloc sees no GPU on this host"};
    std::vector<const Gpu*> gpus;
    std::vector<std::vector<Core>> near;
    for (std::size_t rank = 0; rank < guests_.size(); ++rank) {
      const Gpu* const own = gpu_at(guests_[rank].device);
      gpus.push_back(own ? own : &topology_.gpus[rank % topology_.gpus.size()]);
      near.push_back(allowed_of(topology_.cores, gpus.back()->near & guests_[rank].allowed));
      // A launcher may have put it far from its GPU; then all it has is as near as it gets.
      if (near.back().empty()) near.back() = allowed_of(topology_.cores, guests_[rank].allowed);
    }
    const auto same = [&](std::size_t a, std::size_t b) {
      return std::ranges::equal(near[a], near[b], {}, &Core::threads, &Core::threads);
    };
    Seating seating{{}, "every rank is on cores near its GPU", {}};
    for (std::size_t rank = 0; rank < guests_.size(); ++rank) {
      std::size_t sharers = 0, before = 0;
      for (std::size_t other = 0; other < guests_.size(); ++other)
        if (same(rank, other)) ++sharers, before += other < rank;
      const std::size_t count = near[rank].size();
      std::size_t first = before * count / sharers, last = (before + 1) * count / sharers;
      if (count < sharers) first = 0, last = count;
      Seat seat{.numa = gpus[rank]->numa, .gpu = gpus[rank]->address};
      for (std::size_t core = first; core < last; ++core) seat.cores |= near[rank][core].threads;
      seat.helpers = seat.cores;
      seating.seats.push_back(std::move(seat));
    }
    return seating;
  }

  const Topology& topology_;
  const std::vector<Guest>& guests_;
  const std::size_t threads_;
  CoreClaims& claims_;
  std::string refusal_;
};

}  // namespace

const char* name_of(BindingMode mode) {
  return std::ranges::find(modes, mode, &Named::mode)->word.data();  // literals end with a zero
}

BindingMode binding_mode(std::string_view word) {
  for (const Named& named : modes)
    if (named.word == word) return named.mode;
  throw UserError("--binding", "nothing is called '" + std::string(word) + "'",
                  choose_one_of(word, {"auto", "core", "gpu", "none", "numa"}));
}

Seating seat_ranks(const Topology& topology, BindingMode mode, const std::vector<Guest>& guests, int threads,
                   CoreClaims& claims) {
  DLNB_REQUIRE(!guests.empty(), "a host of a run has ranks");
  return Host(topology, guests, threads, claims).seat(mode);
}

}  // namespace dlnb
