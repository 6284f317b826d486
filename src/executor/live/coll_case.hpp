// SPDX-License-Identifier: Apache-2.0
// One row of the benchmark's table before it is measured: what a member does once, and in which memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <dlnb/coll.hpp>

#include "executor/live/transport.hpp"

namespace dlnb {

struct CollCase {
  CollOperation operation = CollOperation::all_reduce;
  DataType dtype = DataType::float32;
  bool in_place = false;
  CollShape shape;
};

/// "all-reduce of 1024 bytes of bfloat16 in place"
std::string describe(const CollCase& row);

/// The rows of groups of so many members, in the table's order: operation, type, size, out of place before in place.
/// A barrier has one. What the library lacks is left out and told in `notes`.
/// Throws Unavailable where nothing is left.
std::vector<CollCase> coll_cases(const CollSpec& spec, std::int64_t members, const Transport& transport,
                                 std::vector<std::string>& notes);

/// Where a rank is in its group.
struct CollPlace {
  int communicator = 0;
  int group = 0;
  std::int64_t member = 0;
  std::int64_t members = 1;
};

/// The world's ranks of this rank's group, ascending, and its place among them (without communicator).
std::vector<int> group_of(const CollSpec& spec, int rank, CollPlace& place);

/// Bytes of memory for a row.
struct CollMemory {
  std::int64_t send = 0, receive = 0;
  std::int64_t reduced = 0;  ///< libraries keep about one more copy of what they add up

  void grow_to(const CollMemory& other);
};
CollMemory memory_of(const CollCase& row, const CollSpec& spec, const CollPlace& place);

/// What a member does once. Its transfers point into it and into the memory.
struct CollMoves {
  enum class Form : std::uint8_t {
    one,      ///< `first`
    at_once,  ///< `first` and `second`, both started before either is waited for
    in_turn,  ///< `first`, then `second`
  };

  CollMoves() = default;
  CollMoves(CollMoves&&) = default;
  CollMoves(const CollMoves&) = delete;  // the transfers point into the parts
  CollMoves& operator=(const CollMoves&) = delete;

  Form form = Form::one;
  Transfer first, second;
  /// At the end of all iterations: the other side's word that everything has arrived.
  std::optional<Transfer> closing;
  double share = 1;  ///< of the time of an iteration that counts as the operation's
  std::vector<std::int64_t> parts_sent, parts_received;

  int slots() const { return form == Form::at_once ? 2 : 1; }
};
CollMoves moves_of(const CollCase& row, const CollSpec& spec, const CollPlace& place,
                   const Transport& transport, std::byte* send, std::byte* receive);

inline void carry_out(Transport& transport, const CollMoves& moves) {
  switch (moves.form) {
    case CollMoves::Form::one: transport.run(moves.first); break;
    case CollMoves::Form::at_once:
      transport.start(0, moves.first);
      transport.start(1, moves.second);
      transport.wait(0);
      transport.wait(1);
      break;
    case CollMoves::Form::in_turn:
      transport.run(moves.first);
      transport.run(moves.second);
      break;
  }
}

}  // namespace dlnb
