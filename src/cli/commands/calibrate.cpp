// SPDX-License-Identifier: Apache-2.0
// Measures collectives on this machine, alone and in groups at once, and fits the costs of a machine file to them.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "calibration/machine_file.hpp"
#include "cli/host.hpp"
#include "cli/output.hpp"
#include "cli/own_runs.hpp"
#include "cli/result_output.hpp"
#include "cli/run_options.hpp"
#include "cli/table.hpp"
#include "cli/temporary_folder.hpp"
#include "config/coll_options.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/provenance.hpp"
#include "machine/machine.hpp"
#include "pipeline.hpp"
#include "report/report.hpp"

namespace dlnb::commands {
namespace {

namespace fs = std::filesystem;

/// The options of `coll` that say where and how long.
constexpr std::string_view measuring[] = {"ranks",      "backend", "buffers",  "hosts",    "agent",
                                          "testbed",    "dtype",   "min_size", "max_size", "factor",
                                          "iterations", "warmup",  "watchdog", "devices",  "overlap"};
/// What they are unless typed: few sizes, from where latency counts to where bandwidth does.
constexpr std::pair<const char*, const char*> usual[] = {
    {"--min-size", "64"}, {"--max-size", "16MiB"}, {"--factor", "8"}};
/// As in plans: a library's sums of 16 bits take other times than its sums of float32.
constexpr const char* usual_type = "bfloat16";

std::vector<Argument> measuring_arguments() {
  std::vector<Argument> all;
  for (const OptionInfo& option : coll_options())
    if (std::ranges::find(measuring, option.name) != std::end(measuring)) {
      all.push_back(argument_of(option, "Measurement"));
      if (option.name == "ranks") all.back().fallback = "one per core";
      if (option.name == "dtype") all.back().fallback = usual_type;
      for (const auto& [name, value] : usual)
        if (all.back().name == name) all.back().fallback = value;
    }
  return all;
}

std::vector<Argument> arguments() {
  std::vector<Argument> all = measuring_arguments();
  all.push_back({.name = "--machine",
                 .value = "FILE.toml",
                 .help =
                     "machine file with the structure of what is measured, such as `testbed machine` writes; "
                     "default: one node whose ranks share its memory",
                 .group = "Result"});
  all.push_back({.name = "--name",
                 .value = "NAME",
                 .help = "of the machine",
                 .fallback = "localhost",
                 .group = "Result"});
  all.push_back({.name = "--output",
                 .short_name = "-o",
                 .value = "FILE.toml",
                 .help = "the machine file to write",
                 .fallback = "the name",
                 .group = "Result"});
  return all;
}

/// One run of `coll`: its options beside those that were typed.
using Options = std::vector<std::pair<std::string, std::string>>;

class Measurement {
 public:
  explicit Measurement(const Arguments& given)
      : typed_(words_of(given, measuring_arguments(),
                        {"--ranks", "--min-size", "--max-size", "--factor", "--devices", "--overlap"})),
        overlap_(given.has("--overlap")) {
    for (const Argument& argument : measuring_arguments())
      if (given.has(argument.name) && !argument.value.empty())
        values_[argument.name] = given.text(argument.name);
    if (values_.try_emplace("--dtype", usual_type).second)
      typed_.insert(typed_.end(), {"--dtype", usual_type});
    on_hosts_ = given.has("--hosts") || given.has("--testbed");
    if (given.has("--devices") && !(on_hosts_ && given.has("--machine")))
      throw UserError("--devices", "says where the hosts are in the structure of --machine",
                      "give --hosts or --testbed, and --machine, too");
    const CollSpec spec = spec_of({});
    ranks_ = spec.ranks > 0 ? spec.ranks : usable_cores();
    if (ranks_ < 2) throw UserError("--ranks", "nothing is communicated by one rank", "ask for 2 or more");
    for (const auto& [name, value] : usual) values_.try_emplace(name, value);
    if (sizes_of(spec_of({})).size() < 4)
      throw UserError("--max-size", "constants cannot be told apart by fewer than four sizes",
                      "take a larger range, or a smaller --factor");
  }

