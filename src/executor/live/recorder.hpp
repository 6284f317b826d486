// SPDX-License-Identifier: Apache-2.0
// The flight recorder: what a rank is doing and has measured, in a file mapped into its memory, so that both outlive
// the rank however it ends. Readers are other processes and may look at any time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <dlnb/trace.hpp>

#include "executor/live/clocks.hpp"
#include "executor/live/series.hpp"
#include "executor/live/watchdog.hpp"

namespace dlnb {

/// How far a rank has come, in the order in which it gets there.
enum class Stage : int { preparing, verifying, warming_up, starting, measuring, collecting, left };

/// The beginning of a recorder's file.
// Ordered by subject, not by size: there is one for each rank.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct RecorderHead {
  static constexpr std::uint64_t expected_magic = 0x31636572'626e6c64;  // "dlnbrec1"
  static constexpr std::size_t most_offsets = 16;

  std::atomic<std::uint64_t> magic = 0;  ///< written last
  std::uint64_t run = 0;                 ///< the same for all ranks of a run
  std::int64_t rank = 0, process = 0;
  std::uint64_t process_start = 0;  ///< as in /proc: numbers of processes are used again
  std::array<char, 128> host{};     ///< as in HostFacts
  std::array<char, 96> space{};     ///< of the process' number
  std::array<char, 128> library{};
  std::array<char, 2048> notes{};  ///< one a line

  alignas(64) Place place;  ///< the watchdog's
  std::atomic<int> stage{int(Stage::preparing)};
  std::atomic<std::int64_t> iteration = 0;  ///< under way; warm-up ones are negative

  alignas(64) std::atomic<std::int64_t> completed = 0;  ///< measured iterations
  std::int64_t operations = 0, capacity = 0;            ///< of the ring, in intervals and iterations
  bool cores_shared = false;
  double compute_error = 0;
  std::int64_t compute_error_ns = 0;
  std::array<Offset, most_offsets> offsets{};  ///< the latest; number n is at n % most_offsets
  std::atomic<std::int64_t> offset_count = 0;

  std::atomic<std::int64_t> distress = 0;  ///< monotonic clock when its wait exceeded the limit
  std::atomic<std::int64_t> waited = 0;    ///< ns, at that time
  std::atomic<int> reported = 0;           ///< it has said who is missing
  std::atomic<int> signal = 0;             ///< the first that asked it to end

  std::atomic<int> series_changing = 0;
  Series series;
};

/// A file, or memory of the process where `folder` is empty, mapped.
class Mapping {
 public:
  Mapping() = default;
  /// A new file of zeros whose space is really there. Throws Unavailable.
  static Mapping create(const std::filesystem::path& file, std::size_t bytes);
  /// Read only; empty where there is no such file.
  static Mapping open(const std::filesystem::path& file);
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The rank's side.
class Recorder {
 public:
  /// `folder` empty: nobody else can look. `iterations` are kept, or the latest that fit into `most_bytes`, one at
  /// least; fewer where there is no room. Throws Unavailable where there is none at all.
  Recorder(const std::filesystem::path& folder, std::uint64_t run, std::int64_t rank,
           const std::string& library, std::size_t operations, std::int64_t iterations,
           std::size_t most_bytes);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  RecorderHead& head() { return *head_; }
  void enter(Stage stage) { head_->stage.store(int(stage), std::memory_order_release); }
  void begin_iteration(std::int64_t iteration);
  void add_note(const std::string& note);
  void add_offset(const Offset& offset);
  /// Between iterations. `communication` of its time was not compute.
  void keep(std::int64_t begin, std::int64_t end, std::int64_t communication,
            std::span<const Interval> intervals);
  /// What the ring still has, in order.
  RankTrace kept() const;
  /// Takes the file away, and `with_folder` its folder where that is empty then.
  void remove(bool with_folder);

 private:
  std::filesystem::path file_;
  Mapping mapping_;
  RecorderHead* head_ = nullptr;
};

/// Anybody's side: one rank's file as it is now.
class Record {
 public:
  explicit Record(Mapping mapping) : mapping_(std::move(mapping)) {}

  /// Whether there is one, complete.
  bool whole() const;
  const RecorderHead& head() const { return *reinterpret_cast<const RecorderHead*>(mapping_.data()); }
  /// Iterations in the ring: [first, last).
  std::int64_t first() const;
  std::int64_t last() const { return head().completed.load(std::memory_order_acquire); }
  /// Iterations [begin, end) of the ring, on the rank's own clock.
  RankTrace iterations(std::int64_t begin, std::int64_t end) const;
  std::vector<Offset> offsets() const;

 private:
  Mapping mapping_;
};

std::filesystem::path record_file(const std::filesystem::path& folder, std::int64_t rank);
std::optional<Record> read_record(const std::filesystem::path& folder, std::int64_t rank, std::uint64_t run);
/// All there are in a folder of ranks 0 … ranks − 1, ascending; those of another run are left out (0: any).
std::vector<Record> read_records(const std::filesystem::path& folder, std::int64_t ranks, std::uint64_t run);

/// Removes the records and the diagnosis of an earlier run.
void clear_records(const std::filesystem::path& folder);

}  // namespace dlnb
