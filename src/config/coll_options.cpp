// SPDX-License-Identifier: Apache-2.0
// The options of a collective benchmark. Everything that lists, checks or documents them reads this table.
#include "config/coll_options.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "config/config.hpp"
#include "config/named_options.hpp"
#include "config/noise_option.hpp"

namespace dlnb {
namespace {

template <class Each>
void each_word(const Value& value, std::string_view key, Each each) {
  if (value.is_array()) {
    for (const Value& element : value.array(key)) each(element);
    return;
  }
  std::string text;
  read_value(value, key, text);
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (comma == 0 && !text.empty())
      throw UserError(where_of(value, key),
                      fmt::format("a word is missing beside a comma in {}", in_quotes(text)),
                      "commas stand between words only, as in a,b");
    each(Value(std::string(rest.substr(0, comma)), value.where()));
    if (comma == rest.size()) return;
    rest.remove_prefix(comma + 1);
  }
}

/// A list of words: "a,b", an array of them, or "all".
template <class T, std::size_t N>
struct Several {
  std::string_view name;
  std::vector<T> CollSpec::* member;
  std::string_view help;
  std::array<T, N> known;

  void read(const Value& value, std::string_view key, CollSpec& spec) const {
    std::vector<T> chosen;
    each_word(value, key, [&](const Value& word) {
      std::string text;
      read_value(word, key, text);
      if (text == "all") chosen.insert(chosen.end(), known.begin(), known.end());
      else chosen.push_back(one(word, key, text));
    });
    // The order is kept, for it is that of the rows.
    std::vector<T> once;
    for (const T& each : chosen)
      if (std::ranges::find(once, each) == once.end()) once.push_back(each);
    if (once.empty()) throw UserError(where_of(value, key), "must not be empty");
    spec.*member = std::move(once);
  }
  OptionInfo info(const CollSpec& defaults) const {
    return {std::string(name), "list", joined(defaults.*member),
            fmt::format("{}; of: {}, or all", help, joined(known, ", "))};
  }

