// SPDX-License-Identifier: Apache-2.0
// The summary for a terminal: at most 96 columns, no colour, nothing that needs more than UTF-8.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/report.hpp"
#include "report/wrapped.hpp"

namespace dlnb::formats {
namespace {

constexpr std::size_t operations_shown = 10;
constexpr std::size_t bar_width = 40;

std::string left(std::string text, std::size_t to) {
  if (const std::size_t has = columns(text); has < to) text.append(to - has, ' ');
  return text;
}

std::string right(const std::string& text, std::size_t to) {
  const std::size_t has = columns(text);
  return has < to ? std::string(to - has, ' ') + text : text;
}

std::string percent(double ratio) { return fmt::format("{:.1f} %", ratio * 100); }

std::string with_unit(double value, std::string_view unit) {
  if (unit == "s") return to_text(Seconds{value});
  if (unit == "FLOP/s") return to_text(FlopsPerSecond{value});
  if (unit == "B") return to_text(Bytes{std::llround(value)});
  if (unit == "1") return fmt::format("{:.3g}", value);
  return fmt::format("{} {}", value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value),
                     unit);
}

// nccl-tests' reader thinks in bytes.
std::string bandwidth(double bytes_per_second) {
  if (bytes_per_second == 0) return "-";
  return to_text(Bytes{std::llround(bytes_per_second)}) + "/s";
}

const Metric* find(const Result& result, std::string_view name) {
  const auto found = std::ranges::find(result.metrics.named, name, &Metric::name);
  return found == result.metrics.named.end() ? nullptr : &*found;
}

std::string iterations(const Result& result) {
  const std::vector<IterationRow>& rows = result.metrics.iterations;
  const auto kept = std::int64_t(rows.size());
  const std::int64_t before = rows.empty() ? 0 : rows.front().iteration;
  return before == 0 ? counted(kept, "iteration")
                     : fmt::format("the last {} of {}", kept, counted(before + kept, "iteration"));
}

std::string heading(const Result& result) {
  std::string text = printable(result.label) + "\n";
  const std::string by = result.library.empty() || result.library == result.executor
                             ? result.executor
                             : result.executor + " (" + result.library + ")";
  const RunSpec& spec = result.spec;
  text += wrapped("",
                  fmt::format("{} by {}; {}; plan flavour {}, cost model {}, global batch {}{}",
                              result.kind == "simulate" ? "simulated" : "measured", by, iterations(result),
                              spec.plan.flavour == Flavour::paper ? "paper" : "pytorch", spec.cost_model,
                              result.global_batch,
                              result.sequence > 1 ? fmt::format(" × {} tokens", result.sequence) : ""),
                  0);
  if (!result.valid) text += "INVALID: these numbers are not a measurement of the plan; the notes say why\n";
  if (spec.message_scale != 1 || spec.compute_scale != 1)
    text += fmt::format("SCALED: message bytes × {}, compute times × {}\n", spec.message_scale,
                        spec.compute_scale);
  return text;
}

std::string memory(const Result& result) {
  const Metric *needed = find(result, "memory_needed"), *capacity = find(result, "memory_capacity");
  if (!needed || !capacity) return {};
  return "  " + left("memory/rank", 19) +
         fmt::format("{} of {}: {}\n", with_unit(needed->value, "B"), with_unit(capacity->value, "B"),
                     needed->value > capacity->value ? "does not fit" : "fits");
}

std::string named_metrics(const Result& result) {
  struct Shown {
    std::string_view metric, label;
  };
  constexpr std::array shown = {Shown{"iteration_time", "iteration"},
                                Shown{"throughput", "throughput"},
                                Shown{"tokens_per_second", "tokens"},
                                Shown{"communication_fraction", "communication"},
                                Shown{"achieved_compute_rate", "compute rate/rank"},
                                Shown{"compute_imbalance", "compute imbalance"},
                                Shown{"compute_error", "compute error"},
                                Shown{"overlap", "overlap"},
                                Shown{"energy_per_iteration", "energy/rank"},
                                Shown{"power", "power/rank"}};
  std::string text;
  for (const Shown& each : shown) {
    const Metric* metric = find(result, each.metric);
    if (!metric) continue;
    const bool is_share =
        each.metric == "communication_fraction" || each.metric == "compute_error" || each.metric == "overlap";
    const auto show = [&](double value) {
      return is_share ? percent(value) : with_unit(value, metric->unit);
    };
    text += "  " + left(std::string(each.label), 19);
    text += show(metric->low) == show(metric->high)
                ? show(metric->value) + "\n"
                : left(show(metric->value), 18) + show(metric->low) + " to " + show(metric->high) + "\n";
  }
  return text + memory(result);
}

std::string parts(const Result& result) {
  struct Part {
    std::string_view metric, label;
  };
  constexpr std::array shown = {Part{"compute", "compute"}, Part{"transfer", "transfer"},
                                Part{"straggler_wait", "straggler wait"},
                                Part{"pipeline_bubble", "pipeline bubble"}};
  double total = 0;
  for (const Part& part : shown)
    if (const Metric* metric = find(result, part.metric)) total += metric->value;
  if (total <= 0) return {};

  std::string text = "\nan iteration of the rank that communicates most\n";
  for (const Part& part : shown) {
    const Metric* metric = find(result, part.metric);
    if (!metric) continue;
    const double share = metric->value / total;
    std::string line = fmt::format("  {}{}{}  ", left(std::string(part.label), 17),
                                   right(to_text(Seconds{metric->value}), 10), right(percent(share), 9));
    line += std::string(std::size_t(std::lround(share * double(bar_width))), '#');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string operations(const Result& result) {
  std::vector<OperationRow> rows = result.metrics.operations;
  if (rows.empty()) return {};
  std::ranges::stable_sort(rows, std::greater{}, &OperationRow::exposed);
  const std::size_t left_out = rows.size() - std::min(rows.size(), operations_shown);
  rows.resize(rows.size() - left_out);

  std::vector<std::array<std::string, 10>> table{
      {"role", "axis", "operation", "phase", "size", "ranks", "count", "median", "exposed", "bus"}};
  for (const OperationRow& row : rows)
    table.push_back({std::to_string(row.role), row.axis, name_of(row.kind), name_of(row.phase),
                     to_text(Bytes{row.bytes_each}), std::to_string(row.group_size),
                     std::to_string(row.count), to_text(Seconds{row.time.median}),
                     to_text(Seconds{row.exposed}), bandwidth(row.bus_bandwidth)});
  std::array<std::size_t, 10> widths{};
  for (const auto& row : table)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));

  std::string text = "\noperations per rank and iteration, most exposed first\n";
  for (const auto& row : table) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_word = i >= 1 && i <= 3;
      line += " " + (is_word ? left(row[i], widths[i]) : right(row[i], widths[i]));
    }
    text += line + "\n";
  }
  if (left_out > 0) text += fmt::format("  and {} more: in the JSON and CSV\n", left_out);
  return text +
         "  median from the rank's own arrival, bus from the last one's; both with the queue of its group\n";
}

