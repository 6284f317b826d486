// SPDX-License-Identifier: Apache-2.0
#include "unit/live/world/transfers.hpp"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

using enum OperationKind;

/// float32 in memory of the transport's.
class Values {
 public:
  Values(Transport& transport, std::int64_t count)
      : transport_(transport), count_(count), memory_(transport.allocate(count * bytes)) {}
  ~Values() { transport_.release(memory_); }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  std::byte* at(std::int64_t index) const { return memory_ + index * bytes; }
  void set(const std::vector<float>& values) {
    transport_.write(memory_, reinterpret_cast<const std::byte*>(values.data()),
                     std::int64_t(values.size()) * bytes);
  }
  /// Those from `first` on.
  void expect(const char* what, const std::vector<float>& expected, std::int64_t first = 0) const {
    std::vector<float> found(std::size_t(count_ - first));
    transport_.read(reinterpret_cast<std::byte*>(found.data()), at(first), (count_ - first) * bytes);
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (found[i] != expected[i])
        throw WrongResult(what, fmt::format("rank {}, element {}: {}, should be {}", transport_.rank(), i,
                                            found[i], expected[i]));
  }

 private:
  static constexpr std::int64_t bytes = sizeof(float);

  Transport& transport_;
  const std::int64_t count_;
  std::byte* const memory_;
};

class Transfers {
 public:
  explicit Transfers(Transport& transport)
      : transport_(transport),
        ranks_(transport.size()),
        me_(transport.rank()),
        next_((me_ + 1) % ranks_),
        previous_((me_ + ranks_ - 1) % ranks_) {
    std::vector<int> all(static_cast<std::size_t>(ranks_));
    std::iota(all.begin(), all.end(), 0);
    world_ = transport.communicator(all);
    again_ = transport.communicator(all);
    alone_ = transport.communicator(std::vector{me_});
    transport.connect(world_, std::vector{next_}, std::vector{previous_});
    transport.reserve(4);
  }

  void check() {
    all_gather_in_place();
    reduce_scatter_in_place();
    all_to_all_in_place();
    uneven_all_to_all();
    for (const OperationKind kind : {all_reduce, all_gather, reduce_scatter, all_to_all}) group_of_one(kind);
    tags();
    two_communicators();
    looking();
    transport_.run(transfer(barrier, world_, 0));
  }

 private:
  static Transfer transfer(OperationKind kind, int communicator, std::int64_t elements) {
    return {.kind = kind,
            .dtype = DataType::float32,
            .communicator = communicator,
            .elements_sent = elements,
            .elements_received = elements};
  }
  /// What `from` has for `to`.
  static float value(int from, int to) { return float(100 * from + to); }

  void all_gather_in_place() {
    if (!transport_.works_in_place(all_gather)) return;
    Values values(transport_, ranks_);
    std::vector<float> mine(std::size_t(ranks_), -1), all(mine.size());
    for (int rank = 0; rank < ranks_; ++rank) all[std::size_t(rank)] = value(rank, 0);
    mine[std::size_t(me_)] = value(me_, 0);
    values.set(mine);

    Transfer t = transfer(all_gather, world_, 1);
    t.send = values.at(me_), t.receive = values.at(0), t.elements_received = ranks_;
    transport_.run(t);

    values.expect("all-gather in place", all);
  }

  void reduce_scatter_in_place() {
    if (!transport_.works_in_place(reduce_scatter)) return;
    Values values(transport_, ranks_);
    std::vector<float> mine;
    for (int to = 0; to < ranks_; ++to) mine.push_back(value(me_, to));
    values.set(mine);

    const int shard = transport_.shard_in_place(me_);
    Transfer t = transfer(reduce_scatter, world_, ranks_);
    t.send = values.at(0), t.receive = values.at(shard), t.elements_received = 1;
    transport_.run(t);

    float sum = 0;
    for (int from = 0; from < ranks_; ++from) sum += value(from, me_);
    values.expect("reduce-scatter in place", {sum}, shard);
  }

  void all_to_all_in_place() {
    if (!transport_.works_in_place(all_to_all)) return;
    Values values(transport_, ranks_);
    std::vector<float> sent, received;
    for (int other = 0; other < ranks_; ++other)
      sent.push_back(value(me_, other)), received.push_back(value(other, me_));
    values.set(sent);

    Transfer t = transfer(all_to_all, world_, ranks_);
    t.send = t.receive = values.at(0);
    transport_.run(t);

    values.expect("all-to-all in place", received);
  }

