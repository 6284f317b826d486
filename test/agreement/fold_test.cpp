// SPDX-License-Identifier: Apache-2.0
// Replicas that are simulated once beside all of them simulated one by one: the same times of every operation on every rank,
// and the same of every link, whatever the machine, the placement and the company.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.hpp"
#include "config/config.hpp"
#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"
#include "pipeline.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

using Changes = std::vector<std::pair<std::string, std::string>>;

struct Job {
  RunSpec spec;
  Schedule schedule;
};

Job job(const std::string& plan, const std::string& model, int ranks, const std::string& machine, int nodes,
        const Changes& changes = {}) {
  std::vector<Assignment> given{{"plan", plan, "--plan"},
                                {"model", model, "--model"},
                                {"ranks", std::to_string(ranks), "--ranks"},
                                {"machine", machine, "--machine"},
                                {"nodes", std::to_string(nodes), "--nodes"},
                                {"compute_scale", "1/20", "--compute-scale"},
                                {"iterations", "2", "--iterations"},
                                {"warmup", "1", "--warmup"}};
  for (const auto& [key, text] : changes) given.push_back({key, text, "--set"});
  RunSpec spec = read_spec({}, make_overrides(given));
  Schedule schedule = make_schedule(spec);
  return {std::move(spec), std::move(schedule)};
}

std::vector<SimulatedJob> placed(const std::vector<Job>& jobs, const std::vector<Placement>& placements) {
  std::vector<SimulatedJob> simulated;
  for (std::size_t j = 0; j < jobs.size(); ++j)
    simulated.push_back({jobs[j].schedule, placements[j], jobs[j].spec});
  return simulated;
}

std::vector<Placement> places(const std::vector<Job>& jobs, const Machine& machine,
                              const std::string& placement) {
  std::vector<PlacementRequest> requests;
  for (const Job& one : jobs) requests.push_back({one.schedule.grid.ranks(), placement, "", 1});
  return place(machine, requests);
}

std::size_t distinct(const Trace& trace) {
  std::set<const std::int64_t*> values;
  for (const RankTrace& rank : trace.ranks) values.insert(rank.simulated.values.get());
  return values.size();
}

void expect_same_times(const Trace& folded, const Trace& apart) {
  ASSERT_EQ(folded.iterations, apart.iterations);
  ASSERT_EQ(folded.ranks.size(), apart.ranks.size());
  for (std::size_t r = 0; r < apart.ranks.size(); ++r) {
    const RankTrace &one = folded.ranks[r], &other = apart.ranks[r];
    ASSERT_EQ(one.operations(), other.operations());
    for (std::size_t k = 0; k < std::size_t(apart.iterations); ++k) {
      ASSERT_EQ(one.begin_of(k), other.begin_of(k)) << "rank " << r;
      ASSERT_EQ(one.end_of(k), other.end_of(k)) << "rank " << r;
      const OperationTimes times = one.iteration(k), expected = other.iteration(k);
      for (std::size_t i = 0; i < times.size(); ++i)
        ASSERT_TRUE(times.begin(i) == expected.begin(i) && times.end(i) == expected.end(i) &&
                    times.completed(i) == expected.completed(i))
            << "rank " << r << " operation " << i << " of iteration " << k;
    }
  }
}

void expect_same_links(const LinkReport& folded, const LinkReport& apart) {
  EXPECT_EQ(folded.span, apart.span);
  ASSERT_EQ(folded.classes.size(), apart.classes.size());
  for (std::size_t c = 0; c < apart.classes.size(); ++c) {
    EXPECT_EQ(folded.classes[c].used, apart.classes[c].used);
    EXPECT_EQ(folded.classes[c].mean, apart.classes[c].mean);
    EXPECT_EQ(folded.classes[c].most, apart.classes[c].most);
  }
  ASSERT_EQ(folded.hot.size(), apart.hot.size());
  for (std::size_t h = 0; h < apart.hot.size(); ++h) {
    EXPECT_EQ(folded.hot[h].link, apart.hot[h].link);
    EXPECT_EQ(folded.hot[h].utilisation, apart.hot[h].utilisation);
    EXPECT_NEAR(folded.hot[h].full, apart.hot[h].full, 1e-9);
  }
  EXPECT_NEAR(folded.lost, apart.lost, 1e-9 * (1 + apart.lost));
  ASSERT_EQ(folded.slowed.size(), apart.slowed.size());
  for (std::size_t s = 0; s < apart.slowed.size(); ++s)
    EXPECT_NEAR(folded.slowed[s].lost, apart.slowed[s].lost, 1e-9 * (1 + apart.lost));
}

