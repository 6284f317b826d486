// SPDX-License-Identifier: Apache-2.0
// The options of a run. Everything that lists, checks or documents them reads this table.
#include <algorithm>
#include <array>

#include <dlnb/error.hpp>

#include "config/config.hpp"
#include "config/named_options.hpp"
#include "config/noise_option.hpp"
#include "config/request.hpp"

namespace dlnb {
namespace {

// A plan is a tree of its own; src/config/plan.cpp makes sense of it.
struct Plan {
  std::string_view name;
  std::string_view help;

  void read(const Value& value, std::string_view, Request& request) const { request.plan_tree = value; }
  OptionInfo info(const Request&) const { return {std::string(name), "plan", "dp", std::string(help)}; }
};

// Upper limits keep products of sizes (batch · sequence · vocabulary) within 63 bits.
constexpr Range ranks{1, 1 << 24};
constexpr Range samples{1, 1e6};
constexpr Range tokens{1, 1 << 24};
constexpr Range factor{0, 1e6};
constexpr Range shrinking{above_zero.low, 1e6};  // nothing at all is no smaller version of a run
constexpr Range rounds{1, 1e6};
constexpr Range patience{1e-3, 1e7};

constexpr auto table = options(
    named<RunSpec>("model", &RunSpec::model, "shipped model, model TOML file or HuggingFace config.json"),
    Plan{"plan", "shipped plan, plan file or composition such as 'tensor=4,pipeline=8,data=rest'"},
    option("ranks", &RunSpec::ranks, "ranks in all; one per device", ranks),
    named<RunSpec>("machine", &RunSpec::machine, "shipped machine or machine TOML file to simulate"),
    option("nodes", &RunSpec::nodes, "nodes of the simulated machine; 0: as many as its file says",
           Range{0, 1e7}),
    named<RunSpec>("device", &RunSpec::device,
                   "shipped device or device TOML file; default: the machine's own, else a100"),
    option("batch", &RunSpec::batch, "samples per replica and step", samples),
    option("sequence", &RunSpec::sequence, "tokens per sample; default: the model's own", tokens),
    option("dtype", &RunSpec::dtype, "element type of parameters and activations"),
    option("gradient_dtype", &RunSpec::gradient_dtype, "element type of reduced gradients; default: dtype"),
    named<RunSpec>("cost_model", &RunSpec::cost_model, "how operations become FLOPs, bytes and time"),
    Name<RunSpec, 3>{"recompute",
                     &RunSpec::recompute,
                     "activations computed again in the backward pass: attention scores, or everything but "
                     "the inputs of layers (cost model exact)",
                     {"none", "selective", "full"}},
    option("fused_attention", &RunSpec::fused_attention,
           "attention in one kernel that writes no scores, as FlashAttention (cost model exact)"),
    choice("flavour", &Request::flavour, "whose program: the paper's algorithms or what PyTorch issues",
           std::array<Word<AskedFlavour>, 3>{{{"auto", AskedFlavour::automatic},
                                              {"paper", AskedFlavour::paper},
                                              {"pytorch", AskedFlavour::pytorch}}}),
    option("literal", &Request::literal, "the paper's listing to the letter, slips included"),
    option("message_scale", &RunSpec::message_scale, "multiplies message sizes; 0: empty messages", factor),
    option("compute_scale", &RunSpec::compute_scale, "multiplies compute times; 0: no compute", factor),
    option("scale", &Request::scale,
           "message_scale and compute_scale together, e.g. 1/64; the result says so", shrinking),
    named<RunSpec>("backend", &RunSpec::backend, "communication library of a live run"),
    buffers_option<RunSpec>(),
    Name<RunSpec, 2>{
        "compute",
        &RunSpec::compute,
        "who is busy in a compute phase: the host, which sleeps and spins, or a kernel on the device "
        "of the buffers",
        {"host", "device"}},
    option("compute_share", &RunSpec::compute_share,
           "share of the device's multiprocessors that the kernel occupies (compute device)",
           Range{above_zero.low, 1}),
    HostNames<RunSpec>{
        "hosts", &RunSpec::hosts,
        "where ranks run, h1,h2: dealt out in blocks, in this order; default: all on this host"},
    named<RunSpec>("agent", &RunSpec::agent,
                   "starts something on a host, called as 'AGENT HOST COMMAND', such as ssh; default: none"),
    named<RunSpec>("testbed", &RunSpec::testbed,
                   "run on a testbed that is up, NAME or NAME:h1,h2 (testbed/testbed); default: none"),
    Name<RunSpec, 4>{"progress",
                     &RunSpec::progress,
                     "who moves messages while a rank computes",
                     {"auto", "poll", "thread", "none"}},
    Name<RunSpec, 5>{
        "binding", &RunSpec::binding, "which cores a rank keeps to", {"auto", "none", "core", "numa", "gpu"}},
    option("iterations", &RunSpec::iterations, "measured steps", rounds),
    option("warmup", &RunSpec::warmup, "steps before them that are not measured", Range{0, 1e6}),
    option("min_time", &RunSpec::min_time, "go on measuring for at least this long, e.g. '10 s'",
           Range{0, 1e7}),
    option("max_time", &RunSpec::max_time, "no iteration is begun after this long; 0: no limit",
           Range{0, 1e7}),
    option(
        "spread", &RunSpec::spread,
        "go on until the mean iteration time is known within this share of it, e.g. 0.02 (95 % confidence); "
        "0: not asked",
        Range{0, 1}),
    option("max_iterations", &RunSpec::max_iterations,
           "where spread is asked for: give up after as many steps", rounds),
    option("forever", &RunSpec::forever, "go on until SIGINT, SIGTERM or SIGUSR1, in bounded memory"),
    option("watchdog", &RunSpec::watchdog, "longest wait for one operation before a rank counts as lost",
           patience),
    Folder{"recorder", &RunSpec::recorder,
           "folder that all hosts reach for the flight recorders; default: a private one on every host"},
    option("verify", &RunSpec::verify, "check the data of every operation before timing"),
    named<RunSpec>("placement", &RunSpec::placement, "how ranks are put on the simulated machine's devices"),
    named<RunSpec>("devices", &RunSpec::devices,
                   "simulated devices of the ranks in order, such as 0-3,8, or nodes by name, n[1-4]; "
                   "default: by placement"),
    named<RunSpec>("network", &RunSpec::network, "how simulated flows share links"),
    option("seed", &RunSpec::seed, "of everything random", not_negative),
    NoiseOption<RunSpec>{"noise", &RunSpec::noise,
                         "what disturbs a simulated run: a kind, a table such as {kind = \"periodic\", "
                         "period = \"10 ms\", duration = \"25 us\"}, or an array of them"},
    option("overlap_slowdown", &RunSpec::overlap_slowdown,
           "simulated compute takes so many times as long while its rank communicates; default: as the "
           "machine's file says, else 1",
           Range{1, 1e3}),
    named<RunSpec>("lower", &RunSpec::lower,
                   "simulate collectives as sends and receives, by this algorithm where it can do them, else "
                   "ring and pairwise (`schedule`: all ranks on one node); default: as coupled flows"));

}  // namespace

std::vector<OptionInfo> run_options() {
  std::vector<OptionInfo> all = table.info(Request{});
  // Zero and empty stand for "not given", which the help states better.
  for (OptionInfo& info : all)
    if (info.name == "ranks" || info.name == "sequence" || info.name == "overlap_slowdown")
      info.fallback.clear();
  return all;
}

std::string flag_of(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void read_request(const Value& tree, Request& request) { table.read(tree, "", request); }

}  // namespace dlnb
