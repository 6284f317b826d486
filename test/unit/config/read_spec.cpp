// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include <dlnb/error.hpp>

#include "config/config.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

RunSpec read(const std::vector<Assignment>& assignments) {
  return read_spec({}, make_overrides(assignments));
}

Assignment set(const std::string& key, const std::string& text) { return {key, text, "--set " + key}; }

// The spec in one file, and what is typed.
RunSpec read(const std::string& toml, const std::vector<Assignment>& assignments = {}) {
  const Scratch scratch;
  return read_spec({scratch.write("run.toml", toml)}, make_overrides(assignments));
}

const Value& options_of(const RunSpec& spec, const std::string& pass) {
  for (const PassSpec& each : spec.plan.passes)
    if (each.pass == pass) return each.options;
  ADD_FAILURE() << "no pass " << pass;
  static const Value none;
  return none;
}
std::int64_t integer(const RunSpec& spec, const std::string& pass, const std::string& key) {
  const Value* value = options_of(spec, pass).find(key);
  return value && std::holds_alternative<std::int64_t>(value->data()) ? std::get<std::int64_t>(value->data())
                                                                      : -1;
}

TEST(ReadSpec, HasDefaults) {
  const RunSpec spec = read_spec({}, Value());

  EXPECT_EQ(spec.plan.name, "dp");
  EXPECT_EQ(spec.plan.flavour, Flavour::paper);
  EXPECT_EQ(spec.batch, 16);
  EXPECT_EQ(spec.ranks, 0);
  EXPECT_EQ(integer(spec, "data", "buckets"), 50);
}

TEST(ReadSpec, ReadsEveryKey) {
  const RunSpec spec = read(R"(
    model = "llama3-8b"
    device = "h100"
    machine = "alps"
    ranks = 64
    batch = 32
    sequence = 2048
    dtype = "fp16"
    gradient_dtype = "fp32"
    cost_model = "exact"
    recompute = "full"
    flavour = "paper"
    literal = true
    message_scale = "1/4"
    compute_scale = 0
    backend = "threads"
    progress = "poll"
    iterations = 10
    warmup = 2
    min_time = "2 s"
    watchdog = "500 ms"
    verify = false
    placement = "random"
    network = "max_min"
    seed = 7
    plan = "fsdp"
  )");

  EXPECT_EQ(spec.model, "llama3-8b");
  EXPECT_EQ(spec.device, "h100");
  EXPECT_EQ(spec.machine, "alps");
  EXPECT_EQ(spec.ranks, 64);
  EXPECT_EQ(spec.batch, 32);
  EXPECT_EQ(spec.sequence, 2048);
  EXPECT_EQ(spec.dtype, DataType::float16);
  EXPECT_EQ(spec.gradient_dtype, DataType::float32);
  EXPECT_EQ(spec.cost_model, "exact");
  EXPECT_EQ(spec.recompute, "full");
  EXPECT_TRUE(spec.plan.literal);
  EXPECT_EQ(spec.message_scale, 0.25);
  EXPECT_EQ(spec.compute_scale, 0);
  EXPECT_EQ(spec.backend, "threads");
  EXPECT_EQ(spec.progress, "poll");
  EXPECT_EQ(spec.iterations, 10);
  EXPECT_EQ(spec.warmup, 2);
  EXPECT_EQ(spec.min_time.value, 2);
  EXPECT_EQ(spec.watchdog.value, 0.5);
  EXPECT_FALSE(spec.verify);
  EXPECT_EQ(spec.placement, "random");
  EXPECT_EQ(spec.network, "max_min");
  EXPECT_EQ(spec.seed, 7);
  EXPECT_EQ(spec.plan.name, "fsdp");
  EXPECT_EQ(integer(spec, "fsdp", "units"), 16);
}

