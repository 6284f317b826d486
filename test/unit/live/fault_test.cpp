// SPDX-License-Identifier: Apache-2.0
#include "executor/live/fault.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "unit/environment.hpp"
#include "unit/live/plans.hpp"

namespace dlnb {
namespace {

TEST(Fault, IsReadFromItsText) {
  const Fault fault = parse_fault("slow:1.5 rank=3 operation=12 iteration=1");

  EXPECT_EQ(fault.what, Fault::What::slow);
  EXPECT_DOUBLE_EQ(fault.seconds, 1.5);
  EXPECT_EQ(fault.rank, 3);
  EXPECT_EQ(fault.operation, 12);
  EXPECT_EQ(fault.iteration, 1);
  EXPECT_EQ(parse_fault("kill rank=0").operation, 0);
  EXPECT_FALSE(fault.at_start);
  EXPECT_TRUE(parse_fault("stop rank=1 at=start").at_start);
}

TEST(Fault, ATypoIsRefused) {
  for (const char* text :
       {"", "kil rank=1", "kill", "kill rank=", "kill rank=-1", "kill rank=1x", "slow: rank=1",
        "slow:nan rank=1", "kill rank=1 rank=2", "kill rank=1 op=3", "rank=1 kill"})
    EXPECT_THROW(parse_fault(text), UserError) << text;
}

class FaultAsked : public testing::TestWithParam<const char*> {};

TEST_P(FaultAsked, ThatDoesNotFitTheRunIsRefused) {
  const Environment variable("DLNETBENCH_FAULT", GetParam());

  EXPECT_THROW(fault_asked(plans::alike(2, {plans::compute(0)}), true), UserError);
}

INSTANTIATE_TEST_SUITE_P(Fault, FaultAsked,
                         testing::Values("stop rank=2", "stop rank=0 operation=1", "kill rank=0"));

}  // namespace
}  // namespace dlnb
