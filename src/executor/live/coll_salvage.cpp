// SPDX-License-Identifier: Apache-2.0
#include "executor/live/coll_salvage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <set>
#include <tuple>

#include "executor/live/coll_log.hpp"

namespace dlnb {
namespace {

constexpr std::size_t most_named = 4;

class CollDetective {
 public:
  CollDetective(const CollSpec& spec, const std::vector<CollCase>& cases, std::span<const RankState> states)
      : spec_(spec), cases_(cases), states_(states) {}

  Diagnosis diagnose(std::vector<std::int64_t> missing) {
    const bool first_to_end = !missing.empty();
    if (!first_to_end) missing = find_missing();
    Diagnosis diagnosis;
    for (const std::int64_t rank : missing)
      diagnosis.missing.push_back(
          {.rank = rank, .state = state_text(state(rank), first_to_end), .place = place_text(state(rank))});
    const std::vector<std::int64_t> waiting = waiting_for(missing);
    std::string& text = diagnosis.text;
    text = fmt::format("coll · {} · {}", spec_.backend, counted(spec_.ranks, "rank"));
    if (!waiting.empty()) text += ": " + operation_text(state(longest(waiting)));
    else if (!missing.empty()) text += ": " + operation_text(state(missing.front()));
    text += ": ";
    if (missing.empty()) text += all_arrived_text();
    for (std::size_t i = 0; i < missing.size() && i < most_named; ++i)
      text += fmt::format("{}rank {} is missing ({}; {})", i > 0 ? ", " : "", missing[i],
                          diagnosis.missing[i].state, diagnosis.missing[i].place);
    if (missing.size() > most_named)
      text += fmt::format(" and {} more: {}", missing.size() - most_named,
                          ranks_text({missing.begin() + most_named, missing.end()}));
    if (!waiting.empty())
      text +=
          fmt::format("; rank{} {} {} waited for {}", waiting.size() > 1 ? "s" : "", ranks_text(waiting),
                      waiting.size() > 1 ? "have" : "has", to_text(Seconds{state(longest(waiting)).waited}));
    return diagnosis;
  }

 private:
  /// Row and phase, then before, among or behind its operations, then twice how many of these have been begun, and one
  /// more where all of them have ended.
  using Progress = std::tuple<std::int64_t, int, std::int64_t>;

  int rows() const { return int(cases_.size()); }
  const RankState& state(std::int64_t rank) const { return states_[std::size_t(rank)]; }

  int place_of(const RankState& rank) const { return Place::number(rank.place); }
  bool in_row(const RankState& rank) const {
    return rank.stage == Stage::measuring && place_of(rank) >= 0 && place_of(rank) < rows();
  }
  Progress progress(const RankState& rank) const {
    if (rank.stage < Stage::measuring) return {-1, 0, 0};
    const bool agrees = place_of(rank) == rows() + int(agreeing);
    if (in_row(rank) || agrees) return {rank.iteration, 1, 2 * rank.beats + agrees};
    return {rank.iteration, place_of(rank) == rows() + int(collecting) ? 2 : 0, 0};
  }

  /// With whom the rank is together where it is: its group in a row's operations, else all.
  std::vector<std::int64_t> others_of(const RankState& rank) const {
    std::vector<std::int64_t> others;
    if (in_row(rank)) {
      CollPlace place;
      for (const int member : group_of(spec_, int(rank.rank), place)) others.push_back(member);
    } else {
      for (const RankState& each : states_) others.push_back(each.rank);
    }
    std::erase(others, rank.rank);
    return others;
  }

  bool is_behind(std::int64_t other, const RankState& rank) const {
    return state(other).known && progress(state(other)) < progress(rank);
  }

  std::vector<std::int64_t> find_missing() const {
    std::set<std::int64_t> found, seen;
    std::vector<std::int64_t> open, arrived;
    for (const RankState& each : states_) {
      if (each.out_of_order()) found.insert(each.rank);
      if (each.distressed) open.push_back(each.rank);
    }
    if (!found.empty()) return {found.begin(), found.end()};
    while (!open.empty()) {
      const RankState rank = state(open.back());
      open.pop_back();
      if (!seen.insert(rank.rank).second) continue;
      bool waits_for_one = false;
      for (const std::int64_t other : others_of(rank)) {
        if (!is_behind(other, rank)) continue;
        waits_for_one = true;
        if (state(other).place < 0) found.insert(other);
        else open.push_back(other);
      }
      if (!waits_for_one) arrived.push_back(rank.rank);
    }
    // All have come to it. Libraries move data when they are called, and one that does not wait does not call.
    if (found.empty())
      for (const std::int64_t rank : arrived)
        for (const std::int64_t other : others_of(state(rank)))
          if (state(other).known && state(other).place < 0 && !state(other).distressed) found.insert(other);
    return {found.begin(), found.end()};
  }

  /// Who waits where one of `missing` takes part; where none is missing, all who wait.
  std::vector<std::int64_t> waiting_for(const std::vector<std::int64_t>& missing) const {
    const auto concerns = [&](const RankState& rank) {
      if (missing.empty()) return rank.distressed;
      return std::ranges::any_of(others_of(rank), [&](std::int64_t other) {
        return std::ranges::find(missing, other) != missing.end();
      });
    };
    std::vector<std::int64_t> waiting;
    for (const RankState& each : states_)
      if (each.place >= 0 && std::ranges::find(missing, each.rank) == missing.end() && concerns(each))
        waiting.push_back(each.rank);
    return waiting;
  }

  std::int64_t longest(const std::vector<std::int64_t>& ranks) const {
    return *std::ranges::max_element(ranks, {}, [&](std::int64_t rank) { return state(rank).waited; });
  }

