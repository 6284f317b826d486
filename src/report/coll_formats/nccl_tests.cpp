// SPDX-License-Identifier: Apache-2.0
// The layout of nccl-tests 2.17: comment lines begin with '#'; a row has 13 columns, size count type redop root, then
// time algbw busbw #wrong out of place and the same in place; two lines of totals end a table. Scripts read columns by
// position, so what was not measured is N/A in its place. One table per operation and type.
#include <cmath>

#include <fmt/format.h>

#include "report/coll_report.hpp"

namespace dlnb::coll_formats {
namespace {

const char* word_of(DataType type) {
  switch (type) {
    case DataType::float32: return "float";
    case DataType::float16: return "half";
    case DataType::bfloat16: return "bfloat16";
    case DataType::float8: return "f8e4m3";
  }
  return "?";
}

/// As many decimals as the width has room for, two at most.
std::string number(double value, int width) {
  int digits = 1;
  for (double limit = 10; value >= limit; limit *= 10) ++digits;
  if (digits > width) return fmt::format("{:{}.1e}", value, width);
  const int decimals = digits < width - 2 ? 2 : digits < width - 1 ? 1 : 0;
  return fmt::format("{:{}.{}f}", value, width, decimals);
}

std::string half(const CollRow* row) {
  if (!row) return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "N/A", "N/A", "N/A", "N/A");
  const std::string wrong = row->wrong ? fmt::format("{}", *row->wrong) : "N/A";
  return fmt::format("  {}  {}  {}  {:>6}", number(row->time * 1e6, 7),
                     number(row->algorithm_bandwidth / 1e9, 6), number(row->bus_bandwidth / 1e9, 6), wrong);
}

std::string table_of(const CollBlock& block) {
  const bool reduces =
      block.operation == CollOperation::all_reduce || block.operation == CollOperation::reduce_scatter;
  const int root = block.operation == CollOperation::broadcast ? 0 : -1;
  std::string text;
  for (std::size_t i = 0; i < block.rows.size(); ++i) {
    const CollRow* const first = block.rows[i];
    // Both forms of a size follow each other.
    const bool paired = !first->in_place && i + 1 < block.rows.size() && block.rows[i + 1]->in_place;
    const CollRow* const out = first->in_place ? nullptr : first;
    const CollRow* const in = first->in_place ? first : paired ? block.rows[i + 1] : nullptr;
    text += fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:>6}", first->shape.bytes, first->shape.count,
                        word_of(block.dtype), reduces ? "sum" : "none", root);
    text += half(out) + half(in) + "\n";
    if (paired) ++i;
  }
  return text;
}

std::string totals(const CollBlock& block) {
  std::int64_t wrong = 0;
  double sum = 0;
  for (const CollRow* row : block.rows) {
    wrong += row->wrong.value_or(0);
    sum += row->bus_bandwidth / 1e9;
  }
  return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n", wrong,
                     wrong > 0 ? "FAILED" : "OK", sum / double(block.rows.size()));
}

std::string write(const CollTable& table) {
  const CollSpec& spec = table.spec;
  std::string text = fmt::format("# DLNetBench {} in the columns of nccl-tests\n", table.provenance.version);
  for (const CollBlock& block : blocks_of(table)) {
    text += fmt::format(
        "# Collective test starting: {}\n"
        "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg iters: 1 "
        "validation: {} graph: 0\n"
        "#\n"
        "# Using {}\n"
        "#\n",
        name_of(block.operation), spec.min_size.value, spec.max_size.value,
        spec.step.value > 0 ? spec.step.value : spec.factor, spec.step.value > 0 ? "bytes" : "factor",
        spec.warmup, spec.iterations, spec.verify ? 1 : 0, printable(world_text(table)));
    text += fmt::format("#{:>74}{:>31}{:10}\n", "out-of-place", "in-place", "");
    text +=
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   "
        "algbw   "
        "busbw  #wrong \n"
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  "
        "(GB/s)  "
        "(GB/s)         \n";
    text += table_of(block) + totals(block);
  }
  return text;
}

}  // namespace

extern constinit const CollFormat nccl_tests{
    .name = "nccl-tests",
    .summary = "the columns of nccl-tests",
    .extension = "",
    .write = write,
};

}  // namespace dlnb::coll_formats
