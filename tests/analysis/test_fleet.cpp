// SPDX-License-Identifier: Apache-2.0
// test_fleet: invented fleets of devices that differ as sessions of a real one do: how often a good device is
// named, how often a bad one is not, and what is said of it.
#include "analysis/fleet/fleet.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "analysis/compared_rows.hpp"
#include "analysis/fleet/effects.hpp"
#include "analysis/invented_fleets.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

namespace {

std::set<std::size_t> named(const Fleet& fleet) {
  std::set<std::size_t> out;
  for (std::size_t u = 0; u < fleet.devices.size(); ++u) {
    if (fleet.devices[u].verdict != DeviceVerdict::fine) out.insert(u);
  }
  return out;
}

constexpr std::size_t few_devices = 8, some_devices = 64, many_devices = 1000;

// Seeds fleets other than those that the model's parameters were chosen with.
constexpr std::uint64_t unseen = 20'261'123;

// Tries many good fleets, because false alarms are rare. CLWEAVE_FLEETS=200 tries as many with a bad device.
std::size_t fleets(std::size_t n, std::size_t of_few) { return n == many_devices ? of_few / 5 : of_few; }
std::size_t good_fleets(std::size_t n) { return fleets(n, 200); }
std::size_t bad_fleets(std::size_t n) {
  const char* const asked = std::getenv("CLWEAVE_FLEETS");
  return fleets(n, asked != nullptr ? std::stoul(asked) : 40);
}

class FleetOf : public testing::TestWithParam<std::size_t> {
 protected:
  // Returns in how many fleets exactly these devices are outliers, and checks what is said of the first.
  std::size_t found(const std::set<std::size_t>& bad, double factor,
                    const std::function<bool(const DeviceCase&)>& where, const std::string& shared,
                    const Invention& how = {}, DeviceVerdict verdict = DeviceVerdict::drain) {
    Inventor invent(unseen + GetParam());
    std::size_t right = 0;
    tried_ = bad_fleets(GetParam());
    for (std::size_t i = 0; i < tried_; ++i) {
      IdenticalDevices devices = invent.fleet(GetParam(), how);
      for (const std::size_t device : bad) slow_down(devices, device, factor, where);
      const Fleet fleet = fleet_of(devices);
      right += named(fleet) == bad && fleet.devices[*bad.begin()].verdict == verdict ? 1 : 0;
      EXPECT_THAT(fleet.devices[*bad.begin()].shared, HasSubstr(shared));
    }
    return right;
  }

  std::size_t tried_ = 0;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Devices, FleetOf, testing::Values(few_devices, some_devices, many_devices));

TEST_P(FleetOf, GoodCardsHasNoneNamedMoreOftenThanOneTimeInAHundred) {
  Inventor invent(unseen + 1000 + GetParam());
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < good_fleets(GetParam()); ++i)
    alarms += named(fleet_of(invent.fleet(GetParam()))).empty() ? 0 : 1;
  EXPECT_LE(100 * alarms, good_fleets(GetParam()));
}

TEST_P(FleetOf, OneCardSlowInCopiesHasThatOneNamed) {
  EXPECT_EQ(found({3}, 1.08, in_copy, "copy alone, in its only process", {}, DeviceVerdict::again), tried_);
  if (GetParam() == many_devices) return;
  EXPECT_EQ(found({3}, 1.08, in_copy, "copy alone", {.processes = 2}), tried_)
      << "twice is no accident where no other process is slow";
}

// Of a larger fleet more is known: the spread of its clocks, which is no part of what copies take over the
// rest.
TEST_P(FleetOf, WhoseClocksDifferHasSlowCopiesNamed) {
  if (GetParam() == many_devices) return;
  EXPECT_GE(100 * found({3}, 1.08, in_copy, "copy alone", other_clocks, DeviceVerdict::again), 95 * tried_);
}

TEST_P(FleetOf, OneCardWithSlowMemoryHasItNamedAsThat) {
  EXPECT_EQ(found({3}, 1.08, in_memory, "memory: 1.0"), tried_);
}