TEST(ReadSpec, TakesHostsAsListOrText) {
  const std::vector<std::string> both{"node1", "node2"};

  EXPECT_EQ(read("hosts = [\"node1\", \"node2\"]\nagent = \"ssh\"\n").hosts, both);
  EXPECT_EQ(read({{"hosts", "node1,node2", "--hosts"}, {"agent", "ssh", "--agent"}}).hosts, both);
  EXPECT_EQ(read({{"testbed", "two-level:h1,h2", "--testbed"}}).testbed, "two-level:h1,h2");
}

TEST(ReadSpec, LetsTheLaterLayerWin) {
  const Scratch scratch;
  const auto below = scratch.write("below.toml", "ranks = 8\nbatch = 4\nseed = 2\n");
  const auto above = scratch.write("above.toml", "ranks = 16\nbatch = 8\n");

  const RunSpec spec = read_spec({below, above}, make_overrides({{"ranks", "32", "--ranks"}}));

  EXPECT_EQ(spec.ranks, 32);
  EXPECT_EQ(spec.batch, 8);
  EXPECT_EQ(spec.seed, 2);
  EXPECT_EQ(spec.origin.find("ranks")->where(), "--ranks");
  EXPECT_EQ(spec.origin.find("batch")->where(), above.string() + ":2");
  EXPECT_EQ(spec.origin.find("seed")->where(), below.string() + ":3");
}

TEST(ReadSpec, ScalesBothUnlessTheLayerSaysOne) {
  EXPECT_EQ(read("scale = \"1/64\"\n").message_scale, 1.0 / 64);
  EXPECT_EQ(read("scale = \"1/64\"\n").compute_scale, 1.0 / 64);
  EXPECT_EQ(read("scale = \"1/64\"\nmessage_scale = 0\n").message_scale, 0);
  EXPECT_EQ(read("message_scale = 0\n", {{"scale", "1/2", "--scale"}}).message_scale, 0.5);
  EXPECT_EQ(read("scale = 0.5\n", {{"compute_scale", "2", "--compute-scale"}}).compute_scale, 2);
}

TEST(ReadSpec, LetsGradientsFollowTheType) {
  EXPECT_EQ(read({{"dtype", "fp32", "--dtype"}}).gradient_dtype, DataType::float32);
  EXPECT_EQ(
      read({{"dtype", "fp32", "--dtype"}, {"gradient_dtype", "bf16", "--gradient-dtype"}}).gradient_dtype,
      DataType::bfloat16);
}

TEST(ReadSpec, TakesNamesLiterally) {
  EXPECT_EQ(read({{"model", "7", "--model"}}).model, "7");
  EXPECT_EQ(read({{"device", "true", "--device"}}).device, "true");
}

TEST(ReadSpec, TakesPathsRelativeToTheFile) {
  const Scratch scratch;
  scratch.write("plans/mine.toml", "[plan]\ntensor = 2\ndata = \"rest\"\n");
  const auto file =
      scratch.write("run.toml", "model = \"models/m.toml\"\ndevice = \"a100\"\nplan = \"plans/mine.toml\"\n");

  const RunSpec spec = read_spec({file}, Value());

  EXPECT_EQ(spec.model, (scratch.folder() / "models/m.toml").string());
  EXPECT_EQ(spec.device, "a100");
  EXPECT_EQ(spec.plan.passes.size(), 2u);
}

TEST(ReadSpec, ReadsJson) {
  const Scratch scratch;

  const RunSpec spec =
      read_spec({scratch.write("run.json", R"({"ranks": 4, "plan": {"data": 4}})")}, Value());

  EXPECT_EQ(spec.ranks, 4);
  EXPECT_EQ(spec.plan.name, "data=4");
}

