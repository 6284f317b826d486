// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of a backend as processes: through the launcher of its library, or one by one. What we start is a
// child of ours without a shell between, in a process group of its own, so that a terminal's Ctrl-C reaches us alone
// and the ranks can finish their iteration; it is told to end should we die first.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/log.hpp"
#include "core/process.hpp"
#include "executor/live/arrival.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/coll.hpp"
#include "executor/live/coll_salvage.hpp"
#include "executor/live/compute.hpp"
#include "executor/live/diagnosis.hpp"
#include "executor/live/fault.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/host_blocks.hpp"
#include "executor/live/inquiry.hpp"
#include "executor/live/live.hpp"
#include "executor/live/outstanding.hpp"
#include "executor/live/programs.hpp"
#include "executor/live/rank_watch.hpp"
#include "executor/live/recorder.hpp"
#include "executor/live/run_folder.hpp"
#include "executor/live/salvage.hpp"
#include "executor/live/surroundings.hpp"
#include "executor/live/testbed.hpp"

namespace dlnb {
namespace {

/// A command, and what is added to our environment for it.
struct Child {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string name = "the launcher";
  pid_t id = -1;
  bool ended = false;
};

/// As a command for `agent`, which hands one line to a shell, as rsh and ssh do; they do not hand on an environment.
std::vector<std::string> through_agent(const std::string& agent, const std::string& host,
                                       const Child& child) {
  const std::string program = program_in_path({agent});
  if (program.empty())
    throw UserError("--agent", fmt::format("there is no program {}", in_quotes(agent)),
                    "for example --agent ssh");
  std::string line = "cd " + shell_word(std::filesystem::current_path().string()) + " && exec env";
  for (const auto& [name, value] : child.environment) line += " " + shell_word(name + "=" + value);
  for (const std::string& word : child.command) line += " " + shell_word(word);
  return {program, host, line};
}

/// One child for every rank.
std::vector<Child> ranks_of(const LaunchRequest& request, const Child& common) {
  std::vector<std::string> host_of;
  const std::vector<std::int64_t> blocks = host_blocks(request.ranks, request.hosts.size());
  for (std::size_t host = 0; host < blocks.size(); ++host)
    host_of.insert(host_of.end(), std::size_t(blocks[host]), request.hosts[host]);
  std::vector<Child> children;
  for (std::int64_t rank = 0; rank < request.ranks; ++rank) {
    Child child = common;
    child.environment.emplace_back(own_rank_variable, std::to_string(rank));
    child.environment.emplace_back(own_size_variable, std::to_string(request.ranks));
    child.name = fmt::format("rank {}", rank);
    if (!host_of.empty()) {
      child.environment.emplace_back(own_host_variable, host_of[std::size_t(rank)]);
      child.name += " on " + host_of[std::size_t(rank)];
      child.command = through_agent(request.agent, host_of[std::size_t(rank)], child);
      child.environment.clear();
    }
    children.push_back(std::move(child));
  }
  return children;
}

/// The way of what a launcher writes to its stdout to ours. A launcher that cannot write there loses it silently, or ends
/// the ranks for it.
class Relay {
 public:
  Relay() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      throw Unavailable("run", fmt::format("no pipe: {}", std::strerror(errno)));
  }
  ~Relay() { finish(); }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int entrance() const { return ends_[1]; }
  /// Once the launcher has the entrance.
  void start() {
    thread_ = std::thread([this] { carry(); });
  }
  /// Once it has ended. What could not be written failed with this error; 0: nothing.
  int finish() {
    if (thread_.joinable()) over_ = true, thread_.join();
    for (int& end : ends_)
      if (end >= 0) close(std::exchange(end, -1));
    return error_;
  }

 private:
  void carry() {
    char part[4096];
    for (pollfd news{.fd = ends_[0], .events = POLLIN, .revents = 0};;) {
      constexpr int period = 50;  // ms
      const bool last = over_;
      if (poll(&news, 1, period) > 0) {
        const ssize_t size = read(ends_[0], part, sizeof part);
        if (size > 0) write_all({part, std::size_t(size)});
      } else if (last) {
        return;
      }
    }
  }
  void write_all(std::string_view text) {
    while (error_ == 0 && !text.empty()) {
      const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
      if (written >= 0) text.remove_prefix(std::size_t(written));
      else if (errno != EINTR && errno != EAGAIN) error_ = errno;
    }
  }

