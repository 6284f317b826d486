// SPDX-License-Identifier: Apache-2.0
// The timeline for ui.perfetto.dev and chrome://tracing: a process per rank, a slice per piece of its iteration, named by
// the operation and coloured (`cat`) by what the rank did meanwhile. Times in us since the iteration began.
// Source: Trace Event Format, "JSON Object Format" with complete events (ph "X").
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json_parts.hpp"
#include "report/report.hpp"

namespace dlnb::formats {
namespace {

using Json = nlohmann::ordered_json;

Json metadata(std::int64_t rank, const char* what, const Json& arguments) {
  return {{"ph", "M"}, {"pid", rank}, {"tid", 0}, {"name", what}, {"args", arguments}};
}

Json slice(std::int64_t rank, const TimelineEvent& event) {
  Json arguments = {{"phase", name_of(event.phase)}};
  if (!event.axis.empty()) arguments["axis"] = event.axis;
  if (event.layer >= 0) arguments["layer"] = event.layer;
  if (event.microbatch >= 0) arguments["microbatch"] = event.microbatch;
  return {{"ph", "X"},
          {"pid", rank},
          {"tid", 0},
          {"name", name_of(event.kind)},
          {"cat", event.cause},
          {"ts", double(event.begin) * 1e-3},
          {"dur", double(event.end - event.begin) * 1e-3},
          {"args", std::move(arguments)}};
}

std::string write(const Result& result) {
  std::vector<Json> events;
  for (const TimelineRank& rank : result.metrics.timeline) {
    const std::string name = fmt::format("rank {} (role {})", rank.rank, rank.role);
    events.push_back(metadata(rank.rank, "process_name", {{"name", name}}));
    events.push_back(metadata(rank.rank, "process_sort_index", {{"sort_index", rank.rank}}));
    for (const TimelineEvent& event : rank.events) events.push_back(slice(rank.rank, event));
  }
  const Json about = {{"label", result.label},
                      {"iteration", result.metrics.timeline_iteration},
                      {"truncated", result.metrics.timeline_truncated},
                      {"version", result.provenance.version}};
  return "{\"displayTimeUnit\": \"ns\",\n\"otherData\": " + about.dump() +
         ",\n\"traceEvents\": " + json_parts::lines(events, [](const Json& event) { return event; }) + "}\n";
}

}  // namespace

extern constinit const Format perfetto{
    .name = "perfetto",
    .summary = "the timeline of one iteration for ui.perfetto.dev",
    .write = write,
};

}  // namespace dlnb::formats