TEST(Plan, IsOneOfTheFivePapers) {
  std::set<std::string> names;
  for (const NamedPlan& plan : shipped_plans()) {
    names.insert(plan.name);
    EXPECT_FALSE(plan.summary.empty());
    EXPECT_NE(plan.source.find("Table IV"), std::string::npos);
    EXPECT_EQ(read({{"plan", plan.name, "--plan"}}).plan.flavour, Flavour::paper);
  }

  EXPECT_EQ(names, (std::set<std::string>{"dp", "fsdp", "dp+pp", "dp+pp+tp", "dp+pp+ep"}));
}

TEST(Plan, HasThePapersNumbers) {
  const RunSpec tp = read({{"plan", "dp+pp+tp", "--plan"}}), ep = read({{"plan", "dp+pp+ep", "--plan"}}),
                fsdp = read({{"plan", "fsdp", "--plan"}});

  EXPECT_EQ(integer(tp, "tensor", "degree"), 4);
  EXPECT_EQ(integer(tp, "pipeline", "stages"), 8);
  EXPECT_EQ(integer(tp, "pipeline", "microbatches"), 16);
  EXPECT_EQ(integer(ep, "expert", "degree"), 8);
  EXPECT_EQ(integer(fsdp, "fsdp", "degree"), 8);
  EXPECT_EQ(integer(fsdp, "fsdp", "units"), 16);
}

TEST(Plan, ComposesFromText) {
  const RunSpec spec =
      read({{"plan", "tensor=4, pipeline={stages=8,microbatches=16,schedule=1f1b},data=rest", "--plan"}});

  ASSERT_EQ(spec.plan.passes.size(), 3u);
  EXPECT_EQ(spec.plan.flavour, Flavour::pytorch);
  EXPECT_EQ(spec.plan.name, "tensor=4,pipeline={stages=8,microbatches=16,schedule=1f1b},data=rest");
  EXPECT_EQ(std::get<std::int64_t>(spec.plan.passes[0].options.data()), 4);
  EXPECT_EQ(std::get<std::string>(options_of(spec, "data").data()), "rest");
  EXPECT_EQ(options_of(spec, "pipeline").find("stages")->where(), "--plan");
}

TEST(Plan, ComposesFromATable) {
  const RunSpec spec = read("[plan]\ntensor = 4\npipeline = { stages = 8 }\ndata = \"rest\"\n");

  EXPECT_EQ(spec.plan.name, "tensor=4,pipeline={stages=8},data=rest");
  EXPECT_EQ(spec.plan.flavour, Flavour::pytorch);
}

TEST(Plan, ChangesANamedOne) {
  const RunSpec spec =
      read("[plan]\nname = \"dp+pp\"\ndata = { buckets = 4 }\n", {set("plan.pipeline.stages", "4")});

  EXPECT_EQ(spec.plan.name, "dp+pp");
  EXPECT_EQ(integer(spec, "pipeline", "stages"), 4);
  EXPECT_EQ(integer(spec, "pipeline", "microbatches"), 16);
  EXPECT_EQ(integer(spec, "data", "buckets"), 4);
  EXPECT_EQ(options_of(spec, "pipeline").find("stages")->where(), "--set plan.pipeline.stages");
}

TEST(Plan, KeepsOptionsWhenOnlyTheDegreeChanges) {
  const RunSpec spec =
      read({{"plan", "dp+pp+tp", "--plan"}, set("plan.tensor", "2"), set("plan.pipeline", "4")});

  EXPECT_EQ(integer(spec, "tensor", "degree"), 2);
  EXPECT_NE(options_of(spec, "tensor").find("volume"), nullptr);
  EXPECT_EQ(integer(spec, "pipeline", "stages"), 4);
}

TEST(Plan, ChangesTheDefaultOneFromTheCommandLine) {
  const RunSpec spec = read({set("plan.data.buckets", "10")});

  EXPECT_EQ(spec.plan.name, "dp");
  EXPECT_EQ(integer(spec, "data", "buckets"), 10);
}