  std::string all_arrived_text() const {
    std::vector<std::int64_t> unknown;
    for (const RankState& each : states_)
      if (!each.known) unknown.push_back(each.rank);
    if (unknown.empty()) return "every rank has arrived, so it hangs in the library or in the network";
    return fmt::format("every rank that can be looked at from here has arrived; rank{} {} cannot",
                       unknown.size() > 1 ? "s" : "", ranks_text(unknown));
  }

  /// "broadcast of 8 bytes of float32 (operation 3) of ranks 0–3 of iteration 7"
  std::string operation_text(const RankState& rank) const {
    const std::int64_t row = rank.iteration / coll_phases;
    if (rank.stage < Stage::measuring || row >= rows()) return "before the first operation";
    std::vector<std::int64_t> group = others_of(rank);
    group.push_back(rank.rank);
    std::string text = fmt::format("{} (operation {})", describe(cases_[std::size_t(row)]), row);
    if (!in_row(rank)) return fmt::format("{} {}", outside_text(rank), text);
    return fmt::format("{} of ranks {}{}", text, ranks_text(group), when_text(rank));
  }

  std::string outside_text(const RankState& rank) const {
    switch (Beyond(place_of(rank) - rows())) {
      case collecting: return "collecting the times of";
      case agreeing: return "agreeing to go on with";
      default: return "starting together";
    }
  }

  // Who waits has begun the operation it waits in.
  static std::string when_text(const RankState& rank) {
    const std::int64_t number = std::max<std::int64_t>(0, rank.beats - (rank.place >= 0 ? 1 : 0));
    switch (CollPhase(rank.iteration % coll_phases)) {
      case CollPhase::verify_before: return " in the verification before timing";
      case CollPhase::warm_up: return fmt::format(" of warm-up iteration {}", number);
      case CollPhase::measure: return fmt::format(" of iteration {}", number);
      case CollPhase::overlap: return fmt::format(" of iteration {} with compute", number);
      case CollPhase::verify_after: break;
    }
    return " in the verification after timing";
  }

  static std::string state_text(const RankState& rank, bool first_to_end) {
    if (first_to_end || rank.life == Life::ended) return "its process has ended: killed or crashed";
    if (rank.life == Life::stopped) return "its process is stopped";
    return rank.place >= 0 ? fmt::format("waiting for {}", to_text(Seconds{rank.waited}))
                           : "its process is alive";
  }

  std::string place_text(const RankState& rank) const {
    if (!rank.known) return "place unknown";
    if (rank.stage < Stage::measuring) return "preparing";
    const char* const where = !in_row(rank) ? "" : rank.place >= 0 ? "in " : "before ";
    return fmt::format("last seen {}{}", where, operation_text(rank));
  }

  const CollSpec& spec_;
  const std::vector<CollCase>& cases_;
  const std::span<const RankState> states_;
};

std::vector<CollCase> cases_in(const std::filesystem::path& folder) {
  const std::optional<LoggedColl> logged = read_coll_log(folder);
  return logged ? logged->cases : std::vector<CollCase>{};
}

}  // namespace

Diagnosis diagnose_coll(const CollSpec& spec, const std::vector<CollCase>& cases,
                        std::span<const RankState> states, const std::vector<std::int64_t>& ended) {
  return CollDetective(spec, cases, states).diagnose(ended);
}

CollTable salvage_coll(const CollSpec& spec, const std::filesystem::path& folder,
                       const Diagnosis& diagnosis) {
  CollTable table{.spec = spec, .executor = spec.backend, .stopped_by = "lost_rank"};
  table.lost = diagnosis.missing;
  table.notes = {"INVALID: " + diagnosis.text};
  std::optional<LoggedColl> logged = read_coll_log(folder);
  if (!logged) {
    table.notes.emplace_back("rank 0 left no rows that can be read here");
    return table;
  }
  table.library = std::move(logged->library);
  table.rows = std::move(logged->rows);
  table.notes.push_back(fmt::format("only what was measured before: {} of {}", table.rows.size(),
                                    counted(std::int64_t(logged->cases.size()), "row")));
  table.notes.insert(table.notes.end(), logged->notes.begin(), logged->notes.end());
  return table;
}

Inquiry inquiry_of(const CollSpec& spec, const OnPartialTable& on_partial) {
  Inquiry inquiry{.name = "coll", .ranks = spec.ranks};
  inquiry.diagnose = [&spec](const std::filesystem::path& folder, std::span<const RankState> states,
                             const std::vector<std::int64_t>& ended) {
    return diagnose_coll(spec, cases_in(folder), states, ended);
  };
  // Whoever is left: where all but one wait, it is that one.
  inquiry.waited_for = [&spec](const std::filesystem::path& folder, std::span<const RankState> states,
                               const std::vector<std::int64_t>& among) {
    std::vector<RankState> lives_aside(states.begin(), states.end());
    for (RankState& state : lives_aside) state.life = Life::unknown, state.distressed = state.place >= 0;
    std::vector<std::int64_t> found;
    for (const LostRankState& lost : diagnose_coll(spec, cases_in(folder), lives_aside).missing)
      if (std::ranges::find(among, lost.rank) != among.end()) found.push_back(lost.rank);
    return found;
  };
  if (on_partial)
    inquiry.keep = [&spec, on_partial](const std::filesystem::path& folder, const std::vector<Record>&,
                                       const Diagnosis& diagnosis) {
      on_partial(salvage_coll(spec, folder, diagnosis));
    };
  return inquiry;
}

}  // namespace dlnb
