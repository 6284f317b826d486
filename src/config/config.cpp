// SPDX-License-Identifier: Apache-2.0
#include "config/config.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "config/named_options.hpp"
#include "config/noise_option.hpp"
#include "config/plan.hpp"
#include "config/request.hpp"

namespace dlnb {
namespace {

bool looks_like_a_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".toml") || text.ends_with(".json");
}

// Members of a [[job]] table that are not a run's.
constexpr auto job_options =
    options(option("name", &JobSpec::name, "what the job is called"),
            option("start", &JobSpec::start, "after the first job", Range{0, 1e7}),
            option("repeat", &JobSpec::repeat, "goes on until the other jobs have finished"));

bool is_job_option(std::string_view key) {
  const std::vector<OptionInfo> known = job_options.info(JobSpec{});
  return std::ranges::find(known, key, &OptionInfo::name) != known.end();
}

/// The members of a table for which `chosen` holds.
template <class Chosen>
Value members(const Value& table, Chosen chosen) {
  Value::Table some;
  for (const auto& member : table.table())
    if (chosen(member.first)) some.push_back(member);
  return Value(std::move(some), table.where());
}

void anchor_noise(Value& layer, const std::filesystem::path& folder) {
  const Value* noise = layer.find("noise");
  if (noise == nullptr || noise->is_string()) return;
  Value tables = noise_tables(*noise, "noise");
  Value::Array anchored;
  for (Value table : tables.array()) {
    const Value* file = table.find("file");
    if (file != nullptr && file->is_string() &&
        std::filesystem::path(std::get<std::string>(file->data())).is_relative())
      table.set_path("file", Value((folder / std::get<std::string>(file->data())).lexically_normal().string(),
                                   file->where()));
    anchored.push_back(std::move(table));
  }
  // What is one table stays one, for a later layer to change.
  layer.set_path("noise", noise->is_table() ? anchored.front() : Value(std::move(anchored), noise->where()));
}

// A path written in a file means a file beside it.
void anchor_paths(Value& layer, const std::filesystem::path& folder) {
  for (const std::string key : {"model", "device", "machine", "plan", "plan.name", "recorder"}) {
    const Value* value = layer.find_path(key);
    if (!value || !value->is_string()) continue;
    const auto& text = std::get<std::string>(value->data());
    const bool composition = key.starts_with("plan") && text.find('=') != std::string::npos;
    if (composition || !looks_like_a_path(text) || std::filesystem::path(text).is_absolute()) continue;
    layer.set_path(key, Value((folder / text).lexically_normal().string(), value->where()));
  }
  anchor_noise(layer, folder);
}

// Files and overrides, laid over each other one by one.
class Layers {
 public:
  void add(const Value& layer) {
    if (layer.empty()) return;
    // Every layer must make sense by itself: an overridden mistake is still one, named by its own line.
    Request alone;
    read_request(layer, alone);

    Value rest(Value::Table{}, layer.where());
    for (const auto& [key, value] : layer.table()) {
      if (key == "plan") {
        merge_plan(plan_, plan_table(value));
      } else if (key == "scale") {
        for (const char* scaled : {"message_scale", "compute_scale"})
          if (!layer.find(scaled)) rest.set_path(scaled, value);
      } else {
        rest.set_path(key, key == "noise" ? noise_table(value) : value);
      }
    }
    make_room_for_noise(tree_, rest);
    tree_.merge(rest);
  }

  /// What follows changes the default plan where it names none itself.
  void open_default_plan() {
    if (plan_.empty()) plan_ = default_plan_table();
  }

  const Value& tree() const { return tree_; }
  const Value& plan() const { return plan_; }
  /// Everything, as one tree of a spec file.
  Value origin() const {
    Value origin = tree_;
    if (plan_.empty()) return origin;
    Value::Table plan;
    for (const auto& member : plan_.table())
      if (!member.second.empty()) plan.push_back(member);
    origin.set_path("plan", Value(std::move(plan), plan_.where()));
    return origin;
  }

 private:
  Value tree_{Value::Table{}, ""};
  Value plan_;
};

/// A run without end has no rule to stop.
void check_rules_to_stop(const Value& tree, const Request& request) {
  const auto refuse = [&](const char* rule, const std::string& problem, const char* hint) {
    if (const Value* given = tree.find(rule)) throw UserError(where_of(*given, rule), problem, hint);
  };
  if (request.forever)
    for (const char* rule : {"iterations", "spread", "max_iterations", "max_time", "min_time"})
      refuse(rule, "a run that goes on for ever ends by a signal only", "leave one of them out");
  if (request.max_time.value > 0 && request.min_time > request.max_time)
    refuse(
        "min_time",
        fmt::format("{} at least, but max_time is {}", to_text(request.min_time), to_text(request.max_time)),
        "give the smaller as min_time");
  if (request.spread <= 0 && request.max_iterations != Request{}.max_iterations)
    refuse("max_iterations", "there is no spread to give up on", "add spread, or take iterations");
  if (request.spread > 0 && request.max_iterations < request.iterations)
    refuse(
        "max_iterations",
        fmt::format("{} at most, but at least {} are measured", request.max_iterations, request.iterations),
        "give no less than iterations");
}

PlanSpec settle_plan(const Layers& layers, const Request& request) {
  PlanSpec plan = make_plan(layers.plan(), request.flavour);
  plan.literal = request.literal;
  if (plan.literal && plan.flavour != Flavour::paper)
    throw UserError(where_of(*layers.tree().find("literal"), "literal"),
                    "only the flavour 'paper' has a literal listing");
  return plan;
}