void expect_same_metrics(const Metrics& folded, const Metrics& apart) {
  ASSERT_EQ(folded.named.size(), apart.named.size());
  for (std::size_t m = 0; m < apart.named.size(); ++m)
    EXPECT_EQ(folded.named[m].value, apart.named[m].value) << apart.named[m].name;
  ASSERT_EQ(folded.operations.size(), apart.operations.size());
  for (std::size_t o = 0; o < apart.operations.size(); ++o) {
    const OperationRow &row = folded.operations[o], &expected = apart.operations[o];
    EXPECT_EQ(row.count, expected.count);
    EXPECT_EQ(row.exposed, expected.exposed);
    EXPECT_EQ(row.algorithm_bandwidth, expected.algorithm_bandwidth);
    EXPECT_EQ(row.time.count, expected.time.count);
    EXPECT_EQ(row.time.mean, expected.time.mean);
    EXPECT_EQ(row.time.p95, expected.time.p95);
  }
  ASSERT_EQ(folded.iterations.size(), apart.iterations.size());
  for (std::size_t i = 0; i < apart.iterations.size(); ++i)
    EXPECT_EQ(folded.iterations[i].communication_fraction, apart.iterations[i].communication_fraction);
}

/// Of the folded run.
std::vector<Trace> both(const std::vector<SimulatedJob>& jobs, const Machine& machine) {
  std::vector<Trace> folded = simulate(jobs, machine);
  const std::vector<Trace> apart = simulate(jobs, machine, false);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    SCOPED_TRACE(fmt::format("job {}", j));
    expect_same_times(folded[j], apart[j]);
    expect_same_links(folded[j].links, apart[j].links);
    expect_same_metrics(analyse(folded[j], jobs[j].schedule), analyse(apart[j], jobs[j].schedule));
  }
  return folded;
}

struct Case {
  const char *plan, *model;
  int ranks;
  Changes changes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"tensor=4,pipeline={stages=4,microbatches=4},data=rest", "llama3-8b", 128, {}},
      {"tensor=2,pipeline={stages=2,microbatches=4,schedule=\"1f1b\"},data=rest", "llama3-8b", 64, {}},
      {"pipeline={stages=4,microbatches=4,schedule=\"interleaved\",virtual_stages=2},data=rest",
       "llama2-7b",
       64,
       {}},
      {"fsdp=8,data=rest", "llama3-8b", 64, {}},
      {"expert=4,pipeline={stages=2,microbatches=2},data=rest", "mixtral-8x7b", 64, {}},
      {"context=2,tensor=2,pipeline={stages=2,microbatches=2},data=rest", "llama3-8b", 64, {}},
      {"data=rest", "vit-b", 32, {{"lower", "ring"}}},
      {"data=rest", "vit-b", 32, {{"lower", "tree"}}},
      {"data=rest", "vit-b", 32, {{"lower", "halving_doubling"}}},
  };
  return all;
}

class Folded : public testing::TestWithParam<std::tuple<std::size_t, const char*>> {
 protected:
  const Case& one() const { return cases()[std::get<0>(GetParam())]; }
  std::string machine() const { return std::get<1>(GetParam()); }
  Job job_of(int nodes) const {
    Job made = job(one().plan, one().model, one().ranks, machine(), nodes, one().changes);
    made.schedule = lowered(made.schedule, made.spec, {});
    return made;
  }
};