TEST_P(FleetOf, OneCardWithLowerClocksHasItNamedAsThat) {
  EXPECT_EQ(found({3}, 1.1, not_in_memory, "clock or power of its cores"), tried_);
  EXPECT_EQ(found({3}, 1.1, everywhere, "every family by about the same factor, 1."), tried_);
}

TEST_P(FleetOf, AQuarterOfBadCardsDoesNotHideThem) {
  std::set<std::size_t> bad;
  for (std::size_t u = 0; u < GetParam() / 4; ++u) bad.insert(u);
  EXPECT_EQ(found(bad, 1.12, in_memory, "memory"), tried_);
}

TEST_P(FleetOf, OneSlowKernelIsFoundByItself) {
  Inventor invent(unseen + GetParam());
  IdenticalDevices devices = invent.fleet(GetParam());
  const auto at = std::ranges::find(devices.cases, "copy", &DeviceCase::family);
  slow_down(devices, 5, 2, [&](const DeviceCase& one) { return one.id == at->id; });
  const Fleet fleet = fleet_of(devices);
  EXPECT_THAT(named(fleet), ElementsAre(5));
  EXPECT_EQ(fleet.devices[5].verdict, DeviceVerdict::again);
  EXPECT_EQ(fleet.devices[5].shared, "single cases of copy, in its only process");
  EXPECT_EQ(fleet.devices[5].differences.back().id, at->id);
  EXPECT_NEAR(fleet.devices[5].differences.back().ratio, 2, 0.1);
}

TEST_P(FleetOf, GoodCardsPassABaselineAndOneThatIsBadDoesNot) {
  Inventor invent(unseen + GetParam());
  std::size_t alarms = 0, missed = 0;
  const std::size_t tried = bad_fleets(GetParam());
  for (std::size_t i = 0; i < tried; ++i) {
    const IdenticalDevices baseline = invent.fleet(4);
    IdenticalDevices devices = invent.fleet(GetParam());
    alarms += named(fleet_of(devices, &baseline)).size();
    slow_down(devices, 2, 1.15, in_copy);
    missed += named(fleet_of(devices, &baseline)) == std::set<std::size_t>{2} ? 0 : 1;
  }
  EXPECT_EQ(alarms, 0U);
  EXPECT_EQ(missed, 0U);
}

// The count above can show an alarm: without a margin, and with any chance of one, there are many.
TEST(Fleet, WithoutItsMarginWouldBeLessQuiet) {
  Inventor invent(5);
  std::size_t alarms = 0;
  for (int i = 0; i < 200; ++i)
    alarms +=
        named(fleet_of(invent.fleet(few_devices), nullptr, {.margin = 0, .false_alarms = 1})).empty() ? 0 : 1;
  EXPECT_GT(alarms, 20U);
  EXPECT_LT(alarms, 200U);
}

TEST(Fleet, AllCardsMayBeOddAgainstABaseline) {
  Inventor invent(6);
  const IdenticalDevices baseline = invent.fleet(6);
  IdenticalDevices devices = invent.fleet(3);
  for (std::size_t u = 0; u < 3; ++u) slow_down(devices, u, 1.15, in_copy);
  EXPECT_THAT(named(fleet_of(devices, &baseline)), SizeIs(3));
}