  std::int64_t ranks() const { return ranks_; }

  CollTable run(const Options& options, bool overlap) const {
    const fs::path file = folder_.path() / fmt::format("{}.json", number_++);
    std::vector<std::string> words{"coll", "--quiet"};
    words.insert(words.end(), typed_.begin(), typed_.end());
    if (overlap) words.push_back("--overlap");
    for (const auto& [name, value] : complete(options)) words.insert(words.end(), {name, value});
    words.insert(words.end(), {"--output", file.string()});
    run_again({words}, false);
    // Not what overlaps: a simulated transfer blocks nobody.
    return read_coll_table(file, spec_of(complete(options)));
  }

  /// Everything the costs are fitted to.
  std::vector<CollTable> tables() const {
    const std::string collectives = "all-reduce,all-gather,reduce-scatter,all-to-all,broadcast";
    // To and fro there is nothing to overlap.
    const char* pattern = overlap_ ? "ring" : "ping-pong";
    std::vector<Options> runs;
    const auto add = [&](std::int64_t ranks, std::int64_t groups, const char* grouping) {
      const std::string r = fmt::format("{}", ranks), g = fmt::format("{}", groups);
      runs.push_back(
          {{"--operation", collectives}, {"--ranks", r}, {"--groups", g}, {"--grouping", grouping}});
      if (ranks / groups % 2 == 0)
        runs.push_back({{"--operation", "send-recv"},
                        {"--pattern", pattern},
                        {"--ranks", r},
                        {"--groups", g},
                        {"--grouping", grouping}});
    };
    // Fewer ranks than hosts would be spread over them, and not sit where the model puts them.
    if (!on_hosts_ && ranks_ > 2) add(2, 1, "contiguous");
    add(ranks_, 1, "contiguous");
    if (ranks_ % 2 == 0 && ranks_ >= 4)
      for (const char* grouping : {"contiguous", "strided"}) {
        add(ranks_, 2, grouping);
        if (ranks_ >= 8) add(ranks_, ranks_ / 2, grouping);
      }
    std::vector<CollTable> tables;
    for (const Options& options : runs) {
      progress::report("measured runs", std::int64_t(tables.size()), std::int64_t(runs.size()));
      tables.push_back(run(options, overlap_));
    }
    return tables;
  }

  /// Bytes/s that so many pairs send at once, one way, together.
  BytesPerSecond rate(std::int64_t pairs) const {
    const CollTable table = run({{"--operation", "send-recv"},
                                 {"--pattern", "one-way"},
                                 {"--ranks", fmt::format("{}", 2 * pairs)},
                                 {"--groups", fmt::format("{}", pairs)},
                                 {"--min-size", values_.at("--max-size")}},
                                false);
    return {double(pairs) * double(table.rows.back().shape.bytes) / table.rows.back().time};
  }

 private:
  Options complete(const Options& options) const {
    Options all = options;
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(options, [&](const auto& option) { return option.first == name; });
    };
    for (const auto& [name, value] : usual)
      if (!has(name)) all.emplace_back(name, values_.at(name));
    return all;
  }

  CollSpec spec_of(const Options& options) const {
    std::vector<Assignment> assignments;
    const auto add = [&](const std::string& flag, const std::string& value) {
      std::string key = flag.substr(2);
      std::ranges::replace(key, '-', '_');
      assignments.push_back({key, value, flag});
    };
    for (const auto& [flag, value] : values_) add(flag, value);
    for (const auto& [flag, value] : options) add(flag, value);
    CollSpec spec = read_coll_spec({}, make_coll_overrides(assignments));
    if (!options.empty()) check_coll_spec(spec);
    return spec;
  }

