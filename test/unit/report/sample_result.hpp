// SPDX-License-Identifier: Apache-2.0
// A hand-made result that uses every member.
#pragma once

#include <dlnb/result.hpp>

namespace dlnb {

inline Metric sample_metric(std::string name, std::string unit, double value) {
  return {std::move(name), std::move(unit), value, 5, value / 2, value * 2, "Said in a sentence."};
}

inline Result sample_result() {
  Result result;
  result.kind = "run";
  result.label = "dp+pp · vit-h · this host · 4 ranks";
  result.spec.plan = {.name = "dp+pp", .flavour = Flavour::paper, .literal = false, .passes = {}};
  Value::Table stages{
      {"stages", Value(std::int64_t{2}, "plan.toml:3")},
      {"interleave", Value(true, "plan.toml:3")},
      {"shares", Value(Value::Array{Value(0.5, "plan.toml:3"), Value(0.5, "plan.toml:3")}, "")}};
  result.spec.plan.passes = {{"pipeline", Value(stages, "plan.toml:3")},
                             {"data", Value(std::string("rest"), "plan.toml:4")}};
  result.spec.ranks = 4;
  result.machine = {.name = "this host", .device = "a100", .ranks = 4};
  result.grid = ProcessGrid({{"pipeline", 2}, {"data", 2}});
  result.global_batch = 32;
  result.sequence = 257;
  result.executor = "mpi";
  result.library = "Open MPI 4.1.4";
  result.ledger = {
      {0, "data", OperationKind::all_reduce, Phase::backward, DataType::bfloat16, 2, 50, 2000, 100000, 20},
      {0, "pipeline", OperationKind::send, Phase::forward, DataType::bfloat16, 2, 16, 500, 8000, 0}};
  result.metrics.named = {sample_metric("communication_fraction", "1", 0.25),
                          sample_metric("compute", "s", 0.9),
                          sample_metric("iteration_time", "s", 1.2),
                          sample_metric("pipeline_bubble", "s", 0.05),
                          sample_metric("straggler_wait", "s", 0.05),
                          sample_metric("throughput", "samples/s", 32 / 1.2),
                          sample_metric("tokens_per_second", "tokens/s", 32 * 257 / 1.2),
                          sample_metric("transfer", "s", 0.2)};
  result.metrics.operations = {{.role = 0,
                                .axis = "data",
                                .kind = OperationKind::all_reduce,
                                .phase = Phase::backward,
                                .dtype = DataType::bfloat16,
                                .group_size = 2,
                                .count = 50,
                                .bytes_each = 2000,
                                .time = {1000, 0.001, 0.002, 0.002, 0.003, 0.004, 0.005},
                                .exposed = 0.2,
                                .algorithm_bandwidth = 1e6,
                                .bus_bandwidth = 1e6}};
  result.metrics.iterations = {
      {.iteration = 0,
       .time = 1.2,
       .communication_fraction = 0.25,
       .slowest = {1'200'000'000, 900'000'000, 200'000'000, 50'000'000, 50'000'000}}};
  result.metrics.timeline = {
      {0,
       0,
       {{0, 1'000, OperationKind::compute, Phase::forward, 0, 3, "", "compute"},
        {1'000, 2'500, OperationKind::all_reduce, Phase::backward, nothing, nothing, "data", "transfer"}}}};
  result.notes = {"a note, with a comma and \"quotes\""};
  result.provenance = {.version = "0.1.0",
                       .commit = "abc",
                       .compiler = "GNU 12.2.0",
                       .time = "2026-01-01T00:00:00Z",
                       .host = "node1",
                       .environment = {{"OMP_NUM_THREADS", "1"}}};
  return result;
}

}  // namespace dlnb
