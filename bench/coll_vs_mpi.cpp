// SPDX-License-Identifier: Apache-2.0
// coll_vs_mpi_<library> [ranks] [rounds] [row...]: a bare MPI loop beside the loop of `coll`, in the same processes, on the
// same buffers, in turn; of all rows or of some, such as all-reduce:1024. Built once per MPI library. Where ranks outnumber
// cores both wait as the library itself does: our transport is not told to share cores, because it would then nap and the
// bare loop would not.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/backend.hpp"
#include "executor/live/coll_case.hpp"
#include "executor/live/coll_timing.hpp"
#include "executor/live/control.hpp"
#include "executor/live/live.hpp"

namespace {

using namespace dlnb;

/// Mean of a rank's times over all ranks, us, on rank 0.
double mean_over_ranks(const Control& control, double nanoseconds) {
  double sum = 0;
  for (const double time : control.gather_values(nanoseconds)) sum += time;
  return sum / double(control.transport().size()) * 1e-3;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(values.size() / 2));
  return values[values.size() / 2];
}

/// The two operations that bracket the others: a tree of small messages, and one message.
struct Compared {
  const char* name;
  CollOperation operation;
  void (*bare)(const void* send, void* receive, int elements, MPI_Comm communicator);
};
constexpr Compared compared[] = {
    {"all-reduce", CollOperation::all_reduce,
     [](const void* send, void* receive, int elements, MPI_Comm communicator) {
       MPI_Allreduce(send, receive, elements, MPI_FLOAT, MPI_SUM, communicator);
     }},
    {"broadcast", CollOperation::broadcast,
     [](const void*, void* receive, int elements, MPI_Comm communicator) {
       MPI_Bcast(receive, elements, MPI_FLOAT, 0, communicator);
     }},
};

class Comparison {
 public:
  Comparison(Transport& transport, int rounds) : transport_(transport), control_(transport), rounds_(rounds) {
    spec_.ranks = transport.size();
    place_.members = transport.size();
    std::vector<int> group = group_of(spec_, transport.rank(), place_);
    place_.communicator = transport.communicator(group);
    transport.reserve(2);
    MPI_Comm_dup(MPI_COMM_WORLD, &bare_);
  }
  ~Comparison() { MPI_Comm_free(&bare_); }

  void run(std::span<char* const> rows) {
    if (control_.first())
      fmt::print(
          "{}, {} ranks, float32; {} rounds of both in turn\n\n{:>11} {:>9} {:>11} {:>11} {:>16} {:>15}\n",
          transport_.library(), transport_.size(), rounds_, "operation", "bytes", "bare us", "coll us",
          "median of ratios", "of fastest");
    for (const Compared& pair : compared)
      for (std::int64_t size = 64; size <= 64 << 20; size *= 16)
        if (rows.empty() || std::ranges::find(rows, fmt::format("{}:{}", pair.name, size)) != rows.end())
          compare(pair, size);
  }

 private:
  void compare(const Compared& pair, std::int64_t size) {
    const CollCase row{pair.operation, DataType::float32, false,
                       shape_of(pair.operation, DataType::float32, size, place_.members, spec_.definitions)};
    std::byte *const send = transport_.allocate(size), *const receive = transport_.allocate(size);
    const CollMoves moves = moves_of(row, spec_, place_, transport_, send, receive);
    spec_.iterations = int(std::clamp<std::int64_t>((16 << 20) / size, 3, 5000));
    const int elements = int(row.shape.count);

    const auto bare = [&] {
      control_.barrier();
      const std::int64_t begin = monotonic_clock().now();
      for (int i = 0; i < spec_.iterations; ++i)
        pair.bare(moves.first.send, moves.first.receive, elements, bare_);
      return mean_over_ranks(control_, double(monotonic_clock().now() - begin) / spec_.iterations);
    };
    std::vector<std::int64_t> no_series;
    const auto ours = [&] {
      control_.barrier();
      return mean_over_ranks(control_, timer_.measure(moves, no_series, [](int left) { return left; })->mean);
    };
    bare(), ours();  // warm-up
    std::vector<double> bare_times, our_times, ratios;
    for (int round = 0; round < rounds_; ++round) {
      // Who goes first changes, so that a drift of the machine favours neither.
      double a = 0, b = 0;
      if (round % 2 == 0) a = bare(), b = ours();
      else b = ours(), a = bare();
      bare_times.push_back(a), our_times.push_back(b), ratios.push_back(b / a);
    }
    if (control_.first())
      fmt::print("{:>11} {:>9} {:>11.3f} {:>11.3f} {:>16.3f} {:>15.3f}\n", pair.name, row.shape.bytes,
                 median(bare_times), median(our_times), median(ratios),
                 *std::ranges::min_element(our_times) / *std::ranges::min_element(bare_times));
    std::fflush(stdout);
    transport_.release(send);
    transport_.release(receive);
  }

  Transport& transport_;
  const Control control_;
  const int rounds_;
  CollSpec spec_;
  CollPlace place_;
  MPI_Comm bare_ = MPI_COMM_NULL;
  Place watched_;
  CollTimer timer_{spec_, transport_, monotonic_clock(), watched_, Transfer{}, nullptr};
};

}  // namespace

int main(int count, char** words) {
  const std::string library = COLL_VS_MPI_BACKEND;
  const int ranks = count > 1 ? std::atoi(words[1]) : 2, rounds = count > 2 ? std::atoi(words[2]) : 21;
  try {
    CollSpec spec;
    spec.backend = library;
    spec.ranks = ranks;
    if (!inside_a_world()) return launch(spec, {words, words + count});
    usable_backend(library).open({.ranks = ranks}, [&](Transport& transport) {
      Comparison(transport, rounds).run({words + std::min(count, 3), words + count});
    });
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n{}\n", error.what(), error.hint());
    return int(error.exit());
  }
}
