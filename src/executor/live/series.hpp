// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <dlnb/trace.hpp>

namespace dlnb {

/// The times of all iterations of one rank in bounded memory: a row stands for `stride` iterations in a row, and when
/// all rows are taken, neighbours become one and the stride doubles. Plain bytes: it lies in a recorder's file.
class Series {
 public:
  static constexpr std::size_t most_rows = 1024;

  void add(std::int64_t time, std::int64_t communication) {
    const auto row = std::size_t(count_ / stride_);
    if (row == most_rows) {
      merge_neighbours();
      add(time, communication);
      return;
    }
    SeriesRow& at = rows_[row];
    if (count_ % stride_ == 0) at = {.iteration = count_, .low = time, .high = time};
    at.low = std::min(at.low, time), at.high = std::max(at.high, time);
    at.time += time, at.communication += communication, at.count += 1;
    ++count_;
  }

  std::size_t size() const { return std::size_t((count_ + stride_ - 1) / stride_); }
  std::int64_t stride() const { return stride_; }
  const SeriesRow& operator[](std::size_t row) const { return rows_[row]; }

  void merge_neighbours() {
    const std::size_t before = size();
    for (std::size_t row = 0; row < before; row += 2) {
      SeriesRow merged = rows_[row];
      if (row + 1 < before) {
        const SeriesRow& next = rows_[row + 1];
        merged.count += next.count, merged.time += next.time, merged.communication += next.communication;
        merged.low = std::min(merged.low, next.low), merged.high = std::max(merged.high, next.high);
      }
      rows_[row / 2] = merged;
    }
    stride_ *= 2;
  }

 private:
  std::int64_t count_ = 0, stride_ = 1;
  std::array<SeriesRow, most_rows> rows_{};
};

}  // namespace dlnb