  int ends_[2] = {-1, -1};
  std::atomic<bool> over_ = false;
  int error_ = 0;
  std::thread thread_;
};

/// The launcher of a library, or the ranks themselves, until all of them have ended.
class Children {
 public:
  explicit Children(std::vector<Child> children) : children_(std::move(children)) {}
  ~Children() { signal(SIGKILL, true); }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// `output` is their stdout; -1: ours.
  void start(const sigset_t& mask, int output) {
    for (Child& child : children_)
      child.id = start_process(child.command, child.environment, mask, false, output);
  }
  /// Whether all have ended. Where one of several fails, the others are ended: nothing connects them but us.
  bool ended() {
    bool all = true;
    for (Child& child : children_) {
      int status = 0;
      if (!child.ended && waitpid(child.id, &status, WNOHANG) == child.id) {
        child.ended = true;
        if (status != 0) failed(child, status);
      }
      all = all && child.ended;
    }
    if (status_ == 0 || all || children_.size() == 1) return all;
    const auto waited = std::chrono::steady_clock::now() - failed_at_;
    if (ending_ == 0 && waited > grace) ending_ = 1, signal(SIGTERM, false);
    if (ending_ == 1 && waited > 2 * grace) ending_ = 2, signal(SIGKILL, true);
    return false;
  }
  /// Of the first that failed, as waitpid gives it; 0 where none has.
  int status() const { return status_; }
  /// Who that was.
  const std::string& first_failed() const { return first_failed_; }
  void signal(int number, bool whole_group) const {
    for (const Child& child : children_)
      if (child.id > 0 && !child.ended) kill(whole_group ? -child.id : child.id, number);
  }

 private:
  static constexpr std::chrono::milliseconds grace{1000};

  // The others fail because of the one that was killed, and may be seen before it.
  void failed(const Child& child, int status) {
    if (status_ == 0) failed_at_ = std::chrono::steady_clock::now();
    else if (ending_ > 0 || WIFSIGNALED(status_) || !WIFSIGNALED(status)) return;
    status_ = status, first_failed_ = child.name;
  }

  std::vector<Child> children_;
  int status_ = 0, ending_ = 0;
  std::string first_failed_;
  std::chrono::steady_clock::time_point failed_at_;
};

LaunchRequest request_of(const RunSpec& spec) {
  LaunchRequest request{spec.ranks, progress_mode(spec.progress) == ProgressMode::thread, spec.hosts,
                        spec.agent};
  if (spec.testbed.empty()) return request;
  const Testbed testbed = find_testbed(spec.testbed);
  request.hosts = testbed.hosts;
  request.agent = testbed.agent;
  return request;
}

struct Course {
  int asked = 0;   ///< signals to end
  int signal = 0;  ///< the first of them
  bool left_in_the_middle = false;
  double never_began =
      0;  ///< the seconds after which a world that had not come up was given up; 0: it came up
};

/// Until all children have ended.
Course wait_for(Children& children, RankWatch& watch, const HeldSignals& signals,
                const FirstRankFolder& folder, bool forever, bool sees_all, double start_limit) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds grace_of_launcher{5};
  const std::chrono::duration<double> patience(patience_after_signal);
  Course course;
  Clock::time_point asked_at, lost_at = Clock::time_point::max(), before = Clock::now();
  double waited = 0;
  while (!children.ended()) {
    const int signal = watch.wait(signals.held());
    const Clock::time_point now = Clock::now();
    // A look that took long was one of a process that did not run.
    waited += std::min(std::chrono::duration<double>(now - before).count(), 1.0);
    before = now;
    if (start_limit > 0 && course.never_began == 0 && waited > start_limit && !watch.has_begun() &&
        (sees_all || watch.has_seen_one())) {
      course.never_began = waited;
      return course;
    }
    if (lost_at == Clock::time_point::max() && !watch.first_to_end().empty()) lost_at = now;
    // It was to end the others.
    if (lost_at < now && now - lost_at > grace_of_launcher) children.signal(SIGKILL, true);
    if (forever && course.asked == 1 && !course.left_in_the_middle && now - asked_at > patience &&
        !watch.collecting()) {
      // The launcher sees its ranks end and clears up behind them.
      course.left_in_the_middle = true;
      watch.end_leftovers();
    }
    if (signal == 0 || signal == SIGCHLD) continue;
    // First politely: launchers hand SIGUSR1 on to the ranks, which end after their iteration.
    if (++course.asked == 1) {
      asked_at = now;
      course.signal = signal;
      folder.tell_signal(signal);
      log::info("ending as soon as all ranks can; once more ends at once");
    }
    children.signal(course.asked == 1 ? SIGUSR1 : course.asked == 2 ? SIGTERM : SIGKILL, course.asked > 2);
  }
  watch.look();
  return course;
}

