// SPDX-License-Identifier: Apache-2.0
#include "executor/live/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include <dlnb/units.hpp>

namespace dlnb {
namespace {

struct Header {
  std::int64_t rank, iterations, intervals, compute_error_ns;
  double compute_error;
};

template <class T>
void append(std::vector<std::byte>& out, const T* data, std::size_t count) {
  if (count == 0) return;
  const std::size_t end = out.size();
  out.resize(end + count * sizeof(T));
  std::memcpy(out.data() + end, data, count * sizeof(T));
}

template <class T>
std::span<const std::byte> take(std::span<const std::byte> from, T* data, std::size_t count) {
  if (count > 0) std::memcpy(data, from.data(), count * sizeof(T));
  return from.subspan(count * sizeof(T));
}

}  // namespace

std::vector<std::byte> pack(const RankTrace& trace) {
  const Header header{trace.rank, std::int64_t(trace.iteration_begin.size()),
                      std::int64_t(trace.intervals.size()), trace.compute_error_ns, trace.compute_error};
  std::vector<std::byte> bytes;
  append(bytes, &header, 1);
  append(bytes, trace.iteration_begin.data(), trace.iteration_begin.size());
  append(bytes, trace.iteration_end.data(), trace.iteration_end.size());
  append(bytes, trace.intervals.data(), trace.intervals.size());
  return bytes;
}

RankTrace unpack(std::span<const std::byte> bytes) {
  Header header;
  bytes = take(bytes, &header, 1);
  RankTrace trace;
  trace.rank = header.rank;
  trace.compute_error = header.compute_error;
  trace.compute_error_ns = header.compute_error_ns;
  trace.iteration_begin.resize(std::size_t(header.iterations));
  trace.iteration_end.resize(std::size_t(header.iterations));
  trace.intervals.resize(std::size_t(header.intervals));
  bytes = take(bytes, trace.iteration_begin.data(), trace.iteration_begin.size());
  bytes = take(bytes, trace.iteration_end.data(), trace.iteration_end.size());
  take(bytes, trace.intervals.data(), trace.intervals.size());
  return trace;
}

void to_first_clock(RankTrace& trace, std::span<const Offset> estimates) {
  if (estimates.empty()) return;
  const auto move = [&](std::int64_t& reading) { reading = on_first_clock(reading, estimates); };
  for (std::int64_t& begin : trace.iteration_begin) move(begin);
  for (std::int64_t& end : trace.iteration_end) move(end);
  for (Interval& interval : trace.intervals)
    move(interval.begin), move(interval.end), move(interval.completed);
}

void shift_to_common_start(std::vector<RankTrace>& ranks) {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  for (const RankTrace& trace : ranks)
    if (!trace.iteration_begin.empty()) start = std::min(start, trace.iteration_begin.front());
  for (RankTrace& trace : ranks) {
    for (std::int64_t& begin : trace.iteration_begin) begin -= start;
    for (std::int64_t& end : trace.iteration_end) end -= start;
    for (Interval& i : trace.intervals) i.begin -= start, i.end -= start, i.completed -= start;
  }
}

void judge_compute(Trace& trace, bool cores_shared, bool on_device) {
  const auto bad = [](const RankTrace& rank) {
    return rank.compute_error > largest_compute_error && rank.compute_error_ns > smallest_compute_error;
  };
  if (std::ranges::none_of(trace.ranks, bad)) return;
  const auto worst = std::ranges::max_element(
      trace.ranks, {}, [&](const RankTrace& rank) { return bad(rank) ? rank.compute_error : 0.0; });
  const std::string error = fmt::format("by {:.2f} % ({}) on average", worst->compute_error * 100,
                                        to_text(Seconds{double(worst->compute_error_ns) * 1e-9}));
  if (on_device) {
    trace.notes.push_back(fmt::format(
        "compute phases of rank {} were off {}: beside them, kernels of communication are on its device",
        worst->rank, error));
    return;
  }
  if (cores_shared) {
    trace.notes.push_back(
        fmt::format("rank {} went on late after compute, {}: it had no core", worst->rank, error));
    return;
  }
  trace.valid = false;
  trace.notes.push_back(fmt::format("INVALID: compute phases of rank {} were off {}, {:.0f} % is allowed",
                                    worst->rank, error, largest_compute_error * 100));
}

}  // namespace dlnb
