// SPDX-License-Identifier: Apache-2.0
#include "executor/live/pattern.hpp"

#include <algorithm>
#include <cstring>

#include "executor/live/reduction.hpp"

namespace dlnb {
namespace {

/// Largest integer up to which all are exact.
std::int64_t exact_integers(DataType type) {
  switch (type) {
    case DataType::float32: return std::int64_t{1} << 24;
    case DataType::float16: return 2048;
    case DataType::bfloat16: return 256;
    case DataType::float8: return 16;
  }
  return 1;
}

template <class Write>
void fill(std::byte* out, std::int64_t elements, std::int64_t size, Write write) {
  const std::int64_t first = std::min(elements, Pattern::period);
  for (std::int64_t i = 0; i < first; ++i) write(i, out + i * size);
  for (std::int64_t done = first; done < elements;) {  // whole periods, doubling
    const std::int64_t count = std::min(done, elements - done);
    std::memcpy(out + done * size, out, std::size_t(count * size));
    done += count;
  }
}

}  // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15 ^ b * 0xc2b2ae3d27d4eb4f ^ c * 0x165667b19e3779f9;
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
  return x ^ x >> 29;
}

Pattern::Pattern(DataType dtype, std::int64_t members, std::uint64_t salt)
    : dtype_(dtype),
      members_(members),
      levels_(std::min<std::int64_t>(255, exact_integers(dtype) / members)),
      salt_(salt) {}

std::int64_t Pattern::number(std::int64_t member, std::int64_t position) const {
  const std::uint64_t place = std::uint64_t(position % period);
  if (levels_ > 0) return std::int64_t(mix(place, std::uint64_t(member), salt_) % std::uint64_t(levels_ + 1));
  // More members than exact integers: at every position only some contribute.
  const std::int64_t exact = exact_integers(dtype_), step = (members_ + exact - 1) / exact;
  return std::int64_t((std::uint64_t(member) + mix(place, 0, salt_)) % std::uint64_t(step)) == 0;
}

std::int64_t Pattern::sum(std::int64_t position) const {
  std::int64_t sum = 0;
  for (std::int64_t member = 0; member < members_; ++member) sum += number(member, position);
  return sum;
}

void Pattern::fill_numbers(std::byte* out, std::int64_t elements, std::int64_t member) const {
  fill(out, elements, size_of(dtype_), [&](std::int64_t position, std::byte* element) {
    reduction::encode(dtype_, float(number(member, position)), element);
  });
}

void Pattern::fill_sums(std::byte* out, std::int64_t elements, std::int64_t first) const {
  fill(out, elements, size_of(dtype_), [&](std::int64_t position, std::byte* element) {
    reduction::encode(dtype_, float(sum(first + position)), element);
  });
}

void Pattern::tag(std::int64_t from, std::int64_t to, std::int64_t position, std::byte* element) const {
  const std::uint64_t bits = mix(std::uint64_t(position % period), std::uint64_t(from << 32 | to), salt_);
  std::memcpy(element, &bits, std::size_t(size_of(dtype_)));
}

void Pattern::fill_tags(std::byte* out, std::int64_t elements, std::int64_t from, std::int64_t to) const {
  fill(out, elements, size_of(dtype_),
       [&](std::int64_t position, std::byte* element) { tag(from, to, position, element); });
}

}  // namespace dlnb
