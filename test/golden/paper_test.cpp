// SPDX-License-Identifier: Apache-2.0
// The five named plans issue the paper's Algorithms 1–5. Each algorithm is written out here once more, as a loop that
// says what a rank does in the words of the listing, and compared operation by operation.
#include <gtest/gtest.h>

#include <algorithm>

#include "config/config.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"
#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

using Lines = std::vector<std::string>;

PlanSpec named_plan(const std::string& name) {
  return read_spec({}, make_overrides({{"plan", name, "--plan"}})).plan;
}

Schedule schedule_of(PlanSpec plan, const std::string& model, std::int64_t ranks) {
  const RunSpec spec;
  return compile(
      make_step(load_model(model, "--model"), load_device("a100", "--device"), spec, microbatches_of(plan)),
      plan, ranks);
}

std::string number(std::int32_t n) { return n == nothing ? "" : " " + std::to_string(n); }

// An operation in the listing's words: "I" for non-blocking, the unit or bucket it is about.
std::string word(const Schedule& s, const Operation& op) {
  const std::string axis = s.grid.text(op.axes);
  const std::string unit = number(op.unit);
  switch (op.kind) {
    case OperationKind::compute:
      return std::string("compute ") + (op.has_part ? std::string(name_of(op.part)) + " " : "") +
             name_of(op.phase);
    case OperationKind::send: return "send " + std::to_string(op.peer);
    case OperationKind::recv: return "recv " + std::to_string(op.peer);
    case OperationKind::wait: return "wait " + axis + unit;
    case OperationKind::wait_all: return "wait-all " + axis;
    default: return std::string(op.blocking ? "" : "i") + name_of(op.kind) + " " + axis + unit;
  }
}

Lines lowered(const Schedule& s, std::size_t role = 0) {
  Lines lines;
  for (const Operation& op : s.programs[role].operations) lines.push_back(word(s, op));
  return lines;
}

std::string u(int unit) { return " " + std::to_string(unit); }

TEST(Paper, Algorithm1DataParallel) {
  Lines expected{"compute forward"};
  for (int bucket = 0; bucket < 50; ++bucket) {
    expected.push_back("compute backward");
    expected.push_back("iall-reduce data" + u(bucket));
  }
  expected.push_back("wait-all data");

  EXPECT_EQ(lowered(schedule_of(named_plan("dp"), "vit-h", 64)), expected);
}

// Line 5 of the listing stands inside the loop over u = 0 … units-2: the last unit's forward is never computed.
// `literal` keeps that; the default computes it.
Lines algorithm_2(int units, bool replicas, bool literal) {
  Lines lines{"all-gather fsdp 0"};
  for (int unit = 0; unit <= units - 2; ++unit) {
    lines.push_back("iall-gather fsdp" + u(unit + 1));
    lines.push_back("compute forward");
    lines.push_back("wait fsdp" + u(unit + 1));
  }
  if (!literal) lines.push_back("compute forward");
  for (int unit = units - 1; unit >= 0; --unit) {
    if (unit > 0) lines.push_back("iall-gather fsdp" + u(unit - 1));
    lines.push_back("compute backward");
    lines.push_back("reduce-scatter fsdp" + u(unit));
    if (replicas) lines.push_back("iall-reduce data" + u(unit));
    if (unit > 0) lines.push_back("wait fsdp" + u(unit - 1));
  }
  if (replicas) lines.push_back("wait-all data");
  return lines;
}

TEST(Paper, Algorithm2FullySharded) {
  EXPECT_EQ(lowered(schedule_of(named_plan("fsdp"), "llama3-8b", 16)), algorithm_2(16, true, false));
  EXPECT_EQ(lowered(schedule_of(named_plan("fsdp"), "llama3-8b", 8)), algorithm_2(16, false, false));
}

TEST(Paper, Algorithm2ToTheLetter) {
  PlanSpec plan = named_plan("fsdp");
  plan.literal = true;

  EXPECT_EQ(lowered(schedule_of(plan, "minerva-7b", 16)), algorithm_2(16, true, true));
}

// Algorithms 3, 4 and 5 differ in what one micro-batch does inside a stage.
template <class Inside>
Lines pipelined(int stage, int stages, int microbatches, Inside inside) {
  const bool first = stage == 0, last = stage == stages - 1;
  const std::string next = std::to_string(stage + 1), previous = std::to_string(stage - 1);
  Lines lines;
  for (int m = 0; m < microbatches; ++m) {
    if (!first) lines.push_back("recv " + previous);
    inside(lines, "forward");
    if (!last) lines.push_back("send " + next);
  }
  for (int m = 0; m < microbatches; ++m) {
    if (!last) lines.push_back("recv " + next);
    inside(lines, "backward");
    if (!first) lines.push_back("send " + previous);
  }
  return lines;
}

