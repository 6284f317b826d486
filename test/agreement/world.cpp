// SPDX-License-Identifier: Apache-2.0
// One tried plan in a real world: agreement_world PLAN BACKEND starts its own ranks; rank 0 holds the merged trace
// against the simulator's.
#include <cstdio>
#include <span>

#include "agreement/plans.hpp"
#include "agreement/story.hpp"
#include "executor/live/live.hpp"
#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"
#include "pipeline.hpp"

namespace dlnb {
namespace {

int compare(const RunSpec& spec) {
  const Schedule schedule = make_schedule(spec);
  const std::optional<Trace> live = run_live(schedule, spec);
  if (!live) return 0;
  const Machine machine = load_machine(spec.machine, "--machine");
  const Trace simulated =
      simulate(schedule, machine, place(machine, spec.ranks, "linear", 1, "--ranks"), spec);
  const std::string difference = test::difference(schedule, *live, simulated);
  std::printf("%s, %zu ranks: %s\n", live->library.c_str(), live->ranks.size(),
              difference.empty() ? "the same story" : difference.c_str());
  return difference.empty() ? 0 : 1;
}

int start(std::span<char*> arguments) {
  if (arguments.size() != 3) throw UserError("agreement_world", "takes a plan and a backend");
  for (const test::Tried& tried : test::tried_plans()) {
    if (tried.name != arguments[1]) continue;
    const RunSpec spec = test::spec_of(tried, arguments[2]);
    return inside_a_world() ? compare(spec)
                            : launch(make_schedule(spec), spec, {arguments.begin(), arguments.end()});
  }
  throw UserError("agreement_world", std::string("nothing is called '") + arguments[1] + "'");
}

}  // namespace
}  // namespace dlnb

int main(int count, char** arguments) {
  try {
    return dlnb::start({arguments, std::size_t(count)});
  } catch (const dlnb::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return int(error.exit());
  }
}
