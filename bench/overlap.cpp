// SPDX-License-Identifier: Apache-2.0
// overlap [backend] [ranks] [progress] [MB] [compute ms]: whether communication really goes on while ranks
// compute. Eight non-blocking all-reduces, each under a compute phase, beside the same eight without compute.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/live.hpp"

namespace {

using namespace dlnb;

constexpr int operations = 8;

/// First without compute (`operations` blocking), then under compute: one step holds both, so both see one
/// machine.
Schedule schedule(std::int64_t ranks, std::int64_t elements, double seconds) {
  Schedule schedule;
  schedule.grid = ProcessGrid({{"data", ranks}});
  std::vector<Operation> program;
  Operation reduce;
  reduce.kind = OperationKind::all_reduce;
  reduce.dtype = DataType::float32;
  reduce.axes = 1;
  reduce.elements_sent = reduce.elements_received = elements;
  const auto started = [&](int handle) {
    Operation operation = reduce;
    operation.blocking = false;
    operation.handle = handle;
    return operation;
  };
  const auto wait = [](int handle) {
    Operation operation;
    operation.kind = OperationKind::wait;
    operation.handle = handle;
    return operation;
  };
  Operation compute;
  compute.cost.time = {seconds};
  Operation barrier;
  barrier.kind = OperationKind::barrier;
  barrier.axes = 1;

  program.push_back(barrier);
  for (int i = 0; i < operations; ++i) program.insert(program.end(), {started(i), wait(i)});
  program.push_back(barrier);
  for (int i = 0; i < operations; ++i) program.insert(program.end(), {started(i), compute});
  for (int i = 0; i < operations; ++i) program.push_back(wait(i));
  schedule.programs = {{.role = 0, .operations = std::move(program)}};
  return schedule;
}

int run(const std::vector<std::string>& words) {
  const auto word = [&](std::size_t i, const char* fallback) {
    return words.size() > i ? words[i] : fallback;
  };
  RunSpec spec;
  spec.backend = word(1, "mpi");
  spec.ranks = std::atoi(word(2, "2").c_str());
  spec.progress = word(3, "auto");
  spec.iterations = 3;
  const double megabytes = std::atof(word(4, "20").c_str()), milliseconds = std::atof(word(5, "200").c_str());
  const Schedule overlapped = schedule(spec.ranks, std::int64_t(megabytes * 1e6 / 4), milliseconds * 1e-3);
  if (needs_launcher(spec.backend) && !inside_a_world()) return launch(overlapped, spec, words);

  const auto trace = run_live(overlapped, spec);
  if (!trace) return 0;
  const std::size_t per_step = 2 + 5 * std::size_t(operations),
                    compute_begin = 2 + 2 * std::size_t(operations);
  fmt::print("{}, {} ranks, progress {}: {} all-reduces of {} MB, each under {} ms of compute\n",
             trace->library, spec.ranks, spec.progress, operations, megabytes, milliseconds);
  for (int k = 0; k < trace->iterations; ++k) {
    double alone = 0, exposed = 0;
    for (const RankTrace& rank : trace->ranks) {
      const Interval* step = &rank.intervals[std::size_t(k) * per_step];
      const double communication = double(step[compute_begin - 2].end - step[1].begin) * 1e-6;
      const double together = double(step[per_step - 1].end - step[compute_begin].begin) * 1e-6;
      alone = std::max(alone, communication);
      exposed = std::max(exposed, together - operations * milliseconds);
    }
    fmt::print("  iteration {}: alone {:.1f} ms, exposed under compute {:.1f} ms = {:.1f} %\n", k, alone,
               exposed, 100 * exposed / alone);
  }
  for (const std::string& note : trace->notes) fmt::print("  {}\n", note);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words, words + count});
  } catch (const Error& error) {
    if (is_first_rank()) fmt::print(stderr, "error: {}\n{}\n", error.what(), error.hint());
    return int(error.exit());
  }
}