TEST_P(Folded, IsWhatAllAreOneByOne) {
  for (const char* placement : {"linear", "random"}) {
    SCOPED_TRACE(placement);
    const std::vector<Job> jobs{job_of(0)};
    const Machine model = load_machine(machine(), "--machine", 0);
    both(placed(jobs, places(jobs, model, placement)), model);
  }
}

TEST_P(Folded, IsThatBesideAnotherJob) {
  const std::vector<Job> jobs{job_of(0), job("data=rest", "vit-h", 48, machine(), 0)};
  const Machine model = load_machine(machine(), "--machine", 0);
  both(placed(jobs, places(jobs, model, "random")), model);
}

// Links that lost capacity tell those on them from the others.
TEST(Fold, IsThatOnADamagedNetwork) {
  const Scratch scratch;
  std::ostringstream text;
  text << std::ifstream(DLNB_TEST_DATA "/../data/machines/alps.toml").rdbuf()
       << "[[degraded]]\nlinks = \"nic\"\nnode = 3\nfactor = 0.5\n"
          "[[degraded]]\nlinks = \"group\"\nshare = 0.1\nseed = 1\nfailed = true\n";
  const std::string file = scratch.write("damaged.toml", text.str()).string();
  const Machine machine = load_machine(file, "--machine", 0);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.plan);
    if (!one.changes.empty()) continue;
    const std::vector<Job> jobs{job(one.plan, one.model, one.ranks, file, 0)};
    both(placed(jobs, places(jobs, machine, "linear")), machine);
  }
}

TEST(Fold, IsThatWithNoiseOfOneJobAndSlowerComputeOfAnother) {
  const Machine machine = load_machine("dgx-h100", "--machine", 0);
  std::vector<Job> jobs{job(cases()[0].plan, "llama3-8b", 128, "dgx-h100", 0),
                        job(cases()[1].plan, "llama3-8b", 64, "dgx-h100", 0),
                        job("fsdp=8,data=rest", "llama3-8b", 64, "dgx-h100", 0)};
  jobs[1].spec.noise = *parse_toml("noise = [{ kind = \"random\" }]", "test.toml").find("noise");
  jobs[2].spec.overlap_slowdown = 1.3;
  both(placed(jobs, places(jobs, machine, "linear")), machine);
}

TEST(Fold, SimulatesReplicasOnce) {
  const Machine machine = load_machine("alps", "--machine", 0);
  // Two tensor-parallel ranks on each of two stages.
  const std::vector<Job> replicas{job(cases()[2].plan, cases()[2].model, cases()[2].ranks, "alps", 0)};
  EXPECT_LE(distinct(both(placed(replicas, places(replicas, machine, "linear")), machine)[0]), 4u);

  const Machine h100 = load_machine("dgx-h100", "--machine", 0);
  // Eight GPUs of a node are eight kinds, which takes eight nodes to be worth it.
  std::vector<Job> ring{job(cases()[6].plan, cases()[6].model, 64, "dgx-h100", 0, cases()[6].changes)};
  ring[0].schedule = lowered(ring[0].schedule, ring[0].spec, {});
  EXPECT_LE(distinct(both(placed(ring, places(ring, h100, "linear")), h100)[0]), 8u);
}

TEST(Fold, SimulatesReplicasOnceThatAreSlowedAlike) {
  const Machine machine = load_machine("dgx-h100", "--machine", 0);
  const Case& experts = cases()[4];
  const std::vector<Job> jobs{job(experts.plan, experts.model, experts.ranks, "dgx-h100", 0)};
  const Trace trace = both(placed(jobs, places(jobs, machine, "linear")), machine)[0];
  EXPECT_GT(trace.links.lost, 0);
  EXPECT_LE(distinct(trace), 8u);
}

INSTANTIATE_TEST_SUITE_P(Plans, Folded,
                         testing::Combine(testing::Range(std::size_t{0}, cases().size()),
                                          testing::Values("alps", "dgx-h100", "leonardo", "lumi")));

}  // namespace
}  // namespace dlnb