TEST(Plan, ReplacesTheFilesOne) {
  const std::string file = "[plan]\ntensor = 4\ndata = \"rest\"\n";

  EXPECT_EQ(read(file, {{"plan", "dp", "--plan"}}).plan.name, "dp");
  EXPECT_EQ(read(file, {{"plan", "data=rest", "--plan"}}).plan.name, "data=rest");
  EXPECT_EQ(read(file, {set("plan.tensor", "2")}).plan.name, "tensor=2,data=rest");
  EXPECT_EQ(read("plan = \"dp\"\n", {{"plan", "data=rest", "--plan"}, set("plan.data.zero", "1")}).plan.name,
            "data={degree=rest,zero=1}");
}

TEST(Plan, MayComeAfterItsChangesOnTheCommandLine) {
  const RunSpec spec = read({set("plan.pipeline.stages", "4"), {"plan", "dp+pp", "--plan"}});

  EXPECT_EQ(integer(spec, "pipeline", "stages"), 4);
}

TEST(Plan, TakesTheFlavourAsked) {
  EXPECT_EQ(read({{"flavour", "pytorch", "--flavour"}}).plan.flavour, Flavour::pytorch);
  EXPECT_EQ(read({{"plan", "data=rest", "--plan"}, {"flavour", "paper", "--flavour"}}).plan.flavour,
            Flavour::paper);
  EXPECT_EQ(read({{"flavour", "auto", "--flavour"}}).plan.flavour, Flavour::paper);
}

std::vector<JobSpec> read_jobs_of(const std::string& toml, const std::vector<Assignment>& assignments = {}) {
  const Scratch scratch;
  return read_jobs({scratch.write("jobs.toml", toml)}, make_overrides(assignments));
}

std::string refused(const std::string& toml) {
  try {
    read_jobs_of(toml);
  } catch (const UserError& error) {
    const std::string text = error.what();
    return text.substr(text.find("jobs.toml"));
  }
  return {};
}

TEST(ReadJobs, LayJobsOverWhatHoldsForAll) {
  const std::vector<JobSpec> jobs = read_jobs_of(R"(
model = "vit-h"
plan = "dp"
ranks = 8
[[job]]
name = "a"
[[job]]
model = "llama3-8b"
plan = "fsdp=rest"
start = "2 s"
repeat = true
)",
                                                 {set("batch", "4")});

  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].name, "a");
  EXPECT_EQ(jobs[0].run.model, "vit-h");
  EXPECT_FALSE(jobs[0].repeat);
  EXPECT_EQ(jobs[1].name, "job2");
  EXPECT_EQ(jobs[1].run.model, "llama3-8b");
  EXPECT_EQ(jobs[1].run.plan.passes.front().pass, "fsdp");
  EXPECT_EQ(jobs[1].start.value, 2);
  EXPECT_TRUE(jobs[1].repeat);
  for (const JobSpec& job : jobs) {
    EXPECT_EQ(job.run.ranks, 8);
    EXPECT_EQ(job.run.batch, 4);
  }
}

TEST(ReadJobs, WithoutTablesAreOneWithoutAName) {
  const std::vector<JobSpec> jobs = read_jobs_of("model = \"vit-h\"\nranks = 8\n");

  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].name, "");
  EXPECT_EQ(jobs[0].run.ranks, 8);
}

TEST(ReadJobs, RefuseWhatMakesNoSense) {
  EXPECT_EQ(refused("[[job]]\nname = \"a\"\n[[job]]\nname = \"a\"\n"),
            "jobs.toml:3 job: two jobs are called 'a'");
  EXPECT_EQ(refused("[[job]]\nname = \"a/b\"\n"), "jobs.toml:2 job.name: 'a/b' is no name");
  EXPECT_EQ(refused("[[job]]\nmodle = \"vit-h\"\n").substr(0, 12), "jobs.toml:2 ");
  EXPECT_EQ(refused("[[job]]\nstart = \"-1 s\"\n").substr(0, 21), "jobs.toml:2 job.start");
  EXPECT_EQ(refused("job = 3\n").substr(0, 15), "jobs.toml:1 job");
}

