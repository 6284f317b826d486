// SPDX-License-Identifier: Apache-2.0
#include "executor/live/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace dlnb {
namespace {

Transfer of(std::int64_t elements) { return {.elements_sent = elements}; }

TEST(Worker, CarriesOutWhatItIsGivenInOrder) {
  std::vector<std::int64_t> done;  // by one thread at a time
  Worker worker([&](const Transfer& transfer) { done.push_back(transfer.elements_sent); });
  Completion first, second;

  worker.start(of(1), first);
  worker.start(of(2), second);
  worker.run(of(3));

  first.settle();
  second.settle();
  EXPECT_TRUE(worker.idle());
  EXPECT_THAT(done, testing::ElementsAre(1, 2, 3));
}

TEST(Worker, WithNothingAheadItIsTheCallersThread) {
  std::vector<std::thread::id> threads;
  Worker worker([&](const Transfer&) { threads.push_back(std::this_thread::get_id()); });
  Completion completion;

  worker.run(of(1));
  worker.start(of(2), completion);
  completion.settle();
  worker.run(of(3));

  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[1], std::this_thread::get_id());
  EXPECT_EQ(threads[2], std::this_thread::get_id());
}

TEST(Worker, WhoeverSettlesIsToldOfAFailure) {
  Worker worker([](const Transfer& transfer) {
    if (transfer.elements_sent == 1) throw std::runtime_error("no route");
  });
  Completion failed, well;

  worker.start(of(1), failed);
  worker.start(of(2), well);

  EXPECT_THROW(failed.settle(), std::runtime_error);
  EXPECT_NO_THROW(well.settle());
}

TEST(Worker, AThreadThatCannotBeginFailsAllItIsGiven) {
  int carried_out = 0;
  Worker worker([&](const Transfer&) { ++carried_out; }, [] { throw std::runtime_error("no device"); });
  Completion first, second;

  worker.start(of(1), first);
  worker.start(of(2), second);

  EXPECT_THROW(first.settle(), std::runtime_error);
  EXPECT_THROW(second.settle(), std::runtime_error);
  EXPECT_EQ(carried_out, 0);
}

}  // namespace
}  // namespace dlnb
