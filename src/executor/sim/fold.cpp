// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/fold.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

/// Fewer are simulated as they are; and what is alike has to be an eighth of the whole at most.
constexpr std::size_t least_runners = 16, least_alike = 8;
/// A run that has been torn so often has nothing to gain.
constexpr int most_tries = 4;
/// Rounds of refinement; chains of ranks of which each is another would take as many as there are ranks.
constexpr int most_rounds = 64;

/// Not of values that are hostile: classes are compared member by member in the end.
class Hash {
 public:
  void add(std::uint64_t value) {
    value = (value ^ hash_) * 0x9e3779b97f4a7c15;
    hash_ = (value ^ value >> 32) * 0xd6e8feb86659fd93 + 1;
  }
  void add(std::int32_t value) { add(std::uint64_t(std::uint32_t(value))); }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  std::uint64_t value() const { return hash_ ^ hash_ >> 32; }

 private:
  std::uint64_t hash_ = 0x2545f4914f6cdd1d;
};

/// Numbers them by first appearance; how many there are.
class Numbers {
 public:
  explicit Numbers(std::size_t expected) { of_.reserve(expected); }
  std::int32_t operator()(std::uint64_t hash) {
    return of_.try_emplace(hash, std::int32_t(of_.size())).first->second;
  }
  std::int32_t size() const { return std::int32_t(of_.size()); }

 private:
  std::unordered_map<std::uint64_t, std::int32_t> of_;
};

bool have_same_time(const Path& a, const Path& b) {
  return a.alone == b.alone && a.share == b.share && a.latency == b.latency && a.filling == b.filling &&
         a.piece == b.piece && a.portion == b.portion;
}

/// What a path of the folded run takes of a link of the whole.
struct Entry {
  std::int32_t path = 0;
  double weight = 0;
  auto operator<=>(const Entry&) const = default;
};

/// All that a path takes, in an order that is the same for links that are alike.
std::span<Entry> sum_up(std::span<Entry> entries) {
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::tuple(e.path, e.weight); });
  std::size_t kept = 0;
  for (const Entry& entry : entries) {
    if (kept > 0 && entries[kept - 1].path == entry.path) entries[kept - 1].weight += entry.weight;
    else entries[kept++] = entry;
  }
  return entries.first(kept);
}

std::uint64_t hash_of(double capacity, std::span<const Entry> entries) {
  Hash hash;
  hash.add(capacity);
  for (const Entry& entry : entries) hash.add(entry.path), hash.add(entry.weight);
  return hash.value();
}

/// Of the links in `all`, ascending, those that two members use differently.
void mark_unlike(std::span<const Use> one, std::span<const Use> other, std::span<const Use> all,
                 std::vector<std::uint8_t>& unlike) {
  const auto is_same = [](const Use& a, const Use& b) { return a.link == b.link && a.weight == b.weight; };
  if (std::ranges::equal(one, other, is_same)) return;
  const auto on = [](std::span<const Use> uses, LinkIndex link) {
    return std::ranges::equal_range(uses, link, {}, &Use::link);
  };
  for (std::size_t u = 0; u < all.size(); ++u)
    if (!std::ranges::equal(on(one, all[u].link), on(other, all[u].link), is_same)) unlike[u] = 1;
}

}  // namespace

Folding::Folding(const std::vector<Role>& roles, const Lines& lines, const PathTable& table,
                 const Capacities& capacities, std::span<const std::int32_t> job_of_runner,
                 const std::vector<bool>& apart)
    : roles_(roles), lines_(lines), table_(table), capacities_(capacities) {
  const std::size_t runners = lines.runners.size(), activities = lines.activities();
  if (runners < least_runners || std::ranges::find(apart, false) == apart.end()) return;
  // Ranks of a lowered operation have a role each, and those that do the same one list of actions.
  std::map<std::tuple<const Action*, const Target*, std::size_t, std::int32_t, std::int32_t>, std::int32_t>
      kinds;
  std::map<std::int32_t, std::int32_t> kind_of_role;
  for (std::size_t r = 0; r < runners; ++r) {
    const std::int32_t index = lines.runners[r].role, job = job_of_runner[r];
    const Role& role = roles[std::size_t(index)];
    const std::int32_t own = apart[std::size_t(job)] ? std::int32_t(r) : -1;
    const auto known = kind_of_role.find(index);
    if (own < 0 && known != kind_of_role.end()) {
      class_of_runner_.push_back(known->second);
      continue;
    }
    const std::int32_t kind =
        kinds
            .try_emplace({role.actions.data(), role.targets.data(), role.lines.size(), job, own},
                         std::int32_t(kinds.size()))
            .first->second;
    if (own < 0) kind_of_role[index] = kind;
    class_of_runner_.push_back(kind);
  }
  runner_classes_ = std::int32_t(kinds.size());
  worth_it_ = std::size_t(runner_classes_) * least_alike <= runners;
  if (!worth_it_) return;

  Numbers numbers(activities / least_alike);
  for (std::size_t a = 0; a < activities; ++a) {
    Hash hash;
    hash.add(std::int32_t(lines.is_pair(std::int32_t(a))));
    for (const PathTable::Known& known : table.known_of(a))
      hash.add(std::int32_t(known.kind)), hash.add(known.bytes), hash.add(known.path);
    for (const Path& path : table.paths_of(a))
      for (const double part : {path.alone, path.share, path.latency, path.filling, path.piece, path.portion})
        hash.add(part);
    class_of_activity_.push_back(numbers(hash.value()));
  }
  activity_classes_ = numbers.size();
}

