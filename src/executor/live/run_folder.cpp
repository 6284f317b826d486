// SPDX-License-Identifier: Apache-2.0
#include "executor/live/run_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "executor/live/first_rank.hpp"
#include "executor/live/process.hpp"
#include "executor/live/recorder.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

constexpr const char *any_prefix = "dlnetbench-", *prefix = "dlnetbench-run-";

bool writable_folder(const fs::path& folder) {
  std::error_code failure;
  return fs::is_directory(folder, failure) && access(folder.c_str(), W_OK | X_OK) == 0;
}

/// Nobody else can have put something there or look into it.
bool ours_alone(const fs::path& folder) {
  struct stat status{};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 077) == 0;
}

bool all_have_ended(const fs::path& folder) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() != ".record") continue;
    const Mapping mapping = Mapping::open(entry.path());
    if (mapping.size() < sizeof(RecorderHead)) continue;
    const auto& head = *reinterpret_cast<const RecorderHead*>(mapping.data());
    if (head.space.data() != process_space()) return false;
    if (life_of(pid_t(head.process), head.process_start) != Life::ended) return false;
  }
  return !failure;
}

}  // namespace

fs::path folder_of_folders() {
  std::error_code failure;
  for (const fs::path& folder : {fs::path("/dev/shm"), fs::temp_directory_path(failure)})
    if (!folder.empty() && writable_folder(folder)) return folder;
  return {};
}

fs::path recorder_folder(const std::string& asked, std::uint64_t run) {
  if (!asked.empty()) {
    if (!writable_folder(asked))
      throw UserError("--recorder", fmt::format("{} is no folder that can be written to", in_quotes(asked)),
                      "make it first, where all ranks reach it");
    return asked;
  }
  const fs::path above = folder_of_folders();
  if (above.empty()) return {};
  const fs::path folder = above / fmt::format("{}{:016x}", prefix, run);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return {};
  return ours_alone(folder) ? folder : fs::path();
}

void sweep_left_folders() {
  std::error_code failure;
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::directory_iterator(folder_of_folders(), failure)) {
    std::error_code ignored;
    const fs::path& folder = entry.path();
    const std::string name = folder.filename().string();
    if (!name.starts_with(any_prefix) || !ours_alone(folder)) continue;
    const bool started = name.starts_with(prefix);  // by somebody else's launcher, one rank after the other
    if (started ? fs::last_write_time(folder, ignored) < old : owner_has_ended(folder))
      if (all_have_ended(folder)) fs::remove_all(folder, ignored);
  }
}

}  // namespace dlnb
