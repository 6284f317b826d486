// SPDX-License-Identifier: Apache-2.0
// What the process that starts a launcher and the first rank tell each other past the launcher, in a folder of their
// own: Hydra forgets how ranks ended once it has handed on a signal, and hands on another signal than it was asked to.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace dlnb {

/// The environment variable that tells the ranks where the folder is.
inline constexpr const char* launch_folder_variable = "DLNETBENCH_LAUNCH_FOLDER";

/// What the first rank has said of itself.
struct FirstRank {
  bool begun = false;
  std::optional<int> exit;  ///< its exit code; absent while it runs and where it was killed
};

/// The starting side; the folder is gone with it. Where none can be made, the first rank says nothing. It also
/// holds the store of ranks that no launcher connects.
class FirstRankFolder {
 public:
  FirstRankFolder();  ///< with the temporary files
  explicit FirstRankFolder(const std::filesystem::path& above);
  ~FirstRankFolder();
  FirstRankFolder(const FirstRankFolder&) = delete;
  FirstRankFolder& operator=(const FirstRankFolder&) = delete;

  /// Tells the ranks where the folder is.
  std::pair<std::string, std::string> variable() const;
  /// Tells which signal the ranks are going to be ended for.
  void tell_signal(int signal) const;
  FirstRank look() const;
  const std::filesystem::path& path() const { return folder_; }
  /// Empty where there is no folder.
  std::filesystem::path store() const;

 private:
  std::filesystem::path folder_;
};

/// Whether the process that made such a folder is known to have ended; false where it was on another host or in another
/// process namespace.
bool owner_has_ended(const std::filesystem::path& folder);

/// The first rank's side: says now that it has begun and, when the process exits, with which code. Does nothing where
/// no folder was named or it is on another host.
void report_as_first_rank();
/// Of the first rank that has reported so: its exit code should it be ended before this goes, where it cannot say it.
class ForetoldExit {
 public:
  explicit ForetoldExit(int code);
  ~ForetoldExit();
  ForetoldExit(const ForetoldExit&) = delete;
  ForetoldExit& operator=(const ForetoldExit&) = delete;

 private:
  std::filesystem::path file_;  ///< empty: this is not the first rank, or nobody wants to know
};
/// Whether a process of ours started this one.
bool started_by_us();
/// Where that process reads the flight recorders: `asked`, or its own folder. Empty: it cannot be reached from here,
/// because it is on another host.
std::filesystem::path folder_of_launch(const std::string& asked);
/// The folder of this run's store (store.hpp): DLNETBENCH_STORE, or what the starting process made; empty: neither.
std::string store_folder();
/// The signal this run is being ended for as the starting process got it; 0 where it told none.
int signal_told();

/// Our exit code, from the status of what was started (as waitpid gives it; `who` has it) and what the first rank said.
/// `asked` counts the signals to end. Throws LostRank where a rank ended without a word, of this command.
int verdict(int status, const FirstRank& first, int asked, const std::string& who = "the launcher",
            const std::string& command = "run");

}  // namespace dlnb
