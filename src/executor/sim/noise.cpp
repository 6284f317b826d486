// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/noise.hpp"

#include <utility>

#include <fmt/format.h>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

/// "period = 10 ms", the members of a table as people write them.
std::string text_of(const Value& table) {
  std::string text;
  for (const auto& [key, value] : table.table()) {
    if (key == "kind") continue;
    std::string written = std::visit(
        [](const auto& data) -> std::string {
          using Data = std::decay_t<decltype(data)>;
          if constexpr (std::is_same_v<Data, std::string>) return data;
          else if constexpr (std::is_arithmetic_v<Data>) return fmt::format("{}", data);
          else return "…";
        },
        value.data());
    text += (text.empty() ? "" : ", ") + key + " = " + written;
  }
  return text;
}

}  // namespace

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return scrambled(scrambled(a + golden) ^ b * golden);
}

double draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t count) {
  const std::uint64_t bits = scrambled(mixed(seed, stream) + (count + 1) * golden);
  return (double(bits >> 11) + 0.5) * 0x1p-53;
}

Disturbance make_disturbance(const Value& noise, std::int64_t seed) {
  Disturbance all;
  if (noise.empty()) return all;
  for (std::size_t number = 0; const Value& table : noise.array("noise")) {
    const Value* named = table.find("kind");
    if (named == nullptr)
      throw UserError(where_of(table, "noise"), "it is not said which kind",
                      fmt::format("set kind to one of: {}", fmt::join(names_of(noises::all()), ", ")));
    std::string name;
    read_value(*named, "noise.kind", name);
    const NoiseKind& kind = entry_called(noises::all(), name, where_of(*named, "noise.kind"));
    Value::Table described;
    for (const auto& member : table.table())
      if (member.first != "kind") described.push_back(member);
    // Two noises of one kind on different things are not the same draws.
    Noise made = kind.make(Value(std::move(described), table.where()), mixed(std::uint64_t(seed), number++));
    const auto take = [&](auto& from, auto& to, const char* what) {
      if (from && to)
        throw UserError(where_of(*named, "noise.kind"), fmt::format("two kinds of noise disturb {}", what),
                        "give one of them");
      if (from) to = std::move(from);
    };
    const bool does_something = made.ranks || made.collectives;
    take(made.ranks, all.noise.ranks, "ranks");
    take(made.collectives, all.noise.collectives, "collectives");
    if (!does_something) continue;
    const std::string details = text_of(table);
    all.text += fmt::format("{}{}{}", all.text.empty() ? "" : "; ", kind.name,
                            details.empty() ? "" : " (" + details + ")");
  }
  if (!all.text.empty()) all.text = fmt::format("noise: {}; seed {}", all.text, seed);
  return all;
}

}  // namespace dlnb::sim
