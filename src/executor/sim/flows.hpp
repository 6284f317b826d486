// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <dlnb/machine.hpp>
#include <dlnb/schedule.hpp>

#include "executor/sim/events.hpp"
#include "executor/sim/network.hpp"

namespace dlnb::sim {

/// The links a coupled activity crosses, merged.
struct Path {
  std::vector<Use> uses;  ///< multiplicity of the reference flow on every link
  double alone = 0;       ///< bytes/s of the reference flow with every link to itself; infinite: no links
  double share = 0;       ///< bytes of the reference (largest) flow per byte of the operation
  double latency = 0;     ///< seconds before data flows
  double filling = 0;  ///< seconds more per byte of the operation's piece: it is handed on piece by piece …
  double piece = 0;    ///< … of at most so many bytes …
  double portion = 1;  ///< … and at most this part of the operation
  bool has_way_around = false;  ///< the path behind it in the table is another for the same operation

  /// Seconds before the bulk of an operation of `bytes` flows.
  double delay(double bytes) const { return latency + filling * std::min(bytes * portion, piece); }
  /// What it would have alone is at most what `other` has.
  void never_faster_than(const Path& other) {
    alone = std::min(alone, other.alone);
    latency = std::max(latency, other.latency);
    filling = std::max(filling, other.filling);
  }
  /// Seconds an operation of `bytes` takes with every link to itself.
  double time(double bytes) const { return delay(bytes) + (bytes > 0 ? bytes * share / alone : 0); }
};

/// Links as the simulator sees them: capacity after protocol overhead.
class Capacities {
 public:
  explicit Capacities(const Machine& machine);
  /// Bytes/s.
  double of(LinkIndex link) const { return capacity_[std::size_t(link)]; }
  LinkClass class_of(LinkIndex link) const { return class_[std::size_t(link)]; }
  std::size_t links() const { return capacity_.size(); }
  /// The rate a path has when nothing else flows.
  double alone(const Path& path) const;

 private:
  std::vector<double> capacity_;
  std::vector<LinkClass> class_;
};

/// Which links all activities of a run together could fill; activity a flows along one at a time of
/// paths[first_path[a]] … paths[first_path[a + 1]].
std::vector<bool> could_be_full(const Capacities& capacities, std::span<const Path> paths,
                                std::span<const std::int32_t> first_path);

/// Whose an activity's data is, for who asks later what slowed it down.
struct Flowing {
  std::int32_t job = 0;
  OperationKind kind = OperationKind::all_reduce;
  Phase phase = Phase::forward;
  bool operator==(const Flowing&) const = default;
};

/// Activities that stand for several.
struct Shared {
  std::span<const std::int32_t> members;  ///< by activity: for how many; empty: each for itself
  std::span<const std::vector<std::uint8_t>> unlike =
      {};  ///< by path and use: not all members are on such a link so
};

/// Operations of one kind that were slower on a full link, beside another job or their own.
struct Slowed {
  std::int32_t link = 0;  ///< of the machine
  std::int32_t by = 0;    ///< the job that took most of it beside them
  Flowing whom;
  std::int32_t path = -1;  ///< of an activity that stands for several, each on such a link; −1: on this link
  bool operator==(const Slowed&) const = default;
};
struct SlowedHash {
  std::size_t operator()(const Slowed& s) const {
    std::uint64_t hash = 0;
    for (const std::int32_t part :
         {s.link, s.by, s.whom.job, std::int32_t(s.whom.kind), std::int32_t(s.whom.phase), s.path})
      hash = (hash ^ std::uint64_t(std::uint32_t(part))) * 0x9e3779b97f4a7c15 + (hash >> 29);
    return std::size_t(hash);
  }
};

/// What flows now and how fast. All paths are known from the start, so that only those links are kept that all
/// activities together could fill; of these, loads are known of the "hot" ones that those flowing now could fill, and a
/// system is solved over the full ones.
class Flows {
 public:
  /// Activity a flows along one at a time of paths[first_path[a]] … paths[first_path[a + 1]]. `shared`
  /// outlives it.
  Flows(const Capacities& capacities, const Network& network, std::span<const Path> paths,
        std::span<const std::int32_t> first_path, const Shared& shared = {});

  /// An activity that stands for several of which not all are on a full link, so that they are no longer alike.
  struct Torn {
    std::int32_t activity = 0;
    LinkIndex link = 0;  ///< of the machine
  };
  /// All that the settle found that found the first.
  const std::vector<Torn>& torn() const { return torn_; }

