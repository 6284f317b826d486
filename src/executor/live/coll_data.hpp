// SPDX-License-Identifier: Apache-2.0
// What an operation of the benchmark is verified with: which stretches of a member's memory are written before it, and
// what must be where after it. Every element is compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/live/coll_case.hpp"
#include "executor/live/pattern.hpp"

namespace dlnb {

class CollData {
 public:
  /// `salt` makes this operation's data differ from that of others: what is left of those is wrong here.
  CollData(const CollCase& row, const CollMoves& moves, const CollPlace& place, std::uint64_t salt);

  /// Before the operation: the data, and nonsense where it is to arrive.
  void write(Transport& transport) const;

  struct Outcome {
    std::int64_t wrong = 0;  ///< elements
    std::string first;       ///< "element 3 (byte 12 of 64) is …, should be …"
  };
  /// After it.
  Outcome compare(Transport& transport) const;

  /// Zeros: sums of zeros stay finite however often they are repeated.
  void clear(Transport& transport) const;

 private:
  /// What a stretch holds.
  enum class Content { number, sum, tag };
  struct Stretch {
    std::byte* at;
    std::int64_t elements;
    Content content;
    std::int64_t from = 0, to = 0;  ///< members; of a sum `from` is its first position
    std::int64_t offset = 0;        ///< elements before it in what the member receives
  };
  struct Area {
    std::byte* at;
    std::int64_t bytes;
  };

  void describe_messages(const CollMoves& moves, const CollPlace& place);
  void describe_parts(const CollMoves& moves, const CollPlace& place);
  std::vector<std::byte> block_of(const Stretch& stretch) const;
  Outcome compare(Transport& transport, const Stretch& stretch) const;
  void fill(Transport& transport, const Area& area, std::byte value) const;

  Pattern pattern_;
  std::int64_t element_;  ///< bytes
  std::int64_t arriving_ = 0;
  std::vector<Stretch> given_, expected_;
  std::vector<Area> arrivals_;  ///< where data is to arrive and none is given
  std::vector<Area> all_;
};

}  // namespace dlnb
