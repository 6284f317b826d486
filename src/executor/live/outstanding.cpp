// SPDX-License-Identifier: Apache-2.0
#include "executor/live/outstanding.hpp"

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

/// The rank's own thread does everything; `poll` is called while it computes, or never.
class OwnThread final : public Outstanding {
 public:
  OwnThread(Transport& transport, Clock& clock, int slots, bool polls)
      : Outstanding(transport, clock, slots), polls_(polls) {
    active_.reserve(std::size_t(slots));
  }

  void start(int slot, const Transfer& transfer) override {
    transport_.start(slot, transfer);
    completed_[std::size_t(slot)] = 0;
    active_.push_back(slot);
  }

  std::int64_t wait(int slot) override {
    if (completed_[std::size_t(slot)] == 0) {
      transport_.wait(slot);
      completed_[std::size_t(slot)] = clock_.now();
      std::erase(active_, slot);
    }
    return completed_[std::size_t(slot)];
  }

  bool wanted() const override { return polls_ && !active_.empty(); }

  // One look drives a library's engine for all transfers; a few more tell when which one was complete.
  void poll() override {
    constexpr int looks = 4;
    int incomplete = 0;
    for (std::size_t i = 0; i < active_.size() && incomplete < looks;) {
      const int slot = active_[i];
      if (transport_.test(slot)) {
        completed_[std::size_t(slot)] = clock_.now();
        active_.erase(active_.begin() + std::ptrdiff_t(i));
      } else {
        ++incomplete, ++i;
      }
    }
  }

  void drain() noexcept override {
    for (const int slot : active_) try {
        transport_.wait(slot);
      } catch (const std::exception&) {  // the failure that led here is already on its way
      }
    active_.clear();
  }

 private:
  const bool polls_;
  std::vector<int> active_;  // in the order started
};

/// A helper thread tests what the rank has started, and stops looking where there is nothing.
class HelperThread final : public Outstanding {
 public:
  HelperThread(Transport& transport, Clock& clock, int slots)
      : Outstanding(transport, clock, slots), states_(std::size_t(slots)), helper_([this] { help(); }) {}

  ~HelperThread() override {
    closing_ = true;
    started_.fetch_add(1);
    started_.notify_one();
    helper_.join();
  }

  void start(int slot, const Transfer& transfer) override {
    transport_.start(slot, transfer);
    states_[std::size_t(slot)].store(State::started, std::memory_order_release);
    active_.fetch_add(1);
    started_.fetch_add(1);
    started_.notify_one();
  }

  std::int64_t wait(int slot) override {
    auto& state = states_[std::size_t(slot)];
    waiting_.store(true, std::memory_order_relaxed);
    state.wait(State::started, std::memory_order_acquire);
    waiting_.store(false, std::memory_order_relaxed);
    if (state.load(std::memory_order_acquire) == State::failed) std::rethrow_exception(failure_);
    return completed_[std::size_t(slot)];
  }

  bool wanted() const override { return false; }
  void poll() override {}

  void drain() noexcept override {
    for (auto& state : states_) state.wait(State::started, std::memory_order_acquire);
  }

 private:
  enum class State : int { free, started, complete, failed };

  void help() {
    constexpr std::int64_t nap = 50'000;
    std::uint32_t seen = 0;
    while (!closing_) {
      if (active_.load() == 0) {
        started_.wait(seen);
        seen = started_.load();
        continue;
      }
      for (std::size_t slot = 0; slot < states_.size(); ++slot)
        if (states_[slot].load(std::memory_order_acquire) == State::started) look(slot);
      if (waiting_.load(std::memory_order_relaxed)) std::this_thread::yield();
      else clock_.sleep(nap);
    }
  }

  void look(std::size_t slot) {
    State outcome = State::complete;
    try {
      if (!transport_.test(int(slot))) return;
    } catch (const std::exception&) {
      failure_ = std::current_exception();
      outcome = State::failed;
    }
    completed_[slot] = clock_.now();
    active_.fetch_sub(1);
    states_[slot].store(outcome, std::memory_order_release);
    states_[slot].notify_one();
  }

  std::vector<std::atomic<State>> states_;
  std::atomic<int> active_ = 0;
  std::atomic<std::uint32_t> started_ = 0;
  std::atomic<bool> waiting_ = false, closing_ = false;
  std::exception_ptr failure_;
  std::thread helper_;  // last: it uses all of the above
};

}  // namespace

const char* name_of(ProgressMode mode) {
  switch (mode) {
    case ProgressMode::none: return "none";
    case ProgressMode::poll: return "poll";
    case ProgressMode::thread: return "thread";
  }
  return "?";
}

ProgressMode progress_mode(std::string_view word) {
  if (word == "auto" || word == "poll") return ProgressMode::poll;
  if (word == "thread") return ProgressMode::thread;
  if (word == "none") return ProgressMode::none;
  throw UserError("--progress", "nothing is called '" + std::string(word) + "'",
                  choose_one_of(word, {"auto", "none", "poll", "thread"}));
}

std::unique_ptr<Outstanding> make_outstanding(ProgressMode mode, Transport& transport, Clock& clock,
                                              int slots) {
  if (mode == ProgressMode::thread) return std::make_unique<HelperThread>(transport, clock, slots);
  return std::make_unique<OwnThread>(transport, clock, slots, mode == ProgressMode::poll);
}

}  // namespace dlnb
