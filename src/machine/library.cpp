// SPDX-License-Identifier: Apache-2.0
// A library file: [[cost]] tables, one per algorithm and protocol, and [[limit]] tables, what a protocol reaches at most
// on some devices.
#include "machine/library.hpp"

#include <fmt/format.h>

#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

#include "core/data.hpp"
#include "machine/table.hpp"

namespace dlnb {
namespace {

constexpr Range factor_range{1e-6, 1e3};

constexpr auto library_options = options(
    option("name", &Library::name, "what results call it"), option("summary", &Library::summary, "one line"),
    option("source", &Library::source, "where its tuning model is published"));

constexpr auto cost_options = options(
    option("start", &TuningCost::start, "once per operation", latency_range),
    option("node_step", &TuningCost::node_step, "per dependent step inside a node", latency_range),
    option("network_step", &TuningCost::network_step, "per dependent step between nodes", latency_range),
    option("least_step", &TuningCost::least_step, "least node_step where the group spans nodes",
           latency_range),
    option("mean_step", &TuningCost::mean_step, "instead of these, where the group spans nodes",
           latency_range),
    option("plateau", &TuningCost::plateau, "factor on the guessed latency between nodes", factor_range),
    option("plateau_from", &TuningCost::plateau_from, "size per member from which the plateau counts",
           Range{0, 1e18}));

struct Limit {
  std::vector<std::string> devices;
};
constexpr auto limit_options = options(option("devices", &Limit::devices, "devices it is true of"));

/// One value for all numbers of nodes, or three: one node, two, more.
template <class T>
ByNodes<T> read_by_nodes(const Value& value, const std::string& key, Range range) {
  auto one = [&](const Value& each) {
    T read{};
    read_value(each, key, read);
    if constexpr (std::is_same_v<T, double>) check_range(each, key, read, range);
    else check_range(each, key, read.value, range);
    return read;
  };
  if (!value.is_array()) {
    const T all = one(value);
    return {all, all, all};
  }
  const Value::Array& three = value.array(key);
  if (three.size() != 3)
    throw UserError(located(value, key), fmt::format("expected one value or three, found {}", three.size()),
                    "three are for groups on one node, on two, and on more");
  return {one(three[0]), one(three[1]), one(three[2])};
}

std::vector<double> read_factors(const Value& value, const std::string& key) {
  std::vector<double> factors;
  for (const Value& each : value.array(key)) {
    factors.emplace_back();
    read_value(each, key, factors.back());
    check_range(each, key, factors.back(), factor_range);
  }
  return factors;
}

TuningCost read_cost(const Value& table, const std::string& path, const Library* base) {
  require_members(table, path, {"algorithm", "protocol"});
  const Protocol protocol = read_protocol(*table.find("protocol"), path + ".protocol");
  std::string algorithm;
  read_value(*table.find("algorithm"), path + ".algorithm", algorithm);
  const TuningCost* known = base ? base->find(algorithm, protocol) : nullptr;
  TuningCost cost = known ? *known : TuningCost{};
  cost.algorithm = algorithm;
  cost.protocol = protocol;
  cost_options.read(without(table, {"algorithm", "protocol", "bandwidth", "size_correction"}), path, cost);
  if (const Value* bandwidth = table.find("bandwidth"))
    cost.bandwidth = read_by_nodes<double>(*bandwidth, path + ".bandwidth", factor_range);
  if (const Value* correction = table.find("size_correction"))
    cost.size_correction = read_factors(*correction, path + ".size_correction");
  return cost;
}

ProtocolLimit read_limit(const Value& table) {
  require_members(table, "limit", {"protocol", "devices", "most"});
  Limit limit;
  limit_options.read(without(table, {"protocol", "most"}), "limit", limit);
  return {read_protocol(*table.find("protocol"), "limit.protocol"), limit.devices,
          read_by_nodes<BytesPerSecond>(*table.find("most"), "limit.most", bandwidth_range)};
}

}  // namespace

Protocol read_protocol(const Value& value, const std::string& key) {
  std::string word;
  read_value(value, key, word);
  std::vector<std::string> known;
  for (int p = 0; p < protocols; ++p) {
    known.emplace_back(name_of(Protocol(p)));
    if (word == known.back()) return Protocol(p);
  }
  unknown_word(value, key, known);
}

std::vector<TuningCost> read_tuning_costs(const Value& array, const std::string& path, const Library* base) {
  std::vector<TuningCost> costs;
  for (const Value& table : array.array(path)) {
    costs.push_back(read_cost(table, path, base));
    for (std::size_t i = 0; i + 1 < costs.size(); ++i)
      if (costs[i].algorithm == costs.back().algorithm && costs[i].protocol == costs.back().protocol)
        throw UserError(located(table, path), fmt::format("{}/{} is there already", costs.back().algorithm,
                                                          name_of(costs.back().protocol)));
  }
  return costs;
}

std::shared_ptr<const Library> load_library(const std::string& name_or_file, const std::string& where) {
  const Value file = read_document(find_data("libraries", name_or_file, where));
  auto library = std::make_shared<Library>();
  library_options.read(without(file, {"cost", "limit"}), "", *library);
  require_members(file, "", {"name", "source", "cost"});
  library->costs = read_tuning_costs(*file.find("cost"), "cost", nullptr);
  if (const Value* limits = file.find("limit"))
    for (const Value& table : limits->array("limit")) library->limits.push_back(read_limit(table));
  return library;
}

std::vector<std::string> shipped_libraries() { return data_names("libraries"); }

}  // namespace dlnb