 private:
  T one(const Value& word, std::string_view key, const std::string& text) const {
    if constexpr (std::is_same_v<T, DataType>) {
      T type{};
      read_value(word, key, type);
      return type;
    } else {
      std::vector<std::string> words;
      for (const T& each : known) {
        if (text == name_of(each)) return each;
        words.emplace_back(name_of(each));
      }
      unknown_word(word, key, words);
    }
  }
  static std::string joined(const auto& list, const char* between = ",") {
    std::string text;
    for (const T& each : list) text += (text.empty() ? "" : between) + std::string(name_of(each));
    return text;
  }
};

constexpr std::array<CollOperation, coll_operations> operations{
    CollOperation::all_reduce, CollOperation::all_gather,   CollOperation::reduce_scatter,
    CollOperation::all_to_all, CollOperation::all_to_all_v, CollOperation::broadcast,
    CollOperation::send_recv,  CollOperation::barrier};
constexpr std::array<DataType, 4> dtypes{DataType::float32, DataType::bfloat16, DataType::float16,
                                         DataType::float8};

// Upper limits keep size · ranks within 63 bits.
constexpr Range sizes{0, double(std::int64_t{1} << 42)};
constexpr Range ranks{1, 1 << 20};

constexpr auto table = options(
    Several<CollOperation, operations.size()>{"operation", &CollSpec::operations, "what is measured",
                                              operations},
    option("min_size", &CollSpec::min_size, "smallest size, as --definitions means it", sizes),
    option("max_size", &CollSpec::max_size, "largest size", sizes),
    option("factor", &CollSpec::factor, "each size is the one before times this", Range{2, 1 << 20}),
    option("step", &CollSpec::step, "each size is the one before plus this; default: --factor instead",
           sizes),
    Several<DataType, dtypes.size()>{"dtype", &CollSpec::dtypes, "element types", dtypes},
    choice(
        "in_place", &CollSpec::in_place, "whether what is sent and what is received are one buffer",
        std::array<Word<InPlace>, 3>{{{"no", InPlace::no}, {"yes", InPlace::yes}, {"both", InPlace::both}}}),
    option("ranks", &CollSpec::ranks, "ranks in all", ranks),
    option("groups", &CollSpec::groups, "groups that the ranks are split into, all at work at once", ranks),
    choice("grouping", &CollSpec::grouping, "groups of neighbouring ranks, or of every G-th",
           std::array<Word<Grouping>, 2>{
               {{"contiguous", Grouping::contiguous}, {"strided", Grouping::strided}}}),
    choice("pattern", &CollSpec::pattern,
           "send-recv: everybody to the next, to and fro in pairs (half a round trip), or one way in pairs",
           std::array<Word<MessagePattern>, 3>{{{"ring", MessagePattern::ring},
                                                {"ping-pong", MessagePattern::ping_pong},
                                                {"one-way", MessagePattern::one_way}}}),
    option("skew", &CollSpec::skew, "all-to-all-v: 0 even parts, 1 from nothing to twice the mean",
           Range{0, 1}),
    option("overlap", &CollSpec::overlap,
           "non-blocking; measures again with compute of the same length and says how much is hidden"),
    option("series", &CollSpec::series, "keep the slowest rank's time of every iteration (JSON)"),
    choice("definitions", &CollSpec::definitions,
           "time and size as nccl-tests or the OSU benchmarks define them; default: nccl-tests, osu with "
           "--format "
           "osu",
           std::array<Word<CollDefinitions>, 2>{
               {{"nccl-tests", CollDefinitions::nccl_tests}, {"osu", CollDefinitions::osu}}}),
    named("backend", &CollSpec::backend, "communication library"), buffers_option<CollSpec>(),
    HostNames<CollSpec>{
        "hosts", &CollSpec::hosts,
        "where ranks run, h1,h2: dealt out in blocks, in this order; default: all on this host"},
    named("agent", &CollSpec::agent,
          "starts something on a host, called as 'AGENT HOST COMMAND', such as ssh; default: none"),
    named("testbed", &CollSpec::testbed,
          "run on a testbed that is up, NAME or NAME:h1,h2 (testbed/testbed); default: none"),
    Name<CollSpec, 4>{"progress",
                      &CollSpec::progress,
                      "who moves messages while a rank computes (--overlap)",
                      {"auto", "poll", "thread", "none"}},
    Name<CollSpec, 0>{"machine",
                      &CollSpec::machine,
                      "simulate on a shipped machine or machine TOML file; default: live",
                      {}},
    named("collective", &CollSpec::collective,
          "simulated: forces an algorithm, or algorithm/protocol, where it can do it; default: as the "
          "machine's "
          "library chooses"),
    option("nodes", &CollSpec::nodes, "nodes of the simulated machine; 0: as many as its file says",
           Range{0, 1e7}),
    named("placement", &CollSpec::placement, "how ranks are put on the simulated machine's devices"),
    named("devices", &CollSpec::devices,
          "simulated devices of the ranks in order, such as 0-3,8, or nodes by name, n[1-4]; default: by "
          "placement"),
    option("seed", &CollSpec::seed, "of everything random", not_negative),
    NoiseOption<CollSpec>{"noise", &CollSpec::noise,
                          "what disturbs simulated operations: a kind, a table such as {kind = \"outliers\", "
                          "probability = 0.01, factor = 5}, or an array of them"},
    option("iterations", &CollSpec::iterations, "timed operations of every size", Range{1, 1e7}),
    option("warmup", &CollSpec::warmup, "operations before them that are not timed", Range{0, 1e6}),
    option("watchdog", &CollSpec::watchdog, "longest wait for one operation before a rank counts as lost",
           Range{1e-3, 1e7}),
    Folder{"recorder", &CollSpec::recorder,
           "folder that all hosts reach for the flight recorders; default: a private one on every host"},
    option("verify", &CollSpec::verify, "check every element before and after timing"));

void refuse_unless(bool right, const CollSpec& spec, const char* key, const std::string& problem,
                   const std::string& hint = {}) {
  if (right) return;
  const Value* const given = spec.origin.find(key);
  throw UserError(given ? where_of(*given, key) : flag_of(key), problem, hint);
}

}  // namespace

std::vector<OptionInfo> coll_options() {
  std::vector<OptionInfo> all = table.info(CollSpec{});
  // Zero stands for "not given", and the definitions follow from the format, which the help states better.
  for (OptionInfo& info : all)
    if (info.name == "ranks" || info.name == "step" || info.name == "definitions") info.fallback.clear();
  return all;
}