// A fleet of which any share is slow is never said to be fine.
TEST(Fleet, OfWhichAnyShareIsSlowIsTold) {
  for (const std::size_t n : {few_devices, some_devices}) {
    for (const double factor : {1.08, 1.2}) {
      for (const double share : {0.02, 0.13, 0.25, 0.3, 0.4, 0.5, 0.6, 0.74, 0.87, 0.98}) {
        Inventor invent(unseen + n);
        IdenticalDevices devices = invent.fleet(n);
        const IdenticalDevices baseline = invent.fleet(few_devices);
        const auto slow = std::clamp<std::size_t>(std::lround(share * static_cast<double>(n)), 1, n - 1);
        for (std::size_t u = 0; u < slow; ++u) slow_down(devices, u, factor, everywhere);
        const Fleet alone = fleet_of(devices), against = fleet_of(devices, &baseline);
        const auto what = fmt::format("{} of {} by {}", slow, n, factor);
        EXPECT_EQ(against.count(DeviceVerdict::drain), slow) << what;
        EXPECT_EQ(against.count(DeviceVerdict::fine), n - slow) << what;
        if (4 * slow <= n)
          EXPECT_EQ(alone.count(DeviceVerdict::drain), slow) << what;
        else if (n - slow == 1 || 10 * (n - slow) <= n)
          EXPECT_EQ(alone.count(DeviceVerdict::faster), n - slow) << what;
        else
          EXPECT_EQ(alone.count(DeviceVerdict::unjudged), n) << what;
      }
    }
  }
}

TEST(Fleet, OfThreeGroupsIsNotJudged) {
  Inventor invent(9);
  IdenticalDevices devices = invent.fleet(24);
  for (std::size_t u = 0; u < 16; ++u) slow_down(devices, u, u < 8 ? 1.08 : 1.17, everywhere);
  const Fleet fleet = fleet_of(devices);
  EXPECT_EQ(fleet.count(DeviceVerdict::unjudged), 24U);
  EXPECT_THAT(fleet.notes, Contains(AllOf(StartsWith("three groups in most families: 8 at 1.00x"),
                                          HasSubstr("8 at 1.08x"), HasSubstr("--baseline"))));
}

TEST(Fleet, WithOneFamilyInGroupsIsNotJudgedByIt) {
  Inventor invent(10);
  IdenticalDevices devices = invent.fleet(8);
  for (std::size_t u = 0; u < 4; ++u) slow_down(devices, u, 1.08, in_copy);
  const Fleet fleet = fleet_of(devices);
  EXPECT_EQ(fleet.count(DeviceVerdict::unjudged), 8U);
  EXPECT_THAT(fleet.notes, Contains(StartsWith("two groups in copy: 4 at 1.00x, 4 at 1.08x")));
}

// Healthy devices of which some process ran slow once are not drained, but may be measured again.
TEST(Fleet, WithProcessesThatRanSlowOnceDrainsNobody) {
  for (const std::size_t processes : {1, 2, 3}) {
    Inventor invent(unseen + processes);
    std::size_t drained = 0, again = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      const Fleet fleet = fleet_of(invent.fleet(few_devices, {.processes = processes, .slow_once = 0.05}));
      drained += fleet.count(DeviceVerdict::drain) > 0 ? 1 : 0;
      again += fleet.count(DeviceVerdict::again);
    }
    EXPECT_EQ(drained, 0U) << processes;
    EXPECT_GT(again, 0U) << processes;
  }
}

// Of two processes of a device one was slow: nobody knows which is right; of three it is known.
TEST(Fleet, MeasuredTwiceWithDifferentResultsIsMeasuredAgain) {
  for (const std::size_t processes : {2, 3}) {
    Inventor invent(11);
    IdenticalDevices devices = invent.fleet(few_devices, {.processes = processes});
    for (auto& one : devices.cases) one.by_process[5][0] += in_copy(one) ? std::log(1.3) : 0;
    Inventor::take_medians(devices);
    const Fleet fleet = fleet_of(devices);
    EXPECT_EQ(fleet.devices[5].verdict, processes == 2 ? DeviceVerdict::again : DeviceVerdict::fine);
    EXPECT_EQ(named(fleet).size(), processes == 2 ? 1U : 0U);
    if (processes == 2) EXPECT_THAT(fleet.devices[5].shared, HasSubstr("in 1 of 2 processes"));
  }
}

