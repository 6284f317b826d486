// SPDX-License-Identifier: Apache-2.0
// The options of a run. Everything that lists, checks or documents them reads this table.
#include <algorithm>
#include <array>

#include <dlnb/error.hpp>

#include "config/config.hpp"
#include "config/request.hpp"

namespace dlnb {
namespace {

// Text that names something: never empty, and one of `words` where there are any. Names from a registry are
// checked by the stage that owns it.
template <std::size_t N>
struct Name {
  std::string_view name;
  std::string RunSpec::* member;
  std::string_view help;
  std::array<std::string_view, N> words;

  void read(const Value& value, std::string_view key, RunSpec& spec) const {
    std::string text;
    read_value(value, key, text);
    if (text.empty()) throw UserError(where_of(value, key), "must not be empty");
    if (N > 0 && std::find(words.begin(), words.end(), text) == words.end())
      unknown_word(value, key, {words.begin(), words.end()});
    spec.*member = std::move(text);
  }
  OptionInfo info(const RunSpec& defaults) const {
    std::string type = N > 0 ? "one of:" : "text";
    for (std::size_t i = 0; i < N; ++i) type += (i == 0 ? " " : ", ") + std::string(words[i]);
    return {std::string(name), type, defaults.*member, std::string(help)};
  }
};

constexpr Name<0> named(std::string_view name, std::string RunSpec::* member, std::string_view help) {
  return {name, member, help, {}};
}

// A plan is a tree of its own; src/config/plan.cpp makes sense of it.
struct Plan {
  std::string_view name;
  std::string_view help;

  void read(const Value& value, std::string_view, Request& request) const { request.plan_tree = value; }
  OptionInfo info(const Request&) const { return {std::string(name), "plan", "dp", std::string(help)}; }
};

// A list of names: an array, or one text with commas between them.
struct HostNames {
  std::string_view name;
  std::vector<std::string> RunSpec::* member;
  std::string_view help;

  void read(const Value& value, std::string_view key, RunSpec& spec) const {
    std::vector<std::string> names;
    if (value.is_string()) {
      std::string text;
      read_value(value, key, text);
      for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        names.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
      }
    } else {
      read_value(value, key, names);
    }
    for (auto one = names.begin(); one != names.end(); ++one) {
      // A launcher would take such a word for a flag, or for several.
      if (one->empty() || one->front() == '-' || one->find_first_of(" \t\n,") != std::string::npos)
        throw UserError(where_of(value, key), in_quotes(*one) + " is no name", "for example h1,h2");
      if (std::find(names.begin(), one, *one) != one)
        throw UserError(where_of(value, key), in_quotes(*one) + " is there twice");
    }
    spec.*member = std::move(names);
  }
  OptionInfo info(const RunSpec&) const { return {std::string(name), "text", "", std::string(help)}; }
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
    named("model", &RunSpec::model, "shipped model, model TOML file or HuggingFace config.json"),
    Plan{"plan", "shipped plan, plan file or composition such as 'tensor=4,pipeline=8,data=rest'"},
    option("ranks", &RunSpec::ranks, "ranks in all; one per device", ranks),
    named("machine", &RunSpec::machine, "shipped machine or machine TOML file to simulate"),
    named("device", &RunSpec::device,
          "shipped device or device TOML file; default: the machine's own, else a100"),
    option("batch", &RunSpec::batch, "samples per replica and step", samples),
    option("sequence", &RunSpec::sequence, "tokens per sample; default: the model's own", tokens),
    option("dtype", &RunSpec::dtype, "element type of parameters and activations"),
    option("gradient_dtype", &RunSpec::gradient_dtype, "element type of reduced gradients; default: dtype"),
    named("cost_model", &RunSpec::cost_model, "how operations become FLOPs, bytes and time"),
    option("recompute", &RunSpec::recompute, "recompute activations in the backward pass (cost model exact)"),
    choice("flavour", &Request::flavour, "whose program: the paper's algorithms or what PyTorch issues",
           std::array<Word<AskedFlavour>, 3>{{{"auto", AskedFlavour::automatic},
                                              {"paper", AskedFlavour::paper},
                                              {"pytorch", AskedFlavour::pytorch}}}),
    option("literal", &Request::literal, "the paper's listing to the letter, slips included"),
    option("message_scale", &RunSpec::message_scale, "multiplies message sizes; 0: empty messages", factor),
    option("compute_scale", &RunSpec::compute_scale, "multiplies compute times; 0: no compute", factor),
    option("scale", &Request::scale,
           "message_scale and compute_scale together, e.g. 1/64; the result says so", shrinking),
    named("backend", &RunSpec::backend, "communication library of a live run"),
    HostNames{"hosts", &RunSpec::hosts,
              "where ranks run, h1,h2: dealt out in blocks, in this order; default: all on this host"},
    named("agent", &RunSpec::agent,
          "starts something on a host, called as 'AGENT HOST COMMAND', such as ssh; default: none"),
    named("testbed", &RunSpec::testbed,
          "run on a testbed that is up, NAME or NAME:h1,h2 (testbed/testbed); default: none"),
    Name<4>{"progress",
            &RunSpec::progress,
            "who moves messages while a rank computes",
            {"auto", "poll", "thread", "none"}},
    Name<5>{
        "binding", &RunSpec::binding, "which cores a rank keeps to", {"auto", "none", "core", "numa", "gpu"}},
    option("iterations", &RunSpec::iterations, "measured steps", rounds),
    option("warmup", &RunSpec::warmup, "steps before them that are not measured", Range{0, 1e6}),
    option("min_time", &RunSpec::min_time, "go on measuring for at least this long, e.g. '10 s'",
           Range{0, 1e7}),
    option("watchdog", &RunSpec::watchdog, "longest wait for one operation before a rank counts as lost",
           patience),
    option("verify", &RunSpec::verify, "check the data of every operation before timing"),
    named("placement", &RunSpec::placement, "how ranks are put on the simulated machine's devices"),
    named("devices", &RunSpec::devices,
          "simulated devices of the ranks in order, such as 0-3,8; default: by placement"),
    named("network", &RunSpec::network, "how simulated flows share links"),
    option("seed", &RunSpec::seed, "of everything random", not_negative));

}  // namespace

std::vector<OptionInfo> run_options() {
  std::vector<OptionInfo> all = table.info(Request{});
  // Zero and empty stand for "not given", which the help states better.
  for (OptionInfo& info : all)
    if (info.name == "ranks" || info.name == "sequence") info.fallback.clear();
  return all;
}

std::string flag_of(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void read_request(const Value& tree, Request& request) { table.read(tree, "", request); }

}  // namespace dlnb
