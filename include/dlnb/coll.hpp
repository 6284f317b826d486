// SPDX-License-Identifier: Apache-2.0
// The collective benchmark: what is asked for, what one operation of one size is, and the table that comes out of it,
// measured or simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <dlnb/document.hpp>
#include <dlnb/result.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

enum class CollOperation : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  all_to_all_v,  ///< uneven parts: `skew`
  broadcast,     ///< from member 0
  send_recv,     ///< `pattern` says between whom
  barrier,
};
inline constexpr int coll_operations = int(CollOperation::barrier) + 1;
/// "all-reduce", …
const char* name_of(CollOperation operation);

/// What a rank issues for it; send for send-recv, all-to-all for both kinds of that.
OperationKind kind_of(CollOperation operation);

/// ring: everybody sends to the next and receives from the previous member, at once. ping-pong: members 0 and 1, 2 and
/// 3, … send to and fro; the time is half of a round trip. one-way: the even member of such a pair sends only.
enum class MessagePattern : std::uint8_t { ring, ping_pong, one_way };
/// Whose buffers: different ones, one and the same, or each in turn.
enum class InPlace : std::uint8_t { no, yes, both };
/// Which ranks form a group: neighbours, or every G-th.
enum class Grouping : std::uint8_t { contiguous, strided };
/// Whose definitions of time and size; `definitions_of` states them.
enum class CollDefinitions : std::uint8_t { nccl_tests, osu };

const char* name_of(MessagePattern pattern);
const char* name_of(InPlace in_place);
const char* name_of(Grouping grouping);
const char* name_of(CollDefinitions definitions);

/// What the user asked for. `origin` keeps where every value came from.
struct CollSpec {
  std::vector<CollOperation> operations{CollOperation::all_reduce};
  Bytes min_size{1 << 10};
  Bytes max_size{64 << 20};
  std::int64_t factor = 2;
  Bytes step{0};  ///< above 0: sizes grow by addition, not by `factor`
  std::vector<DataType> dtypes{DataType::float32};
  InPlace in_place = InPlace::no;
  std::int64_t ranks = 0;
  std::int64_t groups = 1;  ///< that the ranks are split into, all at work at once
  Grouping grouping = Grouping::contiguous;
  MessagePattern pattern = MessagePattern::ring;
  double skew = 0.5;  ///< of all-to-all-v: member j gets a share ∝ 1 + skew · (2j/(n−1) − 1)
  bool overlap = false;
  bool series = false;
  CollDefinitions definitions = CollDefinitions::nccl_tests;

  std::string backend = "mpi";
  std::string buffers = "auto";  ///< as RunSpec's
  std::vector<std::string> hosts;
  std::string agent;
  std::string testbed;
  std::string progress = "auto";
  std::string machine;  ///< simulate it on this machine; empty: live
  std::string
      collective;  ///< simulated: forces an algorithm, or algorithm/protocol; empty: as the machine chooses
  int nodes = 0;   ///< how many nodes it has; 0: as its file says
  std::string placement = "linear";
  std::string devices;  ///< "0-3,8" instead of a placement
  std::int64_t seed = 1;
  Value noise;  ///< simulated: as RunSpec's
  int iterations = 20;
  int warmup = 5;
  Seconds watchdog{60};
  std::string recorder;  ///< folder of the flight recorders; empty: a private one on every host
  bool verify = true;

  Value origin;
};

/// The sizes from min_size to max_size.
std::vector<std::int64_t> sizes_of(const CollSpec& spec);

/// What one operation of a size moves, in elements per rank. n members; S is the size in elements.
struct CollShape {
  std::int64_t count = 0;  ///< nccl-tests' column: the vector, or the part of one member
  std::int64_t sent = 0, received = 0;
  std::int64_t bytes = 0;  ///< nccl-tests' size: the larger of what a rank sends and receives
  std::int64_t message =
      0;  ///< OSU's size: all-gather what one rank sends, all-to-all what it sends to one other
};
/// Of `size` bytes by `definitions`. Parts of one member are rounded down to 16 bytes, as nccl-tests does, and to whole
/// elements where that would leave nothing. Throws nothing; sizes are those of `sizes_of`, ranks ≥ 1.
CollShape shape_of(CollOperation operation, DataType dtype, std::int64_t size, std::int64_t ranks,
                   CollDefinitions definitions);

/// What every member of all-to-all-v sends to each: ∝ 1 + skew · (2j/(n−1) − 1), rounded so that they add up to
/// `elements`.
std::vector<std::int64_t> uneven_parts(std::int64_t elements, std::int64_t ranks, double skew);

/// Bus bandwidth = algorithm bandwidth · factor (nccl-tests, doc/PERFORMANCE.md): all-reduce 2(n−1)/n; all-gather,
/// reduce-scatter, all-to-all, all-to-all-v (n−1)/n; others 1.
double bus_factor(CollOperation operation, std::int64_t ranks);

/// Pure communication, then the same with compute of that length on top.
struct CollOverlap {
  double pure = 0;     ///< s: start and wait, mean over ranks
  double compute = 0;  ///< s: what was computed meanwhile, mean over ranks
  double overall = 0;  ///< s: start, compute and wait, mean over ranks
  double share = 0;    ///< OSU's: max(0, 1 − (overall − compute)/pure)
};

struct CollRow {
  CollOperation operation = CollOperation::all_reduce;
  std::int64_t ranks = 1;  ///< of one group
  DataType dtype = DataType::float32;
  bool in_place = false;
  CollShape shape;
  std::int64_t iterations = 0;
  double time = 0, low = 0, high = 0;  ///< s: mean, least and largest over ranks of a rank's mean
  double algorithm_bandwidth = 0;      ///< bytes/s
  double bus_bandwidth = 0;
  std::optional<std::int64_t> wrong;  ///< elements, over all ranks; absent where nothing was verified
  std::optional<CollOverlap> overlap;
  std::vector<double> series;  ///< s: the slowest rank of every iteration
};
/// Fills in both bandwidths from shape and time.
void set_bandwidths(CollRow& row);

/// What a column of the table means under these definitions.
struct CollDefinition {
  std::string_view column, meaning;
};
std::vector<CollDefinition> definitions_of(const CollSpec& spec);

/// Everything one benchmark has to say; its formats read only this.
struct CollTable {
  CollSpec spec;
  std::string executor;  ///< "mpi", "threads", …
  std::string library;
  std::vector<CollRow> rows;
  std::string wrong;       ///< the first wrong byte: rank, operation, offset; empty where all is right
  std::string stopped_by;  ///< live: "rows" where all were measured, a signal, or "lost_rank"
  std::vector<LostRankState> lost;  ///< ranks that others waited for in vain

  bool valid() const { return wrong.empty() && stopped_by != "lost_rank"; }
  std::vector<std::string> notes;
  Provenance provenance;
};

}  // namespace dlnb
