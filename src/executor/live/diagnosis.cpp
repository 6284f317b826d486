// SPDX-License-Identifier: Apache-2.0
#include "executor/live/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "executor/live/binding.hpp"
#include "executor/live/compute.hpp"

namespace dlnb {
namespace {

constexpr const char* beyond_words[] = {"agreeing on another iteration", "setting up communicators",
                                        "starting together", "reading the clocks", "collecting the record"};

bool in_iterations(Stage stage) { return stage == Stage::warming_up || stage == Stage::measuring; }

/// One operation that a rank waits for, and the ranks that take part.
struct Awaited {
  int operation = 0;                ///< in its own program
  std::vector<std::int64_t> ranks;  ///< others
  std::vector<int> at;              ///< which operation of theirs is the other end
};

class Detective {
 public:
  Detective(const Schedule& schedule, std::span<const RankState> states)
      : schedule_(schedule), states_(states) {}

  Diagnosis diagnose(std::vector<std::int64_t> missing) {
    const bool known = !missing.empty();
    if (!known) missing = roots();
    Diagnosis diagnosis;
    const Headline headline = headline_of(missing);
    for (const std::int64_t rank : missing)
      diagnosis.missing.push_back(
          {.rank = rank, .state = state_text(rank, known), .place = place_text(rank)});
    diagnosis.text = fmt::format("{}{}: ", job(), headline.where);
    if (missing.empty())
      diagnosis.text += "every rank has arrived, so it hangs in the library or in the network";
    for (std::size_t i = 0; i < diagnosis.missing.size() && i < most_named; ++i) {
      const LostRankState& lost = diagnosis.missing[i];
      diagnosis.text +=
          fmt::format("{}rank {} is missing ({}; {})", i > 0 ? ", " : "", lost.rank, lost.state, lost.place);
    }
    if (missing.size() > most_named)
      diagnosis.text += fmt::format(" and {} more: {}", missing.size() - most_named,
                                    ranks_text({missing.begin() + most_named, missing.end()}));
    if (!headline.waiting.empty())
      diagnosis.text +=
          fmt::format("; rank{} {} {} waited for {}", headline.waiting.size() > 1 ? "s" : "",
                      ranks_text(headline.waiting), headline.waiting.size() > 1 ? "have" : "has",
                      to_text(Seconds{headline.waited}));
    if (cycle_) diagnosis.text += "; these wait for each other";
    return diagnosis;
  }

 private:
  static constexpr std::size_t most_named = 4;

  struct Headline {
    std::string where;
    std::vector<std::int64_t> waiting;
    double waited = 0;
  };

  const RankState& state(std::int64_t rank) const { return states_[std::size_t(rank)]; }

  const std::vector<Operation>& program(std::int64_t rank) {
    const std::int64_t role = schedule_.role_of(rank);
    auto found = programs_.find(role);
    if (found == programs_.end())
      found = programs_.emplace(role, execution_order(schedule_.program_of(rank))).first;
    return found->second;
  }

  std::string job() const {
    return fmt::format("{} · {} · {}", schedule_.plan.empty() ? "run" : schedule_.plan,
                       schedule_.model.empty() ? "no model" : schedule_.model,
                       counted(schedule_.grid.ranks(), "rank"));
  }

  // The nth of `from`'s operations that `same` holds for is met by the nth of `to`'s that `other` holds for.
  template <class Same, class Other>
  int counterpart(std::int64_t from, int operation, std::int64_t to, Same same, Other other) {
    const auto& own = program(from);
    const auto number = std::count_if(own.begin(), own.begin() + operation, same);
    const auto& theirs = program(to);
    std::ptrdiff_t seen = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i)
      if (other(theirs[i]) && seen++ == number) return int(i);
    return int(theirs.size());
  }

