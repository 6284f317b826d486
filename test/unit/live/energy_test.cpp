// SPDX-License-Identifier: Apache-2.0
// Energy counters on mock folders and a stand-in for NVML: the machines this runs on rarely have counters.
#include "executor/live/energy_meter.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <dlnb/error.hpp>

#include "executor/live/backend.hpp"
#include "nvml/stand_in.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

EnergySource::Opened open(const std::string& source, const EnergyPlace& place) {
  return entry_called(energies::all(), source, "a test").open(place);
}

/// A mock of /sys with two processors, one of them with memory that counts.
class Powercap : public testing::Test {
 protected:
  Powercap() {
    zone("intel-rapl:0", "package-0", 1000);
    zone("intel-rapl:0/intel-rapl:0:0", "core", 70);
    zone("intel-rapl:0/intel-rapl:0:1", "dram", 500);
    zone("intel-rapl:1", "package-1", 900'000'000);
    zone("intel-rapl:2", "psys", 5);
    zone("intel-rapl-mmio:0", "package-0", 1000);
  }

  void zone(const std::string& name, const std::string& title, std::int64_t microjoules) {
    scratch.write("sys/class/powercap/" + name + "/name", title + "\n");
    scratch.write("sys/class/powercap/" + name + "/max_energy_range_uj", "1000000000\n");
    set(name, microjoules);
  }
  void set(const std::string& name, std::int64_t microjoules) {
    scratch.write("sys/class/powercap/" + name + "/energy_uj", std::to_string(microjoules) + "\n");
  }

  Scratch scratch;
  EnergyPlace place{.root = scratch.folder(), .nvml = "no such library"};
};

TEST_F(Powercap, AddsUpProcessorsAndTheirMemoryAndNothingTwice) {
  const auto counters = open("powercap", place).counters;
  ASSERT_TRUE(counters);
  set("intel-rapl:0", 3'001'000);
  set("intel-rapl:0/intel-rapl:0:0", 2'000'000);
  set("intel-rapl:0/intel-rapl:0:1", 500'500);
  set("intel-rapl:2", 9'000'000);

  const auto readings = counters->read();

  ASSERT_EQ(readings.size(), 1u);
  EXPECT_EQ(readings[0].device, "");
  EXPECT_DOUBLE_EQ(readings[0].joules, 3.0 + 0.5);
  EXPECT_EQ(counters->method(), "RAPL through powercap: package-0, package-0 dram, package-1");
}

// 900 J, through 1000 J to 0, and on to 50 J: 150 J.
TEST_F(Powercap, GoesOnWhereACounterStartsAgain) {
  const auto counters = open("powercap", place).counters;
  set("intel-rapl:1", 50'000'000);

  EXPECT_DOUBLE_EQ(counters->read().at(0).joules, 150);

  set("intel-rapl:1", 60'000'000);
  EXPECT_DOUBLE_EQ(counters->read().at(0).joules, 160);
}

// A range of 1000 J and no more than 2 kW.
TEST_F(Powercap, IsReadOftenEnoughToSeeEveryNewStart) {
  EXPECT_DOUBLE_EQ(open("powercap", place).counters->longest_gap().value, 0.5);
}

// Root may read everything, so root looks as somebody else.
TEST_F(Powercap, SaysThatItMayNotBeRead) {
  std::filesystem::permissions(scratch.folder() / "sys/class/powercap/intel-rapl:0/energy_uj",
                               std::filesystem::perms::none);
  constexpr uid_t nobody = 65534;
  const int before = setfsuid(geteuid() == 0 ? nobody : geteuid());

  const EnergySource::Opened opened = open("powercap", place);

  setfsuid(uid_t(before));
  EXPECT_FALSE(opened.counters);
  EXPECT_THAT(opened.missing, HasSubstr("Permission denied; the administrator can allow it"));
}

TEST_F(Powercap, SaysThatACounterCannotBeRead) {
  std::filesystem::remove(scratch.folder() / "sys/class/powercap/intel-rapl:1/energy_uj");

  EXPECT_THAT(open("powercap", place).missing, HasSubstr("intel-rapl:1/energy_uj: No such file"));
}

TEST(EnergySources, SayWhyTheyAreMissing) {
  const Scratch empty;
  const EnergyPlace place{.root = empty.folder(), .nvml = "libno-such.so.1", .all_devices = true};

  for (const EnergySource* source : energies::all()) {
    const EnergySource::Opened opened = source->open(place);
    EXPECT_FALSE(opened.counters) << source->name;
    EXPECT_NE(opened.missing, "") << source->name;
  }
  EXPECT_THAT(open("powercap", place).missing, HasSubstr("no processor counts energy"));
  EXPECT_THAT(open("nvml", place).missing, HasSubstr("libno-such.so.1"));
}

/// The stand-in that the counters load, as it was, for one test.
class Nvml : public testing::Test {
 protected:
  Nvml() { be(true, true); }
  ~Nvml() override {
    be(true, true);
    dlclose(library);
  }

  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library, name));
  }
  void be(bool there, bool counting) const { function<StandInBe>("stand_in_be")(there, counting); }
  void set(unsigned device, unsigned long long millijoules, unsigned milliwatts = 0) const {
    function<StandInSet>("stand_in_set")(device, millijoules, milliwatts);
  }

  void* library = dlopen(DLNB_STAND_IN_NVML, RTLD_NOW);
  Scratch empty;
  EnergyPlace place{.root = empty.folder(), .nvml = DLNB_STAND_IN_NVML, .devices = {"0000:86:00.0"}};
};

