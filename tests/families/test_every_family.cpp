// SPDX-License-Identifier: Apache-2.0
// test_every_family: what every family and every plan of it keeps.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "device/program.hpp"
#include "plans.hpp"
#include "results/record.hpp"
#include "suite/check.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"
#include "suite/selection.hpp"
#include "suite/tuned_store.hpp"

using namespace clweave::commands;
using namespace clweave::families;

// The rules, and what each finds, are in suite/check and test_check.
class EveryFamily : public testing::TestWithParam<std::string> {};

TEST_P(EveryFamily, KeepsTheRules) {
  std::vector<std::string> stems;
  for (const auto& [stem, text] : embedded_kernels) stems.emplace_back(stem);
  EXPECT_THAT(problems_of(family_named(GetParam()), stems), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Checked, EveryFamily, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& family : all_families()) names.push_back(family.name);
                           return names;
                         }()),
                         [](const auto& of) { return of.param; });

TEST(AllFamilies, HaveNamesOfTheirOwn) {
  std::set<std::string> names, taken;
  for (const auto& column : columns()) taken.insert(std::string(column.name));
  for (const auto& family : all_families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    for (const auto& axis : family.axes)
      EXPECT_FALSE(taken.contains(axis.name)) << family.name << ": two columns " << axis.name;
  }
}

TEST(AllFamilies, SayInALineWhatTheyMeasure) {
  for (const auto& family : all_families()) {
    EXPECT_NE(family.brief, "") << family.name;
    EXPECT_LE(family.brief.size(), 41U) << family.name << ": clweave list has 80 columns";
  }
}

// Half a minute on any device, and each family of it has a case that runs.
TEST(AllFamilies, HaveFewCasesInPresetGlance) {
  for (const char* name : {"roomy", "processor"}) {
    const auto devices = mock_devices();
    const auto device = std::ranges::find(devices, name, &DeviceInfo::name);
    ASSERT_NE(device, devices.end());
    std::set<std::string> with_cases;
    std::size_t count = 0;
    double seconds = 0;
    for (const auto& family : all_families()) {
      for (const auto& at : preset_of(family, "glance")) {
        ++count;
        EXPECT_NO_THROW(seconds += estimate(plan_of(family, at, *device), *device).seconds) << at.id();
        with_cases.insert(family.name);
      }
    }
    EXPECT_THAT(with_cases,
                testing::ElementsAre("branch_divergence", "latency", "peak", "reduction", "scan"));
    EXPECT_LE(count, 25U);
    EXPECT_LE(seconds, 40) << name;
  }
}

TEST(AllFamilies, AreHeldAgainstCeilingsThatAreMeasured) {
  std::set<Peak> measured;
  const Family& peak = family_named("peak");
  for (const auto& at : preset_of(peak, "quick")) measured.insert(plan_of(peak, at, roomy()).peak);
  EXPECT_THAT(measured, testing::IsSupersetOf({Peak::copy, Peak::read, Peak::write, Peak::local,
                                               Peak::arithmetic_float, Peak::arithmetic_double}));
  for_all_cases([&](const Family& family, const std::string& /*preset*/, const Case& at) {
    const Plan plan = plan_of(family, at, roomy());
    EXPECT_TRUE(plan.peak == Peak::none || measured.contains(plan.peak)) << plan.peak;
  });
}

// A search needs values to try, of every tunable axis and on every device; no group is larger than it
// launches.
TEST(AllFamilies, ListWhatIsWorthTryingOfEveryTunableAxis) {
  for (const auto& family : all_families()) {
    std::vector<Case> cases;
    for (const auto& [of, preset, swept] : all_sweeps()) {
      if (&of == &family && (preset == "quick" || preset == "paper" || preset == "full"))
        cases.insert(cases.end(), swept.begin(), swept.end());
    }
    for (const auto& axis : family.axes) {
      if (!axis.tunable) continue;
      SCOPED_TRACE(family.name + " " + axis.name);
      EXPECT_GT(axis.values.size(), 1U);
      if (!axis.search_values) continue;
      for (auto device : mock_devices()) {
        device.compute_units = 16;
        std::size_t most = 0;
        for (const auto& at : cases) {
          const Values search_values = axis.search_values(at, device);
          most = std::max(most, search_values.size());
          if (search_values.size() > 1 && axis.name == "group") {
            for (const auto& value : search_values)
              EXPECT_LE(std::get<std::int64_t>(value), device.max_group);
          }
        }
        EXPECT_GT(most, device.max_group > 32 || axis.name != "group" ? 1U : 0U) << device.name;
      }
    }
  }
}

// Designs that compete differ in nothing but what says how, and each can be launched somewhere.
TEST(AllFamilies, SearchesBeginAtWorkThatIsTheSame) {
  std::set<std::string> searched;
  for (const auto& family : all_families()) {
    std::set<std::string> works;
    for (const auto& at : preset_of(family, "tune")) {
      works.insert(work_of(family, at, design_axes(family)));
      EXPECT_NO_THROW(plan_of(family, at, roomy())) << at.id();
    }
    if (family.name == "peak" || works.empty()) continue;
    searched.insert(family.name);
    EXPECT_EQ(works.size(), 1U) << family.name;
  }
  EXPECT_THAT(searched, testing::IsSupersetOf({"compaction", "copy", "grayscale", "reduction", "scan"}));
}

TEST(ShippedStores, AreOfCasesThatThereAre) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(CLWEAVE_SOURCE_DIR) / "results")) {
    const auto path = entry.path() / "tuned.json";
    if (!std::filesystem::exists(path)) continue;
    std::vector<std::string> left_out;
    known_stores(path.string(), left_out);
    EXPECT_THAT(left_out, testing::IsEmpty()) << path;
  }
}

// A new user of a device with shipped configurations gets one more configuration per family, beside every
// design of the same task.
TEST(ShippedStores, KnowTheBestLaunchesOfAnH200) {
  DeviceInfo device = roomy();
  device.platform = "NVIDIA CUDA";
  device.vendor = "NVIDIA Corporation";
  device.name = "NVIDIA H200";
  device.driver = "580.159.04";
  device.compute_units = 132;
  std::vector<std::string> left_out;
  const auto stores = known_stores("no such file", left_out);
  for (const char* name : {"compaction", "copy", "reduction", "scan"}) {
    const Family& family = family_named(name);
    DeviceInfo other = device;
    for (const char* driver : {"580.159.04", "570.1"}) {
      other.driver = driver;
      const TunedLaunches tuned(other, stores);
      std::set<std::string> best;
      for (const auto& at : preset_of(family, "tune")) {
        for (const auto& launch : tuned.beside(family, at)) {
          best.insert(launch.at.id());
          EXPECT_EQ(launch.of.empty(), other.driver == device.driver) << launch.of;
        }
      }
      EXPECT_EQ(best.size(), 1U) << name << " by driver " << driver;
    }
  }
  const auto scans = TunedLaunches(device, stores)
                         .beside(family_named("scan"), preset_of(family_named("scan"), "card").front());
  ASSERT_EQ(scans.size(), 1U);
  EXPECT_TRUE(scans.front().at.is("kernel", "pipelined") && scans.front().at.is("subgroup_impl", "ptx"));
}
