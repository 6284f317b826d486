// SPDX-License-Identifier: Apache-2.0
// The documented result file: docs/reference/result.md, docs/reference/result.schema.json. Members keep the
// schema's order; rows stand one to a line, so that a large file can be compared by line. Numbers are the
// shortest that read back to the same value.
#include "report/json_parts.hpp"
#include "report/report.hpp"

namespace dlnb::formats {
namespace {

using json_parts::Json;
using json_parts::json_of;
using json_parts::number;
using json_parts::text_of;

Json seconds(std::int64_t nanoseconds) { return number(double(nanoseconds) / 1e9); }

Json json_of(const PlanSpec& plan) {
  Json passes = Json::array();
  for (const PassSpec& pass : plan.passes)
    passes.push_back(Json{{"pass", pass.pass}, {"options", json_of(pass.options)}});
  return {{"name", plan.name},
          {"flavour", plan.flavour == Flavour::paper ? "paper" : "pytorch"},
          {"literal", plan.literal},
          {"passes", std::move(passes)}};
}

Json json_of(const RunSpec& spec) {
  Json json{{"model", spec.model},
            {"device", spec.device},
            {"machine", spec.machine},
            {"plan", json_of(spec.plan)},
            {"cost_model", spec.cost_model},
            {"ranks", spec.ranks},
            {"batch", spec.batch},
            {"sequence", spec.sequence},
            {"dtype", name_of(spec.dtype)},
            {"gradient_dtype", name_of(spec.gradient_dtype)},
            {"recompute", spec.recompute},
            {"fused_attention", spec.fused_attention},
            {"message_scale", number(spec.message_scale)},
            {"compute_scale", number(spec.compute_scale)},
            {"backend", spec.backend},
            {"buffers", spec.buffers},
            {"compute", spec.compute},
            {"progress", spec.progress},
            {"binding", spec.binding},
            {"iterations", spec.iterations},
            {"warmup", spec.warmup},
            {"min_time", number(spec.min_time.value)},
            {"max_time", number(spec.max_time.value)},
            {"spread", number(spec.spread)},
            {"max_iterations", spec.max_iterations},
            {"forever", spec.forever},
            {"watchdog", number(spec.watchdog.value)},
            {"recorder", spec.recorder},
            {"verify", spec.verify},
            {"placement", spec.placement},
            {"devices", spec.devices},
            {"network", spec.network},
            {"seed", spec.seed}};
  if (!spec.noise.empty()) json["noise"] = json_of(spec.noise);
  if (spec.overlap_slowdown > 0) json["overlap_slowdown"] = number(spec.overlap_slowdown);
  if (spec.compute == "device") json["compute_share"] = number(spec.compute_share);
  if (!spec.lower.empty()) json["lower"] = spec.lower;
  return json;
}

Json json_of(const MachineSummary& machine) {
  return {{"name", machine.name},         {"device", machine.device},
          {"topology", machine.topology}, {"placement", machine.placement},
          {"source", machine.source},     {"ranks", machine.ranks},
          {"nodes", machine.nodes},       {"devices_per_node", machine.devices_per_node}};
}

Json json_of(const ProcessGrid& grid) {
  Json json = Json::array();
  for (const Axis& axis : grid.axes()) json.push_back(Json{{"axis", axis.name}, {"size", axis.size}});
  return json;
}

Json json_of(const std::vector<Metric>& metrics) {
  Json json = Json::object();
  for (const Metric& metric : metrics)
    json[metric.name] = Json{{"value", number(metric.value)}, {"unit", metric.unit},
                             {"count", metric.count},         {"low", number(metric.low)},
                             {"high", number(metric.high)},   {"definition", metric.definition}};
  return json;
}

Json json_of(const Spread& spread) {
  return {{"count", spread.count},           {"min", number(spread.min)}, {"mean", number(spread.mean)},
          {"median", number(spread.median)}, {"p95", number(spread.p95)}, {"p99", number(spread.p99)},
          {"max", number(spread.max)}};
}

Json json_of(const OperationRow& row) {
  return {{"role", row.role},
          {"axis", row.axis},
          {"operation", name_of(row.kind)},
          {"phase", name_of(row.phase)},
          {"dtype", name_of(row.dtype)},
          {"group_size", row.group_size},
          {"count", row.count},
          {"bytes_each", row.bytes_each},
          {"time", json_of(row.time)},
          {"exposed", number(row.exposed)},
          {"algorithm_bandwidth", number(row.algorithm_bandwidth)},
          {"bus_bandwidth", number(row.bus_bandwidth)}};
}

Json json_of(const IterationRow& row) {
  return {{"iteration", row.iteration},
          {"time", number(row.time)},
          {"communication_fraction", number(row.communication_fraction)},
          {"compute", seconds(row.slowest.compute)},
          {"transfer", seconds(row.slowest.transfer)},
          {"straggler_wait", seconds(row.slowest.straggler_wait)},
          {"pipeline_bubble", seconds(row.slowest.pipeline_bubble)}};
}

Json json_of(const Slowdown& slowdown) {
  Json json = json_of(std::vector{slowdown.value})["slowdown"];
  json["alone"] = number(slowdown.alone);
  json["together"] = number(slowdown.together);
  json["added"] = Json{{"compute", seconds(slowdown.added.compute)},
                       {"transfer", seconds(slowdown.added.transfer)},
                       {"straggler_wait", seconds(slowdown.added.straggler_wait)},
                       {"pipeline_bubble", seconds(slowdown.added.pipeline_bubble)}};
  return json;
}

Json json_of(const Result& result, const LinkReport& links) {
  Json classes = Json::array(), hot = Json::array(), slowed = Json::array();
  for (const LinkClassLoad& row : links.classes)
    classes.push_back({{"class", name_of(row.link_class)},
                       {"links", row.links},
                       {"used", row.used},
                       {"mean", number(row.mean)},
                       {"most", number(row.most)}});
  for (const HotLink& row : links.hot)
    hot.push_back({{"link", row.link},
                   {"class", name_of(row.link_class)},
                   {"utilisation", number(row.utilisation)},
                   {"full", number(row.full)},
                   {"by_job", row.by_job}});
  for (const Slowing& row : links.slowed)
    slowed.push_back({{"link", row.link},
                      {"class", name_of(row.link_class)},
                      {"by", neighbour(result, row)},
                      {"operation", name_of(row.kind)},
                      {"phase", name_of(row.phase)},
                      {"lost", number(row.lost)}});
  Json json{{"span", number(links.span)},
            {"classes", std::move(classes)},
            {"hot", std::move(hot)},
            {"lost", number(links.lost)},
            {"slowed", std::move(slowed)}};
  if (!result.jobs.empty()) json["jobs"] = result.jobs;
  return json;
}

Json json_of(const LedgerRow& row) {
  return {{"role", row.role},
          {"axis", row.axis},
          {"operation", name_of(row.kind)},
          {"phase", name_of(row.phase)},
          {"dtype", name_of(row.dtype)},
          {"group_size", row.group_size},
          {"count", row.count},
          {"bytes_each", row.bytes_each},
          {"bytes_total", row.bytes_total},
          {"padding_bytes", row.padding_bytes}};
}

Json json_of(const TimelineEvent& event) {
  return {{"begin", seconds(event.begin)},
          {"end", seconds(event.end)},
          {"operation", name_of(event.kind)},
          {"phase", name_of(event.phase)},
          {"layer", event.layer},
          {"microbatch", event.microbatch},
          {"axis", event.axis},
          {"cause", event.cause}};
}

Json json_of(const TimelineRank& rank) {
  Json events = Json::array();
  for (const TimelineEvent& event : rank.events) events.push_back(json_of(event));
  return {{"rank", rank.rank}, {"role", rank.role}, {"events", std::move(events)}};
}

Json json_of(const SeriesRow& row) {
  const double count = double(row.count);
  return {{"iteration", row.iteration},
          {"count", row.count},
          {"mean", number(double(row.time) / 1e9 / count)},
          {"min", seconds(row.low)},
          {"max", seconds(row.high)},
          {"communication", number(double(row.communication) / 1e9 / count)}};
}

Json json_of(const RankBinding& row) {
  return {{"rank", row.rank},   {"host", row.host}, {"cores", row.cores},
          {"bound", row.bound}, {"numa", row.numa}, {"gpu", row.gpu}};
}

Json json_of(const RankEnergy& row) {
  return {{"rank", row.rank}, {"energy", number(row.joules)}, {"time", number(row.seconds)}};
}

template <class Rows>
std::string rows_of(const Rows& rows) {
  return json_parts::lines(rows, [](const auto& row) { return json_of(row); });
}

std::string timeline(const Metrics& metrics) {
  return "{\"iteration\":" + std::to_string(metrics.timeline_iteration) +
         ",\"truncated\":" + (metrics.timeline_truncated ? "true" : "false") +
         ",\"ranks\":" + rows_of(metrics.timeline) + "}";
}

std::string write(const Result& result) {
  json_parts::Document document;
  const auto member = [&](const char* name, const std::string& value) { document.member(name, value); };
  member("schema", "\"dlnetbench.result/1\"");
  member("kind", text_of(result.kind));
  member("label", text_of(result.label));
  member("valid", result.valid ? "true" : "false");
  member("executor", text_of(result.executor));
  member("library", text_of(result.library));
  member("spec", text_of(json_of(result.spec)));
  member("machine", text_of(json_of(result.machine)));
  member("grid", text_of(json_of(result.grid)));
  member("global_batch", std::to_string(result.global_batch));
  member("sequence", std::to_string(result.sequence));
  if (!result.stopped_by.empty()) {
    member("stopped_by", text_of(result.stopped_by));
    member("clock_bound", text_of(number(result.clock_bound)));
  }
  if (!result.lost.empty()) member("lost", rows_of(result.lost));
  if (!result.job.empty()) member("job", text_of(result.job));
  if (result.slowdown) member("slowdown", text_of(json_of(*result.slowdown)));
  if (result.links.span > 0) member("links", text_of(json_of(result, result.links)));
  member("metrics", text_of(json_of(result.metrics.named)));
  member("operations", rows_of(result.metrics.operations));
  member("iterations", rows_of(result.metrics.iterations));
  if (!result.series.empty()) member("series", rows_of(result.series));
  member("ledger", rows_of(result.ledger));
  member("timeline", timeline(result.metrics));
  if (!result.binding.empty()) member("binding", rows_of(result.binding));
  if (!result.energy.empty()) member("energy", rows_of(result.energy));
  member("notes", text_of(Json(result.notes)));
  member("provenance", text_of(json_of(result.provenance)));
  return document.text();
}

}  // namespace

extern constinit const Format json{
    .name = "json",
    .summary = "everything, as docs/reference/result.md says; what `report` reads",
    .write = write,
};

}  // namespace dlnb::formats
