// SPDX-License-Identifier: Apache-2.0
// live_rank <backend> <ranks> <scenario> [progress]: a rank of a small live run; outside a world it starts
// its ranks. Exits like a run does. Used by CTest with each backend, because a process joins one world only.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/backend.hpp"
#include "executor/live/live.hpp"
#include "executor/live/surroundings.hpp"
#include "unit/live/plans.hpp"
#include "unit/live/world/transfers.hpp"

namespace dlnb {
namespace {

// oneCCL has a reduce-scatter in its own types only; on some processors float32 is all of them.
bool in_oneccl(OperationKind kind, DataType type) {
  return kind != OperationKind::reduce_scatter || type != DataType::float8;
}
bool in_oneccl_at_worst(OperationKind kind, DataType type) {
  return kind != OperationKind::reduce_scatter || type == DataType::float32;
}

Schedule scenario(const std::string& name, const std::string& backend, std::int64_t ranks) {
  using namespace plans;
  bool (*wanted)(OperationKind, DataType) = [](OperationKind, DataType) { return true; };
  if (backend == "oneccl") wanted = std::getenv("DLNETBENCH_ONECCL_SUMS") ? in_oneccl_at_worst : in_oneccl;
  if (name == "everything") return everything(ranks, 1000, wanted);
  if (name == "float8_reduce_scatter")
    return alike(ranks, {collective(OperationKind::reduce_scatter, 1, ranks, DataType::float8, 1000)});
  // With DLNETBENCH_MPI_LARGEST_COUNT below it, on the way that counts above 2^31 take: blocks of 65,536 and
  // a rest.
  if (name == "large") return everything(ranks, 3 * 65'536 + 123, wanted);
  // Shards of three MiB and a rest, which gloo's reduce-scatter takes in segments of one.
  if (name == "segments") {
    std::vector<Operation> operations;
    for (const DataType type : all_types)
      operations.push_back(
          collective(OperationKind::reduce_scatter, 1, ranks, type, ((3 << 20) + 12) / size_of(type)));
    return alike(ranks, operations);
  }
  // By hand only, it takes 13 GB on two ranks: counts above 2^31 in earnest.
  if (name == "huge")
    return alike(ranks, {collective(OperationKind::all_reduce, 1, ranks, DataType::float8, (1LL << 31) + 5),
                         collective(OperationKind::all_gather, 1, ranks, DataType::float8, (1LL << 30) + 3)});
  if (name == "empty") return everything(ranks, 0, wanted);
  if (name == "stages") return two_stages(ranks / 2, 100'000);
  if (name == "hang") {
    Schedule schedule = two_stages(ranks / 2, 10);
    schedule.programs[0].operations = {message(OperationKind::recv, 1, 1, 10)};
    schedule.programs[1].operations = {message(OperationKind::recv, 1, 0, 10)};
    return schedule;
  }
  if (name == "endless" || name == "endless_invalid" || name == "killed")
    return alike(ranks,
                 {compute(10e-3), collective(OperationKind::all_reduce, 1, ranks, DataType::bfloat16, 1000)});
  throw UserError("scenario", "nothing is called '" + name + "'");
}

void say_partial(const Trace& trace) {
  std::printf("partial: %d iterations\n", trace.iterations);
  for (const LostRankState& lost : trace.lost)
    std::printf("  lost: rank %d, %s\n", int(lost.rank), lost.state.c_str());
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4) throw UserError("live_rank", "expected <backend> <ranks> <scenario> [progress]");
  RunSpec spec = plans::spec(std::atoi(arguments[2].c_str()), arguments[1]);
  spec.watchdog = {60};
  if (arguments.size() > 4) spec.progress = arguments[4];
  if (arguments[3] == "hang") spec.verify = false, spec.watchdog = {1};
  if (arguments[3] == "huge") spec.iterations = 1, spec.warmup = 0;
  const bool killed = arguments[3] == "killed", invalid = arguments[3] == "endless_invalid";
  if (arguments[3] == "endless" || killed || invalid) spec.iterations = 1'000'000;
  const bool outside = needs_launcher(spec.backend) && !inside_a_world(),
             transfers = arguments[3] == "transfers";
  if (outside && transfers) return launch(spec, arguments);
  const Schedule schedule = transfers ? Schedule() : scenario(arguments[3], spec.backend, spec.ranks);
  if (outside) return launch(schedule, spec, arguments, say_partial);
  if (killed && surroundings().rank == spec.ranks - 1)
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      raise(SIGKILL);
    }).detach();
  if (transfers) {
    usable_backend(spec.backend).open({spec.ranks}, check_transfers);
    return 0;
  }
  const auto trace = run_live(schedule, spec, say_partial);
  if (!trace) return 0;
  const std::size_t expected = execution_order(schedule.programs[0]).size() * std::size_t(trace->iterations);
  if (std::int64_t(trace->ranks.size()) != spec.ranks || trace->ranks[0].intervals.size() != expected)
    throw WrongResult("live_rank", "the record is not complete");
  std::printf("%s: %zu ranks, %d iterations\n", trace->library.c_str(), trace->ranks.size(),
              trace->iterations);
  for (const std::string& note : trace->notes) std::printf("  %s\n", note.c_str());
  if (invalid) throw WrongResult("live_rank", "as if the result were INVALID");
  return 0;
}

}  // namespace
}  // namespace dlnb

int main(int count, char** words) {
  try {
    return dlnb::run({words, words + count});
  } catch (const dlnb::Error& error) {
    if (dlnb::is_first_rank()) std::fprintf(stderr, "error: %s\n%s\n", error.what(), error.hint().c_str());
    dlnb::let_first_rank_speak();
    return int(error.exit());
  }
}
