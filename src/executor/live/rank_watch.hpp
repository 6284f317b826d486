// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace dlnb {

/// Watches the ranks' processes from outside, by their flight recorders: launchers end all ranks when one has ended, and
/// some with the same signal, so that afterwards nothing tells which was the first.
class RankWatch {
 public:
  /// `store`: where ranks say how far they are before they have recorders.
  RankWatch(std::filesystem::path folder, std::string store, std::int64_t ranks);
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;
  RankWatch& operator=(const RankWatch&) = delete;

  /// Returns when a signal of `signals` is pending, a rank has ended, or a tenth of a second has passed; the signal or 0.
  int wait(const sigset_t& signals);
  /// Sees who has ended since. Once more when the launcher is gone: all may have ended between two looks.
  void look();

  /// The ranks that ended first without leaving as they should: seen in one look, so that any of them may be it.
  const std::vector<std::int64_t>& first_to_end() const { return first_; }
  /// Those and all others that did so within a moment, by themselves as far as is known: a process that a launcher ends
  /// because of the first may be gone earlier than the first.
  const std::vector<std::int64_t>& ended_then() const { return then_; }
  /// Whether the last iteration is over for one at least: the result is about to come.
  bool collecting() const;
  /// Whether the world has come up: the first recorder is made behind a collective of all ranks.
  bool has_begun() const;
  /// Whether a rank has been seen at all.
  bool has_seen_one() const { return !known_.empty(); }
  /// Ends what is still there of the ranks on this host.
  void end_leftovers() const;

 private:
  struct Rank {
    std::int64_t rank = 0;
    pid_t process = 0;
    std::uint64_t start = 0;
    int descriptor = -1;
    bool recorded = false;  ///< else it is on its way
  };
  void find_ranks();
  void find_ended();
  bool left_as_it_should(const Rank& rank) const;
  void note(const std::vector<std::int64_t>& lost, const std::vector<std::int64_t>& unasked);

  const std::filesystem::path folder_;
  const std::string store_;
  const std::int64_t ranks_;
  std::vector<Rank> known_;
  std::vector<std::int64_t> first_, then_;
  std::chrono::steady_clock::time_point first_at_;
  int signals_ = -1;
};

}  // namespace dlnb