// A process that is slow as a whole is one accident, not one in each family.
TEST(Fleet, ACardOfWhichOneOfTwoProcessesIsSlowIsMeasuredAgain) {
  const std::vector<std::pair<bool (*)(const DeviceCase&), double>> ways = {
      {everywhere, 1.2}, {everywhere, 2}, {in_memory, 1.3}, {not_in_memory, 1.3}};
  for (const auto& [where, factor] : ways) {
    for (const bool by_baseline : {false, true}) {
      Inventor invent(unseen + 12);
      const IdenticalDevices baseline = invent.fleet(few_devices);
      IdenticalDevices devices = invent.fleet(few_devices, {.processes = 2});
      for (auto& one : devices.cases) one.by_process[5][1] += where(one) ? std::log(factor) : 0;
      Inventor::take_medians(devices);
      const Fleet fleet = fleet_of(devices, by_baseline ? &baseline : nullptr);
      EXPECT_THAT(named(fleet), ElementsAre(5)) << factor;
      EXPECT_EQ(fleet.devices[5].verdict, DeviceVerdict::again) << factor;
      EXPECT_THAT(fleet.devices[5].shared, HasSubstr("in 1 of 2 processes"));
      for (auto& one : devices.cases) one.by_process[5][0] += where(one) ? std::log(factor) : 0;
      Inventor::take_medians(devices);
      const Fleet twice = fleet_of(devices, by_baseline ? &baseline : nullptr);
      EXPECT_EQ(twice.devices[5].verdict, DeviceVerdict::drain) << "slow in both, by " << factor;
    }
  }
}

// Of five processes three decide; that the other two were slow is told.
TEST(Fleet, SlowProcessesOfAFineCardAreTold) {
  Inventor invent(unseen + 14);
  IdenticalDevices devices = invent.fleet(few_devices, {.processes = 5});
  for (auto& one : devices.cases) {
    for (const std::size_t process : {1, 3}) one.by_process[4][process] += std::log(1.3);
  }
  Inventor::take_medians(devices);
  const Fleet fleet = fleet_of(devices);
  EXPECT_EQ(fleet.count(DeviceVerdict::fine), few_devices);
  EXPECT_THAT(fleet.notes, ElementsAre(AllOf(HasSubstr("4: 2 of 5 processes took 1.3"),
                                             HasSubstr("the time of the others"))));
}

// The farther apart all devices are, the less is any of them an outlier: they are told, not fine.
TEST(Fleet, ThatIsSpreadWidelyIsNotJudgedWithoutABaseline) {
  for (const std::size_t n : {few_devices, some_devices}) {
    Inventor invent(unseen + 13 + n);
    const IdenticalDevices baseline = invent.fleet(few_devices);
    const auto ramp = [&](bool (*where)(const DeviceCase&)) {
      IdenticalDevices out = invent.fleet(n);
      for (std::size_t u = 0; u < n; ++u)
        slow_down(out, u, std::pow(1.14, static_cast<double>(u) / static_cast<double>(n - 1)), where);
      return out;
    };
    const IdenticalDevices devices = ramp(everywhere);
    const Fleet alone = fleet_of(devices), against = fleet_of(devices, &baseline);
    EXPECT_EQ(alone.count(DeviceVerdict::fine), 0U);
    EXPECT_THAT(alone.notes, Contains(AllOf(HasSubstr("in most families"), HasSubstr("--baseline"))));
    // Those up to 3 % slower are within the margin; from 7.5 % on they are named.
    for (std::size_t u = 0; u < n; ++u) {
      const double slower = 0.14 * static_cast<double>(u) / static_cast<double>(n - 1);
      if (slower < 0.025) EXPECT_EQ(against.devices[u].verdict, DeviceVerdict::fine) << u;
      if (slower > 0.075) EXPECT_EQ(against.devices[u].verdict, DeviceVerdict::drain) << u;
    }
    EXPECT_EQ(fleet_of(ramp(in_copy)).count(DeviceVerdict::fine), 0U) << "a family alone";
    // The sessions of a single device do not tell what devices differ by, and the fleet's spread is no noise.
    EXPECT_EQ(fleet_of(devices, &real_sessions()).count(DeviceVerdict::fine), 0U);
  }
}