/// Until the classes of one side follow from those of the other; false where little is alike.
bool Folding::refine() {
  for (int round = 0; round < most_rounds; ++round) {
    const std::int32_t before = runner_classes_ + activity_classes_;
    Numbers runners(std::size_t(runner_classes_) * 2), activities(std::size_t(activity_classes_) * 2);
    for (std::size_t r = 0; r < class_of_runner_.size(); ++r) {
      const Runner& runner = lines_.runners[r];
      Hash hash;
      hash.add(class_of_runner_[r]);
      for (std::size_t l = 0; l < roles_[std::size_t(runner.role)].lines.size(); ++l)
        hash.add(
            class_of_activity_[std::size_t(lines_.activity_of_line[std::size_t(runner.first_line) + l])]);
      class_of_runner_[r] = runners(hash.value());
    }
    runner_classes_ = runners.size();
    if (std::size_t(runner_classes_) * least_alike > class_of_runner_.size()) return false;
    for (std::size_t a = 0; a < class_of_activity_.size(); ++a) {
      Hash hash;
      hash.add(class_of_activity_[a]);
      const auto add_seat = [&](std::int32_t runner, std::int32_t line) {
        hash.add(class_of_runner_[std::size_t(runner)]), hash.add(line);
      };
      if (lines_.is_pair(std::int32_t(a))) {
        const Pair& pair = lines_.pair(std::int32_t(a));
        add_seat(lines_.runner_of[std::size_t(pair.sender)], pair.send_line);
        add_seat(lines_.runner_of[std::size_t(pair.receiver)], pair.receive_line);
      } else {
        std::uint64_t sum = 0;  // whatever their order
        for (const Seat& seat : lines_.seats_of(lines_.communicators[a])) {
          Hash one;
          one.add(class_of_runner_[std::size_t(seat.runner)]), one.add(seat.line);
          sum += one.value();
        }
        hash.add(sum);
      }
      class_of_activity_[a] = activities(hash.value());
    }
    activity_classes_ = activities.size();
    if (runner_classes_ + activity_classes_ == before) return true;
  }
  return false;
}

/// Every member beside the first of its class: nothing rests on hashes.
bool Folding::is_equitable() const {
  std::vector<std::int32_t> first_runner(std::size_t(runner_classes_), -1),
      first_activity(std::size_t(activity_classes_), -1);
  for (std::size_t r = 0; r < class_of_runner_.size(); ++r) {
    std::int32_t& first = first_runner[std::size_t(class_of_runner_[r])];
    if (first < 0) first = std::int32_t(r);
    const Runner &one = lines_.runners[std::size_t(first)], &other = lines_.runners[r];
    const Role &role = roles_[std::size_t(one.role)], &other_role = roles_[std::size_t(other.role)];
    if (role.actions.data() != other_role.actions.data() ||
        role.targets.data() != other_role.targets.data() || role.lines.size() != other_role.lines.size())
      return false;
    for (std::size_t l = 0; l < role.lines.size(); ++l) {
      const auto class_of = [&](const Runner& runner) {
        return class_of_activity_[std::size_t(lines_.activity_of_line[std::size_t(runner.first_line) + l])];
      };
      if (class_of(one) != class_of(other)) return false;
    }
  }
  using Seats = std::vector<std::pair<std::int32_t, std::int32_t>>;
  const auto seats_of = [&](std::size_t a, Seats& seats) {
    seats.clear();
    const auto add = [&](std::int32_t runner, std::int32_t line) {
      seats.emplace_back(class_of_runner_[std::size_t(runner)], line);
    };
    if (lines_.is_pair(std::int32_t(a))) {
      const Pair& pair = lines_.pair(std::int32_t(a));
      add(lines_.runner_of[std::size_t(pair.sender)], pair.send_line);
      add(lines_.runner_of[std::size_t(pair.receiver)], pair.receive_line);
      return;
    }
    for (const Seat& seat : lines_.seats_of(lines_.communicators[a])) add(seat.runner, seat.line);
    std::ranges::sort(seats);
  };
  std::vector<Seats> seats_of_class(static_cast<std::size_t>(activity_classes_));
  Seats seats;
  for (std::size_t a = 0; a < class_of_activity_.size(); ++a) {
    const auto index = std::size_t(class_of_activity_[a]);
    std::int32_t& first = first_activity[index];
    if (first < 0) {
      first = std::int32_t(a);
      seats_of(a, seats_of_class[index]);
      continue;
    }
    const auto one = std::size_t(first);
    seats_of(a, seats);
    if (lines_.is_pair(first) != lines_.is_pair(std::int32_t(a)) || seats != seats_of_class[index] ||
        !std::ranges::equal(table_.known_of(one), table_.known_of(a)) ||
        !std::ranges::equal(table_.paths_of(one), table_.paths_of(a), have_same_time))
      return false;
  }
  return true;
}