  std::vector<std::string> typed_;
  const bool overlap_;
  std::map<std::string, std::string> values_;
  bool on_hosts_ = false;
  std::int64_t ranks_ = 0;
  const TemporaryFolder folder_;
  mutable int number_ = 0;
};

/// The structure to fit: what --machine says, or one node.
Value structure_from(const Arguments& given, const Measurement& measurement) {
  if (given.has("--machine")) return machine_document(given.text("--machine"), "--machine");
  const std::int64_t pairs = measurement.ranks() / 2;
  const BytesPerSecond one = measurement.rate(1), all = pairs > 1 ? measurement.rate(pairs) : one;
  // Where pairs at once are as fast as one alone, nothing is shared.
  const bool shared = all.value < 0.95 * double(pairs) * one.value;
  return one_node_machine(measurement.ranks(), "a100", one, shared ? std::max(one, all) : BytesPerSecond{0});
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

Table table_of(const Calibration& calibration) {
  Table table{
      {"operation", "start", "step", "efficiency", "sizes", "error, fitted", "checked", "checked >= 1 MiB"},
      {}};
  std::vector<CollOperation> operations;
  for (const CalibrationRow& row : calibration.rows)
    if (std::ranges::find(operations, row.operation) == operations.end()) operations.push_back(row.operation);
  for (const CollOperation operation : operations) {
    std::vector<double> fitted, checked, large;
    for (const CalibrationRow& row : calibration.rows) {
      if (row.operation != operation) continue;
      (row.fitted ? fitted : checked).push_back(std::abs(row.error()));
      if (!row.fitted && row.bytes >= 1 << 20) large.push_back(std::abs(row.error()));
    }
    const std::string kind = operation == CollOperation::send_recv ? "message" : name_of(operation);
    const OperationCost& cost = calibration.costs.at(kind);
    const auto percent = [](const std::vector<double>& errors) {
      return errors.empty() ? std::string("-") : fmt::format("{:.1f} %", median(errors) * 100);
    };
    table.rows.push_back({kind, to_text(cost.start), to_text(cost.step),
                          fmt::format("{:.3f}", cost.efficiency), long(fitted.size() + checked.size()),
                          percent(fitted), percent(checked), percent(large)});
  }
  return table;
}

int run(const Arguments& given) {
  const std::string name = given.text("--name", "localhost");
  const std::string output = given.text("--output", name + ".toml");
  if (name.empty() ||
      !std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; }))
    throw UserError("--name", in_quotes(name) + " is no name", "use letters, digits, '-' and '_'");
  check_writable(output, {".toml"});
  const Measurement measurement(given);
  const Value structure = structure_from(given, measurement);
  const std::vector<CollTable> tables = measurement.tables();
  progress::clear();

  const Provenance here = provenance_of_this_host();
  const std::string source = fmt::format("measured by dlnetbench calibrate on {}, {}, with {}, {} ranks",
                                         here.host, here.time, tables.front().library, measurement.ranks());
  // The structure as a machine of its own, which the fit then loads.
  const TemporaryFolder folder;
  const fs::path base = folder.path() / "structure.toml";
  write_file(base, machine_file(structure, {}, name, source));
  const Calibration calibration = calibrate(base.string(), tables);
  write_file(output, machine_file(structure, calibration, name, source));
  log::info(fmt::format("wrote {}", output));
  print(to_text(table_of(calibration)));
  print(
      "\nerrors: median of |simulated / measured - 1|; the costs were fitted to every second size, the "
      "others check "
      "them\n");
  return int(Exit::success);
}

}  // namespace

extern constinit const Command calibrate{
    .name = "calibrate",
    .summary = "measure this machine's collectives and write a machine file for the simulator",
    .examples =
        "calibrate --ranks 2 --max-size 1MiB -o localhost.toml\n"
        "calibrate --testbed two-level --ranks 8 --machine two-level.toml --name two-level-measured",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
