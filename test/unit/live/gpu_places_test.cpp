// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlnb::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Offer on(const std::string& machine, std::vector<std::string> devices) {
  return {machine, "host of " + machine, "net", std::move(devices)};
}

TEST(GpuPlaces, RanksOfAMachineTakeItsDevicesInOrder) {
  const std::vector<std::string> both{"0000:01:00.0", "0000:02:00.0"};

  const Places places = choose_devices({on("a", both), on("a", both), on("b", both), on("b", both)});

  EXPECT_THAT(places.devices, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(places.problem, "");
}

TEST(GpuPlaces, ARankThatSeesOneDeviceTakesThat) {
  const Places places =
      choose_devices({on("a", {"0000:01:00.0"}), on("a", {"0000:02:00.0"}), on("a", {"0000:03:00.0"})});

  EXPECT_THAT(places.devices, ElementsAre(0, 0, 0));
}

TEST(GpuPlaces, NoDeviceIsGivenTwice) {
  const std::vector<std::string> both{"0000:01:00.0", "0000:02:00.0"};

  const Places places = choose_devices({on("a", both), on("b", both), on("a", both), on("a", both)});

  EXPECT_THAT(places.problem, HasSubstr("3 ranks on host host of a and 2 accelerators"));
}

TEST(GpuPlaces, AHostWithoutDevicesIsNamed) {
  const Places places = choose_devices({on("a", {"0000:01:00.0"}), on("b", {})});

  EXPECT_THAT(places.problem, HasSubstr("1 ranks on host host of b and 0 accelerators"));
}

}  // namespace
}  // namespace dlnb::gpu