  void add_transfer(std::int64_t rank, int index, std::vector<Awaited>& all) {
    const Operation& operation = program(rank)[std::size_t(index)];
    Awaited awaited{.operation = index};
    if (is_message(operation.kind)) {
      const std::int64_t peer = peer_of(schedule_, rank, operation);
      const auto back = operation.kind == OperationKind::send ? OperationKind::recv : OperationKind::send;
      const auto same = [&](const Operation& o) {
        return o.kind == operation.kind && peer_of(schedule_, rank, o) == peer;
      };
      const auto other = [&](const Operation& o) {
        return o.kind == back && peer_of(schedule_, peer, o) == rank;
      };
      awaited.ranks.push_back(peer);
      awaited.at.push_back(counterpart(rank, index, peer, same, other));
    } else if (is_collective(operation.kind) && schedule_.grid.size(operation.axes) > 1) {
      const auto same = [&](const Operation& o) { return is_collective(o.kind) && o.axes == operation.axes; };
      for (const std::int64_t member : schedule_.grid.group(rank, operation.axes).ranks())
        if (member != rank) {
          awaited.ranks.push_back(member);
          awaited.at.push_back(counterpart(rank, index, member, same, same));
        }
    }
    if (!awaited.ranks.empty()) all.push_back(std::move(awaited));
  }

  /// What the rank waits for now; nothing where it does not wait.
  std::vector<Awaited> awaited_by(std::int64_t rank) {
    std::vector<Awaited> all;
    const RankState& waiting = state(rank);
    if (waiting.place < 0) return all;
    const auto& operations = program(rank);
    const int place = waiting.place;
    if (place >= int(operations.size())) {  // all ranks together
      Awaited awaited{.operation = place};
      for (const RankState& other : states_)
        if (other.rank != rank) {
          awaited.ranks.push_back(other.rank);
          awaited.at.push_back(place - int(operations.size()) + int(program(other.rank).size()));
        }
      return {awaited};
    }
    const Operation& operation = operations[std::size_t(place)];
    if (!is_wait(operation.kind)) {
      add_transfer(rank, place, all);
      return all;
    }
    for (int i = 0; i < place; ++i) {
      const Operation& started = operations[std::size_t(i)];
      if (!started.blocking && moves_data(started.kind) &&
          (operation.kind == OperationKind::wait ? started.handle == operation.handle
                                                 : started.axes == operation.axes))
        add_transfer(rank, i, all);
    }
    return all;
  }

  bool has_arrived(std::int64_t rank, int operation, const RankState& waiting) {
    const RankState& other = state(rank);
    if (!other.known) return true;  // nothing speaks against it
    if (other.stage != waiting.stage) return other.stage > waiting.stage;
    if (in_iterations(other.stage) && other.iteration != waiting.iteration)
      return other.iteration > waiting.iteration;
    return Place::number(other.place) >= operation;
  }

  std::vector<std::int64_t> missing_for(std::int64_t rank) {
    std::vector<std::int64_t> missing;
    for (const Awaited& awaited : awaited_by(rank))
      for (std::size_t i = 0; i < awaited.ranks.size(); ++i)
        if (state(awaited.ranks[i]).out_of_order() ||
            !has_arrived(awaited.ranks[i], awaited.at[i], state(rank)))
          missing.push_back(awaited.ranks[i]);
    return missing;
  }

  // Everybody that a distressed rank waits for, directly or through others, and that waits for nobody itself.
  std::vector<std::int64_t> roots() {
    std::set<std::int64_t> seen, found;
    std::vector<std::int64_t> open;
    for (const RankState& each : states_)
      if (each.distressed) open.push_back(each.rank);
    for (; !open.empty();) {
      const std::int64_t rank = open.back();
      open.pop_back();
      if (!seen.insert(rank).second) continue;
      const auto missing = missing_for(rank);
      if (state(rank).distressed && missing.empty() && !state(rank).out_of_order()) stuck_.push_back(rank);
      const bool is_root = !state(rank).distressed && (state(rank).out_of_order() || missing.empty());
      if (state(rank).out_of_order() || is_root) found.insert(rank);
      else open.insert(open.end(), missing.begin(), missing.end());
    }
    // One that is gone explains the others that have come to nothing.
    std::set<std::int64_t> gone;
    for (const std::int64_t rank : found)
      if (state(rank).out_of_order()) gone.insert(rank);
    if (!gone.empty()) found = gone;
    if (found.empty())
      for (const RankState& each : states_)
        if (each.out_of_order()) found.insert(each.rank);
    if (found.empty()) {
      // All have come to it. Libraries move data when they are called, and one that does not wait does not call.
      for (const std::int64_t rank : stuck_)
        for (const Awaited& awaited : awaited_by(rank))
          for (const std::int64_t other : awaited.ranks)
            if (state(other).known && state(other).place < 0) found.insert(other);
    }
    if (found.empty() && stuck_.empty()) {
      // Some wait for others that wait for them: those that are waited for.
      for (const std::int64_t rank : seen)
        for (const std::int64_t other : missing_for(rank)) found.insert(other);
      cycle_ = !found.empty();
    }
    return {found.begin(), found.end()};
  }

