// SPDX-License-Identifier: Apache-2.0
// test_fleet: invented fleets of devices that differ as sessions of a real one do: how often a good device is
// named, how often a bad one is not, and what is said of it.
#include "analysis/fleet/fleet.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>
#include <set>

#include "analysis/compared_rows.hpp"
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

// Four sessions of one H200 between which nothing changed.
const IdenticalDevices& real_sessions() {
  static const ResultsSet set = [] {
    std::vector<std::string> files;
    for (int i = 1; i <= 4; ++i)
      files.push_back(fmt::format("{}/results/nvidia-h200/2026-11-22-aa-{}.csv", CLWEAVE_SOURCE_DIR, i));
    return read_results(files, all_families());
  }();
  static const IdenticalDevices devices = [] {
    auto all = identical_devices(set, Unit::session);
    EXPECT_THAT(all, SizeIs(1));
    EXPECT_THAT(all.at(0).units, SizeIs(4));
    return all.at(0);
  }();
  return devices;
}

// Fleets whose devices differ by what real sessions do: a family of a device is off as the family of a
// session was, and each of its cases as any case of that family and session that takes about as long, so that
// what they have in common stays, and so do the tails. Beyond that devices differ for good: half a percent in
// what bounds their cores, a third of that in memory.
class Inventor {
 public:
  explicit Inventor(std::uint64_t seed) : random_(seed) {
    const IdenticalDevices& real = real_sessions();
    const auto middle = centres(real);
    families_ = real.families();
    for (const auto& one : real.cases) {
      std::array<double, 4> off{};
      double mean = 0;
      for (std::size_t s = 0; s < 4; ++s) mean += one.log_times[s] / 4;
      for (std::size_t s = 0; s < 4; ++s) off[s] = std::sqrt(4.0 / 3) * (one.log_times[s] - mean);
      auto& pool = pools_[{one.family, one.weight}];
      pool.push_back(off);
      pool_of_.push_back(&pool);
    }
    blank_ = real;
    for (std::size_t c = 0; c < blank_.cases.size(); ++c) blank_.cases[c].log_times = {middle[c]};
  }

  IdenticalDevices fleet(std::size_t n) {
    IdenticalDevices out = blank_;
    out.units.assign(n, {});
    for (std::size_t u = 0; u < n; ++u) out.units[u].location = std::to_string(u);
    for (auto& one : out.cases) one.log_times.assign(n, one.log_times.front());
    for (std::size_t u = 0; u < n; ++u) {
      const double core = 0.005 * normal(), memory = core / 3;
      for (const auto& family : families_) {
        const std::size_t session = random_() % 4;
        const double sign = random_() % 2 == 0 ? 1 : -1;
        for (const std::size_t c : family.cases) {
          const auto& off = (*pool_of_[c])[random_() % pool_of_[c]->size()];
          out.cases[c].log_times[u] +=
              sign * off[session] + (out.cases[c].bound == Bound::memory ? memory : core);
        }
      }
    }
    return out;
  }

 private:
  // The standard's distributions differ between libraries, its engines do not.
  double normal() {
    const auto uniform = [&] { return static_cast<double>(random_() >> 11) * 0x1p-53; };
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  std::mt19937_64 random_;
  std::vector<IdenticalDevices::OfFamily> families_;
  using Pool =
      std::vector<std::array<double, 4>>;  // of each case the four sessions' distances from their mean
  std::map<std::pair<std::string, double>, Pool> pools_;
  std::vector<const Pool*> pool_of_;  // each case
  IdenticalDevices blank_;
};

void slow_down(IdenticalDevices& fleet, std::size_t device, double factor,
               const std::function<bool(const DeviceCase&)>& where) {
  for (auto& one : fleet.cases) {
    if (where(one)) one.log_times[device] += std::log(factor);
  }
}

const auto in_copy = [](const DeviceCase& one) { return one.family == "copy"; };
const auto in_memory = [](const DeviceCase& one) { return one.bound == Bound::memory; };
const auto not_in_memory = [](const DeviceCase& one) { return one.bound != Bound::memory; };
const auto everywhere = [](const DeviceCase&) { return true; };

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
                    const std::function<bool(const DeviceCase&)>& where, const std::string& shared) {
    Inventor invent(unseen + GetParam());
    std::size_t right = 0;
    tried_ = bad_fleets(GetParam());
    for (std::size_t i = 0; i < tried_; ++i) {
      IdenticalDevices devices = invent.fleet(GetParam());
      for (const std::size_t device : bad) slow_down(devices, device, factor, where);
      const Fleet fleet = fleet_of(devices);
      right += named(fleet) == bad && fleet.devices[*bad.begin()].verdict == DeviceVerdict::drain ? 1 : 0;
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
  EXPECT_EQ(found({3}, 1.08, in_copy, "copy alone"), tried_);
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
  at->log_times[5] += std::log(2);
  const Fleet fleet = fleet_of(devices);
  EXPECT_THAT(named(fleet), ElementsAre(5));
  EXPECT_EQ(fleet.devices[5].shared, "single cases of copy");
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

TEST(Fleet, OfFewerThanFourCardsIsNotJudgedByTimes) {
  Inventor invent(7);
  const Fleet fleet = fleet_of(invent.fleet(3));
  EXPECT_EQ(fleet.count(DeviceVerdict::unjudged), 3U);
  EXPECT_THAT(fleet.notes,
              ElementsAre(HasSubstr("3 identical devices cannot tell an outlier: 4 can, or --baseline")));
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
  const ResultsSet set = set_of(devices_of_rows(5, [](int device, Record& record) {
    if (device == 0) record.time_s = *record.time_s * 1.5;
  }));
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