/// A launcher is given the time to end its ranks; those that it has not are ended by who watches them.
void end(Children& children) {
  children.signal(SIGTERM, false);
  for (int looks = 0; looks < 20 && !children.ended(); ++looks) monotonic_clock().sleep(100'000'000);
  children.signal(SIGKILL, true);
}

/// What is done with the flight recorders of a run that did not end as it should.
struct Aftermath {
  const Inquiry& inquiry;
  std::filesystem::path folder;
  std::string store;

  int after_signal(int signal) const {
    return int(inquiry.keep_after_signal(records(), signal) ? Exit::success : Exit::wrong_result);
  }

  /// Throws LostRank where it is known who is missing.
  void after_loss(const RankWatch& watch, bool asked_to_end_at_once, const std::string& otherwise) const {
    std::optional<Diagnosis> diagnosis = left_diagnosis(folder);
    const bool ended = !diagnosis && !asked_to_end_at_once && !watch.first_to_end().empty();
    if (ended) {
      const std::vector<RankState> states = states_of(records(), inquiry.ranks);
      std::vector<std::int64_t> first = inquiry.waited_for(folder, states, watch.ended_then());
      if (first.empty()) first = watch.first_to_end();
      if (watch.has_begun()) diagnosis = inquiry.diagnose(folder, states, first);
      else diagnosis = Diagnosis{.text = ended_text(arrivals_in(store, inquiry.ranks), watch.ended_then())};
    }
    const bool known = diagnosis.has_value();
    if (!known) diagnosis = Diagnosis{.text = otherwise};
    keep_what_was_measured(inquiry, folder, *diagnosis);
    if (!known) return;
    throw LostRank(
        inquiry.name, diagnosis->text,
        ended ? "it crashed, or was killed from outside or for want of memory (the kernel's log tells)" : "");
  }

 private:
  std::vector<Record> records() const { return read_records(folder, inquiry.ranks, 0); }
};

