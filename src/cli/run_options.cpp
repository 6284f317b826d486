// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <dlnb/collective.hpp>
#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

#include "cli/host.hpp"
#include "config/config.hpp"
#include "core/log.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/live.hpp"
#include "executor/sim/network.hpp"
#include "executor/sim/noise.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"
#include "schedule/pass.hpp"

namespace dlnb {
namespace {

// A simulated step is the same every time: a second one shows that, and a first one fills pipelines and
// caches.
constexpr int simulated_iterations = 2;
constexpr std::size_t longest_key = 120;  // in a message

struct Names {
  std::string_view key;
  std::vector<std::string> (*known)();
};
constexpr Names names[] = {
    {"model", shipped_models},
    {"device", shipped_devices},
    {"machine", shipped_machines},
    {"plan",
     [] {
       std::vector<std::string> all;
       for (const NamedPlan& plan : shipped_plans()) all.push_back(plan.name);
       return all;
     }},
    {"cost_model", [] { return names_of(costs::all()); }},
    {"backend", [] { return names_of(backends::all()); }},
    {"placement", [] { return names_of(placements::all()); }},
    {"network", [] { return names_of(networks::all()); }},
    {"noise", [] { return names_of(noises::all()); }},
    {"lower", [] { return names_of(collectives::all()); }},
};

std::string placeholder(const std::string& type) {
  if (type == "integer") return "N";
  if (type == "number") return "X";
  if (type == "time") return "TIME";
  if (type == "size") return "SIZE";
  if (type == "plan") return "PLAN";
  if (type == "noise") return "KIND";
  if (type == "text") return "NAME";
  if (type == "list") return "LIST";
  return "WORD";
}

/// "true or false", "one of: auto, poll" → the words.
std::vector<std::string> words_of(const std::string& type) {
  constexpr std::string_view lead = "one of:";
  if (!type.starts_with(lead)) return {};
  std::vector<std::string> words;
  std::string word;
  for (const char c : type.substr(lead.size()) + " ") {
    if (c != ' ' && c != ',') word += c;
    else if (!word.empty()) words.push_back(std::move(word)), word.clear();
  }
  return words;
}

Argument argument_of(const OptionInfo& option, Purpose purpose) {
  Argument argument = argument_of(option, "Run");
  if (purpose == Purpose::simulated && option.name == "iterations")
    argument.fallback = fmt::format("{}", simulated_iterations);
  return argument;
}

void add_sets(const Arguments& given, std::vector<Assignment>& assignments) {
  for (const std::string& set : given.all("--set")) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError("--set", fmt::format("expected key=value, found {}", in_quotes(set)),
                      "for example --set plan.data.buckets=10");
    const std::string key = set.substr(0, equals);
    assignments.push_back({key, set.substr(equals + 1), "--set " + printable(key, longest_key)});
  }
}

/// Ranks that the plan's passes with a fixed degree need together, and whether one takes the rest.
struct Needs {
  std::int64_t ranks = 1;
  bool rest = false;
};
Needs needs_of(const PlanSpec& plan) {
  Needs needs;
  for (const PassSpec& spec : plan.passes) {
    const Pass& pass = entry_called(passes::all(), spec.pass, "--plan");
    const Value* degree = spec.options.is_table() ? spec.options.find(pass.degree_name) : &spec.options;
    std::int64_t ranks = 1;
    if (degree && degree->is_string()) needs.rest = true;
    else if (degree && degree->is_number()) read_value(*degree, pass.degree_name, ranks);
    needs.ranks *= std::clamp<std::int64_t>(ranks, 1, 1 << 20);
    if (needs.ranks > 1 << 20) break;
  }
  return needs;
}

/// As many ranks as a launcher started, else as this host has cores, in multiples of what the plan needs.
std::int64_t usual_ranks(const PlanSpec& plan) {
  if (inside_a_world() && launched_ranks() > 0) return launched_ranks();
  const Needs needs = needs_of(plan);
  return needs.rest ? std::max<std::int64_t>(1, usable_cores() / needs.ranks) * needs.ranks : needs.ranks;
}

/// Fills in what follows from the purpose.
RunSpec completed(RunSpec spec, Purpose purpose) {
  const auto missing = [&](const char* key) {
    return spec.origin.where().empty() ? flag_of(key) : where_of(spec.origin, std::string("job.") + key);
  };
  if (purpose == Purpose::simulated && !spec.origin.find("iterations"))
    spec.iterations = simulated_iterations;
  if (purpose == Purpose::simulated && spec.machine.empty())
    throw UserError(missing("machine"), "it is not said which machine to simulate",
                    "choose one of: " + fmt::format("{}", fmt::join(shipped_machines(), ", ")) +
                        ", or give a machine TOML file");
  if (spec.ranks == 0 && purpose == Purpose::live) spec.ranks = usual_ranks(spec.plan);
  if (spec.ranks == 0)
    throw UserError(missing("ranks"), "it is not said how many ranks there are", "for example --ranks 64");
  return spec;
}

}  // namespace

