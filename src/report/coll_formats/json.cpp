// SPDX-License-Identifier: Apache-2.0
// The documented table: docs/reference/coll.md, docs/reference/coll.schema.json.
#include "report/coll_report.hpp"
#include "report/json_parts.hpp"

namespace dlnb::coll_formats {
namespace {

using namespace json_parts;

template <class List>
Json names(const List& list) {
  Json json = Json::array();
  for (const auto& each : list) json.push_back(name_of(each));
  return json;
}

Json json_of(const CollSpec& spec) {
  Json json{{"operations", names(spec.operations)},
            {"min_size", spec.min_size.value},
            {"max_size", spec.max_size.value},
            {"factor", spec.factor},
            {"step", spec.step.value},
            {"dtypes", names(spec.dtypes)},
            {"in_place", name_of(spec.in_place)},
            {"ranks", spec.ranks},
            {"groups", spec.groups},
            {"grouping", name_of(spec.grouping)},
            {"pattern", name_of(spec.pattern)},
            {"skew", number(spec.skew)},
            {"overlap", spec.overlap},
            {"series", spec.series},
            {"definitions", name_of(spec.definitions)},
            {"backend", spec.backend},
            {"buffers", spec.buffers},
            {"progress", spec.progress},
            {"machine", spec.machine},
            {"nodes", spec.nodes},
            {"collective", spec.collective},
            {"placement", spec.placement},
            {"devices", spec.devices},
            {"seed", spec.seed},
            {"iterations", spec.iterations},
            {"warmup", spec.warmup},
            {"watchdog", number(spec.watchdog.value)},
            {"recorder", spec.recorder},
            {"verify", spec.verify}};
  if (!spec.noise.empty()) json["noise"] = json_parts::json_of(spec.noise);
  return json;
}

Json json_of(const CollRow& row) {
  Json json{{"operation", name_of(row.operation)},
            {"ranks", row.ranks},
            {"bytes", row.shape.bytes},
            {"message_bytes", row.shape.message},
            {"elements", row.shape.count},
            {"dtype", name_of(row.dtype)},
            {"in_place", row.in_place},
            {"iterations", row.iterations},
            {"time", number(row.time)},
            {"low", number(row.low)},
            {"high", number(row.high)},
            {"algorithm_bandwidth", number(row.algorithm_bandwidth)},
            {"bus_bandwidth", number(row.bus_bandwidth)}};
  if (row.wrong) json["wrong"] = *row.wrong;
  if (row.overlap)
    json["overlap"] = Json{{"pure", number(row.overlap->pure)},
                           {"compute", number(row.overlap->compute)},
                           {"overall", number(row.overlap->overall)},
                           {"share", number(row.overlap->share)}};
  if (!row.series.empty()) json["series"] = row.series;
  return json;
}

std::string write(const CollTable& table) {
  Json definitions = Json::object();
  for (const CollDefinition& definition : definitions_of(table.spec))
    definitions[std::string(definition.column)] = definition.meaning;
  Document document;
  document.member("schema", Json("dlnetbench.coll/1"));
  document.member("executor", Json(table.executor));
  document.member("library", Json(table.library));
  document.member("valid", Json(table.valid()));
  if (!table.stopped_by.empty()) document.member("stopped_by", Json(table.stopped_by));
  if (!table.lost.empty())
    document.member("lost",
                    lines(table.lost, [](const LostRankState& lost) { return json_parts::json_of(lost); }));
  document.member("spec", json_of(table.spec));
  document.member("definitions", definitions);
  document.member("rows", lines(table.rows, [](const CollRow& row) { return json_of(row); }));
  document.member("notes", Json(table.notes));
  document.member("provenance", json_parts::json_of(table.provenance));
  return document.text();
}

}  // namespace

extern constinit const CollFormat json{
    .name = "json",
    .summary = "everything, as docs/reference/coll.md says",
    .extension = ".json",
    .write = write,
};

}  // namespace dlnb::coll_formats
