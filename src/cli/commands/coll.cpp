// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "cli/host.hpp"
#include "cli/output.hpp"
#include "cli/rank_command.hpp"
#include "cli/result_output.hpp"
#include "cli/run_options.hpp"
#include "config/coll_options.hpp"
#include "config/config.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "executor/live/live.hpp"
#include "pipeline.hpp"
#include "report/coll_report.hpp"
#include "report/report.hpp"

namespace dlnb::commands {
namespace {

namespace fs = std::filesystem;

std::vector<Argument> arguments() {
  std::vector<Argument> all = file_arguments("Benchmark", "factor=4");
  for (const OptionInfo& option : coll_options()) {
    all.push_back(argument_of(option, "Benchmark"));
    if (option.name == "ranks") all.back().fallback = "one per core";
  }
  all.push_back({.name = "--format",
                 .value = "WORD",
                 .help = "how to write the table",
                 .fallback = "text, or what the file's extension says",
                 .choices = names_of(coll_formats::all()),
                 .group = "Result"});
  all.push_back(
      {.name = "--output",
       .short_name = "-o",
       .value = "FILE",
       .help = "write the table to a file and a text one to stdout; - is stdout, as JSON unless --format "
               "says otherwise",
       .group = "Result"});
  return all;
}

/// What goes where; settled before the work.
struct Output {
  const CollFormat* to_file = nullptr;
  fs::path file;
  const CollFormat* to_stdout = nullptr;
};

Output output_from(const Arguments& given) {
  const auto format_called = [](const std::string& name) {
    return &entry_called(coll_formats::all(), name, "--format");
  };
  const std::string file = given.text("--output");
  const bool to_file = !file.empty() && file != "-";
  Output output;
  output.to_stdout = format_called(to_file ? "text" : given.text("--format", file == "-" ? "json" : "text"));
  if (!to_file) return output;
  output.file = file;
  if (given.has("--format")) {
    output.to_file = format_called(given.text("--format"));
    check_writable(file, {output.file.extension().string()});
    return output;
  }
  std::vector<std::string> extensions;
  for (const CollFormat* format : coll_formats::all()) {
    if (format->extension.empty()) continue;
    extensions.emplace_back(format->extension);
    if (output.file.extension() == format->extension) output.to_file = format;
  }
  check_writable(file, extensions);
  return output;
}

/// As many ranks as a launcher started, else as this host has cores, in groups of the same even size where they can.
std::int64_t usual_ranks(const CollSpec& spec) {
  if (inside_a_world() && launched_ranks() > 0) return launched_ranks();
  const std::int64_t unit = spec.groups * (spec.pattern == MessagePattern::ring ? 1 : 2);
  return std::max<std::int64_t>(1, usable_cores() / unit) * unit;
}

CollSpec spec_from(const Arguments& given) {
  CollSpec spec =
      read_coll_spec(spec_files(given), make_coll_overrides(assignments_from(given, coll_options())));
  if (!spec.origin.find("definitions") && given.text("--format") == "osu")
    spec.definitions = CollDefinitions::osu;
  if (spec.ranks == 0) spec.ranks = usual_ranks(spec);
  check_coll_spec(spec);
  return spec;
}

void put(const CollTable& table, const Output& output) {
  progress::clear();
  if (output.to_file) {
    write_file(output.file, output.to_file->write(table));
    log::info(fmt::format("wrote {}", output.file.string()));
  }
  print(output.to_stdout->write(table));
}

int write(const CollTable& table, const Output& output) {
  put(table, output);
  if (!table.wrong.empty()) throw WrongResult("verification", table.wrong);
  return int(Exit::success);
}

int run_here(const CollSpec& spec, const Output& output, const OnPartialCollTable& keep) {
  if (!is_first_rank()) log::set_level(log::Level::quiet);
  const std::optional<CollTable> table = dlnb::coll(spec, keep);
  return table ? write(*table, output) : int(Exit::success);
}

void refuse_what_does_not_apply(const CollSpec& spec) {
  const bool is_simulated = !spec.machine.empty();
  const std::initializer_list<const char*> simulated{"nodes", "collective", "placement", "devices", "noise"},
      live{"testbed", "hosts", "agent", "buffers"};
  for (const char* key : is_simulated ? live : simulated)
    if (spec.origin.find(key))
      throw UserError(
          flag_of(key),
          is_simulated ? "nothing is started where a machine is simulated" : "is of a simulated machine",
          is_simulated ? "leave it or --machine out" : "name one with --machine, or leave it out");
}

int run(const Arguments& given) {
  const CollSpec spec = spec_from(given);
  const Output output = output_from(given);
  refuse_what_does_not_apply(spec);
  if (!spec.machine.empty()) return write(dlnb::simulate(spec), output);
  if (!inside_a_world() && !needs_launcher(spec.backend) && !(spec.hosts.empty() && spec.testbed.empty()))
    throw UserError(spec.testbed.empty() ? "--hosts" : "--testbed",
                    fmt::format("ranks of '{}' are threads of one process, on one host", spec.backend),
                    "choose a backend whose ranks are processes, such as --backend mpi");
  std::string kept;
  const auto keep = [&](const CollTable& table) {
    put(table, output);
    kept = kept_text(counted(std::int64_t(table.rows.size()), "row"), output.file);
  };
  return telling_what_was_kept(kept, [&] {
    if (inside_a_world() || !needs_launcher(spec.backend)) return run_here(spec, output, keep);
    if (progress::is_on()) hand_on_progress();
    return start_ranks(spec, rank_command(given, spec.origin.find("ranks") ? 0 : spec.ranks), keep);
  });
}

}  // namespace

extern constinit const Command coll{
    .name = "coll",
    .summary = "measure collective operations and messages, size by size",
    .examples =
        "coll --operation all-reduce --min-size 1KiB --max-size 1MiB --ranks 2 --dtype bf16 -o coll.json\n"
        "coll --operation all-reduce,broadcast --in-place both --backend threads --max-size 1MiB --format "
        "nccl-tests\n"
        "coll --machine leonardo --ranks 64 --operation all-reduce --max-size 1GiB\n"
        "coll --backend threads --min-size 64KiB --max-size 64KiB --iterations 2000 --series --format json",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