Argument argument_of(const OptionInfo& option, const std::string& group) {
  Argument argument{.name = flag_of(option.name), .help = option.help, .group = group};
  const bool off = option.type == "true or false" && option.fallback == "false";
  if (!off) {
    argument.value = placeholder(option.type);
    // Some follow from other options unless given, which their help states.
    if (option.help.find("default:") == std::string::npos) argument.fallback = option.fallback;
  }
  // Words may have short forms ("bf16"), so they are offered and their reader refuses what is none.
  const std::vector<std::string> words = words_of(option.type);
  if (!words.empty()) argument.help += fmt::format("; one of: {}", fmt::join(words, ", "));
  argument.repeatable = option.type == "list";
  if (option.type == "true or false" && !off) argument.choices = {"true", "false"};
  const auto found = std::ranges::find(names, option.name, &Names::key);
  if (found != std::end(names)) argument.known = found->known;
  return argument;
}

std::vector<std::filesystem::path> spec_files(const Arguments& given) {
  std::vector<std::filesystem::path> files;
  for (const std::string& file : given.all("--spec")) files.emplace_back(file);
  return files;
}

std::vector<Assignment> assignments_from(const Arguments& given, const std::vector<OptionInfo>& options) {
  std::vector<Assignment> assignments;
  add_sets(given, assignments);
  for (const OptionInfo& option : options) {
    const std::string flag = flag_of(option.name);
    if (!given.has(flag)) continue;
    std::string text = given.text(flag);
    if (option.type == "list") text = fmt::format("{}", fmt::join(given.all(flag), ","));
    assignments.push_back({option.name, text.empty() ? "true" : text, flag});
  }
  return assignments;
}

std::vector<Argument> file_arguments(const std::string& group, const std::string& example) {
  return {
      {.name = "--spec",
       .value = "FILE.toml",
       .help = "read the run from a file; later files win",
       .repeatable = true,
       .group = group},
      {.name = "--set",
       .value = "KEY=VALUE",
       .help = "one key of a spec file, such as " + example,
       .repeatable = true,
       .group = group},
  };
}

std::vector<Argument> run_arguments(Purpose purpose) {
  std::vector<Argument> all = file_arguments("Run", "plan.data.buckets=10");
  for (const OptionInfo& option : run_options()) {
    all.push_back(argument_of(option, purpose));
    if (purpose == Purpose::live && option.name == "ranks")
      all.back().fallback = "one per core, or what the plan needs";
  }
  return all;
}

RunSpec spec_from(const Arguments& given, Purpose purpose) {
  return completed(read_spec(spec_files(given), make_overrides(assignments_from(given, run_options()))),
                   purpose);
}

std::vector<JobSpec> jobs_from(const Arguments& given, Purpose purpose) {
  std::vector<JobSpec> jobs =
      read_jobs(spec_files(given), make_overrides(assignments_from(given, run_options())));
  if (given.has("--job")) {
    const std::string name = given.text("--job");
    std::vector<std::string> known;
    for (const JobSpec& job : jobs) known.push_back(job.name);
    if (jobs.size() == 1 && known.front().empty())
      throw UserError("--job", "there are no [[job]] tables to choose from",
                      "give a --spec file that has some");
    if (std::ranges::find(known, name) == known.end() || name.empty())
      throw UserError("--job", fmt::format("no job is called {}", in_quotes(name)),
                      choose_one_of(name, known));
    std::erase_if(jobs, [&](const JobSpec& job) { return job.name != name; });
    jobs.front().repeat = false;  // there is nobody it could keep company
  }
  for (JobSpec& job : jobs) job.run = completed(std::move(job.run), purpose);
  return jobs;
}

void refuse_simulated_keys(const RunSpec& spec, const std::string& command) {
  for (const char* key : simulated_keys) {
    const Value* const given = spec.origin.find(key);
    if (!given) continue;
    const std::string where = where_of(*given, key),
                      problem = "only the simulator reads it, not `" + command + "`";
    if (where == flag_of(key)) throw UserError(where, problem, "leave it out, or simulate");
    log::info(fmt::format("{}: {}", where, problem));
  }
}

Argument job_argument() {
  return {.name = "--job",
          .value = "NAME",
          .help = "only this job of a file with [[job]] tables",
          .group = "Run"};
}

}  // namespace dlnb