std::optional<Folded> Folding::fold() {
  worth_it_ = worth_it_ && tries_++ < most_tries && refine() && is_equitable();
  if (!worth_it_) return std::nullopt;
  Folded folded;
  fold_lines(folded);
  fold_links(folded);
  find_unlike(folded);
  return folded;
}

void Folding::fold_lines(Folded& folded) const {
  Lines& lines = folded.lines;
  folded.runner_of_runner = class_of_runner_;
  folded.part_of = class_of_activity_;
  folded.members.resize(std::size_t(activity_classes_));
  for (const std::int32_t activity : class_of_activity_) ++folded.members[std::size_t(activity)];

  for (std::size_t r = 0; r < class_of_runner_.size(); ++r) {
    const Runner& runner = lines_.runners[r];
    if (std::size_t(class_of_runner_[r]) < lines.runners.size()) {
      lines.runners[std::size_t(class_of_runner_[r])].size += runner.size;
      continue;
    }
    lines.runners.push_back(runner);
    lines.runners.back().first_line = std::int32_t(lines.activity_of_line.size());
    for (std::size_t l = 0; l < roles_[std::size_t(runner.role)].lines.size(); ++l)
      lines.activity_of_line.push_back(
          class_of_activity_[std::size_t(lines_.activity_of_line[std::size_t(runner.first_line) + l])]);
  }
  lines.runner_of.reserve(lines_.runner_of.size());
  for (const std::int32_t runner : lines_.runner_of)
    lines.runner_of.push_back(class_of_runner_[std::size_t(runner)]);

  PathTable& table = folded.table;
  std::int32_t next = 0;
  for (std::size_t a = 0; a < class_of_activity_.size(); ++a) {
    if (class_of_activity_[a] < next) continue;
    ++next;
    table.first_path.push_back(std::int32_t(table.paths.size()));
    table.first_known.push_back(std::int32_t(table.known.size()));
    for (const Path& path : table_.paths_of(a)) {
      table.paths.push_back(path);
      table.paths.back().uses.clear();
    }
    const auto known = table_.known_of(a);
    table.known.insert(table.known.end(), known.begin(), known.end());
    if (lines_.is_pair(std::int32_t(a))) {
      lines.pairs.push_back(lines_.pair(std::int32_t(a)));
      continue;
    }
    Communicator communicator = lines_.communicators[a];
    const auto members = lines_.members_of(communicator);
    communicator.first_member = std::int32_t(lines.members.size());
    lines.members.insert(lines.members.end(), members.begin(), members.end());
    communicator.first_seat = std::int32_t(lines.seats.size());
    std::set<std::pair<std::int32_t, std::int32_t>> seen;
    for (const Seat& seat : lines_.seats_of(lines_.communicators[a])) {
      const Seat one{class_of_runner_[std::size_t(seat.runner)], seat.line};
      if (seen.emplace(one.runner, one.line).second) lines.seats.push_back(one);
    }
    communicator.seats = std::int32_t(lines.seats.size()) - communicator.first_seat;
    lines.communicators.push_back(communicator);
  }
  table.first_path.push_back(std::int32_t(table.paths.size()));
  table.first_known.push_back(std::int32_t(table.known.size()));
}