std::string links(const Result& result) {
  constexpr std::size_t shown = 4;
  if (result.links.classes.empty()) return {};
  std::string text =
      fmt::format("\nlinks, part of their capacity taken over {}, warm-up included\n  {}{}{}{}\n",
                  to_text(Seconds{result.links.span}), left("class", 10), right("used", 16),
                  right("mean", 10), right("most", 10));
  for (const LinkClassLoad& row : result.links.classes)
    text += fmt::format("  {}{}{}{}\n", left(name_of(row.link_class), 10),
                        right(fmt::format("{} of {}", row.used, row.links), 16), right(percent(row.mean), 10),
                        right(percent(row.most), 10));
  if (result.links.slowed.empty()) return text;
  text += fmt::format("slowed on full links: {} of data moving, summed over communicators, most on\n",
                      to_text(Seconds{result.links.lost}));
  for (std::size_t i = 0; i < std::min(shown, result.links.slowed.size()); ++i) {
    const Slowing& row = result.links.slowed[i];
    const std::string by = neighbour(result, row);
    text += fmt::format("  {}  {} link {}: {} ({}), {}\n", right(to_text(Seconds{row.lost}), 10),
                        name_of(row.link_class), row.link, name_of(row.kind), name_of(row.phase),
                        by.empty() ? "its own other operations" : "job " + printable(by));
  }
  return text;
}

// Where ranks are is worth lines only where this run has put them there; the note says why it has not.
std::string binding(const Result& result) {
  constexpr std::size_t shown = 16;
  if (std::ranges::none_of(result.binding, &RankBinding::bound)) return {};
  std::vector<std::array<std::string, 5>> table{{"rank", "host", "hardware threads", "NUMA node", "GPU"}};
  for (const RankBinding& row : result.binding)
    if (table.size() <= shown)
      table.push_back({std::to_string(row.rank), printable(row.host),
                       row.bound ? row.cores : row.cores + " (free)",
                       row.numa < 0 ? "-" : std::to_string(row.numa), row.gpu.empty() ? "-" : row.gpu});
  std::array<std::size_t, 5> widths{};
  for (const auto& row : table)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  std::string text = "\nbinding\n";
  for (const auto& row : table) {
    std::string line = "  " + right(row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += "  " + left(row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (result.binding.size() > shown)
    text += fmt::format("  and {} more: in the JSON\n", result.binding.size() - shown);
  return text;
}

std::string notes(const Result& result) {
  if (result.notes.empty()) return {};
  std::string text = "\nnotes\n";
  for (const std::string& note : result.notes) text += wrapped("  - ", printable(note), 4);
  return text;
}

std::string write(const Result& result) {
  return heading(result) + "\n" + named_metrics(result) + parts(result) + operations(result) + links(result) +
         binding(result) + notes(result);
}

}  // namespace

extern constinit const Format text{
    .name = "text",
    .summary = "a summary for a terminal",
    .write = write,
};

}  // namespace dlnb::formats