// Clocks that differ by 1 % are no wide spread, nor is what processes that ran slow once make of a fleet.
TEST(Fleet, OfGoodCardsIsNotSaidToBeSpread) {
  for (const Invention& how : {Invention{}, other_clocks, Invention{.processes = 2, .slow_once = 0.05}}) {
    std::size_t alarms = 0, fleets = 0;
    for (const std::size_t n : {std::size_t{4}, few_devices, some_devices}) {
      Inventor invent(unseen + 15 + n);
      for (std::size_t i = 0; i < (n == some_devices ? 5 : 40); ++i, ++fleets) {
        const Fleet fleet = fleet_of(invent.fleet(n, how));
        alarms += static_cast<std::size_t>(std::ranges::count_if(
            fleet.notes, [](const std::string& note) { return note.starts_with("spread in"); }));
      }
    }
    EXPECT_LE(100 * alarms, fleets) << how.core << " " << how.slow_once;
  }
}

// A device that lacks a family has one less, so that both an even and an odd number of others are met.
TEST(Fleet, AFamilyIsHeldAgainstTheMedianOfTheOthersThatADeviceHas) {
  Inventor invent(unseen + 16);
  IdenticalDevices devices = invent.fleet(few_devices);
  for (auto& one : devices.cases) {
    if (in_copy(one)) one.log_times[2] = unmeasured;
  }
  const Effects effects = effects_over(devices, devices.families(), centres(devices));
  std::size_t lacking = 0;
  for (const Measure& measure : effects.measures) {
    if (measure.of != Measure::Of::family_over_others) continue;
    for (std::size_t u = 0; u < few_devices; ++u) {
      const double own = effects.of_family(measure.family, u);
      std::vector<double> others;
      for (std::size_t f = 0; f < effects.families.size(); ++f)
        others.push_back(f == measure.family ? unmeasured : effects.of_family(f, u));
      lacking += std::isnan(own) ? 1 : 0;
      if (std::isnan(own))
        EXPECT_TRUE(std::isnan(measure.values[u]));
      else
        EXPECT_DOUBLE_EQ(measure.values[u], own - middle_of(others)) << measure.family << " " << u;
    }
  }
  EXPECT_EQ(lacking, 1U);
}

TEST(Fleet, OfFewerThanFourCardsIsNotJudgedByTimes) {
  Inventor invent(7);
  const Fleet fleet = fleet_of(invent.fleet(3));
  EXPECT_EQ(fleet.count(DeviceVerdict::unjudged), 3U);
  EXPECT_THAT(fleet.notes,
              ElementsAre(HasSubstr("3 identical devices cannot tell an outlier: 4 can, or --baseline")));
  IdenticalDevices apart = invent.fleet(3);
  slow_down(apart, 1, 1.5, everywhere);
  EXPECT_THAT(fleet_of(apart).notes, Contains(HasSubstr("the slowest takes 1.5")));
}

TEST(Fleet, AFasterCardIsNamedButNotDrained) {
  Inventor invent(8);
  IdenticalDevices devices = invent.fleet(few_devices);
  slow_down(devices, 1, 1 / 1.2, everywhere);
  const Fleet fleet = fleet_of(devices);
  EXPECT_THAT(named(fleet), ElementsAre(1));
  EXPECT_EQ(fleet.devices[1].verdict, DeviceVerdict::faster);
}

// ---- Of rows

namespace {

Record of_device(Record record, int device) {
  record.host = fmt::format("node{}", device);
  record.device_id = "0000:18:00.0";
  record.uuid = fmt::format("{:032x}", device + 1);
  record.device_type = "gpu";
  return record;
}

// A case of a millisecond whose runs differ by tenths of a percent.
std::vector<Record> devices_of_rows(std::size_t n, const std::function<void(int, Record&)>& change) {
  std::vector<Record> out;
  for (int device = 0; device < static_cast<int>(n); ++device) {
    for (const char* kernel : {"a", "b", "c"}) {
      Record record = of_device(row({{"kernel", kernel}}, 1e-3 * (1 + 1e-3 * (device % 7))), device);
      change(device, record);
      out.push_back(std::move(record));
    }
  }
  return out;
}

}  // namespace

