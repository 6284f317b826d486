// SPDX-License-Identifier: Apache-2.0
// Conversions without branches, so that the loops vectorise on any x86-64 or AArch64.
#include "executor/live/reduction.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace dlnb::reduction {
namespace {

struct Float32 {
  using Bits = std::uint32_t;
  static float decode(Bits bits) { return std::bit_cast<float>(bits); }
  static Bits encode(float value) { return std::bit_cast<Bits>(value); }
};

// The upper half of a float32.
struct BFloat16 {
  using Bits = std::uint16_t;
  static float decode(Bits bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
  static Bits encode(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const std::uint32_t quiet = bits >> 16 | 0x40;  // rounding could turn a NaN into an infinity
    return Bits((bits & 0x7fffffff) > 0x7f800000 ? quiet : nearest);
  }
};

// IEEE 754 binary16: 5 exponent bits (bias 15), 10 mantissa bits.
struct Float16 {
  using Bits = std::uint16_t;
  static float decode(Bits half) {
    // As a float32 the exponent is 112 too small, also for subnormals: one multiplication puts it right.
    const float magnitude = std::bit_cast<float>(std::uint32_t(half & 0x7fff) << 13) * 0x1p112f;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(magnitude);
    bits = (half & 0x7c00) == 0x7c00 ? bits | 0x7f800000 : bits;
    return std::bit_cast<float>(bits | std::uint32_t(half & 0x8000) << 16);
  }
  static Bits encode(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = all >> 16 & 0x8000, bits = all & 0x7fffffff;
    const std::uint32_t normal = (bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
    // Adding 1/2 aligns a subnormal's last bit (2^-24) with the last bit of the float32, which the adder
    // rounds.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000;
    const std::uint32_t special = bits > 0x7f800000 ? 0x7e00 : 0x7c00;
    const std::uint32_t finite = bits < (113u << 23) ? subnormal : normal;
    return Bits(sign | (bits >= 0x477ff000 ? special : finite));  // from 65520 on it rounds to infinity
  }
};

// E4M3: 4 exponent bits (bias 7), 3 mantissa bits; only 0x7f is NaN.
struct Float8 {
  using Bits = std::uint8_t;
  static float decode(Bits byte) {
    const float magnitude = std::bit_cast<float>(std::uint32_t(byte & 0x7f) << 20) * 0x1p120f;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(magnitude);
    bits = (byte & 0x7f) == 0x7f ? 0x7fc00000 : bits;
    return std::bit_cast<float>(bits | std::uint32_t(byte & 0x80) << 24);
  }
  static Bits encode(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = all >> 24 & 0x80, bits = all & 0x7fffffff;
    const std::uint32_t normal = (bits - (120u << 23) + 0x7ffff + (bits >> 20 & 1)) >> 20;
    // The last bit of a subnormal is 2^-9; 2^14 has its float32 last bit there.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits) + 0x1p14f) - 0x46800000;
    const std::uint32_t finite = bits < (121u << 23) ? subnormal : normal < 0x7e ? normal : 0x7e;
    return Bits(sign | (bits > 0x7f800000 ? 0x7f : finite));
  }
};

template <class Type>
float decode_as(const std::byte* element) {
  typename Type::Bits bits;
  std::memcpy(&bits, element, sizeof bits);
  return Type::decode(bits);
}

template <class Type>
void add_as(const std::byte* term, std::byte* sum, std::int64_t elements) {
  using Bits = typename Type::Bits;
  for (std::int64_t i = 0; i < elements; ++i) {
    Bits a, b;
    std::memcpy(&a, term + i * std::int64_t(sizeof a), sizeof a);
    std::memcpy(&b, sum + i * std::int64_t(sizeof b), sizeof b);
    b = Type::encode(Type::decode(a) + Type::decode(b));
    std::memcpy(sum + i * std::int64_t(sizeof b), &b, sizeof b);
  }
}

// With 8 bits a table of all sums (64 KiB) beats arithmetic.
void add_float8(const std::byte* term, std::byte* sum, std::int64_t elements) {
  static const auto sums = [] {
    std::array<std::byte, 65536> table{};
    for (unsigned a = 0; a < 256; ++a)
      for (unsigned b = 0; b < 256; ++b)
        table[a << 8 | b] =
            std::byte(Float8::encode(Float8::decode(std::uint8_t(a)) + Float8::decode(std::uint8_t(b))));
    return table;
  }();
  for (std::int64_t i = 0; i < elements; ++i) sum[i] = sums[std::size_t(term[i]) << 8 | std::size_t(sum[i])];
}

template <class Type>
void accumulate_as(const std::byte* term, float* sum, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    typename Type::Bits bits;
    std::memcpy(&bits, term + i * std::int64_t(sizeof bits), sizeof bits);
    sum[i] += Type::decode(bits);
  }
}

template <class Type>
void round_as(const float* sum, std::byte* out, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    const typename Type::Bits bits = Type::encode(sum[i]);
    std::memcpy(out + i * std::int64_t(sizeof bits), &bits, sizeof bits);
  }
}

}  // namespace

float decode(DataType type, const std::byte* element) {
  switch (type) {
    case DataType::float32: return decode_as<Float32>(element);
    case DataType::float16: return decode_as<Float16>(element);
    case DataType::bfloat16: return decode_as<BFloat16>(element);
    case DataType::float8: return decode_as<Float8>(element);
  }
  return 0;
}

void encode(DataType type, float value, std::byte* element) { round_to(type, &value, element, 1); }

void add(DataType type, const std::byte* term, std::byte* sum, std::int64_t elements) {
  switch (type) {
    case DataType::float32: return add_as<Float32>(term, sum, elements);
    case DataType::float16: return add_as<Float16>(term, sum, elements);
    case DataType::bfloat16: return add_as<BFloat16>(term, sum, elements);
    case DataType::float8: return add_float8(term, sum, elements);
  }
}

void accumulate(DataType type, const std::byte* term, float* sum, std::int64_t elements) {
  switch (type) {
    case DataType::float32: return accumulate_as<Float32>(term, sum, elements);
    case DataType::float16: return accumulate_as<Float16>(term, sum, elements);
    case DataType::bfloat16: return accumulate_as<BFloat16>(term, sum, elements);
    case DataType::float8: return accumulate_as<Float8>(term, sum, elements);
  }
}

void round_to(DataType type, const float* sum, std::byte* out, std::int64_t elements) {
  switch (type) {
    case DataType::float32: return round_as<Float32>(sum, out, elements);
    case DataType::float16: return round_as<Float16>(sum, out, elements);
    case DataType::bfloat16: return round_as<BFloat16>(sum, out, elements);
    case DataType::float8: return round_as<Float8>(sum, out, elements);
  }
}

}  // namespace dlnb::reduction
