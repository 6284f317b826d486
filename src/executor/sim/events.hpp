// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dlnb::sim {

enum class EventKind : std::uint8_t {
  computed,  ///< a rank's compute phase ended
  started,   ///< an activity's latency is over: its data begins to flow
  moved,     ///< an activity's data has moved
};

struct Event {
  double at = 0;            ///< seconds
  std::uint64_t order = 0;  ///< ties break by creation
  std::int32_t subject = 0;
  std::uint32_t version = 0;  ///< `moved`: of the rate it was computed with; older ones are void
  EventKind kind = EventKind::computed;
};

/// What will happen, earliest first.
class Events {
 public:
  bool empty() const { return heap_.empty(); }
  double next() const { return heap_.front().at; }

  void add(double at, EventKind kind, std::int32_t subject, std::uint32_t version = 0) {
    heap_.push_back({snap(at), order_++, subject, version, kind});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  Event take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  static bool later(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  // Times lie on a grid of 2^-40 s (0.9 ps): symmetric activities end together in spite of rounding and are
  // solved once. Beyond 2^13 s doubles are coarser than the grid and stay as they are.
  static double snap(double at) {
    constexpr double grid = double(std::int64_t{1} << 40);
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): never negative, and much quicker than lround.
    return at < 8192 ? double(std::int64_t(at * grid + 0.5)) * (1 / grid) : at;
  }

  std::vector<Event> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace dlnb::sim