// As it reaches the simulator: an array of tables, whatever it was written as.
std::string noise_of(const RunSpec& spec) {
  std::string text;
  for (const Value& table : spec.noise.array("noise")) {
    text += "{";
    for (const auto& [key, value] : table.table())
      text += " " + key + "=" + (value.is_string() ? std::get<std::string>(value.data()) : describe(value));
    text += " }";
  }
  return text;
}

TEST(ReadNoise, IsANameATableOrSeveral) {
  EXPECT_TRUE(read(std::vector<Assignment>{}).noise.empty());
  EXPECT_EQ(noise_of(read("noise = 'periodic'")), "{ kind=periodic }");
  EXPECT_EQ(noise_of(read("[noise]\nkind = 'random'\ninterval = '1 ms'")), "{ kind=random interval=1 ms }");
  EXPECT_EQ(noise_of(read("noise = ['periodic', { kind = 'outliers', factor = 2 }]")),
            "{ kind=periodic }{ kind=outliers factor=the integer 2 }");
  EXPECT_EQ(noise_of(read({{"noise", "random", "--noise"}})), "{ kind=random }");
  EXPECT_EQ(noise_of(read({{"noise", "{kind='random', of='node'}", "--noise"}})), "{ kind=random of=node }");
}

// A key changes what a file says; a kind replaces it.
TEST(ReadNoise, IsLaidOverAFiles) {
  const std::string file = "[noise]\nkind = 'random'\ninterval = '1 ms'";

  EXPECT_EQ(noise_of(read(file, {set("noise.of", "node")})), "{ kind=random interval=1 ms of=node }");
  EXPECT_EQ(noise_of(read("noise = 'random'", {set("noise.of", "node")})), "{ kind=random of=node }");
  EXPECT_EQ(noise_of(read(file, {{"noise", "periodic", "--noise"}})), "{ kind=periodic }");
  EXPECT_EQ(noise_of(read(file, {set("noise.period", "1 s"), {"noise", "periodic", "--noise"}})),
            "{ kind=periodic period=1 s }");
}

TEST(ReadNoise, TakesAFileBesideTheSpec) {
  const Scratch scratch;
  const auto file = scratch.write("a/run.toml", "noise = { kind = 'measured', file = 'series.json' }");

  EXPECT_EQ(noise_of(read_spec({file}, Value())),
            "{ kind=measured file=" + (scratch.folder() / "a/series.json").string() + " }");
}

TEST(ReadNoise, RefusesWhatIsNeitherNameNorTable) {
  EXPECT_THROW(read("noise = 3"), UserError);
  EXPECT_THROW(read("noise = ['periodic', 3]"), UserError);
  EXPECT_THROW(read("overlap_slowdown = 0.5"), UserError);
}

TEST(RunOptions, AreDescribedOnce) {
  std::set<std::string> names;
  for (const OptionInfo& info : run_options()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.help.empty()) << info.name;
    EXPECT_FALSE(info.type.empty()) << info.name;
  }

  EXPECT_EQ(names.size(), 44u);
}

TEST(RunOptions, HaveFlags) { EXPECT_EQ(flag_of("message_scale"), "--message-scale"); }

// A default, written, reads back as itself.
TEST(RunOptions, AcceptTheirOwnDefaults) {
  std::vector<Assignment> defaults;
  for (const OptionInfo& info : run_options())
    if (!info.fallback.empty()) defaults.push_back({info.name, info.fallback, flag_of(info.name)});

  const RunSpec spec = read(defaults);

  EXPECT_EQ(spec.iterations, RunSpec{}.iterations);
  EXPECT_EQ(spec.watchdog, RunSpec{}.watchdog);
  EXPECT_EQ(spec.message_scale, 1);
}

}  // namespace
}  // namespace dlnb
