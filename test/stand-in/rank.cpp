// SPDX-License-Identifier: Apache-2.0
// stand_in_rank <backend> <ranks> <scenario> [buffers] [progress]: a rank of a small run over the stand-in; outside a world it starts its
// ranks. Scenarios that a library with ordered streams could hang in, and faults.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/live.hpp"
#include "schedule/schedule.hpp"
#include "unit/live/plans.hpp"

namespace dlnb {
namespace {

using namespace plans;

constexpr std::int64_t elements = 5000;

Operation send_to(std::int32_t peer) { return message(OperationKind::send, 1, peer, elements); }
Operation receive_from(std::int32_t peer) { return message(OperationKind::recv, 1, peer, elements); }

Schedule with_roles(std::vector<std::vector<Operation>> programs) {
  Schedule schedule = alike(std::int64_t(programs.size()), {});
  schedule.grid = ProcessGrid({{"pipeline", std::int64_t(programs.size())}});
  schedule.role_axis = 0;
  schedule.programs.clear();
  for (std::vector<Operation>& operations : programs)
    schedule.programs.push_back(
        {.role = std::int64_t(schedule.programs.size()), .operations = std::move(operations)});
  return schedule;
}

// Both send first; what one waits for first the other has started last.
Schedule crossing() {
  std::vector<std::vector<Operation>> programs;
  for (const std::int32_t other : {1, 0})
    programs.push_back({behind_handle(send_to(other), 0), behind_handle(send_to(other), 1), compute(50e-6),
                        behind_handle(receive_from(other), 2), behind_handle(receive_from(other), 3), wait(3),
                        wait(1), wait(2), wait(0)});
  std::swap(programs[1][0], programs[1][3]);
  return with_roles(std::move(programs));
}

// Everybody sends to the next before it receives from the one before it, in both directions.
Schedule ring(std::int32_t ranks) {
  std::vector<std::vector<Operation>> programs;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::int32_t next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    programs.push_back({behind_handle(send_to(next), 0), behind_handle(send_to(before), 1),
                        receive_from(before), receive_from(next), wait(0), wait(1)});
  }
  return with_roles(std::move(programs));
}

// Operations of two groups that their members start in opposite orders.
Schedule groups_in_opposite_orders() {
  const Operation world = collective(OperationKind::all_reduce, 3, 4, DataType::float32, elements);
  const Operation pairs = collective(OperationKind::all_to_all, 2, 2, DataType::bfloat16, elements);
  Schedule schedule = alike(4, {});
  schedule.grid = ProcessGrid({{"pipeline", 2}, {"data", 2}});
  schedule.role_axis = 0;
  schedule.programs = {
      {.role = 0, .operations = {behind_handle(world, 0), behind_handle(pairs, 1), wait(1), wait(0)}},
      {.role = 1, .operations = {behind_handle(pairs, 0), wait(0), behind_handle(world, 1), wait(1)}}};
  return schedule;
}

Schedule scenario(const std::string& name, std::int64_t ranks) {
  if (name == "crossing") return crossing();
  if (name == "ring") return ring(std::int32_t(ranks));
  if (name == "opposite") return groups_in_opposite_orders();
  if (name == "alone") return alike(1, {compute(1e-3)});
  if (name == "busy") {  // communication under way while a kernel is
    const Operation sum = collective(OperationKind::all_reduce, 1, ranks, DataType::float32, 1'000'000);
    return alike(ranks, {behind_handle(sum, 0), compute(20e-3), wait(0), compute(5e-6), compute(10e-3)});
  }
  if (name == "device")  // what MPI itself adds up, and all that is only moved
    return everything(ranks, 1000, [](OperationKind kind, DataType type) {
      return type == DataType::float32 ||
             (kind != OperationKind::all_reduce && kind != OperationKind::reduce_scatter);
    });
  return everything(ranks, 1000);
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 4) throw UserError("stand_in_rank", "expected <backend> <ranks> <scenario>");
  RunSpec spec = plans::spec(std::atoi(words[2].c_str()), words[1]);
  if (words[3] == "impatient") spec.watchdog = {1};
  if (words[3] == "rehearsed") spec.verify = false;
  if (words[3] == "busy") spec.compute = "device";
  if (const char* share = std::getenv("DLNB_STAND_IN_SHARE")) spec.compute_share = std::atof(share);
  if (words.size() > 4) spec.buffers = words[4];
  if (words.size() > 5) spec.progress = words[5];
  if (!inside_a_world()) return launch(spec, words);

  const Schedule schedule = scenario(words[3], spec.ranks);
  for (const std::string& problem : check(schedule)) throw WrongResult("stand_in_rank", problem);
  if (const auto trace = run_live(schedule, spec)) {
    std::printf("%s: %zu ranks, %d iterations\n", trace->library.c_str(), trace->ranks.size(),
                trace->iterations);
    for (const std::string& note : trace->notes) std::printf("  %s\n", note.c_str());
  }
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
