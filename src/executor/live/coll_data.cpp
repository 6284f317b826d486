// SPDX-License-Identifier: Apache-2.0
#include "executor/live/coll_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "executor/live/reduction.hpp"

namespace dlnb {
namespace {

/// Elements copied at a time: whole periods of the pattern, so that every block of a stretch is the same.
constexpr std::int64_t block_elements = 64 * Pattern::period;

}  // namespace

CollData::CollData(const CollCase& row, const CollMoves& moves, const CollPlace& place, std::uint64_t salt)
    : pattern_(row.dtype, place.members,
               mix(salt, std::uint64_t(place.group),
                   std::uint64_t(row.operation) << 8 | std::uint64_t(row.dtype))),
      element_(size_of(row.dtype)) {
  const std::int64_t me = place.member;
  const Transfer& t = moves.first;
  std::byte* const send = const_cast<std::byte*>(t.send);  // our own memory, const to libraries only
  arriving_ = t.elements_received;
  switch (row.operation) {
    case CollOperation::all_reduce:
      given_ = {{send, t.elements_sent, Content::number, me}};
      expected_ = {{t.receive, arriving_, Content::sum, 0}};
      break;
    case CollOperation::reduce_scatter:
      given_ = {{send, t.elements_sent, Content::number, me}};
      expected_ = {{t.receive, arriving_, Content::sum, me * arriving_}};
      break;
    case CollOperation::all_gather:
      given_ = {{send, t.elements_sent, Content::tag, me}};
      for (std::int64_t from = 0; from < place.members; ++from)
        expected_.push_back({t.receive + from * t.elements_sent * element_, t.elements_sent, Content::tag,
                             from, 0, from * t.elements_sent});
      break;
    case CollOperation::all_to_all:
    case CollOperation::all_to_all_v: describe_parts(moves, place); break;
    case CollOperation::broadcast:
      if (me == t.peer) given_ = {{t.receive, arriving_, Content::tag}};
      expected_ = {{t.receive, arriving_, Content::tag}};
      break;
    case CollOperation::send_recv: describe_messages(moves, place); break;
    case CollOperation::barrier: break;
  }
  for (const Stretch& stretch : expected_) arrivals_.push_back({stretch.at, stretch.elements * element_});
  all_ = arrivals_;
  for (const Stretch& stretch : given_) all_.push_back({stretch.at, stretch.elements * element_});
}

void CollData::describe_parts(const CollMoves& moves, const CollPlace& place) {
  const Transfer& t = moves.first;
  std::int64_t sent = 0, received = 0;
  for (std::int64_t other = 0; other < place.members; ++other) {
    const auto index = std::size_t(other);
    const std::int64_t out = t.parts_sent ? t.parts_sent[index] : t.elements_sent / place.members;
    const std::int64_t in = t.parts_received ? t.parts_received[index] : t.elements_received / place.members;
    given_.push_back(
        {const_cast<std::byte*>(t.send) + sent * element_, out, Content::tag, place.member, other});
    expected_.push_back({t.receive + received * element_, in, Content::tag, other, place.member, received});
    sent += out;
    received += in;
  }
}

void CollData::describe_messages(const CollMoves& moves, const CollPlace& place) {
  for (const Transfer* t : {&moves.first, &moves.second}) {
    if (t->kind == OperationKind::send)
      given_.push_back(
          {const_cast<std::byte*>(t->send), t->elements_sent, Content::tag, place.member, t->peer});
    if (t->kind != OperationKind::recv) continue;
    arriving_ = t->elements_received;
    expected_.push_back({t->receive, arriving_, Content::tag, t->peer, place.member});
  }
}

std::vector<std::byte> CollData::block_of(const Stretch& stretch) const {
  const std::int64_t elements = std::min(stretch.elements, block_elements);
  std::vector<std::byte> block(std::size_t(elements * element_));
  switch (stretch.content) {
    case Content::number: pattern_.fill_numbers(block.data(), elements, stretch.from); break;
    case Content::sum: pattern_.fill_sums(block.data(), elements, stretch.from); break;
    case Content::tag: pattern_.fill_tags(block.data(), elements, stretch.from, stretch.to); break;
  }
  return block;
}

void CollData::write(Transport& transport) const {
  for (const Area& area : arrivals_) fill(transport, area, std::byte{0xa5});
  for (const Stretch& stretch : given_) {
    const std::vector<std::byte> block = block_of(stretch);
    for (std::int64_t done = 0; done < stretch.elements; done += block_elements)
      transport.write(stretch.at + done * element_, block.data(),
                      std::min(block_elements, stretch.elements - done) * element_);
  }
}

CollData::Outcome CollData::compare(Transport& transport) const {
  Outcome all;
  for (const Stretch& stretch : expected_) {
    Outcome one = compare(transport, stretch);
    if (all.wrong == 0) all.first = std::move(one.first);
    all.wrong += one.wrong;
  }
  return all;
}

CollData::Outcome CollData::compare(Transport& transport, const Stretch& stretch) const {
  const std::vector<std::byte> right = block_of(stretch);
  std::vector<std::byte> found(right.size());
  Outcome outcome;
  for (std::int64_t done = 0; done < stretch.elements; done += block_elements) {
    const std::int64_t elements = std::min(block_elements, stretch.elements - done);
    transport.read(found.data(), stretch.at + done * element_, elements * element_);
    if (std::memcmp(found.data(), right.data(), std::size_t(elements * element_)) == 0) continue;
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::byte *is = &found[std::size_t(i * element_)], *should = &right[std::size_t(i * element_)];
      if (std::memcmp(is, should, std::size_t(element_)) == 0) continue;
      if (outcome.wrong++ > 0) continue;
      const std::int64_t at = stretch.offset + done + i;
      outcome.first = fmt::format("element {} (byte {} of {}) ", at, at * element_, arriving_ * element_);
      if (stretch.content == Content::sum)
        outcome.first += fmt::format("is {}, should be {}", reduction::decode(pattern_.dtype(), is),
                                     reduction::decode(pattern_.dtype(), should));
      else
        outcome.first +=
            fmt::format("is not what member {} sent there (it begins with {:02x}, should with {:02x})",
                        stretch.from, int(*is), int(*should));
    }
  }
  return outcome;
}

void CollData::clear(Transport& transport) const {
  for (const Area& area : all_) fill(transport, area, std::byte{0});
}

void CollData::fill(Transport& transport, const Area& area, std::byte value) const {
  const std::vector<std::byte> block(std::size_t(std::min(area.bytes, block_elements * element_)), value);
  for (std::int64_t done = 0; done < area.bytes; done += std::int64_t(block.size()))
    transport.write(area.at + done, block.data(), std::min(std::int64_t(block.size()), area.bytes - done));
}

}  // namespace dlnb
