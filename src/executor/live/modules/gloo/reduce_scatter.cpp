// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/gloo/reduce_scatter.hpp"

#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "executor/live/modules/gloo/limits.hpp"
#include "executor/live/reduction.hpp"

namespace dlnb::over_gloo {
namespace {

constexpr std::size_t under_way = 2;

/// Part of a shard, in the order in which all members go through them.
struct Segment {
  int to = 0, from = 0;
  std::int64_t first = 0, bytes = 0;  ///< within a shard
};

class Segments {
 public:
  Segments(const ::gloo::Context& context, std::int64_t shard)
      : size_(context.size),
        rank_(context.rank),
        shard_(shard),
        per_shard_((shard + ReduceScatter::segment_bytes - 1) / ReduceScatter::segment_bytes) {}

  std::int64_t count() const { return per_shard_ * (size_ - 1); }
  Segment operator[](std::int64_t index) const {
    const int step = int(index / per_shard_) + 1;
    const std::int64_t first = index % per_shard_ * ReduceScatter::segment_bytes;
    return {(rank_ + step) % size_, (rank_ + size_ - step) % size_, first,
            std::min(ReduceScatter::segment_bytes, shard_ - first)};
  }

 private:
  const int size_, rank_;
  const std::int64_t shard_, per_shard_;
};

}  // namespace

void ReduceScatter::run(::gloo::Context& context, const Transfer& t, std::uint64_t slot) {
  const std::int64_t shard = t.elements_received * size_of(t.dtype);
  const std::byte* const own = t.send + context.rank * shard;
  if (t.receive != own) std::memcpy(t.receive, own, std::size_t(shard));

  scratch_.resize(under_way * segment_bytes);
  const auto input =
      context.createUnboundBuffer(const_cast<std::byte*>(t.send), std::size_t(shard * context.size));
  std::array<std::unique_ptr<::gloo::transport::UnboundBuffer>, under_way> received;
  for (std::size_t i = 0; i < under_way; ++i)
    received[i] = context.createUnboundBuffer(&scratch_[i * segment_bytes], std::size_t(segment_bytes));

  const Segments segments(context, shard);
  const auto post = [&](std::int64_t index) {
    const Segment segment = segments[index];
    const std::size_t bytes = std::size_t(segment.bytes);
    received[std::size_t(index) % under_way]->recv(segment.from, slot, 0, bytes);
    input->send(segment.to, slot, std::size_t(segment.to * shard + segment.first), bytes);
  };
  const std::int64_t count = segments.count();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, under_way); ++i) post(i);
  for (std::int64_t i = 0; i < count; ++i) {
    auto& buffer = *received[std::size_t(i) % under_way];
    buffer.waitRecv(no_limit);
    const Segment segment = segments[i];
    reduction::add(t.dtype, static_cast<const std::byte*>(buffer.ptr), t.receive + segment.first,
                   segment.bytes / size_of(t.dtype));
    input->waitSend(no_limit);
    if (i + std::int64_t(under_way) < count) post(i + std::int64_t(under_way));
  }
}

}  // namespace dlnb::over_gloo
