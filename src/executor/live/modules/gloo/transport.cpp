// SPDX-License-Identifier: Apache-2.0
// A rank of a world over gloo, the library that PyTorch uses on hosts. A thread of gloo's moves the data, whether or not
// the rank calls it.
#include <gloo/config.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "executor/live/module.hpp"
#include "executor/live/modules/gloo/communicator.hpp"
#include "executor/live/modules/gloo/messages.hpp"
#include "executor/live/modules/gloo/rendezvous.hpp"

namespace dlnb::over_gloo {
namespace {

/// gloo writes to sockets that a lost rank may have closed: that is to fail there, and not to end the process.
class BrokenPipesFail {
 public:
  BrokenPipesFail() { before_ = std::signal(SIGPIPE, SIG_IGN); }
  ~BrokenPipesFail() { std::signal(SIGPIPE, before_); }
  BrokenPipesFail(const BrokenPipesFail&) = delete;
  BrokenPipesFail& operator=(const BrokenPipesFail&) = delete;

 private:
  void (*before_)(int);
};

class GlooTransport final : public Transport {
 public:
  explicit GlooTransport(const ModuleOptions& options)
      : rank_(options.rank), size_(options.size), rendezvous_(options) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library() const override {
    return "gloo " + std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) + "." +
           std::to_string(GLOO_VERSION_PATCH) + " over TCP, " + name_of(all_reduce_) +
           " all-reduce, own reduce-scatter";
  }
  // Given two buffers, it copies one to the other first.
  bool reduces_in_place() const override { return true; }
  bool works_in_place(OperationKind kind) const override {
    return !is_message(kind) && kind != OperationKind::all_to_all;
  }
  bool takes_uneven_parts() const override { return true; }

  int communicator(std::span<const int> members) override {
    communicators_.push_back(std::make_unique<Communicator>(rendezvous_.connect(members), all_reduce_));
    return int(communicators_.size()) - 1;
  }

  void share_cores() override { rendezvous_.share_cores(); }

  void reserve(int slots) override {
    while (slots_.size() < std::size_t(slots)) slots_.emplace_back();
  }

  void start(int slot, const Transfer& transfer) override {
    Slot& place = slots_[std::size_t(slot)];
    Communicator& communicator = *communicators_[std::size_t(transfer.communicator)];
    if (is_message(transfer.kind)) {
      place.message.post(communicator.context(), transfer);
      place.unwatched_message = true;
    } else {
      place.unwatched_message = false;
      communicator.start(transfer, place.completion);
    }
  }

  bool test(int slot) override {
    Slot& place = slots_[std::size_t(slot)];
    if (place.unwatched_message) {
      watchers_.watch(place.message, place.completion);
      place.unwatched_message = false;
    }
    if (!place.completion.is_there()) return false;
    place.completion.settle();
    return true;
  }

  void wait(int slot) override {
    Slot& place = slots_[std::size_t(slot)];
    place.unwatched_message ? place.message.wait() : place.completion.settle();
  }

  void run(const Transfer& transfer) override {
    Communicator& communicator = *communicators_[std::size_t(transfer.communicator)];
    if (!is_message(transfer.kind)) return communicator.run(transfer);
    Message message;
    message.post(communicator.context(), transfer);
    message.wait();
  }

  // Nothing connects the other ranks' waits with this one's end but their connections, which break with the process,
  // and whoever started the ranks and ends the others.
  void abort(int code, const std::string& why) override {
    const std::string line = why.empty() ? why : "error: " + why + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(code);
    _exit(code);
  }

 private:
  struct Slot {
    Message message;
    bool unwatched_message = false;  // nobody waits for it yet
    Completion completion;           // of collectives and watched messages
  };

  const int rank_, size_;
  const AllReduceAlgorithm all_reduce_ = all_reduce_algorithm();
  const BrokenPipesFail broken_pipes_fail_;
  Rendezvous rendezvous_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::deque<Slot> slots_;
  Watchers watchers_;
};

}  // namespace
}  // namespace dlnb::over_gloo

extern "C" __attribute__((visibility("default"))) const char* dlnb_module_stamp() {
  return dlnb::interface_stamp;
}

extern "C" __attribute__((visibility("default"))) dlnb::Transport* dlnb_open_transport(
    const dlnb::ModuleOptions& options) {
  static std::atomic<bool> joined = false;
  if (joined.exchange(true)) throw std::runtime_error("gloo: a process can join one world only");
  return new dlnb::over_gloo::GlooTransport(options);
}
