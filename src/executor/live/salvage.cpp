// SPDX-License-Identifier: Apache-2.0
#include "executor/live/salvage.hpp"

#include <fmt/format.h>
#include <string.h>  // sigabbrev_np
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "executor/live/merge.hpp"
#include "executor/live/session.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

constexpr const char* diagnosis_name = "diagnosis";

std::vector<Series> series_of(const std::vector<Record>& records) {
  std::vector<Series> all;
  for (const Record& record : records) {
    // A rank that ended in the middle of a change has left rows that do not fit together.
    if (record.head().series_changing.load() == 0) all.push_back(record.head().series);
  }
  return all;
}

}  // namespace

std::vector<SeriesRow> merged(std::vector<Series> ranks) {
  std::vector<SeriesRow> rows;
  if (ranks.empty()) return rows;
  std::int64_t stride = 1;
  std::size_t count = Series::most_rows;
  for (const Series& series : ranks) stride = std::max(stride, series.stride());
  for (Series& series : ranks)
    while (series.stride() < stride) series.merge_neighbours();
  for (const Series& series : ranks) count = std::min(count, series.size());
  for (std::size_t row = 0; row < count; ++row) {
    const Series& slowest = *std::ranges::max_element(
        ranks, {}, [&](const Series& s) { return double(s[row].time) / double(s[row].count); });
    rows.push_back(slowest[row]);
  }
  return rows;
}

Trace salvage(const RunSpec& spec, const std::vector<Record>& records, std::int64_t ranks) {
  Trace trace;
  trace.executor = spec.backend;
  std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max();
  for (const Record& record : records)
    first = std::max(first, record.first()), last = std::min(last, record.last());
  if (std::ssize(records) < ranks) last = first;
  last = std::max(first, last);
  trace.iterations = int(last - first);
  trace.first_iteration = first;
  bool cores_shared = false;
  trace.ranks.resize(std::size_t(ranks));
  for (std::int64_t rank = 0; rank < ranks; ++rank) trace.ranks[std::size_t(rank)].rank = rank;
  std::vector<std::int64_t> bounds;
  std::vector<int> leaders;
  for (const Record& record : records) {
    const RecorderHead& head = record.head();
    const std::vector<Offset> offsets = record.offsets();
    RankTrace rank = record.iterations(first, last);
    to_first_clock(rank, offsets);
    trace.ranks[std::size_t(head.rank)] = std::move(rank);
    std::int64_t bound = 0;
    for (const Offset& offset : offsets) bound = std::max(bound, offset.bound);
    bounds.push_back(bound);
    leaders.push_back(
        int(std::ranges::find(records, head.host, [](const Record& r) { return r.head().host; }) -
            records.begin()));
    if (head.rank != 0) continue;
    trace.library = head.library.data();
    cores_shared = head.cores_shared;
    std::istringstream notes(head.notes.data());
    for (std::string note; std::getline(notes, note);) trace.notes.push_back(note);
  }
  if (std::ssize(records) < ranks)
    trace.notes.push_back(
        fmt::format("{} of {} ranks left no record that can be read here; --recorder names a folder "
                    "that all hosts reach",
                    ranks - std::ssize(records), ranks));
  trace.clock_bound_ns = bound_of_pairs(bounds, leaders);
  shift_to_common_start(trace.ranks);
  judge_compute(trace, cores_shared, spec.compute == "device");
  if (spec.forever) trace.series = merged(series_of(records));
  return trace;
}

Trace salvage_after_loss(const RunSpec& spec, const std::vector<Record>& records, std::int64_t ranks,
                         const Diagnosis& diagnosis) {
  Trace trace = salvage(spec, records, ranks);
  trace.valid = false;
  trace.stopped_by = "lost_rank";
  trace.lost = diagnosis.missing;
  trace.notes.insert(trace.notes.begin(),
                     {"INVALID: " + diagnosis.text,
                      fmt::format("only what was measured before: {}",
                                  counted(trace.first_iteration + trace.iterations, "iteration"))});
  return trace;
}

Trace salvage_after_signal(const RunSpec& spec, const std::vector<Record>& records, std::int64_t ranks,
                           int signal) {
  Trace trace = salvage(spec, records, ranks);
  trace.stopped_by = signal_name(signal);
  trace.notes.push_back(fmt::format(
      "ended by {} after {}; the one under way had not ended {} s later and was left", trace.stopped_by,
      counted(trace.first_iteration + trace.iterations, "iteration"), patience_after_signal));
  return trace;
}

std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

void leave_diagnosis(const fs::path& folder, const Diagnosis& diagnosis) {
  std::error_code failure;
  const fs::path own = folder / fmt::format("{}-{}", diagnosis_name, getpid());
  {
    std::ofstream file(own);
    file << diagnosis.text << '\n';
    for (const LostRankState& lost : diagnosis.missing)
      file << lost.rank << '\n' << lost.state << '\n' << lost.place << '\n';
  }
  fs::create_hard_link(own, folder / diagnosis_name, failure);  // fails where there is one
  fs::remove(own, failure);
}

std::optional<Diagnosis> left_diagnosis(const fs::path& folder) {
  std::ifstream file(folder / diagnosis_name);
  Diagnosis diagnosis;
  if (!std::getline(file, diagnosis.text)) return std::nullopt;
  LostRankState lost;
  for (std::string rank;
       std::getline(file, rank) && std::getline(file, lost.state) && std::getline(file, lost.place);) {
    lost.rank = std::atoll(rank.c_str());
    diagnosis.missing.push_back(lost);
  }
  return diagnosis;
}

}  // namespace dlnb
