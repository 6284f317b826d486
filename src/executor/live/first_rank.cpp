// SPDX-License-Identifier: Apache-2.0
#include "executor/live/first_rank.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <dlnb/error.hpp>

#include "executor/live/process.hpp"
#include "executor/live/salvage.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

constexpr const char *store_name = "store", *owner_name = "owner";

fs::path folder_told() {
  const char* const folder = std::getenv(launch_folder_variable);
  return folder ? folder : "";
}

fs::path folder_for_temporaries() {
  std::error_code failure;
  const fs::path folder = fs::temp_directory_path(failure);
  return failure ? fs::path() : folder;
}

void write_number(const fs::path& file, int number) { std::ofstream(file) << number << '\n'; }

std::optional<int> number_in(const fs::path& file) {
  std::ifstream stream(file);
  int number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

bool is_ours(int code) {
  return std::ranges::any_of(std::initializer_list<Exit>{Exit::success, Exit::user_error, Exit::unavailable,
                                                         Exit::wrong_result, Exit::lost_rank},
                             [&](Exit known) { return code == int(known); });
}

std::string said_of(int status, const std::string& who) {
  if (WIFSIGNALED(status)) return fmt::format("{} was ended by signal {}", who, WTERMSIG(status));
  return fmt::format("{} ended with {}", who, WEXITSTATUS(status));
}

}  // namespace

FirstRankFolder::FirstRankFolder() : FirstRankFolder(folder_for_temporaries()) {}

FirstRankFolder::FirstRankFolder(const fs::path& above) {
  std::error_code failure;
  std::string pattern = (above / "dlnetbench-XXXXXX").string();
  if (above.empty() || !mkdtemp(pattern.data())) return;
  folder_ = pattern;
  std::ofstream(folder_ / owner_name) << process_space() << '\n'
                                      << getpid() << ' ' << process_start(getpid()) << '\n';
  fs::create_directory(folder_ / store_name, failure);
}

bool owner_has_ended(const fs::path& folder) {
  std::ifstream file(folder / owner_name);
  std::string space;
  pid_t process = 0;
  std::uint64_t start = 0;
  return std::getline(file, space) && file >> process >> start && space == process_space() &&
         life_of(process, start) == Life::ended;
}

FirstRankFolder::~FirstRankFolder() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::pair<std::string, std::string> FirstRankFolder::variable() const {
  return {launch_folder_variable, folder_.string()};
}

void FirstRankFolder::tell_signal(int signal) const {
  if (!folder_.empty()) write_number(folder_ / "signal", signal);
}

fs::path FirstRankFolder::store() const { return folder_.empty() ? fs::path() : folder_ / store_name; }

FirstRank FirstRankFolder::look() const {
  std::error_code ignored;
  if (folder_.empty()) return {};
  return {fs::exists(folder_ / "begun", ignored), number_in(folder_ / "exit")};
}

void report_as_first_rank() {
  static fs::path folder;  // for the handler
  if (!folder.empty() || folder_told().empty()) return;
  folder = folder_told();
  write_number(folder / "begun", getpid());
  // Not atexit: only this one, of the GNU library, is given the exit code, whoever decides on it.
  on_exit(
      [](int code, void*) {
        if (number_in(folder / "begun") == getpid()) write_number(folder / "exit", code);
      },
      nullptr);
}

ForetoldExit::ForetoldExit(int code) {
  const fs::path folder = folder_told();
  if (folder.empty() || number_in(folder / "begun") != getpid()) return;
  file_ = folder / "exit";
  write_number(file_, code);
}

ForetoldExit::~ForetoldExit() {
  std::error_code ignored;
  if (!file_.empty()) fs::remove(file_, ignored);
}

bool started_by_us() { return !folder_told().empty(); }

fs::path folder_of_launch(const std::string& asked) {
  std::error_code failure;
  if (!fs::is_directory(folder_told(), failure)) return {};
  return asked.empty() ? folder_told() : fs::path(asked);
}

std::string store_folder() {
  if (const char* const asked = std::getenv("DLNETBENCH_STORE")) return asked;
  return folder_told().empty() ? std::string() : (folder_told() / store_name).string();
}

int signal_told() { return folder_told().empty() ? 0 : number_in(folder_told() / "signal").value_or(0); }

int verdict(int status, const FirstRank& first, int asked, const std::string& who,
            const std::string& command) {
  if (first.exit.value_or(0) != 0) return *first.exit;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // Whoever ends the world with this code has said why.
  if (code == int(Exit::lost_rank)) return code;
  // A launcher's code may also be the signal that ended a rank, so it is not taken for ours where the first rank was
  // going to say its own and did not.
  if (is_ours(code) && (first.exit || !first.begun)) return code;
  if (asked > 0 && !first.begun) throw LostRank(command, "ended by a signal before the ranks had begun");
  if (asked > 1) throw LostRank(command, ended_at_once);
  throw LostRank(command, fmt::format("a rank was lost: {}", said_of(status, who)),
                 "it crashed, or was killed from outside or for want of memory (the kernel's log tells)");
}

}  // namespace dlnb
