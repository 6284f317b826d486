// SPDX-License-Identifier: Apache-2.0
// A rank of a oneCCL world on the host's processors, over libfabric.
#include <dlfcn.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <oneapi/ccl.hpp>

#include "executor/live/module.hpp"
#include "executor/live/modules/oneccl/calls.hpp"
#include "executor/live/modules/oneccl/keys.hpp"
#include "executor/live/modules/oneccl/log.hpp"
#include "executor/live/modules/oneccl/settings.hpp"
#include "executor/live/modules/oneccl/sums.hpp"
#include "executor/live/store.hpp"

namespace dlnb::oneccl {
namespace {

/// Calls into oneCCL; what it throws comes out as std::runtime_error, as a transport's failures do.
template <class Call>
decltype(auto) guarded(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const ccl::exception& failure) {
    throw std::runtime_error(failure.what());  // "oneCCL: …"
  }
}

const char* word_of(DataType type) {
  switch (type) {
    case DataType::float32: return "float32";
    case DataType::float16: return "float16 on this processor";
    case DataType::bfloat16: return "bfloat16";
    case DataType::float8: return "float8";
  }
  return "?";
}

/// With DLNETBENCH_ONECCL_SUMS=own, sums in float16 and bfloat16 are ours, as on processors for which oneCCL has none.
bool own_sums() {
  const char* const wish = std::getenv("DLNETBENCH_ONECCL_SUMS");
  return wish && std::string_view(wish) == "own";
}

class OneCclTransport final : public Transport {
 public:
  explicit OneCclTransport(const ModuleOptions& options) : options_(options), store_(options.store) {
    set_environment(options_, store_);
    guarded([] { ccl::init(); });
    log_.speak();
    // The first communicator opens the network for all that follow, so it has to be everybody's.
    std::vector<int> all(std::size_t(options_.size));
    std::iota(all.begin(), all.end(), 0);
    world_ = make_communicator(all);
    // oneCCL unloads libfabric at its end, and a leak checker no longer knows whose memory is left of what that loaded.
    dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    sums_.emplace(own_sums());
  }

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  std::string library() const override {
    const ccl::library_version version = ccl::get_library_version();
    return "oneCCL " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
           std::to_string(version.update);
  }
  bool reduces_in_place() const override { return false; }
  bool works_in_place(OperationKind kind) const override { return !is_message(kind); }
  bool takes_uneven_parts() const override { return true; }
  bool takes_tags() const override { return false; }
  std::string lacks(OperationKind kind, DataType dtype, std::int64_t) const override {
    if (kind != OperationKind::reduce_scatter || !sums_->is_ours(dtype)) return {};
    return library() + " adds up no " + word_of(dtype) + " in a reduce-scatter";
  }

  int communicator(std::span<const int> members) override {
    if (world_ && std::ssize(members) == options_.size) ends_.push_back(*std::exchange(world_, std::nullopt));
    else ends_.push_back(make_communicator(members));
    return int(ends_.size()) - 1;
  }

  void share_cores() override {
    shares_cores_ = true;
    prctl(PR_SET_TIMERSLACK, 1UL);  // of this thread, which is the one that waits: naps as short as asked for
  }

  void reserve(int slots) override { slots_.resize(std::size_t(slots) + 1); }

  void start(int slot, const Transfer& transfer) override {
    if (transfer.tag != 0) throw std::runtime_error("oneCCL: messages carry no tags");
    const End& end = ends_[std::size_t(transfer.communicator)];
    const auto alone = lock();
    slots_[std::size_t(slot)] =
        guarded([&] { return oneccl::start(transfer, end.communicator, end.members, *sums_); });
  }

  // oneCCL moves all that is under way, whichever is asked about.
  bool test(int slot) override {
    ccl::event& event = slots_[std::size_t(slot)];
    const auto alone = lock();
    if (!guarded([&] { return event.test(); })) return false;
    event = ccl::event();
    return true;
  }

  void wait(int slot) override {
    // A rank that only yields stays ready to run and takes its turns from ranks whose sleep is over.
    for (int looks = 1; !test(slot); ++looks)
      if (shares_cores_) looks < yields_before_naps ? void(sched_yield()) : nap();
  }

  void run(const Transfer& transfer) override {
    if (slots_.empty()) reserve(0);
    const int spare = int(slots_.size()) - 1;  // reserve() made one more than was asked for
    start(spare, transfer);
    wait(spare);
  }

  // A rank that hangs inside oneCCL cannot be reached through it. Whoever started the ranks ends a world of which one
  // process has failed, and hands its exit code on.
  void abort(int code, const std::string& why) override {
    const std::string line = why.empty() ? why : "error: " + why + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(code);
    _exit(code);
  }

 private:
  struct End {
    ccl::communicator communicator;
    std::int64_t members;
  };
  static constexpr int yields_before_naps = 5;
  static void nap() {
    constexpr timespec time{0, 30'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }

  End make_communicator(std::span<const int> members) {
    std::string names;
    for (const int member : members) names += " " + std::to_string(member);
    const int nth = made_[names]++;  // alike at all members
    // A key names a file, which a list of thousands would not fit.
    const std::string prefix =
        "oneccl." + std::to_string(std::hash<std::string>{}(names)) + "." + std::to_string(nth) + ".";
    const auto own = std::ranges::find(members, options_.rank) - members.begin();
    auto keys = std::make_shared<Keys>(store_, prefix);
    return guarded([&] {
      return End{ccl::create_communicator(int(members.size()), int(own), std::move(keys)),
                 std::int64_t(members.size())};
    });
  }

  std::unique_lock<std::mutex> lock() {
    return options_.second_thread ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }

  const ModuleOptions options_;
  const Store store_;
  Log log_;
  bool shares_cores_ = false;
  std::optional<Sums> sums_;
  std::map<std::string, int> made_;  // communicators by their members
  std::optional<End> world_;         // until it is asked for
  std::vector<End> ends_;
  std::vector<ccl::event> slots_;
  std::mutex mutex_;  // oneCCL, where a helper thread tests
};

}  // namespace
}  // namespace dlnb::oneccl

extern "C" __attribute__((visibility("default"))) const char* dlnb_module_stamp() {
  return dlnb::interface_stamp;
}

extern "C" __attribute__((visibility("default"))) dlnb::Transport* dlnb_open_transport(
    const dlnb::ModuleOptions& options) {
  return new dlnb::oneccl::OneCclTransport(options);
}
