// SPDX-License-Identifier: Apache-2.0
// A rank of an MPI world. Built once per MPI library into a module of its own.
#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "executor/live/module.hpp"
#include "executor/live/modules/mpi/calls.hpp"
#include "executor/live/modules/mpi/device_memory.hpp"
#include "executor/live/modules/mpi/types.hpp"

namespace dlnb::mpi {
namespace {

/// "Open MPI 4.1.4", "MPICH 4.0.2"
std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  check(MPI_Get_library_version(text, &length));
  std::string version(text, std::size_t(length));
  version.resize(std::min(version.find_first_of(",\n"), version.size()));
  // "Open MPI v4.1.4" and "MPICH Version:\t4.0.2"
  const std::size_t number = version.find_last_of(" \tv") + 1;
  return (version.starts_with("MPICH")      ? "MPICH "
          : version.starts_with("Open MPI") ? "Open MPI "
                                            : "") +
         (number < version.size() ? version.substr(number) : version);
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const ModuleOptions& options) : options_(options) {
    int initialised = 0, given = 0;
    check(MPI_Initialized(&initialised));
    if (initialised) throw std::runtime_error("MPI: a process can join one world only");
    const int wanted = options.second_thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
    check(MPI_Init_thread(nullptr, nullptr, wanted, &given));
    if (given < wanted) throw std::runtime_error("MPI: this library was built without MPI_THREAD_MULTIPLE");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_));
    types_ = std::make_unique<Types>();
  }

  ~MpiTransport() override {
    for (End& end : ends_) MPI_Comm_free(&end.communicator);
    types_.reset();
    leave_together();
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library() const override { return library_version(); }
  // Given two buffers, MPICH copies one to the other inside the call that starts the operation. Given one,
  // Open MPI 4.1 does so, and leaves its ring algorithm for one that sends log2(n) times the data.
  bool reduces_in_place() const override { return library_version().starts_with("MPICH"); }
  bool works_in_place(OperationKind kind) const override { return !is_message(kind); }
  int shard_in_place(int) const override { return 0; }
  bool takes_uneven_parts() const override { return true; }
  bool adds_up_itself(DataType dtype, std::int64_t elements) const override {
    return dtype == DataType::float32 && elements <= largest_sum(options_.largest_count);
  }
  MemoryAnswer takes_memory_of(std::string_view runtime) const override {
    return mpi::takes_memory_of(runtime);
  }

  int communicator(std::span<const int> members) override {
    MPI_Group world, group;
    MPI_Comm made;
    check(MPI_Comm_group(MPI_COMM_WORLD, &world));
    check(MPI_Group_incl(world, int(members.size()), members.data(), &group));
    check(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &made));
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    check(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
    ends_.push_back({made, int(members.size())});
    return int(ends_.size()) - 1;
  }

  // MPICH has no option for it; Open MPI's launcher is given mpi_yield_when_idle.
  void share_cores() override {
    yields_ = library_version().starts_with("MPICH");
    prctl(PR_SET_TIMERSLACK, 1UL);  // of this thread, which is the one that waits: naps as short as asked for
  }

  void reserve(int slots) override { slots_.resize(std::size_t(slots) + 1); }

  void start(int slot, const Transfer& transfer) override {
    Slot& place = slots_[std::size_t(slot)];
    place.count =
        mpi::start(call(transfer, place.parts), *types_, options_.largest_count, place.requests.data());
  }

  bool test(int slot) override {
    Slot& place = slots_[std::size_t(slot)];
    int complete = 0;
    check(MPI_Testall(place.count, place.requests.data(), &complete, MPI_STATUSES_IGNORE));
    return complete != 0;
  }

  void wait(int slot) override {
    if (yields_) {
      // A rank that only yields stays ready to run and takes its turns from ranks whose sleep is over.
      for (int looks = 1; !test(slot); ++looks) looks < yields_before_naps ? void(sched_yield()) : nap();
      return;
    }
    Slot& place = slots_[std::size_t(slot)];
    check(MPI_Waitall(place.count, place.requests.data(), MPI_STATUSES_IGNORE));
  }

  void run(const Transfer& transfer) override {
    if (naps()) return run_with_naps(transfer);
    std::atomic<std::uint32_t> begun = 0;
    mpi::run(call(transfer, parts()), *types_, options_.largest_count, {1, begun});
  }

  void repeat(const Transfer& transfer, int times, std::atomic<std::uint32_t>& begun) override {
    if (naps()) return Transport::repeat(transfer, times, begun);
    mpi::run(call(transfer, parts()), *types_, options_.largest_count, {times, begun});
  }

  // A rank that hangs inside MPI cannot be reached through MPI. Launchers end a world of which one process
  // has ended without MPI_Finalize, and hand its exit code on.
  void abort(int code, const std::string& why) override {
    const std::string line = why.empty() ? why : "error: " + why + "\n";
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(code);
    _exit(code);
  }

 private:
  struct End {
    MPI_Comm communicator;
    int members;
  };
  bool naps() const { return yields_ && !slots_.empty(); }
  void run_with_naps(const Transfer& transfer) {
    const int spare = int(slots_.size()) - 1;  // reserve() made one more than was asked for
    start(spare, transfer);
    wait(spare);
  }
  static constexpr int yields_before_naps = 5;
  static void nap() {
    constexpr timespec time{0, 30'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }

  // MPICH 4.0 over UCX 1.13's TCP: MPI_Finalize flushes every connection, which the other end must answer, then waits
  // for the others without answering any more; a rank that comes later than that waits for ever. Where all have left
  // the barrier before the first one finalises, every rank has asked (on a connection that keeps order) before it
  // answers, so nobody stops before it has answered all.
  void leave_together() const {
    if (!library_version().starts_with("MPICH")) return;
    MPI_Comm here;
    int size_here = 0;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS)
      return;
    MPI_Comm_size(here, &size_here);
    MPI_Comm_free(&here);
    if (size_here == size_) return;  // over shared memory
    MPI_Barrier(MPI_COMM_WORLD);
    constexpr timespec all_have_left{0, 300'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &all_have_left, nullptr);
  }

  struct Slot {
    std::array<MPI_Request, most_requests> requests;
    int count = 0;
    Parts parts;
  };

  /// Of the blocking transfer under way in this thread.
  Parts& parts() {
    if (!options_.second_thread) return parts_;
    thread_local Parts own;
    return own;
  }

  Call call(const Transfer& transfer, Parts& parts) const {
    const End& end = ends_[std::size_t(transfer.communicator)];
    return {transfer, end.communicator, end.members, parts};
  }

  const ModuleOptions options_;
  int rank_ = 0, size_ = 1;
  bool yields_ = false;
  std::unique_ptr<Types> types_;
  std::vector<End> ends_;
  std::vector<Slot> slots_;
  Parts parts_;
};

}  // namespace
}  // namespace dlnb::mpi

extern "C" __attribute__((visibility("default"))) const char* dlnb_module_stamp() {
  return dlnb::interface_stamp;
}

extern "C" __attribute__((visibility("default"))) dlnb::Transport* dlnb_open_transport(
    const dlnb::ModuleOptions& options) {
  return new dlnb::mpi::MpiTransport(options);
}