  // Whether it is an operation that one of `missing` has not come to.
  bool concerns(const Awaited& awaited, const RankState& waiting, const std::vector<std::int64_t>& missing) {
    for (std::size_t i = 0; i < awaited.ranks.size(); ++i)
      if (std::ranges::find(missing, awaited.ranks[i]) != missing.end() &&
          !has_arrived(awaited.ranks[i], awaited.at[i], waiting))
        return true;
    return false;
  }

  Headline headline_of(const std::vector<std::int64_t>& missing) {
    Headline headline;
    std::optional<std::int64_t> first;
    int operation = 0;
    for (const RankState& each : states_) {
      if (std::ranges::find(missing, each.rank) != missing.end() && !cycle_) continue;
      for (const Awaited& awaited : awaited_by(each.rank)) {
        if (!(missing.empty() ? std::ranges::count(stuck_, each.rank) > 0 : concerns(awaited, each, missing)))
          continue;
        if (!first || each.waited > headline.waited) first = each.rank, operation = awaited.operation;
        headline.waited = std::max(headline.waited, each.waited);
        headline.waiting.push_back(each.rank);
        break;
      }
    }
    if (!first && !missing.empty() && !stuck_.empty()) {
      // It has come to it and does not go on.
      first = stuck_.front();
      operation = awaited_by(*first).front().operation;
      headline.waiting = stuck_;
      for (const std::int64_t rank : stuck_) headline.waited = std::max(headline.waited, state(rank).waited);
    }
    if (!first && !missing.empty()) {
      // Nobody waits where it has not come to: what it was in, or would have done with others next.
      first = missing.front();
      operation = next_with_others(state(*first));
      if (operation < 0) first.reset();
    }
    if (first) headline.where = fmt::format(": {}", operation_text(*first, operation));
    return headline;
  }

  int next_with_others(const RankState& rank) {
    const auto& operations = program(rank.rank);
    if (rank.place >= 0) {
      const auto awaited = awaited_by(rank.rank);
      return awaited.empty() ? rank.place : awaited.front().operation;
    }
    if (!in_iterations(rank.stage)) return -1;
    int operation = Place::number(rank.place) + 1;
    while (operation < int(operations.size()) && !moves_data(operations[std::size_t(operation)].kind))
      ++operation;
    return operation;
  }

  std::string operation_text(std::int64_t rank, int place) {
    const auto& operations = program(rank);
    const RankState& at = state(rank);
    std::string text;
    if (place >= int(operations.size())) {
      text = beyond_words[std::min<std::size_t>(std::size_t(place) - operations.size(),
                                                std::size(beyond_words) - 1)];
      text += fmt::format(" among ranks {}",
                          ranks_text(schedule_.grid.group(rank, schedule_.grid.all()).ranks()));
    } else {
      const Operation& operation = operations[std::size_t(place)];
      text = describe(schedule_, operation, std::size_t(place));
      if (is_message(operation.kind))
        text += fmt::format(" {} rank {}", operation.kind == OperationKind::send ? "to" : "from",
                            peer_of(schedule_, rank, operation));
      else if (is_collective(operation.kind))
        text += fmt::format(" of ranks {}", ranks_text(schedule_.grid.group(rank, operation.axes).ranks()));
    }
    return text + when_text(at);
  }

  static std::string when_text(const RankState& at) {
    if (at.stage == Stage::verifying) return " in the verification";
    if (at.stage == Stage::warming_up) return " of a warm-up iteration";
    return at.stage == Stage::measuring ? fmt::format(" of iteration {}", at.iteration) : "";
  }

