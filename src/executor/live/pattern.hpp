// SPDX-License-Identifier: Apache-2.0
// The data that verification sends: it tells who sent it and where it belongs.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dlnb/units.hpp>

namespace dlnb {

/// A hash of three numbers.
std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// A number per member and position for what is added up, raw bytes per sender, receiver and position for what is not.
/// Sums of all members' numbers are integers that the element type holds exactly, in any order of addition.
class Pattern {
 public:
  /// Data repeats after so many elements: prime, so that a shift by any usual block size shows.
  static constexpr std::int64_t period = 4099;

  /// `salt` makes the data of one operation differ from another's.
  Pattern(DataType dtype, std::int64_t members, std::uint64_t salt);

  std::int64_t number(std::int64_t member, std::int64_t position) const;
  std::int64_t sum(std::int64_t position) const;
  /// Positions 0 … elements − 1.
  void fill_numbers(std::byte* out, std::int64_t elements, std::int64_t member) const;
  /// Positions first … first + elements − 1.
  void fill_sums(std::byte* out, std::int64_t elements, std::int64_t first) const;

  /// One element.
  void tag(std::int64_t from, std::int64_t to, std::int64_t position, std::byte* element) const;
  void fill_tags(std::byte* out, std::int64_t elements, std::int64_t from, std::int64_t to) const;

  DataType dtype() const { return dtype_; }

 private:
  DataType dtype_;
  std::int64_t members_;
  std::int64_t levels_;  ///< a member's largest number; 0 where members outnumber the exact integers
  std::uint64_t salt_;
};

}  // namespace dlnb