TEST_P(FleetOf, OneCardWithWrongResultsHasThatOneNamedByItsKernel) {
  const auto records = devices_of_rows(GetParam(), [](int device, Record& record) {
    if (device == 4 && record.axis("kernel") == "b")
      record = bad(record, "wrong_result", "3 of 1000 elements");
  });
  const ResultsSet set = set_of(records);
  const auto fleets = fleets_of(set);
  ASSERT_THAT(fleets, SizeIs(1));
  EXPECT_THAT(named(fleets[0]), ElementsAre(4));
  const FleetDevice& device = fleets[0].devices[4];
  EXPECT_EQ(device.verdict, DeviceVerdict::drain);
  EXPECT_EQ(device.location, "node4 0000:18:00.0");
  EXPECT_EQ(device.shared, "wrong_result in a case of loom");
  ASSERT_THAT(device.failures, SizeIs(1));
  EXPECT_EQ(device.failures[0].id, "loom/kernel=b");
  EXPECT_THAT(shown(report_of(fleets, false), "text"),
              AllOf(HasSubstr("1 TO BE DRAINED"), HasSubstr("node4 0000:18:00.0"), HasSubstr("loom/kernel=b"),
                    HasSubstr("3 of 1000 elements"), Not(HasSubstr("node3"))));
}

TEST(FleetRows, WhatFailsOnMostCardsIsNoCards) {
  const ResultsSet set = set_of(devices_of_rows(8, [](int device, Record& record) {
    if (device != 2 && record.axis("kernel") == "b") record = bad(record, "build_failed");
  }));
  const auto fleets = fleets_of(set);
  EXPECT_THAT(named(fleets.at(0)), IsEmpty());
  EXPECT_THAT(fleets[0].notes, Contains(StartsWith("1 cases fail on more devices")));
}

