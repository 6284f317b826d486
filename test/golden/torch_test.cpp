// SPDX-License-Identifier: Apache-2.0
// The pytorch flavour issues what PyTorch 2.13 issued (test/golden/torch/README.md): same operations, order, element
// counts, types, groups and peers on every rank. The name of a recording says how it was made.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "machine/machine.hpp"
#include "model/model.hpp"
#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

const std::filesystem::path folder = std::filesystem::path(DLNB_TEST_DATA) / "golden/torch";

struct Recording {
  std::string name, plan, model = "llama-small.json";
  std::int64_t ranks = 0;
  DataType dtype = DataType::float32;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  if (!text.empty() && text.back() == by) parts.emplace_back();
  return parts;
}

Recording recording_of(const std::string& name) {
  const std::vector<std::string> words = split(name, '-');
  Recording r{.name = name};
  r.ranks = std::stoll(words.back().substr(1));
  const std::string n = std::to_string(r.ranks), half = std::to_string(r.ranks / 2);
  const std::string& kind = words[0];
  if (kind == "ddp")
    r.plan = "data = {degree = " + n +
             ", bucket = " + std::to_string(std::int64_t(std::stod(words[1]) * (1 << 20))) + "}";
  else if (kind == "fsdp") r.plan = "fsdp = " + n;
  else if (kind == "fsdpnr") r.plan = "fsdp = {degree = " + n + ", reshard_after_forward = false}";
  else if (kind == "hsdp") r.plan = "fsdp = " + half + "\ndata = 2";
  else if (kind == "tp") r.plan = "tensor = " + n;
  else if (kind == "tpsp") r.plan = "tensor = {degree = " + n + ", sequence_parallel = true}";
  else if (kind == "tpfsdp") r.plan = "tensor = 2\nfsdp = " + half;
  else if (kind == "pp") {
    const bool interleaved = words[1] == "interleaved";
    const std::string schedule = words[1] == "f1b" ? "1f1b" : words[1];
    if (interleaved && r.ranks * 2 == 8) r.model = "llama-small-8.json";
    if (!interleaved && r.ranks == 8) r.model = "llama-small-8.json";
    r.plan = "pipeline = {stages = " + n + ", microbatches = " + words[2] + ", schedule = \"" + schedule +
             "\", virtual_stages = " + (interleaved ? "2" : "1") + "}";
  }
  if (words.size() > 2 && words[1] == "bf16") r.dtype = DataType::bfloat16;
  return r;
}

std::vector<Recording> recordings() {
  std::vector<Recording> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".csv") all.push_back(recording_of(entry.path().stem()));
  std::ranges::sort(all, {}, &Recording::name);
  return all;
}

Schedule schedule_of(const Recording& r) {
  RunSpec spec;
  spec.dtype = r.dtype;
  spec.gradient_dtype = DataType::float32;
  spec.batch = 8;
  spec.plan = {.name = r.name, .flavour = Flavour::pytorch};
  const Value table = parse_toml(r.plan, r.name);
  for (const auto& [pass, options] : table.table()) spec.plan.passes.push_back({pass, options});
  const Model model = load_model(folder / r.model, "--model");
  const Device device{.name = "unit", .peak = {1e12}, .memory_bandwidth = {1e12}};
  return compile(make_step(model, device, spec, microbatches_of(spec.plan)), spec.plan, r.ranks);
}

using Row = std::string;  // rank, operation, elements sent, elements received, dtype, group, peer [, phase]

std::vector<Row> recorded(const Recording& r) {
  std::ifstream file(folder / (r.name + ".csv"));
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::vector<std::string> f = split(line, ',');
    rows.push_back(f[0] + " " + f[3] + " " + f[4] + " " + f[5] + " " + f[6] + " {" + f[7] + "} " + f[8] +
                   (f[2] == "step" ? "" : " " + f[2]));
  }
  return rows;
}

std::vector<Row> issued(const Recording& r, bool with_phase) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(r.ranks));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = std::int64_t(i);
  std::vector<Row> rows;
  std::stringstream csv(print_csv(schedule_of(r), ranks));
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) {
    const std::vector<std::string> f = split(line, ',');
    if (f[2] == "compute" || f[2].starts_with("wait")) continue;
    rows.push_back(f[0] + " " + f[2] + " " + f[9] + " " + f[10] + " " + f[11] + " {" + f[7] + "} " + f[8] +
                   (with_phase ? " " + f[3] : ""));
  }
  return rows;
}

void PrintTo(const Recording& r, std::ostream* out) { *out << r.name; }

class EveryRecording : public testing::TestWithParam<Recording> {};

TEST_P(EveryRecording, IsIssuedRowByRow) {
  const std::vector<Row> expected = recorded(GetParam());
  ASSERT_FALSE(expected.empty());

  const std::vector<Row> actual = issued(GetParam(), !GetParam().name.starts_with("pp-"));

  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i)
    ASSERT_EQ(actual[i], expected[i]) << "row " << i + 2;
  EXPECT_EQ(actual.size(), expected.size());
}

INSTANTIATE_TEST_SUITE_P(Torch, EveryRecording, testing::ValuesIn(recordings()), [](const auto& recording) {
  std::string name = recording.param.name;
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace dlnb
