// SPDX-License-Identifier: Apache-2.0
#include "executor/live/inquiry.hpp"

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "core/log.hpp"
#include "executor/live/salvage.hpp"

namespace dlnb {

namespace fs = std::filesystem;

Inquiry inquiry_of(const Schedule& schedule, const RunSpec& spec, const OnPartial& on_partial) {
  const std::int64_t ranks = schedule.grid.ranks();
  Inquiry inquiry{.name = "run", .ranks = ranks};
  inquiry.diagnose = [&schedule](const fs::path&, std::span<const RankState> states,
                                 const std::vector<std::int64_t>& ended) {
    return diagnose(schedule, states, ended);
  };
  inquiry.waited_for = [&schedule](const fs::path&, std::span<const RankState> states,
                                   const std::vector<std::int64_t>& among) {
    return waited_for(schedule, states, among);
  };
  if (on_partial)
    inquiry.keep = [&spec, ranks, on_partial](const fs::path&, const std::vector<Record>& records,
                                              const Diagnosis& diagnosis) {
      on_partial(salvage_after_loss(spec, records, ranks, diagnosis));
    };
  inquiry.keep_after_signal = [&spec, ranks, on_partial](const std::vector<Record>& records, int signal) {
    const Trace trace = salvage_after_signal(spec, records, ranks, signal);
    if (on_partial) on_partial(trace);
    return trace.valid;
  };
  return inquiry;
}

void keep_what_was_measured(const Inquiry& inquiry, const fs::path& folder, const Diagnosis& diagnosis) {
  const std::vector<Record> records = read_records(folder, inquiry.ranks, 0);
  if (!inquiry.keep || records.empty()) return;
  try {
    inquiry.keep(folder, records, diagnosis);
  } catch (const Error& error) {
    log::warn(fmt::format("what was measured before could not be written: {}", error.what()));
  }
}

void report_lost_threads(const Inquiry& inquiry, const fs::path& folder) {
  const auto diagnosis = left_diagnosis(folder);
  if (!diagnosis) return;
  keep_what_was_measured(inquiry, folder, *diagnosis);
  throw LostRank(inquiry.name, diagnosis->text);
}

}  // namespace dlnb