// Half of the devices may be wrong, or their kernel or driver; a baseline by the same driver tells.
TEST(FleetRows, WhatFailsOnHalfOfTheCardsIsJudgedByABaseline) {
  const auto wrong = [](int device, Record& record) {
    if (device < 4 && record.axis("kernel") == "b")
      record = bad(record, "wrong_result", "3 of 1000 elements");
  };
  const ResultsSet set = set_of(devices_of_rows(8, wrong));
  const auto fleets = fleets_of(set);
  EXPECT_EQ(fleets.at(0).count(DeviceVerdict::drain), 0U);
  EXPECT_THAT(named(fleets[0]), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(fleets[0].devices[0].verdict, DeviceVerdict::unjudged);
  EXPECT_THAT(fleets[0].devices[0].shared, StartsWith("wrong_result in a case of loom, as on others"));
  EXPECT_THAT(fleets[0].notes, Contains("loom/kernel=b fails on 4 devices and is right on 4"));
  const ResultsSet good = set_of(devices_of_rows(5, [](int, Record&) {}));
  EXPECT_EQ(fleets_of(set, &good).at(0).count(DeviceVerdict::drain), 4U);
  const ResultsSet other = set_of(devices_of_rows(5, [](int, Record& record) { record.driver = "1.1"; }));
  EXPECT_EQ(fleets_of(set, &other).at(0).count(DeviceVerdict::unjudged), 4U) << "another driver";
}

TEST(FleetRows, WhatADriverOfItsOwnMayCauseIsNotTheCards) {
  for (const bool slow : {true, false}) {
    const ResultsSet set = set_of(devices_of_rows(8, [&](int device, Record& record) {
      if (device > 1) return;
      record.driver = "1.3";
      if (slow)
        *record.time_s *= 1.2;
      else if (record.axis("kernel") == "b")
        record = bad(record, "wrong_result");
    }));
    const auto fleets = fleets_of(set);
    EXPECT_THAT(named(fleets.at(0)), ElementsAre(0, 1));
    EXPECT_EQ(fleets[0].count(DeviceVerdict::unjudged), 2U);
    if (slow) EXPECT_THAT(fleets[0].devices[0].shared, HasSubstr("so are all 2 with driver 1.3"));
  }
}

TEST(FleetRows, GroupsThatAreTheDriversAreToldAsThat) {
  const ResultsSet set = set_of(devices_of_rows(8, [](int device, Record& record) {
    if (device < 4) record.driver = "1.3";
    if (device < 4) *record.time_s *= 1.2;
  }));
  const auto fleets = fleets_of(set);
  EXPECT_EQ(fleets.at(0).count(DeviceVerdict::unjudged), 8U);
  EXPECT_THAT(fleets[0].notes,
              Contains(AllOf(StartsWith("two groups in loom: 4 at 1.00x, 4 at 1.20x"),
                             HasSubstr("their drivers differ in the same way: 1.2 against 1.3"))));
}

TEST(FleetRows, CardsThatAreAllSlowAreHeldAgainstABaselineWithANote) {
  const ResultsSet good = set_of(devices_of_rows(5, [](int, Record&) {}));
  const ResultsSet set = set_of(devices_of_rows(8, [](int, Record& record) { *record.time_s *= 1.2; }));
  const auto fleets = fleets_of(set, &good);
  EXPECT_EQ(fleets.at(0).count(DeviceVerdict::drain), 8U);
  EXPECT_THAT(fleets[0].notes, Contains(StartsWith("all 8 devices are slower than the baseline")));
}

TEST(FleetRows, ACardThatLacksAFamilyIsSaidToLackIt) {
  const ResultsSet set = set_of(devices_of_rows(6, [](int device, Record& record) {
    if (record.axis("kernel") == "a") return;
    record.family = "shuttle";
    record.case_id = "shuttle" + record.case_id.substr(4);
    if (device == 2) record = bad(record, "unsupported");
  }));
  const auto fleets = fleets_of(set);
  EXPECT_THAT(fleets.at(0).notes,
              Contains(AllOf(HasSubstr("for want of times: node2"), HasSubstr("shuttle"))));
}

TEST(FleetRows, PartsOfADividedDeviceAreAFleetOfTheirOwn) {
  const ResultsSet set = set_of(devices_of_rows(9, [](int device, Record& record) {
    record.compute_units = device < 4 ? 60 : 132;
    if (device < 4) *record.time_s *= 2;
  }));
  const auto fleets = fleets_of(set);
  ASSERT_THAT(fleets, SizeIs(2));
  EXPECT_EQ(fleets[0].count(DeviceVerdict::fine), 4U);
  EXPECT_EQ(fleets[1].count(DeviceVerdict::fine), 5U);
}

TEST(FleetRows, SaysWhatToRunForACardThatIsToBeMeasuredAgain) {
  const ResultsSet set = set_of(devices_of_rows(8, [](int device, Record& record) {
    if (device == 3) *record.time_s *= 1.2;
  }));
  const auto fleets = fleets_of(set);
  EXPECT_EQ(fleets.at(0).devices[3].verdict, DeviceVerdict::again);
  EXPECT_THAT(
      fleets[0].notes,
      Contains(AllOf(HasSubstr("node3 0000:18:00.0: clweave run --device 00000000000000000000000000000004 "
                               "--family loom --runs 2"))));
  EXPECT_THAT(shown(report_of(fleets, false), "text"),
              AllOf(HasSubstr("1 TO BE MEASURED AGAIN"), HasSubstr("loom alone, in its only process")));
}

TEST(FleetRows, ATimeThatCannotBeTrueIsNoCardsFailure) {
  const ResultsSet set = set_of(devices_of_rows(8, [](int device, Record& record) {
    if (device == 2 && record.axis("kernel") == "b") record = bad(record, "implausible", "too fast");
  }));
  const auto fleets = fleets_of(set);
  EXPECT_THAT(named(fleets.at(0)), IsEmpty());
  EXPECT_THAT(fleets[0].notes, Contains(StartsWith("1 time of a case on a device is implausible")));
}

TEST(FleetRows, TwoCardsTellWhichOneFails) {
  const ResultsSet set = set_of(devices_of_rows(3, [](int device, Record& record) {
    if (device == 1) record = bad(record, "device_lost");
  }));
  const auto fleets = fleets_of(set);
  EXPECT_EQ(fleets.at(0).count(DeviceVerdict::drain), 1U);
  EXPECT_EQ(fleets[0].devices[1].shared, "device_lost in 3 cases of loom");
}

TEST(FleetRows, ACardThatIsSlowedOrLacksItsRowsIsNotJudged) {
  const ResultsSet set = set_of(devices_of_rows(6, [](int device, Record& record) {
    if (device == 2) record.throttled = 0.9;
    if (device == 3 && record.axis("kernel") != "a") record.timer = Timer::host;
  }));
  const auto fleets = fleets_of(set);
  EXPECT_THAT(named(fleets.at(0)), ElementsAre(2, 3));
  EXPECT_EQ(fleets[0].devices[2].verdict, DeviceVerdict::unjudged);
  EXPECT_THAT(fleets[0].devices[2].shared, HasSubstr("beside 3 of 3 cases the canary ran slow"));
  EXPECT_EQ(fleets[0].devices[3].verdict, DeviceVerdict::unjudged);
  EXPECT_THAT(fleets[0].devices[3].shared, HasSubstr("2 of 3 cases were timed by another clock"));
}

TEST(FleetRows, DifferentDevicesAreFleetsOfTheirOwn) {
  auto records = devices_of_rows(5, [](int, Record&) {});
  for (const auto& record : devices_of_rows(4, [](int, Record& record) { record.device = "Loom 2"; }))
    records.push_back(record);
  records.back().driver = "1.3";
  const ResultsSet set = set_of(records);
  const auto fleets = fleets_of(set);
  ASSERT_THAT(fleets, SizeIs(2));
  EXPECT_THAT(fleets[0].devices, SizeIs(5));
  EXPECT_EQ(fleets[1].device, "Loom 2");
  EXPECT_THAT(fleets[1].notes, Contains("several drivers: 1.2 on 4, 1.3 on 1"));
}

TEST(FleetRows, ABaselineOfAnotherDeviceIsRefused) {
  const ResultsSet set = set_of(devices_of_rows(5, [](int, Record&) {}));
  const ResultsSet other = set_of({on(row({{"kernel", "a"}}, 1), "Loom 9")});
  EXPECT_THAT(complaint_of([&] { fleets_of(set, &other); }, ErrorCode::usage),
              HasSubstr("no device of Loom 1"));
}

TEST(FleetRows, EveryCardAndFamilyIsARowForPrograms) {
  std::vector<Record> records;
  for (int run = 1; run <= 3; ++run) {
    records = std::move(records) + devices_of_rows(5, [&](int device, Record& record) {
                record.run = run;
                if (device == 0) record.time_s = *record.time_s * 1.5;
              });
  }
  const ResultsSet set = set_of(records);
  const auto fleets = fleets_of(set);
  const auto rows = parse_csv(shown(report_of(fleets, false), "csv"), "x").rows;
  ASSERT_THAT(rows, SizeIs(10));
  EXPECT_EQ(rows[0].cells[0], "node0 0000:18:00.0");
  EXPECT_EQ(rows[0].cells[5], "drain");
  EXPECT_EQ(rows[0].cells[6], "device");
  EXPECT_EQ(rows[0].cells[14], "1");
  EXPECT_EQ(rows[1].cells[6], "family");
  EXPECT_NEAR(std::stod(rows[1].cells[10]), 1.5, 0.01);
  EXPECT_EQ(rows[9].cells[14], "0");
}