Value read_layer(const std::filesystem::path& file) {
  Value layer = read_document(file);
  layer.table();
  anchor_paths(layer, file.parent_path());
  return layer;
}

RunSpec settle(Layers layers, const Value& overrides) {
  // A [plan] table in a file is a plan of its own; "--set plan.data.buckets=10" alone changes the default one.
  if (overrides.find("plan")) layers.open_default_plan();
  layers.add(overrides);

  Request request;
  read_request(layers.tree(), request);
  if (!layers.tree().find("gradient_dtype")) request.gradient_dtype = request.dtype;
  if (request.recompute != "none" && request.cost_model == "paper")
    throw UserError(where_of(*layers.tree().find("recompute"), "recompute"),
                    "the cost model 'paper' has no recomputation", "choose cost_model = \"exact\"");
  if (!request.fused_attention && request.cost_model == "paper")
    throw UserError(where_of(*layers.tree().find("fused_attention"), "fused_attention"),
                    "the cost model 'paper' has no attention kernels", "choose cost_model = \"exact\"");
  check_destination(layers.tree(), request);
  check_rules_to_stop(layers.tree(), request);
  if (const Value* share = layers.tree().find("compute_share");
      share && request.compute != "device" && request.compute_share != Request{}.compute_share)
    throw UserError(where_of(*share, "compute_share"), "nothing is computed on a device",
                    "add compute = \"device\"");
  refuse_two_placements(layers.tree());
  request.plan = settle_plan(layers, request);
  request.origin = layers.origin();
  return request;
}

JobSpec read_job(const Value& table, std::size_t number, const std::filesystem::path& folder) {
  table.table("job");
  JobSpec job;
  job.name = fmt::format("job{}", number);
  job_options.read(members(table, is_job_option), "job", job);
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  };
  if (job.name.empty() || !std::ranges::all_of(job.name, allowed))
    throw UserError(where_of(*table.find("name"), "job.name"), in_quotes(job.name) + " is no name",
                    "use letters, digits, '-' and '_'");
  job.run.origin = members(table, [](std::string_view key) { return !is_job_option(key); });
  anchor_paths(job.run.origin, folder);
  return job;
}

}  // namespace

Value make_overrides(const std::vector<Assignment>& assignments) {
  std::vector<Assignment> ordered = assignments;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const Assignment& a) { return a.key == "plan" || a.key == "noise"; });

  const std::vector<OptionInfo> known = run_options();
  Value tree(Value::Table{}, ""), plan;
  for (const Assignment& assignment : ordered) {
    const auto option =
        std::find_if(known.begin(), known.end(), [&](const auto& o) { return o.name == assignment.key; });
    const bool is_noise = assignment.key == "noise" && assignment.text.find_first_of("[{") != 0;
    const bool is_text =
        is_noise || (option != known.end() && (option->type == "text" || option->type == "plan"));
    // A model called '7' is a name, not a number; only a plan may also be a table.
    const bool verbatim = is_text && !assignment.text.starts_with('{');
    Value value =
        verbatim ? Value(assignment.text, assignment.where) : parse_value(assignment.text, assignment.where);
    if (assignment.key == "noise") value = noise_table(value);
    if (assignment.key == "plan" || assignment.key.starts_with("plan.")) {
      Value change;
      change.set_path(assignment.key, std::move(value));
      merge_plan(plan, plan_table(*change.find("plan")));
    } else {
      // What a later option overrides must make sense as well.
      Value alone;
      alone.set_path(assignment.key, value);
      Request request;
      read_request(alone, request);
      tree.set_path(assignment.key, std::move(value));
    }
  }
  if (!plan.empty()) tree.set_path("plan", std::move(plan));
  return tree;
}

RunSpec read_spec(const std::vector<std::filesystem::path>& spec_files, const Value& overrides) {
  Layers layers;
  for (const std::filesystem::path& file : spec_files) {
    const Value layer = read_layer(file);
    if (const Value* jobs = layer.find("job"))
      throw UserError(where_of(*jobs, "job"), "several jobs are for `run`, `simulate` and `validate`",
                      "take the [[job]] tables out of this file");
    layers.add(layer);
  }
  return settle(std::move(layers), overrides);
}

std::vector<JobSpec> read_jobs(const std::vector<std::filesystem::path>& spec_files, const Value& overrides) {
  Layers common;
  std::vector<JobSpec> jobs;
  for (const std::filesystem::path& file : spec_files) {
    const Value layer = read_layer(file);
    common.add(members(layer, [](std::string_view key) { return key != "job"; }));
    if (const Value* tables = layer.find("job")) {
      if (tables->array("job").empty()) throw UserError(where_of(*tables, "job"), "there is no job in it");
      for (const Value& table : tables->array("job")) {
        JobSpec job = read_job(table, jobs.size() + 1, file.parent_path());
        if (std::ranges::find(jobs, job.name, &JobSpec::name) != jobs.end())
          throw UserError(where_of(table, "job"), fmt::format("two jobs are called '{}'", job.name));
        jobs.push_back(std::move(job));
      }
    }
  }
  if (jobs.empty()) return {{.run = settle(std::move(common), overrides)}};
  for (JobSpec& job : jobs) {
    Layers own = common;
    own.add(job.run.origin);
    const std::string where = job.run.origin.where();
    job.run = settle(std::move(own), overrides);
    job.run.origin = Value(job.run.origin.data(), where);  // the job's table, for messages about it
  }
  return jobs;
}

}  // namespace dlnb
