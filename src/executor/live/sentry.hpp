// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <dlnb/error.hpp>
#include <dlnb/units.hpp>

#include "executor/live/inquiry.hpp"
#include "executor/live/rank_options.hpp"
#include "executor/live/recorder.hpp"
#include "executor/live/transport.hpp"
#include "executor/live/watchdog.hpp"

namespace dlnb {

/// A rank's flight recorder and watchdog, and what the rank does when others are lost.
///
/// A rank whose wait exceeds the limit marks its distress in its recorder and gives the others a moment to do the same.
/// Then the lowest rank in distress reads all recorders, says who is missing, and the world is ended.
class Sentry {
 public:
  struct Job {
    Inquiry inquiry;
    const RankOptions& options;
    std::string recorder;  ///< the folder asked for
    Seconds watchdog;
    bool forever = false;             ///< a signal may leave it in the middle of an iteration
    std::uint64_t run = 0;            ///< the same number on all ranks
    std::int64_t ranks_per_host = 1;  ///< at most
    std::int64_t iterations = 0;      ///< whose intervals are kept, where that is known
  };

  /// `operations` of an iteration have an interval each in the record.
  Sentry(Job job, Transport& transport, std::size_t operations);
  ~Sentry();

  Recorder& recorder() { return *recorder_; }
  /// Of all recorders of this host; empty: there is none that others can read.
  const std::filesystem::path& folder() const { return folder_; }
  Watchdog& watchdog() { return *watchdog_; }
  /// Why others cannot look; empty where they can.
  const std::string& hidden() const { return hidden_; }
  /// This rank has failed, and it is not the others who are missing.
  void give_up();
  /// What `body` gives; gives up where it fails otherwise than by an Error, on which all ranks agree.
  template <class Body>
  auto guard(Body body) {
    try {
      return body();
    } catch (const Error&) {
      throw;
    } catch (...) {
      give_up();
      throw;
    }
  }

 private:
  void lost(double waited);
  bool look();
  void report_first_to_end();
  void leave_in_the_middle();
  void leave_at_once();
  /// Whether this rank is the lowest for which `candidate` holds; else returns when that one has reported, or is not
  /// going to.
  template <class Candidate>
  bool is_to_report(double grace, Candidate candidate);
  void report(const Diagnosis& diagnosis);
  void let_reporter_end();
  void end_world(int code, const std::string& why);
  std::vector<Record> records() const;
  bool over() const { return job_.options.over && job_.options.over->load(); }
  bool reports_itself() const { return job_.options.folder.empty(); }
  /// Of ranks that are threads one does what the starting process does for others.
  bool ends_threads() const { return job_.options.ranks_are_threads && transport_.rank() == 0; }

  const Job job_;
  Transport& transport_;
  std::filesystem::path folder_;
  std::string hidden_;
  std::unique_ptr<Recorder> recorder_;
  std::atomic<bool> lost_ = false;      // by the rank or by the watchdog, whose thread is another
  std::int64_t signal_seen_ = 0;        // monotonic clock
  std::unique_ptr<Watchdog> watchdog_;  // last: its thread looks at the rest
};

}  // namespace dlnb