TEST_F(Nvml, CountsTheDevicesThatRanksWorkOn) {
  set(0, 1'000), set(1, 5'000);
  {
    const auto counters = open("nvml", place).counters;
    ASSERT_TRUE(counters);
    set(0, 90'000), set(1, 7'500);

    const auto readings = counters->read();

    ASSERT_EQ(readings.size(), 1u);
    EXPECT_EQ(readings[0].device, "0000:86:00.0");
    EXPECT_DOUBLE_EQ(readings[0].joules, 2.5);
    EXPECT_EQ(counters->method(), "NVML energy counter");
    EXPECT_EQ(counters->longest_gap().value, 0);
    EXPECT_EQ(function<StandInUsers>("stand_in_users")(), 1);
  }
  EXPECT_EQ(function<StandInUsers>("stand_in_users")(), 0);
}

// Trapezoids: between readings of 100 W and 300 W it is 200 W.
TEST_F(Nvml, IntegratesPowerWhereThereIsNoCounterAndSaysSo) {
  be(true, false);
  set(1, 0, 100'000);
  const auto before = std::chrono::steady_clock::now();
  const auto counters = open("nvml", place).counters;
  const auto opened = std::chrono::steady_clock::now();
  ASSERT_TRUE(counters);
  set(1, 0, 300'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));

  const auto reading_begins = std::chrono::steady_clock::now();
  const double joules = counters->read().at(0).joules;
  const auto after = std::chrono::steady_clock::now();

  EXPECT_GE(joules, 200 * std::chrono::duration<double>(reading_begins - opened).count());
  EXPECT_LE(joules, 200 * std::chrono::duration<double>(after - before).count());
  EXPECT_EQ(counters->method(), "NVML power, every 0.1 s, integrated");
  EXPECT_DOUBLE_EQ(counters->longest_gap().value, 0.1);
}

TEST_F(Nvml, IsMissingWithoutADriverOrADeviceInUse) {
  EXPECT_THAT(open("nvml", {.nvml = DLNB_STAND_IN_NVML}).missing, HasSubstr("no rank works on a GPU"));
  EXPECT_THAT(open("nvml", {.nvml = DLNB_STAND_IN_NVML, .devices = {"0000:00:00.0"}}).missing,
              HasSubstr("0000:00:00.0: Not Found"));
  be(false, true);
  EXPECT_THAT(open("nvml", place).missing, HasSubstr("nvmlInit: Driver Not Loaded"));
}

TEST(CrayPm, CountsTheWholeNode) {
  const Scratch scratch;
  scratch.write("sys/cray/pm_counters/energy", "52134 J 1679941245 us\n");
  const auto counters = open("cray_pm", {.root = scratch.folder()}).counters;
  ASSERT_TRUE(counters);
  scratch.write("sys/cray/pm_counters/energy", "52200 J 1679951245 us\n");

  EXPECT_DOUBLE_EQ(counters->read().at(0).joules, 66);
}

/// Time as a test sets it.
class SetClock final : public Clock {
 public:
  std::int64_t now() override { return at; }
  void sleep(std::int64_t) override {}
  void yield() override {}

  std::int64_t at = 0;
};

Neighbours one_machine(const std::vector<std::string>& devices) {
  Neighbours neighbours;
  for (const std::string& device : devices) {
    neighbours.ranks.push_back(int(neighbours.all.size()));
    Whereabouts& rank = neighbours.all.emplace_back();
    std::ranges::copy(device, rank.device.begin());
  }
  return neighbours;
}

// Processors use 12 J, shared by 3 ranks; a device 6 J, shared by the 2 ranks on it. 4 + 3, 4, 4 + 3.
TEST_F(Nvml, AMeterSharesMachinesAmongAllRanksAndDevicesAmongTheirs) {
  const auto set_processor = [&](std::int64_t microjoules) {
    empty.write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
    empty.write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    empty.write("sys/class/powercap/intel-rapl:0/energy_uj", std::to_string(microjoules));
  };
  set_processor(0), set(1, 0);
  const Neighbours neighbours = one_machine({"0000:86:00.0", "", "0000:86:00.0"});
  SetClock clock;
  EnergyMeter meter(neighbours, clock, place);

  set_processor(7'000'000), set(1, 9'000);  // before the measurement
  meter.begin();
  clock.at = 2'000'000'000;
  set_processor(19'000'000), set(1, 15'000);
  meter.end();

  std::vector<double> joules;
  for (const RankEnergy& share : meter.shares()) {
    joules.push_back(share.joules);
    EXPECT_DOUBLE_EQ(share.seconds, 2);
  }
  EXPECT_THAT(joules, ElementsAre(7, 4, 7));
  EXPECT_EQ(meter.method(), "NVML energy counter; RAPL through powercap: package-0");
}

TEST_F(Powercap, AMeterCountsANodeCounterAlone) {
  scratch.write("sys/cray/pm_counters/energy", "10 J 0 us\n");
  const Neighbours neighbours = one_machine({""});
  SetClock clock;

  EXPECT_THAT(EnergyMeter(neighbours, clock, place).method(), HasSubstr("HPE Cray node counter"));
}

TEST_F(Powercap, AMeterWhoseCounterGoesAwayCountsNothingAndSaysWhy) {
  const Neighbours neighbours = one_machine({""});
  SetClock clock;
  EnergyMeter meter(neighbours, clock, place);
  meter.begin();
  std::filesystem::remove_all(scratch.folder() / "sys");
  meter.end();

  EXPECT_TRUE(meter.shares().empty());
  EXPECT_THAT(meter.problem(), HasSubstr("energy_uj: No such file"));
}

// The whole way to rank 0's trace, by ranks that are threads of one machine: 8 J among 4.
TEST_F(Powercap, AMeterBringsEveryRanksShareToTheFirst) {
  Trace trace;
  usable_backend("threads").open({4, false}, [&](Transport& transport) {
    const Control control(transport);
    const Neighbours neighbours = find_neighbours(control);
    SetClock clock;
    EnergyMeter meter(neighbours, clock, place);
    meter.begin();
    control.barrier();
    if (control.first()) set("intel-rapl:0", 8'001'000);
    clock.at = 1'000'000'000;
    meter.end();
    Trace own;
    meter.collect(control, own);
    if (control.first()) trace = own;
  });

  ASSERT_EQ(trace.energy.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(trace.energy[std::size_t(rank)].rank, rank);
    EXPECT_DOUBLE_EQ(trace.energy[std::size_t(rank)].joules, 2);
  }
  EXPECT_THAT(trace.energy_method, HasSubstr("RAPL"));
  EXPECT_TRUE(trace.notes.empty());
}

// The same where this rank's machine has counters and the other's has none.
TEST_F(Powercap, AMeterLeavesEnergyOutWhereOnlySomeMachinesCountIt) {
  Trace trace;
  const Scratch empty;
  usable_backend("threads").open({2, false}, [&](Transport& transport) {
    const Control control(transport);
    Neighbours neighbours = find_neighbours(control);
    neighbours.ranks = {transport.rank()}, neighbours.own = 0;  // as if alone
    SetClock clock;
    EnergyPlace here = place;
    if (!control.first()) here.root = empty.folder();
    EnergyMeter meter(neighbours, clock, here);
    meter.begin();
    meter.end();
    Trace own;
    meter.collect(control, own);
    if (control.first()) trace = own;
  });

  EXPECT_TRUE(trace.energy.empty());
  EXPECT_THAT(trace.notes, ElementsAre("energy is left out: 1 of 2 ranks are on machines that count it"));
}

}  // namespace
}  // namespace dlnb