void Folding::fold_links(Folded& folded) const {
  PathTable& table = folded.table;
  std::vector<std::uint8_t> several(table.paths.size());  // by path: its activity stands for some
  for (std::size_t a = 0; a < folded.members.size(); ++a)
    for (std::int32_t p = table.first_path[a]; p < table.first_path[a + 1]; ++p)
      several[std::size_t(p)] = folded.members[a] > 1;

  // What is taken of each link, link by link.
  const std::vector<bool> contended = could_be_full(capacities_, table_.paths, table_.first_path);
  std::vector<std::int32_t> end(contended.size() + 1);
  for (const Path& path : table_.paths)
    for (const Use& use : path.uses)
      if (contended[std::size_t(use.link)]) ++end[std::size_t(use.link) + 1];
  for (std::size_t l = 0; l < contended.size(); ++l) end[l + 1] += end[l];
  std::vector<Entry> entries(static_cast<std::size_t>(end.back()));
  std::vector<std::int32_t> next(end.begin(), end.end() - 1);
  for (std::size_t a = 0; a < class_of_activity_.size(); ++a) {
    std::int32_t taken = table.first_path[std::size_t(class_of_activity_[a])];
    for (const Path& path : table_.paths_of(a)) {
      for (const Use& use : path.uses)
        if (contended[std::size_t(use.link)])
          entries[std::size_t(next[std::size_t(use.link)]++)] = {taken, use.weight};
      ++taken;
    }
  }

  folded.link_of.assign(contended.size(), -1);
  std::vector<std::span<Entry>> of_link(contended.size());
  std::unordered_multimap<std::uint64_t, LinkIndex> known;
  for (std::size_t l = 0; l < contended.size(); ++l) {
    if (!contended[l]) continue;
    of_link[l] = sum_up(std::span(entries).subspan(std::size_t(end[l]), std::size_t(end[l + 1] - end[l])));
    const double capacity = capacities_.of(LinkIndex(l));
    LinkIndex& stands = folded.link_of[l];
    stands = LinkIndex(l);
    // Those of single activities keep their names: somebody may be told which it was.
    if (std::ranges::any_of(of_link[l], [&](const Entry& e) { return several[std::size_t(e.path)] != 0; })) {
      const std::uint64_t hash = hash_of(capacity, of_link[l]);
      const auto [from, to] = known.equal_range(hash);
      const auto same = std::find_if(from, to, [&](const auto& other) {
        return capacities_.of(other.second) == capacity &&
               std::ranges::equal(of_link[std::size_t(other.second)], of_link[l]);
      });
      if (same != to) stands = same->second;
      else known.emplace(hash, LinkIndex(l));
    }
    if (stands != LinkIndex(l)) continue;
    for (const Entry& entry : of_link[l])
      table.paths[std::size_t(entry.path)].uses.push_back({stands, entry.weight});
  }
}

/// Each member's uses of links that could be full, beside those of the first of its class.
void Folding::find_unlike(Folded& folded) const {
  const PathTable& table = folded.table;
  for (const Path& path : table.paths) folded.unlike.emplace_back(path.uses.size());
  std::vector<std::vector<Use>> uses_of_first(table.paths.size());
  std::vector<bool> seen(table.paths.size());
  std::vector<Use> uses;
  for (std::size_t a = 0; a < class_of_activity_.size(); ++a) {
    const auto activity = std::size_t(class_of_activity_[a]);
    if (folded.members[activity] == 1) continue;
    auto p = std::size_t(table.first_path[activity]);
    for (const Path& path : table_.paths_of(a)) {
      uses.clear();
      for (const Use& use : path.uses)
        if (const LinkIndex link = folded.link_of[std::size_t(use.link)]; link >= 0)
          uses.push_back({link, use.weight});
      std::ranges::sort(uses, {}, [](const Use& use) { return std::pair(use.link, use.weight); });
      if (!seen[p]) uses_of_first[p] = uses, seen[p] = true;
      else mark_unlike(uses_of_first[p], uses, table.paths[p].uses, folded.unlike[p]);
      ++p;
    }
  }
}

void Folding::split(const Folded& folded, std::span<const Flows::Torn> torn) {
  std::set<std::pair<std::int32_t, LinkIndex>> pieces;
  for (const Flows::Torn& piece : torn) pieces.emplace(piece.activity, piece.link);
  for (std::size_t a = 0; a < class_of_activity_.size(); ++a) {
    const auto is_torn = [&](const Use& use) {
      return pieces.contains({folded.part_of[a], folded.link_of[std::size_t(use.link)]});
    };
    const auto first = pieces.lower_bound({folded.part_of[a], std::numeric_limits<LinkIndex>::min()});
    if (first == pieces.end() || first->first != folded.part_of[a]) continue;
    if (std::ranges::any_of(table_.paths_of(a),
                            [&](const Path& path) { return std::ranges::any_of(path.uses, is_torn); }))
      class_of_activity_[a] = activity_classes_++;
  }
}

}  // namespace dlnb::sim