  /// Whether others can slow an activity down along this path.
  bool is_contended(std::int32_t path) const { return ways_[std::size_t(path)].count > 0; }
  /// Of two paths of an activity that does not flow that on whose links less is asked for; the first unless it queues.
  std::int32_t less_asked(std::int32_t path, std::int32_t around) const;
  /// An activity begins to move `bytes` of its reference flow; where others could slow it down its rate is set by the
  /// next `settle`.
  void begin(std::int32_t activity, std::int32_t path, double bytes, double now, const Flowing& what = {});
  /// Takes an activity off its links.
  void finish(std::int32_t activity, double now);
  /// Solves what began or finished since the last call and sets when each changed activity will have moved.
  void settle(double now);

  /// When the next activity will have moved its data, and which; `never`: nothing flows.
  double next() const { return deadlines_.next(); }
  std::int32_t first() const { return deadlines_.first(); }
  /// Bytes/s of its reference flow since the last `settle`; 0 where it does not flow.
  double rate(std::int32_t activity) const { return activities_[std::size_t(activity)].rate; }

  /// Bytes of its reference flow that an activity has still to move; all where it does not flow.
  double remaining(std::int32_t activity, double now, double all) const {
    const Activity& a = activities_[std::size_t(activity)];
    return a.way < 0 ? all : std::max(0.0, a.remaining - a.rate * (now - a.since));
  }

  /// Seconds by which operations moved their data later than alone, and by what; of several one's.
  const std::unordered_map<Slowed, double, SlowedHash>& slowed() const { return slowed_; }
  /// Seconds until `now` in which a link limited somebody, for those that ever could; by link of the machine.
  std::vector<std::pair<LinkIndex, double>> full_times(double now) const;

 private:
  /// What a path takes of a link that could be full. Of a flowing path those of full links stand first, then those of
  /// other hot ones.
  struct Contended {
    std::int32_t link = 0;
    std::uint32_t place : 31 = 0;  ///< among the link's users
    std::uint32_t unlike : 1 = 0;  ///< see Shared
    double weight = 0;
  };
  struct Way {
    std::int32_t first = 0, count = 0;  ///< in contended_
    double alone = 0;
  };
  struct User {
    std::int32_t activity = 0;
    std::int32_t use = 0;  ///< in contended_
  };
  struct LinkState {
    double capacity = 0;
    double demand = 0;  ///< Σ weight · alone of its users: the most they could ask for
    double load = 0;    ///< Σ weight · rate; kept while hot
    std::int32_t first_user = 0, users = 0;
    LinkIndex link = 0;  ///< of the machine
    double full_since = 0, full_for = 0;
    std::int32_t local = 0;   ///< number in the system that is being solved
    std::uint32_t stamp = 0;  ///< of that system
    bool hot = false;         ///< its users could fill it
    bool full = false;        ///< and do, or the network needs every link: it is in systems
    bool limits = false;      ///< some of its users
  };
  struct Activity {
    std::int32_t way = -1;           ///< −1: does not flow
    std::int32_t full = 0, hot = 0;  ///< how many of its uses are of such links
    double remaining = 0;            ///< bytes at `since`
    double rate = 0;
    double since = 0;
    std::uint32_t stamp = 0;  ///< of the last settle that looked at it
    bool changed = false;
    Flowing what;
    std::int32_t limit = -1;  ///< the link that keeps it from its rate alone
    std::int32_t by = 0;      ///< the job that takes most of it beside this
  };

  std::span<User> users_of(const LinkState& link) {
    return std::span(users_).subspan(std::size_t(link.first_user), std::size_t(link.users));
  }
  std::int32_t first_use(const Activity& a) const { return ways_[std::size_t(a.way)].first; }
  bool can_be_full(const LinkState& link) const;
  double asked(std::int32_t path) const;
  void swap_uses(std::int32_t a, std::int32_t b);
  void heat(LinkState& link);
  void cool(LinkState& link, double now);
  void fill(LinkState& link, double now);
  void unfill(LinkState& link, double now);
  void set_limits(LinkState& link, bool limits, double now);

  void look_at(std::int32_t activity);
  void solve();
  void change_rate(Activity& a, double rate, double now);
  bool fill_overloaded(double now);
  void find_limit(Activity& a, std::int32_t activity);
  void account(const Activity& a, double now);

  const Network& network_;
  Shared shared_;
  std::vector<Torn> torn_;
  Deadlines deadlines_;
  std::vector<Way> ways_;  ///< by path
  std::vector<Contended> contended_;
  std::vector<User> users_;  ///< by link, from its first_user; room for all that ever use it
  std::vector<LinkState> links_;
  std::vector<Activity> activities_;
  std::uint32_t settles_ = 0, systems_ = 0;
  std::vector<std::int32_t> begun_, touched_, overloaded_;
  // The system being solved; kept to save allocations.
  std::vector<std::int32_t> members_, first_, system_links_;
  std::vector<Use> uses_;
  std::vector<double> capacity_, limit_, rates_;
  std::unordered_map<Slowed, double, SlowedHash> slowed_;
};

}  // namespace dlnb::sim
