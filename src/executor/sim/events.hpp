// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace dlnb::sim {

/// Times lie on a grid of 2^-40 s (0.9 ps): symmetric activities end together in spite of rounding and are solved
/// once. Beyond 2^13 s doubles are coarser than the grid and stay as they are.
inline double snap(double at) {
  constexpr double grid = double(std::int64_t{1} << 40);
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): never negative, and much quicker than lround.
  return at < 8192 ? double(std::int64_t(at * grid + 0.5)) * (1 / grid) : at;
}

inline constexpr double never = std::numeric_limits<double>::infinity();

enum class EventKind : std::uint8_t {
  computed,  ///< a runner's compute phase ended
  started,   ///< an activity's latency is over: its data begins to flow
  moved,     ///< an activity without data is over
};

struct Event {
  double at = 0;            ///< seconds
  std::uint64_t order = 0;  ///< ties break by creation
  std::int32_t subject = 0;
  EventKind kind = EventKind::computed;
};

/// What will happen at a time that is certain, earliest first.
class Events {
 public:
  /// `never` where there is nothing.
  double next() const { return heap_.empty() ? never : heap_.front().at; }

  void add(double at, EventKind kind, std::int32_t subject) {
    heap_.push_back({snap(at), order_++, subject, kind});
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

  std::vector<Event> heap_;
  std::uint64_t order_ = 0;
};

/// When each activity that flows will have moved its data; moves with its rate. A binary heap that knows where its
/// entries are.
class Deadlines {
 public:
  explicit Deadlines(std::size_t activities) : place_(activities, -1) {}

  double next() const { return heap_.empty() ? never : heap_.front().at; }
  std::int32_t first() const { return heap_.front().activity; }

  void set(std::int32_t activity, double at) {
    std::size_t place = std::size_t(place_[std::size_t(activity)]);
    const Entry entry{snap(at), activity};
    if (place_[std::size_t(activity)] < 0) {
      place = heap_.size();
      heap_.push_back(entry);
    }
    if (!rise(place, entry)) sink(place, entry);
  }
  void remove(std::int32_t activity) {
    const std::int32_t place = place_[std::size_t(activity)];
    if (place < 0) return;
    place_[std::size_t(activity)] = -1;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (std::size_t(place) == heap_.size()) return;
    if (!rise(std::size_t(place), last)) sink(std::size_t(place), last);
  }

 private:
  struct Entry {
    double at;
    std::int32_t activity;
    bool operator<(const Entry& other) const {
      return at != other.at ? at < other.at : activity < other.activity;
    }
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    place_[std::size_t(entry.activity)] = std::int32_t(place);
  }
  bool rise(std::size_t place, const Entry& entry) {
    const std::size_t from = place;
    for (; place > 0 && entry < heap_[(place - 1) / 2]; place = (place - 1) / 2)
      put(place, heap_[(place - 1) / 2]);
    put(place, entry);
    return place != from;
  }
  void sink(std::size_t place, const Entry& entry) {
    for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < entry)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::int32_t> place_;  ///< by activity; −1: not in it
};

}  // namespace dlnb::sim