/// `inquiry` null: nothing is kept of a run that is lost.
int launch(const RunSpec& spec, const std::vector<std::string>& command, const Inquiry* inquiry) {
  const std::string name = inquiry ? inquiry->name : "run";
  const Backend& backend = usable_backend(spec.backend);
  if (!backend.launcher)
    throw UserError("--backend", fmt::format("ranks of '{}' are threads and need no launcher", backend.name));
  LaunchRequest request = request_of(spec);
  // A thread beside the rank's may carry out collectives.
  const MemoryKind buffers = buffers_of(backend, spec.buffers);
  check_compute(spec.compute, backend, buffers);
  if (buffers != MemoryKind::host) request.second_thread = true;
  Launcher launcher = backend.launcher(request);
  const bool ranks_are_ours = launcher.command.empty();
  sweep_left_folders();
  // In memory, for the flight recorders; what ranks on other hosts are to reach is with the temporary files.
  const FirstRankFolder folder =
      request.hosts.empty() ? FirstRankFolder(folder_of_folders()) : FirstRankFolder();
  const std::filesystem::path records =
      spec.recorder.empty() ? folder.path() : recorder_folder(spec.recorder, 0);
  clear_records(records);
  Child child{std::move(launcher.command), std::move(launcher.environment)};
  child.command.insert(child.command.end(), command.begin(), command.end());
  child.environment.push_back(folder.variable());
  if (!ranks_are_ours && !spec.testbed.empty()) {
    // From here no way leads to its hosts.
    child.command = through_agent(request.agent, request.hosts[0], child);
    child.environment.clear();
  }
  Children children(ranks_are_ours ? ranks_of(request, child) : std::vector{std::move(child)});

  const HeldSignals signals;
  const std::string asked_store = store_folder();
  const std::string store = asked_store.empty() ? folder.store().string() : asked_store;
  RankWatch watch(records, store, spec.ranks);
  const double limit = start_limit(spec.watchdog).value;
  std::optional<Relay> relay;
  if (!ranks_are_ours) relay.emplace();
  children.start(signals.before(), relay ? relay->entrance() : -1);
  if (relay) relay->start();
  const Course course = wait_for(children, watch, signals, folder, spec.forever,
                                 ranks_are_ours || request.hosts.empty(), limit);
  if (course.never_began > 0) {
    const std::string missing = missing_text(arrivals_in(store, spec.ranks));
    end(children);
    watch.end_leftovers();
    throw LostRank(name,
                   fmt::format("the world of {} has not come up in {}: {}", counted(spec.ranks, "rank"),
                               to_text(Seconds{course.never_began}), missing),
                   "DLNETBENCH_START_LIMIT is the limit in seconds, for where ranks begin late");
  }
  watch.end_leftovers();
  // A reader that has gone away is no error.
  if (const int error = relay ? relay->finish() : 0; error != 0 && error != EPIPE && children.status() == 0)
    throw UserError("stdout", fmt::format("cannot be written: {}", std::strerror(error)),
                    "make room, or send it elsewhere");
  if (ranks_are_ours && !request.hosts.empty() && children.status() == 0 && course.asked == 0 &&
      !folder.look().begun)
    throw LostRank(
        name, "no rank has begun, and what was to start them reports success",
        "does the agent start commands, and does the other host reach this one's temporary folder?");
  if (!inquiry) {
    if (const auto diagnosis = left_diagnosis(records)) throw LostRank(name, diagnosis->text);
    return verdict(children.status(), folder.look(), course.asked, children.first_failed(), name);
  }

  const Aftermath aftermath{*inquiry, records, store};
  if (course.left_in_the_middle) return aftermath.after_signal(course.signal);
  int code = int(Exit::lost_rank);
  try {
    code = verdict(children.status(), folder.look(), course.asked, children.first_failed(), name);
  } catch (const LostRank& error) {
    aftermath.after_loss(watch, course.asked > 1, error.what());
    throw;
  }
  if (code == int(Exit::lost_rank)) aftermath.after_loss(watch, false, "a rank has ended the run");
  return code;
}

}  // namespace

int launch(const Schedule& schedule, const RunSpec& spec, const std::vector<std::string>& command,
           const OnPartial& on_partial) {
  fault_asked(schedule, false);  // what is wrong with it is said once
  const Inquiry inquiry = inquiry_of(schedule, spec, on_partial);
  return launch(spec, command, &inquiry);
}

int launch(const RunSpec& spec, const std::vector<std::string>& command) {
  return launch(spec, command, nullptr);
}

int launch(const CollSpec& spec, const std::vector<std::string>& command, const OnPartialTable& on_partial) {
  fault_asked(spec.ranks, false);
  RunSpec world;  // what of a run says how ranks are started
  world.backend = spec.backend;
  world.ranks = spec.ranks;
  world.hosts = spec.hosts;
  world.agent = spec.agent;
  world.testbed = spec.testbed;
  world.recorder = spec.recorder;
  world.buffers = spec.buffers;
  world.watchdog = spec.watchdog;
  world.progress = wants_second_thread(spec) ? spec.progress : "none";
  const Inquiry inquiry = inquiry_of(spec, on_partial);
  return launch(world, command, &inquiry);
}

}  // namespace dlnb