TEST(Paper, Algorithm3DataPipeline) {
  const Schedule s = schedule_of(named_plan("dp+pp"), "llama3-8b", 16);
  for (const int stage : {0, 3, 7}) {
    Lines expected = pipelined(
        stage, 8, 16, [](Lines& lines, const std::string& phase) { lines.push_back("compute " + phase); });
    expected.push_back("all-reduce data 0");

    EXPECT_EQ(lowered(s, std::size_t(stage)), expected) << "stage " << stage;
  }
}

auto layers(int count, const std::string& communication) {
  return [=](Lines& lines, const std::string& phase) {
    for (int layer = 0; layer < count; ++layer)
      for (const char* part : {"attention ", "mlp "}) {
        lines.push_back(std::string("compute ") + part + phase);
        lines.push_back(communication);
      }
  };
}

TEST(Paper, Algorithm4DataPipelineTensor) {
  const Schedule s = schedule_of(named_plan("dp+pp+tp"), "llama3-70b", 256);
  for (const int stage : {0, 4, 7}) {
    Lines expected = pipelined(stage, 8, 16, layers(80 / 8, "all-reduce tensor"));
    expected.push_back("all-reduce data 0");

    EXPECT_EQ(lowered(s, std::size_t(stage)), expected) << "stage " << stage;
  }
}

TEST(Paper, Algorithm5DataPipelineExpert) {
  const Schedule s = schedule_of(named_plan("dp+pp+ep"), "mixtral-8x7b", 512);
  for (const int stage : {0, 4, 7}) {
    Lines expected = pipelined(stage, 8, 16, layers(32 / 8, "all-to-all expert"));
    expected.push_back("all-reduce expert");
    expected.push_back("all-reduce data 0");

    EXPECT_EQ(lowered(s, std::size_t(stage)), expected) << "stage " << stage;
  }
}

// Table I, from parameters and activations. P: parameters, T: tokens of a micro-batch, 2 bytes per element.
using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

Sizes sizes(const Schedule& s) {
  Sizes sizes;
  for (const LedgerRow& row : ledger_of(s)) {
    std::pair<std::string, std::int64_t> size{std::string(name_of(row.kind)) + " " + row.axis,
                                              row.bytes_each};
    if (std::ranges::find(sizes, size) == sizes.end()) sizes.push_back(size);
  }
  return sizes;
}

TEST(TableOne, DataParallel) {
  // 632,404,480 parameters in 50 buckets that differ by at most one element: 2·P/50 = 25,296,179.2 bytes.
  EXPECT_EQ(sizes(schedule_of(named_plan("dp"), "vit-h", 8)),
            (Sizes{{"all-reduce data", 25'296'180}, {"all-reduce data", 25'296'178}}));
}

TEST(TableOne, FullySharded) {
  for (const auto& [model, parameters] :
       {std::pair{"llama3-8b", 8'030'261'248}, std::pair{"minerva-7b", 7'399'542'784}}) {
    const std::int64_t shard = 2 * parameters / 16 / 8;
    EXPECT_EQ(
        sizes(schedule_of(named_plan("fsdp"), model, 16)),
        (Sizes{{"all-gather fsdp", shard}, {"reduce-scatter fsdp", shard}, {"all-reduce data", shard}}));
  }
}

TEST(TableOne, DataPipeline) {
  for (const auto& [model, parameters, tokens] :
       {std::tuple{"llama3-8b", 8'030'261'248, 8192}, std::tuple{"minerva-7b", 7'399'542'784, 4096}}) {
    const std::int64_t activation = 2 * tokens * 4096;
    const Sizes all = sizes(schedule_of(named_plan("dp+pp"), model, 16));
    EXPECT_EQ(all, (Sizes{{"send pipeline", activation},
                          {"recv pipeline", activation},
                          {"all-reduce data", 2 * parameters / 8}}));
  }
}

TEST(TableOne, DataPipelineTensor) {
  const Sizes all = sizes(schedule_of(named_plan("dp+pp+tp"), "llama3-70b", 256));
  const std::int64_t activation = 2 * 8192 * 8192;
  EXPECT_EQ(all, (Sizes{{"all-reduce tensor", activation / 4},
                        {"send pipeline", activation},
                        {"recv pipeline", activation},
                        {"all-reduce data", 2 * 2'204'803'328}}));
}

TEST(TableOne, DataPipelineExpert) {
  const std::int64_t dense = 1'605'636'096, experts = 46'702'792'704 - dense, activation = 2 * 4096 * 4096;
  const Sizes all = sizes(schedule_of(named_plan("dp+pp+ep"), "mixtral-8x7b", 512));
  // Two active experts: 2 activations leave, an eighth to each peer.
  EXPECT_EQ(all, (Sizes{{"all-to-all expert", 2 * activation / 8},
                        {"send pipeline", activation},
                        {"recv pipeline", activation},
                        {"all-reduce expert", 2 * dense / 8},
                        {"all-reduce data", 2 * (dense / 8 + experts / 8 / 8)}}));
}

}  // namespace
}  // namespace dlnb