  std::string state_text(std::int64_t rank, bool first_to_end) const {
    const RankState& at = state(rank);
    if (first_to_end || at.life == Life::ended) return "its process has ended: killed or crashed";
    if (at.life == Life::stopped) return "its process is stopped";
    if (!at.known) return "on a host that cannot be looked at from here";
    return at.place >= 0 ? fmt::format("waiting for {}", to_text(Seconds{at.waited}))
                         : "its process is alive";
  }

  std::string place_text(std::int64_t rank) {
    const RankState& at = state(rank);
    if (!at.known) return "place unknown";
    const auto& operations = program(rank);
    const int place = Place::number(at.place);
    if (at.stage == Stage::preparing) return "preparing";
    if (at.place >= 0) return "last seen waiting in " + operation_text(rank, place);
    if (place < 0 || place >= int(operations.size()))
      return at.stage == Stage::starting || at.stage == Stage::collecting
                 ? fmt::format("last seen {}",
                               beyond_words[at.stage == Stage::starting ? starting : collecting])
                 : fmt::format("last seen before the first operation{}", when_text(at));
    const bool computing = operations[std::size_t(place)].kind == OperationKind::compute;
    return fmt::format("last seen {} {}{}", computing ? "in" : "behind",
                       describe(schedule_, operations[std::size_t(place)], std::size_t(place)),
                       when_text(at));
  }

  const Schedule& schedule_;
  const std::span<const RankState> states_;
  std::map<std::int64_t, std::vector<Operation>> programs_;  // by role
  std::vector<std::int64_t> stuck_;                          // wait for something that all have come to
  bool cycle_ = false;
};

}  // namespace

std::vector<RankState> states_of(const std::vector<Record>& records, std::int64_t ranks) {
  std::vector<RankState> states(static_cast<std::size_t>(ranks));
  for (std::int64_t rank = 0; rank < ranks; ++rank) states[std::size_t(rank)].rank = rank;
  const std::string here = process_space();
  const std::int64_t now = monotonic_clock().now();
  for (const Record& record : records) {
    const RecorderHead& head = record.head();
    if (head.rank < 0 || head.rank >= ranks) continue;
    RankState& state = states[std::size_t(head.rank)];
    state.known = true;
    state.stage = Stage(head.stage.load());
    state.iteration = head.iteration.load();
    state.place = head.place.at.load();
    state.beats = std::int64_t(head.place.beats.load());
    const bool here_too = head.space.data() == here;
    if (state.place >= 0 && here_too)
      state.waited = std::max(0.0, double(now - head.place.since.load()) * 1e-9);
    const std::int64_t distress = head.distress.load();
    state.distressed = distress != 0;
    // A long operation of many beats has been waited for since the last of them.
    if (state.distressed && here_too && head.waited.load() > 0)
      state.waited = double(head.waited.load() + std::max<std::int64_t>(0, now - distress)) * 1e-9;
    state.signal = head.signal.load();
    if (here_too) state.life = life_of(pid_t(head.process), head.process_start);
    if (state.stage == Stage::left) state.life = Life::running;  // or it has ended as it should
  }
  return states;
}

Diagnosis diagnose(const Schedule& schedule, std::span<const RankState> states,
                   const std::vector<std::int64_t>& ended) {
  return Detective(schedule, states).diagnose(ended);
}

std::vector<std::int64_t> waited_for(const Schedule& schedule, std::span<const RankState> states,
                                     const std::vector<std::int64_t>& among) {
  std::vector<RankState> lives_aside(states.begin(), states.end());
  for (RankState& state : lives_aside) state.life = Life::unknown, state.distressed = state.place >= 0;
  std::vector<std::int64_t> found;
  for (const LostRankState& lost : Detective(schedule, lives_aside).diagnose({}).missing)
    if (std::ranges::find(among, lost.rank) != among.end()) found.push_back(lost.rank);
  return found;
}

std::string ranks_text(std::vector<std::int64_t> ranks) {
  std::ranges::sort(ranks);
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", i > 0 ? ", " : "", ranks[i]);
    if (last > i) text += fmt::format("{}{}", last > i + 1 ? "–" : ", ", ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace dlnb