Value make_coll_overrides(const std::vector<Assignment>& assignments) {
  const std::vector<OptionInfo> known = coll_options();
  Value tree(Value::Table{}, "");
  for (const Assignment& assignment : assignments) {
    const auto option = std::ranges::find(known, assignment.key, &OptionInfo::name);
    const bool is_noise = assignment.key == "noise" && assignment.text.find_first_of("[{") != 0;
    const bool is_text =
        is_noise || (option != known.end() && (option->type == "text" || option->type == "list"));
    const bool verbatim = is_text && !assignment.text.starts_with('[');
    Value value =
        verbatim ? Value(assignment.text, assignment.where) : parse_value(assignment.text, assignment.where);
    if (assignment.key == "noise") value = noise_table(value);
    // What a later one overrides must make sense as well.
    Value alone;
    alone.set_path(assignment.key, value);
    CollSpec unused;
    table.read(alone, "", unused);
    tree.set_path(assignment.key, std::move(value));
  }
  return tree;
}

CollSpec read_coll_spec(const std::vector<std::filesystem::path>& spec_files, const Value& overrides) {
  Value tree(Value::Table{}, "");
  for (const std::filesystem::path& file : spec_files) {
    const Value layer = read_document(file);
    layer.table();
    CollSpec unused;
    table.read(layer, "", unused);  // an overridden mistake is still one, named by its own line
    make_room_for_noise(tree, layer);
    tree.merge(layer);
  }
  make_room_for_noise(tree, overrides);
  tree.merge(overrides);
  CollSpec spec;
  table.read(tree, "", spec);
  spec.origin = tree;
  return spec;
}

void check_coll_spec(const CollSpec& spec) {
  constexpr std::size_t most_sizes = 100'000;
  check_destination(spec.origin, spec);
  refuse_two_placements(spec.origin);
  const auto given = [&](const char* key) { return spec.origin.find(key) != nullptr; };
  const auto uses = [&](CollOperation operation) {
    return std::ranges::find(spec.operations, operation) != spec.operations.end();
  };
  refuse_unless(spec.min_size <= spec.max_size, spec, given("min_size") ? "min_size" : "max_size",
                fmt::format("the smallest size, {} bytes, is above the largest, {} bytes",
                            spec.min_size.value, spec.max_size.value));
  refuse_unless(spec.min_size.value > 0 || spec.step.value > 0 || spec.max_size.value == 0, spec, "min_size",
                "from 0 no factor leads on", "begin with 1 B, or give --step");
  refuse_unless(spec.machine.empty() || !given("backend"), spec, "backend",
                "a machine is simulated, and a backend runs live", "give --machine or --backend");
  refuse_unless(!given("step") || spec.step.value > 0, spec, "step", "leads nowhere",
                "take at least 1 B, or leave it out: --factor then says how sizes grow");
  refuse_unless(spec.step.value == 0 || !given("factor"), spec, "step", "contradicts --factor",
                "give one of them");
  const std::int64_t steps =
      spec.step.value > 0 ? (spec.max_size.value - spec.min_size.value) / spec.step.value : 0;
  refuse_unless(steps < std::int64_t(most_sizes), spec, "step",
                fmt::format("makes {} sizes; at most {}", steps + 1, most_sizes), "take a larger step");
  refuse_unless(spec.ranks % spec.groups == 0, spec, "groups",
                fmt::format("{} groups do not divide {} evenly", spec.groups, counted(spec.ranks, "rank")));
  const bool pairs = spec.pattern != MessagePattern::ring && uses(CollOperation::send_recv);
  refuse_unless(!pairs || spec.ranks / spec.groups % 2 == 0, spec, "pattern",
                fmt::format("{} goes in pairs, and a group has {}", name_of(spec.pattern),
                            counted(spec.ranks / spec.groups, "rank")),
                "take an even number of ranks, or the pattern ring");
  refuse_unless(!pairs || !spec.overlap, spec, "overlap",
                fmt::format("the pattern {} has nothing to overlap: one message waits for the other",
                            name_of(spec.pattern)),
                "take the pattern ring");
}

}  // namespace dlnb
