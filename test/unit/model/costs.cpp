// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include "model/roofline.hpp"
#include "support.hpp"

namespace dlnb {
namespace {

Cost sum_of(const char* cost_model, const Model& model, const Workload& load, const Device& device,
            Cost (*CostModel::*direction)(const Model&, const Part&, const Workload&,
                                          const Device&) = &CostModel::forward) {
  const CostModel& costs = entry_called(costs::all(), cost_model, "test");
  Cost sum;
  for (const Part& part : model.parts) sum += (costs.*direction)(model, part, load, device);
  return sum;
}

// ---- the paper's formulas

struct Check {
  const char* model;
  double forward_flops;  // batch 16
  friend void PrintTo(const Check& c, std::ostream* out) { *out << c.model; }
};
class PaperFlops : public testing::TestWithParam<Check> {};

TEST_P(PaperFlops, AreThePapersToTheLastDigit) {
  const Model model = load_model(GetParam().model, "--model");

  const Cost forward = sum_of("paper", model, {16, model.architecture.sequence}, device_of(312, 2.0));

  EXPECT_NEAR(forward.work.value / GetParam().forward_flops, 1, 1e-9);
}
INSTANTIATE_TEST_SUITE_P(Batch16, PaperFlops,
                         testing::Values(Check{"vit-h", 5.347236904960e12},
                                         Check{"llama3-8b", 2111.06232532992e12},
                                         Check{"llama3-70b", 18295.87348619264e12},
                                         Check{"minerva-7b", 914.793674309632e12}));

double paper_milliseconds(const char* name, double teraflops, double terabytes) {
  const Model model = load_model(name, "--model");
  return sum_of("paper", model, {16, model.architecture.sequence}, device_of(teraflops, terabytes))
             .time.value *
         1e3;
}

TEST(PaperTime, OfAForwardPassAtPeak) {
  EXPECT_NEAR(paper_milliseconds("vit-h", 312, 2.0), 17.14, 0.005);
  EXPECT_NEAR(paper_milliseconds("llama3-8b", 312, 2.0), 6766, 0.5);
  EXPECT_NEAR(paper_milliseconds("vit-h", 989.4, 4.0), 5.40, 0.005);
  // The paper's 2132 ms and 2.23 ms follow from a GH200 rounded to 990 and a GB300 of 2400 TFLOP/s.
  EXPECT_NEAR(paper_milliseconds("llama3-8b", 990, 4.0), 2132, 0.5);
  EXPECT_NEAR(paper_milliseconds("vit-h", 2400, 8.0), 2.23, 0.005);
  EXPECT_NEAR(paper_milliseconds("vit-h", 2500, 8.0), 5.347236904960 / 2.5, 1e-9);
}

TEST(PaperCost, FollowsTheFormulasOfOneLayer) {
  const Model model = load_model(fixture("small-llama"), "--model");
  const CostModel& paper = entry_called(costs::all(), "paper", "test");
  const Workload load{.samples = 2, .sequence = 64};
  const double b = 2, n = 64, d = 256, h = 512, s = 2;

  const Cost attention = paper.forward(model, part_of(model, PartKind::attention, 0), load, round_device());
  const Cost mlp = paper.forward(model, part_of(model, PartKind::mlp, 0), load, round_device());

  EXPECT_DOUBLE_EQ(attention.work.value, 8 * b * n * d * d + 4 * b * n * n * d);
  EXPECT_DOUBLE_EQ(attention.memory_bytes, 4 * d * d * s + 2 * b * n * d * s);
  EXPECT_DOUBLE_EQ(mlp.work.value, 4 * b * n * d * h);
  EXPECT_DOUBLE_EQ(mlp.memory_bytes, 2 * d * h * s + 2 * b * n * d * s);
}

TEST(PaperCost, TakesTheLongerOfComputingAndMoving) {
  const Device device = round_device();

  EXPECT_DOUBLE_EQ(roofline(2e12, 1e9, device).time.value, 2.0);  // I · bandwidth = 2 TFLOP/s > peak
  EXPECT_DOUBLE_EQ(roofline(2e12, 4e9, device).time.value, 4.0);  // I · bandwidth = 0.5 TFLOP/s
}

TEST(PaperCost, CountsActiveExpertsInFlopsAndAllInBytes) {
  const Model model = load_model("mixtral-8x7b", "--model");
  const CostModel& paper = entry_called(costs::all(), "paper", "test");
  const double n = 4096, d = 4096, h = 14336;

  const Cost mlp = paper.forward(model, part_of(model, PartKind::mlp, 0), {1, 4096}, round_device());

  EXPECT_DOUBLE_EQ(mlp.work.value, 4 * n * d * h * 2);
  EXPECT_DOUBLE_EQ(mlp.memory_bytes, 2 * d * h * 2 * 8 + 2 * n * d * 2);
}

TEST(PaperCost, IsNothingOutsideTheLayersAndTwiceBackward) {
  const Model model = load_model("llama3-8b", "--model");
  const CostModel& paper = entry_called(costs::all(), "paper", "test");
  const Workload load{1, 8192};

  for (PartKind kind : {PartKind::embedding, PartKind::norm, PartKind::head})
    EXPECT_EQ(paper.forward(model, part_of(model, kind), load, round_device()).time.value, 0);
  EXPECT_DOUBLE_EQ(sum_of("paper", model, load, round_device(), &CostModel::backward).time.value,
                   2 * sum_of("paper", model, load, round_device()).time.value);
}

// docs/models/compute.md says so: for the paper's models and batch of 16 no layer is bound by memory.
TEST(PaperCost, MemoryNeverBindsForThePapersModels) {
  const CostModel& paper = entry_called(costs::all(), "paper", "test");
  for (const char* name : {"vit-h", "llama3-8b", "minerva-7b", "llama3-70b", "mixtral-8x7b"})
    for (const Device& device :
         {device_of(312, 2.0), device_of(989.4, 4.0), device_of(2500, 8), device_of(191.5, 1.6)}) {
      const Model model = load_model(name, "--model");
      const std::int64_t samples =
          std::string(name) == "vit-h" ? 16 : 1;  // the others run in 16 micro-batches
      for (PartKind kind : {PartKind::attention, PartKind::mlp}) {
        const Cost cost =
            paper.forward(model, part_of(model, kind, 0), {samples, model.architecture.sequence}, device);
        const double intensity = cost.work.value / cost.memory_bytes;
        EXPECT_GT(intensity * device.memory_bandwidth.value, device.peak.value)
            << name << " " << name_of(kind);
      }
    }
}

TEST(PaperCost, OfALayerListIsTwoFlopsPerMultiplyAdd) {
  const Model model = load_model("vgg-16", "--model");
  double flops = 0;
  for (const Part& part : model.parts) flops += part.forward_flops;

  EXPECT_DOUBLE_EQ(sum_of("paper", model, {8, 1}, round_device()).work.value, 8 * flops);
}

// ---- exact

TEST(ExactCost, OfOneLlamaIsTwoFlopsPerWeightAndTokenAndHalfTheScores) {
  const Model model = load_model(fixture("small-llama"), "--model");
  const double tokens = 2 * 64;
  const double matrices = 4 * (590'336 - 2 * 256) + 262'144;  // layers without norms, head

  const Cost forward = sum_of("exact", model, {2, 64}, round_device());

  EXPECT_DOUBLE_EQ(forward.work.value, 2 * tokens * matrices + 4 /*layers*/ * (4 * 2 * 64.0 * 64 * 256) / 2);
}

TEST(ExactCost, HasThreeMatricesWhereThePaperHasTwo) {
  const Model model = load_model("llama2-7b", "--model");
  const Part& mlp = part_of(model, PartKind::mlp, 0);
  const Workload load{1, 4096};

  const Cost exact = entry_called(costs::all(), "exact", "test").forward(model, mlp, load, round_device());
  const Cost paper = entry_called(costs::all(), "paper", "test").forward(model, mlp, load, round_device());

  EXPECT_DOUBLE_EQ(exact.work.value, 1.5 * paper.work.value);
}

TEST(ExactCost, OfExpertsIsThatOfTheActiveOnes) {
  const Model mixture = load_model("mixtral-8x7b", "--model");
  const Part& mlp = part_of(mixture, PartKind::mlp, 0);
  const double tokens = 4096;

  const Cost cost =
      entry_called(costs::all(), "exact", "test").forward(mixture, mlp, {1, 4096}, round_device());

  EXPECT_DOUBLE_EQ(cost.work.value, 2 * tokens * (2 * 3 * 4096.0 * 14336 + 8 * 4096.0));
}

TEST(ExactCost, AWindowLimitsTheScores) {
  Model model = load_model(fixture("small-llama"), "--model");
  const Part& attention = part_of(model, PartKind::attention, 0);
  const CostModel& exact = entry_called(costs::all(), "exact", "test");

  const double whole = exact.forward(model, attention, {1, 64}, round_device()).work.value;
  model.architecture.window = 16;
  const double windowed = exact.forward(model, attention, {1, 64}, round_device()).work.value;

  EXPECT_DOUBLE_EQ(whole - windowed, 4 * 256.0 * (64 * 64 / 2.0 - (64 * 16 - 16 * 16 / 2.0)));
}

TEST(ExactCost, AnEmbeddingMovesBytesOnly) {
  const Model model = load_model(fixture("small-llama"), "--model");

  const Cost cost = entry_called(costs::all(), "exact", "test")
                        .forward(model, part_of(model, PartKind::embedding), {2, 64}, round_device());

  EXPECT_EQ(cost.work.value, 0);
  EXPECT_DOUBLE_EQ(cost.memory_bytes, 2 * 2 * 64 * 256 * 2);  // a row read and written, 2 bytes
  EXPECT_DOUBLE_EQ(cost.time.value, cost.memory_bytes / 1e9);
}

TEST(ExactCost, OfATiedHeadIsThatOfItsMatrix) {
  const Model model = load_model("gpt2-l", "--model");

  const Cost cost = entry_called(costs::all(), "exact", "test")
                        .forward(model, part_of(model, PartKind::head), {1, 1024}, round_device());

  EXPECT_DOUBLE_EQ(cost.work.value, 2.0 * 1024 * 50257 * 1280);
}

const CostModel& exact_costs() { return entry_called(costs::all(), "exact", "test"); }

TEST(ExactCost, FullRecomputationAddsTheForwardPassOfTheLayers) {
  const Model model = load_model("vit-b", "--model");
  const Workload kept{.samples = 16, .sequence = 197};
  Workload again = kept;
  again.recompute = Recompute::full;
  Cost layers;
  for (const Part& part : model.parts)
    if (part.layer >= 0) layers += exact_costs().forward(model, part, kept, round_device());

  EXPECT_NEAR(
      sum_of("exact", model, again, round_device(), &CostModel::backward).time.value,
      sum_of("exact", model, kept, round_device(), &CostModel::backward).time.value + layers.time.value,
      1e-9);
}

TEST(ExactCost, SelectiveRecomputationOfFusedAttentionCostsNothing) {
  const Model model = load_model("gpt2-l", "--model");
  const Part& attention = part_of(model, PartKind::attention, 0);
  Workload load{.samples = 1, .sequence = 1024, .recompute = Recompute::selective};
  const auto backward = [&] {
    return exact_costs().backward(model, attention, load, round_device()).work.value;
  };

  const double fused = backward();
  load.recompute = Recompute::none;
  EXPECT_DOUBLE_EQ(fused, backward());
  load.fused_attention = false;
  const double kept = backward();
  load.recompute = Recompute::selective;
  EXPECT_DOUBLE_EQ(backward() - kept,
                   2 * 2 * 1024.0 * 1024 * 1280);  // both products over all pairs, once more
}

// Scores again, gradients of values, of scores twice over, of queries and of keys: five products to two.
TEST(ExactCost, FusedAttentionHasFiveProductsBackward) {
  Model model = load_model(fixture("small-llama"), "--model");
  Part attention{.kind = PartKind::attention, .layer = 0};  // no matrices: scores alone have FLOPs

  const Workload load{.samples = 2, .sequence = 64};
  const double forward = exact_costs().forward(model, attention, load, round_device()).work.value;
  const double backward = exact_costs().backward(model, attention, load, round_device()).work.value;

  EXPECT_DOUBLE_EQ(forward, 2 * 2 * (64 * 64 / 2) * 2 * 256.0);
  EXPECT_DOUBLE_EQ(backward, 2.5 * forward);
}

TEST(ExactCost, AKernelStartsAndThenOverlapsComputingAndMoving) {
  Device device = device_of(1, 1);
  device.efficiency = {.matrix = 0.5, .memory = 0.25, .launch = Seconds{3e-6}, .source = "test"};

  // 3 s of computing at half the peak, 4 s of moving at a quarter of the bandwidth.
  const Cost cost = kernel(1.5e12, 1e12, device, device.efficiency.matrix);

  EXPECT_DOUBLE_EQ(cost.time.value, 3e-6 + 5);
}

TEST(ExactCost, APartTakesTheHostAtLeastItsKernels) {
  const Model model = load_model(fixture("small-llama"), "--model");
  const Part& norm = part_of(model, PartKind::norm);
  Device device = device_of(1e6, 1e6);  // the device is done at once
  device.efficiency.dispatch = Seconds{7e-6};

  EXPECT_DOUBLE_EQ(exact_costs().forward(model, norm, {1, 64}, device).time.value, 7e-6);
}

// Two ranks with half of every matrix: half the FLOPs, but norms and residuals whole and each launch paid.
TEST(ExactCost, ATensorCutIsCostedByTheKernelsThatAreLeft) {
  const Model model = load_model(fixture("small-llama"), "--model");
  const Part& mlp = part_of(model, PartKind::mlp, 0);
  Device device = device_of(1, 1e6);
  device.efficiency.launch = Seconds{10e-6};
  Workload load{.samples = 2, .sequence = 64};
  const Cost whole = exact_costs().forward(model, mlp, load, device);
  load.division = {.tensor = 2};
  const Cost half = exact_costs().forward(model, mlp, load, device);
  load.division.sequence_parallel = true;
  const Cost narrow = exact_costs().forward(model, mlp, load, device);

  const double row = 2 * 64 * 256 * 2;  // bytes
  EXPECT_DOUBLE_EQ(half.work.value, whole.work.value / 2);
  EXPECT_NEAR(whole.time.value - half.time.value, whole.work.value / 2 / 1e12, 1e-10);
  EXPECT_DOUBLE_EQ(half.memory_bytes - narrow.memory_bytes, 5 * row / 2);  // norm 2, residual 3
}

TEST(ExactCost, SummedGradientsAreReadAndWrittenOnceMore) {
  const Model model = load_model(fixture("small-llama"), "--model");
  const Part& mlp = part_of(model, PartKind::mlp, 0);
  Workload load{.samples = 1, .sequence = 64, .gradient_dtype = DataType::float32};
  const double alone = exact_costs().backward(model, mlp, load, round_device()).memory_bytes;
  load.accumulates = true;

  EXPECT_DOUBLE_EQ(exact_costs().backward(model, mlp, load, round_device()).memory_bytes - alone,
                   double(mlp.elements()) * (2 + 4 + 4));
}

TEST(AdamStep, MovesTwentyEightBytesPerSixteenBitParameter) {
  const Cost cost = adam_step(1'000'000, DataType::bfloat16, DataType::bfloat16, round_device());

  EXPECT_DOUBLE_EQ(cost.memory_bytes, 28e6);
  EXPECT_DOUBLE_EQ(cost.time.value, 0.028);
  EXPECT_DOUBLE_EQ(adam_step(1, DataType::float32, DataType::float32, round_device()).memory_bytes,
                   4 + 12 + 12);
}

// ---- every cost model

class EveryCostModel : public testing::TestWithParam<const CostModel*> {};

TEST_P(EveryCostModel, GrowsInProportionToTheSamplesOnceComputeBound) {
  const Model model = load_model("vit-h", "--model");
  const Device device = device_of(1, 1e6);

  const double once = sum_of(GetParam()->name.data(), model, {1, 257}, device).work.value;
  const double thrice = sum_of(GetParam()->name.data(), model, {3, 257}, device).work.value;

  EXPECT_DOUBLE_EQ(thrice, 3 * once);
}

TEST_P(EveryCostModel, GivesFiniteTimesToEveryShippedModel) {
  for (const std::string& name : shipped_models()) {
    const Model model = load_model(name, "--model");

    const Cost cost =
        sum_of(GetParam()->name.data(), model, {1, model.is_transformer() ? model.architecture.sequence : 1},
               device_of(312, 2.0));

    EXPECT_TRUE(std::isfinite(cost.time.value)) << name;
    EXPECT_GE(cost.time.value * 312e12, cost.work.value * (1 - 1e-12)) << name;
    EXPECT_GT(cost.work.value, 1e9) << name;
  }
}

std::vector<const CostModel*> every_cost_model() {
  const auto all = costs::all();
  return {all.begin(), all.end()};
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryCostModel, testing::ValuesIn(every_cost_model()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace dlnb