  // `from` sends `to` as many elements as `to` says: nobody sends anything to rank 0.
  void uneven_all_to_all() {
    if (!transport_.takes_uneven_parts()) return;
    std::vector<std::int64_t> parts_sent, parts_received(std::size_t(ranks_), me_);
    std::vector<float> sent, received;
    for (int other = 0; other < ranks_; ++other) {
      parts_sent.push_back(other);
      sent.insert(sent.end(), std::size_t(other), value(me_, other));
      received.insert(received.end(), std::size_t(me_), value(other, me_));
    }
    Values from(transport_, std::int64_t(sent.size()) + 1), to(transport_, std::int64_t(received.size()) + 1);
    from.set(sent);

    Transfer t = transfer(all_to_all, world_, std::int64_t(sent.size()));
    t.send = from.at(0), t.receive = to.at(0), t.elements_received = std::int64_t(received.size());
    t.parts_sent = parts_sent.data(), t.parts_received = parts_received.data();
    transport_.run(t);

    to.expect("all-to-all in uneven parts", received);
  }

  void group_of_one(OperationKind kind) {
    Values from(transport_, 3), to(transport_, 3);
    from.set({1, 2, 3});

    Transfer t = transfer(kind, alone_, 3);
    t.send = from.at(0), t.receive = to.at(0);
    transport_.run(t);

    to.expect("a group of one", {1, 2, 3});
  }

  // To the next rank: twice with tag 1, once with tag 2. What is received first was sent last.
  void tags() {
    if (ranks_ == 1 || !transport_.takes_tags()) return;
    Values from(transport_, 3), to(transport_, 3);
    from.set({value(me_, 1), value(me_, 2), value(me_, 3)});
    const auto message = [&](OperationKind kind, int peer, int tag, int element) {
      Transfer t = transfer(kind, world_, 1);
      t.peer = peer, t.tag = tag, t.send = from.at(element), t.receive = to.at(element);
      return t;
    };

    for (const auto& [slot, tag] : {std::pair{0, 1}, {1, 1}, {2, 2}})
      transport_.start(slot, message(send, next_, tag, slot));
    for (const auto& [element, tag] : {std::pair{2, 2}, {0, 1}, {1, 1}})
      transport_.run(message(recv, previous_, tag, element));
    for (const int slot : {2, 0, 1}) transport_.wait(slot);

    to.expect("messages with tags", {value(previous_, 1), value(previous_, 2), value(previous_, 3)});
  }

  // Even ranks wait for the first communicator first, odd ones for the second: neither may need the other.
  void two_communicators() {
    Values one(transport_, 1), other(transport_, 1);
    one.set({1}), other.set({2});
    const auto sum = [&](int communicator, const Values& values) {
      Transfer t = transfer(all_reduce, communicator, 1);
      t.send = t.receive = values.at(0);
      return t;
    };

    transport_.start(0, sum(world_, one));
    transport_.start(1, sum(again_, other));
    transport_.wait(me_ % 2);
    transport_.wait(1 - me_ % 2);

    one.expect("two communicators", {float(ranks_)});
    other.expect("two communicators", {2.f * float(ranks_)});
  }

  // A message and a collective are under way, and a blocking collective gets past neither.
  void looking() {
    Values sum(transport_, 1), sum_after(transport_, 1), from(transport_, 1), to(transport_, 1);
    sum.set({1}), sum_after.set({1}), from.set({value(me_, 7)});
    Transfer reduction = transfer(all_reduce, world_, 1);
    reduction.send = reduction.receive = sum.at(0);
    Transfer message = transfer(recv, world_, 1);
    message.peer = previous_, message.receive = to.at(0);

    if (ranks_ > 1) transport_.start(1, message);
    transport_.start(0, reduction);
    bool seen[2] = {false, ranks_ == 1};
    if (ranks_ > 1 && transport_.test(1)) throw WrongResult("looking", "a message is there that nobody sent");
    reduction.send = reduction.receive = sum_after.at(0);
    transport_.run(reduction);
    message.kind = send, message.peer = next_, message.send = from.at(0);
    if (ranks_ > 1) transport_.start(2, message);
    while (!seen[0] || !seen[1])
      for (const int slot : {0, 1}) seen[slot] = seen[slot] || transport_.test(slot);
    if (ranks_ > 1) transport_.wait(2);

    sum.expect("looking", {float(ranks_)});
    sum_after.expect("looking", {float(ranks_)});
    to.expect("looking", {ranks_ == 1 ? 0.f : value(previous_, 7)});
  }

  Transport& transport_;
  const int ranks_, me_, next_, previous_;
  int world_ = 0, again_ = 0, alone_ = 0;
};

}  // namespace

void check_transfers(Transport& transport) { Transfers(transport).check(); }

}  // namespace dlnb
