// SPDX-License-Identifier: Apache-2.0
// The checker refuses what would hang, mismatch or lose bytes: every test breaks a sound schedule in one way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/schedule/small_step.hpp"

namespace dlnb {
namespace {

using test::compiled;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto pipelined = "pipeline = {stages = 2, microbatches = 2}\ndata = 2";

Operation& first(Schedule& s, std::size_t role, OperationKind kind) {
  for (Operation& op : s.programs[role].operations)
    if (op.kind == kind) return op;
  throw std::logic_error("no such operation");
}

TEST(Check, ACompiledScheduleIsSound) { EXPECT_THAT(check(compiled(pipelined, 4)), IsEmpty()); }

TEST(Check, FindsAMissingReceive) {
  Schedule s = compiled(pipelined, 4, Flavour::paper);
  auto& operations = s.programs[1].operations;
  std::erase_if(operations,
                [](const Operation& op) { return op.kind == OperationKind::recv && op.microbatch == 1; });

  EXPECT_THAT(check(s),
              Contains(HasSubstr("role 0 operation 3: send pipeline micro-batch 1: can never complete")));
}

TEST(Check, FindsTwoBlockingSendsThatMeet) {
  Schedule s = compiled(pipelined, 4, Flavour::paper);
  for (std::size_t role : {0, 1}) {
    Operation send{.kind = OperationKind::send,
                   .axes = AxisSet{1} << s.role_axis,
                   .peer = role == 0 ? 1 : 0,
                   .elements_sent = 1};
    Operation recv = send;
    recv.kind = OperationKind::recv;
    std::swap(recv.elements_sent, recv.elements_received);
    auto& operations = s.programs[role].operations;
    operations.insert(operations.begin(), {send, recv});
  }

  EXPECT_THAT(check(s), Contains(HasSubstr("wait for each other")));
}

TEST(Check, FindsAMessageOfAnotherSize) {
  Schedule s = compiled(pipelined, 4);
  first(s, 1, OperationKind::recv).elements_received += 1;

  EXPECT_THAT(check(s), Contains(HasSubstr("of another size or type")));
}

TEST(Check, FindsAMessageOfAnotherType) {
  Schedule s = compiled(pipelined, 4);
  first(s, 0, OperationKind::send).dtype = DataType::float32;

  EXPECT_THAT(check(s), Contains(HasSubstr("of another size or type")));
}

TEST(Check, FindsLostBytesOfAGather) {
  Schedule s = compiled("fsdp = 4", 4);
  first(s, 0, OperationKind::all_gather).elements_received -= 1;

  EXPECT_THAT(check(s), Contains(HasSubstr("does not receive one shard from every rank")));
}

TEST(Check, FindsUnevenPartsOfAnAllToAll) {
  Schedule s = compiled("expert = 4", 4, Flavour::pytorch, {.experts = 4});
  Operation& op = first(s, 0, OperationKind::all_to_all);
  op.elements_sent = op.elements_received = op.elements_sent + 1;

  EXPECT_THAT(check(s), Contains(HasSubstr("parts of different size")));
}

TEST(Check, FindsAnOperationNobodyWaitsFor) {
  Schedule s = compiled("data = 4", 4);
  std::erase_if(s.programs[0].operations, [](const Operation& op) { return is_wait(op.kind); });

  EXPECT_THAT(check(s), Contains(HasSubstr("nobody waits for handle 0")));
}

TEST(Check, FindsAWaitForNothing) {
  Schedule s = compiled("fsdp = 4", 4);
  first(s, 0, OperationKind::wait).handle = 99;

  EXPECT_THAT(check(s), Contains(HasSubstr("waits for an operation that is not outstanding")));
}

TEST(Check, FindsCollectivesOfRolesInAnotherOrder) {
  Schedule s = compiled(pipelined, 4);
  const AxisSet world = s.grid.all();
  const Operation barrier{.kind = OperationKind::barrier, .axes = world};
  const Operation reduce{
      .kind = OperationKind::all_reduce, .axes = world, .elements_sent = 4, .elements_received = 4};
  s.programs[0].operations.insert(s.programs[0].operations.end(), {barrier, reduce});
  s.programs[1].operations.insert(s.programs[1].operations.end(), {reduce, barrier});

  EXPECT_THAT(check(s), Contains(HasSubstr("in the same group")));
}

TEST(Check, FindsACollectiveThatOneRoleNeverJoins) {
  Schedule s = compiled(pipelined, 4);
  s.programs[1].operations.push_back({.kind = OperationKind::barrier, .axes = s.grid.all()});

  EXPECT_THAT(check(s), Contains(HasSubstr("barrier world: can never complete")));
}

TEST(Check, FindsAPeerOutsideTheAxis) {
  Schedule s = compiled(pipelined, 4);
  first(s, 0, OperationKind::send).peer = 2;

  EXPECT_THAT(check(s), Contains(HasSubstr("its peer is outside the axis")));
}

}  // namespace
}  // namespace dlnb
