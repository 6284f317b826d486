// SPDX-License-Identifier: Apache-2.0
// What the session adds to every operation, and `coll` to every iteration: both over a transport on which collectives
// take no time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

#include "executor/live/backend.hpp"
#include "executor/live/coll.hpp"
#include "executor/live/coll_timing.hpp"
#include "executor/live/session.hpp"

namespace {

using namespace dlnb;

/// Another transport, but what the program communicates is done at once; what ranks tell each other besides is not.
class Null final : public Transport {
 public:
  explicit Null(Transport& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string library() const override { return "null"; }
  bool reduces_in_place() const override { return true; }
  int communicator(std::span<const int> members) override { return inner_.communicator(members); }
  void reserve(int slots) override {
    is_null_.resize(std::size_t(slots));
    inner_.reserve(slots);
  }
  void start(int slot, const Transfer& transfer) override {
    is_null_[std::size_t(slot)] = !transfer.on_host;
    if (transfer.on_host) inner_.start(slot, transfer);
  }
  bool test(int slot) override { return is_null_[std::size_t(slot)] || inner_.test(slot); }
  void wait(int slot) override {
    if (!is_null_[std::size_t(slot)]) inner_.wait(slot);
  }
  void run(const Transfer& transfer) override {
    if (transfer.on_host || transfer.kind == OperationKind::barrier) inner_.run(transfer);
  }
  void abort(int code, const std::string& why) override { inner_.abort(code, why); }

 private:
  Transport& inner_;
  std::vector<char> is_null_;
};

constexpr std::int64_t operations = 1000;

Schedule schedule(bool blocking) {
  Schedule schedule;
  schedule.plan = "overhead";
  schedule.grid = ProcessGrid({{"data", 2}});
  std::vector<Operation> program;
  for (std::int64_t i = 0; i < operations; ++i) {
    Operation reduce;
    reduce.kind = OperationKind::all_reduce;
    reduce.dtype = DataType::float32;
    reduce.axes = 1;
    reduce.elements_sent = reduce.elements_received = 16;
    reduce.blocking = blocking;
    if (!blocking) reduce.handle = std::int32_t(i);
    program.push_back(reduce);
    if (blocking) continue;
    Operation wait;
    wait.kind = OperationKind::wait;
    wait.handle = std::int32_t(i);
    program.push_back(wait);
  }
  schedule.programs = {{.role = 0, .operations = std::move(program)}};
  return schedule;
}

template <class Body>
void with_null_transport(Body body) {
  usable_backend("threads").open({.ranks = 2}, [&](Transport& transport) {
    Null null(transport);
    body(null);
  });
}

/// Median over iterations and ranks, ns per operation of the program.
double session_overhead(bool blocking) {
  const Schedule program = schedule(blocking);
  RunSpec spec;
  spec.backend = "threads";
  spec.ranks = 2;
  spec.iterations = 200;
  spec.verify = false;
  std::mutex mutex;
  std::vector<double> times;
  with_null_transport([&](Transport& transport) {
    const auto trace = run_session(program, spec, transport, monotonic_clock());
    const std::lock_guard lock(mutex);
    if (!trace) return;
    for (const RankTrace& rank : trace->ranks)
      for (std::size_t i = 0; i < rank.iteration_begin.size(); ++i)
        times.push_back(double(rank.iteration_end[i] - rank.iteration_begin[i]) /
                        double(execution_order(program.programs[0]).size()));
  });
  std::ranges::nth_element(times, times.begin() + std::ptrdiff_t(times.size() / 2));
  return times[times.size() / 2];
}

double coll_overhead(bool series) {
  CollSpec spec;
  spec.backend = "threads";
  spec.ranks = 2;
  spec.min_size = spec.max_size = {64};
  spec.iterations = 100'000;
  spec.verify = false;
  spec.series = series;
  std::mutex mutex;
  double time = 0;
  with_null_transport([&](Transport& transport) {
    const auto table = run_coll_session(spec, transport, monotonic_clock());
    const std::lock_guard lock(mutex);
    if (table) time = table->rows.at(0).low * 1e9;
  });
  return time;
}

}  // namespace

int main() {
  fmt::print("{:<44} {:>8}\n", "", "ns");
  fmt::print("{:<44} {:>8.1f}\n", "session, blocking operation", session_overhead(true));
  fmt::print("{:<44} {:>8.1f}\n", "session, start or wait of a non-blocking one", session_overhead(false));
  fmt::print("{:<44} {:>8.1f}\n", "coll, iteration", coll_overhead(false));
  fmt::print("{:<44} {:>8.1f}\n", "coll, iteration of a series", coll_overhead(true));
}
