// SPDX-License-Identifier: Apache-2.0
// test_profile: profiles from invented rows of the families.
#include "analysis/profile/profile.hpp"
#include "analysis/rows/case_labels.hpp"
#include "suite/family.hpp"
#include "suite/mock_devices.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <set>

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Cells = std::vector<std::pair<std::string, std::string>>;

// A case of a real family: every axis at its default but these.
Record row(const std::string& family_name, const Cells& cells, double seconds) {
  const auto& families = all_families();
  const auto& family = *std::ranges::find(families, family_name, &Family::name);
  Record r;
  r.platform = "Invented, OpenCL 3.0";
  r.device = "Loom 1";
  r.driver = "1.2";
  r.family = r.case_id = family_name;
  for (const auto& axis : family.axes) {
    std::string value = text_of(axis.values.front());
    for (const auto& [name, cell] : cells) {
      if (name == axis.name) value = cell;
    }
    r.axes.emplace_back(axis.name, value);
  }
  for (const auto& [name, cell] : cells) r.case_id.append("/").append(name).append("=").append(cell);
  r.status = Status::ok;
  r.timer = Timer::event;
  r.cache = "warm";
  r.time_s = r.time_low_s = r.time_high_s = seconds;
  r.gb_per_s = 1 / seconds;
  return r;
}

Record peak(const std::string& name, double rate) {
  Record r = row("peak", {{"kernel", name}}, 1);
  r.peak = enum_named<Peak>(name).value();
  r.gb_per_s = {};
  (name.starts_with("arithmetic") ? r.gflop_per_s : r.gb_per_s) = rate;
  return r;
}

Profile profile_from(const std::vector<Record>& records) {
  const ResultsSet results = results_of(records);
  return profile_of(device_rows(results).at(0), all_families());
}

std::string shown(const Report& report, const char* format) {
  return text_of(report, format, Screen{.ascii = false});
}

const Trait& trait(const Profile& profile, const std::string& name) {
  return *std::ranges::find(profile.traits, name, &Trait::name);
}

double value(const std::vector<Record>& records, const std::string& name) {
  const Profile made = profile_from(records);
  const Trait& found = trait(made, name);
  return found.figure ? found.figure->value : -1;
}

std::string text(double x) { return fmt::format("{}", x); }

// Times of a device of SIMD width 16.
std::vector<Record> lanes() {
  std::vector<Record> out = {row("branch_divergence", {{"paths", "1"}}, 1)};
  for (int paths = 2; paths <= 16; paths *= 2) {
    for (int granularity = 1; granularity <= 64; granularity *= 2)
      out.push_back(row("branch_divergence", {{"paths", text(paths)}, {"granularity", text(granularity)}},
                        std::max(1, std::min(paths, 16 / granularity))));
  }
  return out;
}
// Measures a preset and its refinements on a device with few features.
std::vector<Record> measured(const std::string& preset) {
  std::vector<Record> out;
  for (const auto& family : all_families()) {
    std::vector<Outcome> outcomes;
    std::set<std::string> ids;
    const auto measure = [&](const Case& at) {
      if (!ids.insert(at.id()).second) return;
      const Plan plan = plan_of(family, at, roomy());
      const auto bytes = plan.cost.read + plan.cost.written;
      Outcome o(at, 1e-6 + 1e-11 * static_cast<double>(bytes) + 1e-13 * static_cast<double>(plan.cost.flops));
      o.low_s = o.high_s = o.min_s = o.call_s = o.time_s;
      o.bytes = static_cast<std::int64_t>(bytes);
      o.flops = static_cast<std::int64_t>(plan.cost.flops);
      o.items = static_cast<std::int64_t>(plan.cost.items);
      o.gb_per_s = 1e-9 * as_double(o.bytes) / o.time_s;
      if (*o.flops > 0) o.gflop_per_s = 1e-9 * as_double(o.flops) / o.time_s;
      o.peak = plan.peak;
      const bool measures =
          std::ranges::any_of(plan.checks, [](const Check& check) { return !check.unit.empty(); });
      if (measures) o.value = 1;
      outcomes.push_back(o);
      Cells cells;
      for (const auto& [axis, value] : at.axes) cells.emplace_back(axis, text_of(value));
      Record r = row(family.name, cells, o.time_s);
      r.case_id = at.id();
      static_cast<Measurement&>(r) = static_cast<const Measurement&>(o);
      r.compute_units = 1;
      out.push_back(r);
    };
    std::ranges::for_each(cases_of(family, family.presets.at(preset), 1), measure);
    if (!family.refine || outcomes.empty()) continue;
    for (int looks = 0; looks < 20; ++looks) std::ranges::for_each(family.refine(outcomes, roomy()), measure);
  }
  return out;
}

std::set<std::string> known(const Profile& profile) {
  std::set<std::string> out;
  for (const auto& trait : profile.traits) {
    if (trait.is_known()) out.insert(trait.name);
  }
  return out;
}

TEST(DeviceProfile, PresetProfileGivesEveryTraitThatQuickGives) {
  const auto quick = measured("quick"), few = measured("profile");
  EXPECT_LT(few.size(), 0.7 * static_cast<double>(quick.size()));
  const auto all = known(profile_from(quick));
  EXPECT_GT(all.size(), 50U);
  EXPECT_THAT(known(profile_from(few)), testing::IsSupersetOf(all));
}

TEST(DeviceProfile, LockStepWidthAndTheCostOfTwoPaths) {
  EXPECT_EQ(value(lanes(), "simd_width"), 16);
  EXPECT_EQ(value(lanes(), "divergence_slowdown"), 2);
}

TEST(DeviceProfile, WhatIsNotMeasuredNamesTheRunThatWouldMeasureIt) {
  const Profile made = profile_from(lanes());
  const Trait& copy = trait(made, "dram_latency");
  EXPECT_FALSE(copy.figure);
  EXPECT_EQ(copy.command, "clweave run --device \"Loom 1\" --family latency");
  EXPECT_THAT(copy.cases, testing::IsEmpty());
  const Trait& paths = trait(made, "divergence_slowdown");
  EXPECT_EQ(paths.command, "");
  EXPECT_THAT(paths.cases,
              ElementsAre("branch_divergence/paths=2/granularity=1", "branch_divergence/paths=1"));
}

TEST(DeviceProfile, TheLeastVectorWithNearlyTheBestCopy) {
  const auto copies = [](double two) {
    return std::vector{row("copy", {{"width", "1"}}, 2), row("copy", {{"width", "2"}}, two),
                       row("copy", {{"width", "4"}}, 1)};
  };
  EXPECT_EQ(value(copies(1.02), "vector_width"), 2);
  EXPECT_EQ(value(copies(1.05), "vector_width"), 4);
}

TEST(DeviceProfile, TheBestGroupAndHowWideItsPlateauIs) {
  std::vector<Record> rows;
  for (const auto& [group, seconds] :
       {std::pair{"32", 1.02}, {"64", 1.2}, {"128", 1.04}, {"256", 1.0}, {"512", 1.5}})
    rows.push_back(row("grayscale", {{"group", group}}, seconds));
  EXPECT_EQ(value(rows, "best_group"), 256);
  EXPECT_EQ(value(rows, "group_plateau"), 2) << "32 is as good, but not beside";
  EXPECT_EQ(trait(profile_from(rows), "group_plateau").note, "128 to 256 work-items");
}

TEST(DeviceProfile, ChainsNeededWithFewItemsOrNotReached) {
  const auto rows = [](double of_four) {
    std::vector<Record> out;
    for (const auto& [ilp, rate] : {std::pair{"1", 20.0}, {"2", 40.0}, {"4", of_four}}) {
      out.push_back(row("arithmetic", {{"ilp", ilp}, {"group", "128"}}, 1));
      out.back().flops = std::llround(1e9 * rate);
    }
    out.push_back(row("arithmetic", {{"groups_per_cu", "64"}}, 1));
    out.back().flops = 100'000'000'000;
    return out;
  };
  EXPECT_EQ(value(rows(91), "ilp_needed"), 4);
  EXPECT_TRUE(std::isinf(value(rows(89), "ilp_needed")));
  EXPECT_EQ(trait(profile_from(rows(89)), "ilp_needed").note, "128 work-items reach 89 %");
}

// A launch of 10 us, 2 of which are none of the steps.
TEST(DeviceProfile, ChainsNeededLeaveOutWhatALaunchTakesBesideItsSteps) {
  std::vector<Record> rows;
  const auto add = [&](const Cells& cells, double seconds, double gop) {
    rows.push_back(row("arithmetic", cells, seconds));
    rows.back().flops = std::llround(1e9 * gop);
  };
  add({{"ilp", "1"}, {"group", "128"}}, 10e-6, 8e-6 * 25);
  add({{"ilp", "2"}, {"group", "128"}}, 10e-6, 8e-6 * 50);
  add({{"ilp", "4"}, {"group", "128"}}, 10e-6, 8e-6 * 100);
  add({{"groups_per_cu", "64"}}, 1, 100);
  EXPECT_TRUE(std::isinf(value(rows, "ilp_needed")));
  add({{"ilp", "1"}, {"group", "32"}, {"iterations", "4096"}}, 10e-6, 8e-6 * 6);
  add({{"ilp", "1"}, {"group", "32"}, {"iterations", "8192"}}, 18e-6, 16e-6 * 6);
  EXPECT_EQ(value(rows, "ilp_needed"), 4);
}

namespace {

Record said(const std::string& family, const std::string& name, double value) {
  Record r = row(family, {}, 1);
  r.case_id = family + "/finding=" + name;
  r.finding = name;
  r.value = value;
  r.time_s = {};
  return r;
}

// A curve of three levels: up to 48 KiB, to `second` and beyond; medians that a neighbour has disturbed.
std::vector<Record> walks(std::int64_t second) {
  std::vector<Record> out;
  for (const auto& at :
       cases_of(*std::ranges::find(all_families(), "cache", &Family::name),
                {"kernel=chase "
                 "working_set=4096,8192,16384,32768,49152,53248,131072,262144,524288,1048576,1900544,2097152,"
                 "2170880,2895872,4194304,16777216,67108864,268435456"},
                1)) {
    const std::int64_t bytes = at.number("working_set");
    const double ns = bytes <= 49152 ? 2 : bytes <= second ? 6 : 100;
    Cells cells;
    for (const auto& [axis, value] : at.axes) cells.emplace_back(axis, text_of(value));
    const std::int64_t nodes = bytes / 64, hops = std::clamp<std::int64_t>(nodes + 1, 40009, (1 << 20) + 1);
    const double min_s = 1e-9 * ns * static_cast<double>(hops % nodes == 0 ? hops + 1 : hops);
    out.push_back(row("cache", cells, (bytes == 16384 || bytes == 262144 ? 5 : 1.1) * min_s));
    out.back().case_id = at.id();
    out.back().min_s = min_s;
  }
  return out;
}

}  // namespace

TEST(DeviceProfile, CachesFollowFromTheLeastTimes) {
  EXPECT_NEAR(value(walks(2 << 20), "l1_bytes"), 48 << 10, 0.1 * (48 << 10));
  EXPECT_NEAR(value(walks(2 << 20), "l2_bytes"), 2 << 20, 0.1 * (2 << 20));
}

TEST(DeviceProfile, SaysWhatTheSystemSaysOfCachesAndWhyTheyAreOthers) {
  auto rows = walks(1 << 20);
  EXPECT_EQ(trait(profile_from(rows), "l1_bytes").remark, "");
  rows.push_back(said("cache", "host_l1_bytes", 48 << 10));
  rows.push_back(said("cache", "host_l2_bytes", 2 << 20));
  rows.push_back(said("cache", "host_l3_bytes", 105 << 20));
  const Profile made = profile_from(rows);
  EXPECT_EQ(trait(made, "l1_bytes").remark, "the operating system reports 48 KiB");
  EXPECT_THAT(trait(made, "l2_bytes").remark,
              AllOf(HasSubstr("reports 2 MiB, but latency rises"), HasSubstr("pages map")));
  EXPECT_THAT(trait(made, "l3_bytes").remark, HasSubstr("105 MiB, but no pointer chase found"));
  EXPECT_THAT(shown(report_of({made}, false), "text"), HasSubstr("l1_bytes of Loom 1: the operating"));
  EXPECT_THAT(shown(report_of({made}, false), "json"),
              HasSubstr("\"remark\": \"the operating system reports 48 KiB\""));
}

TEST(DeviceProfile, SaysWhatTheMakerSaysOfAnH200) {
  auto rows = walks(28 << 20);
  for (auto& r : rows) r.device = "NVIDIA H200";
  auto others = lanes();
  for (auto& r : others) r.device = "NVIDIA H200";
  EXPECT_EQ(trait(profile_from(others), "l2_bytes").remark, "") << "its caches were not measured";
  EXPECT_THAT(trait(profile_from(rows), "l2_bytes").remark,
              HasSubstr("NVIDIA specifies 60 MiB in two halves"));
}

TEST(DeviceProfile, SaysWhenTheDriversWidthIsNotThatOfTheTimes) {
  auto rows = lanes();
  rows.push_back(said("branch_divergence", "driver_simd_width", 16));
  EXPECT_EQ(trait(profile_from(rows), "simd_width").remark,
            "the driver's preferred work-group size multiple is 16");
  rows.back().value = 8;
  EXPECT_THAT(trait(profile_from(rows), "simd_width").remark, HasSubstr("multiple is 8, but the times"));
}

TEST(DeviceProfile, SaysWhatAnErrorOfAWholeValueMeans) {
  const auto remark = [](double ulp) {
    Record r = row("special", {{"function", "sin"}, {"path", "native"}}, 1);
    r.value = ulp;
    r.unit = "ULP";
    r.items = 1;
    return trait(profile_from({r}), "sin_native_ulp").remark;
  };
  EXPECT_THAT(remark(16777055), HasSubstr("returns 0 for arguments near 0"));
  EXPECT_EQ(remark(1.7), "");
}

TEST(DeviceProfile, CopyReadWriteAndWhatAlgorithmsReachOfThem) {
  std::vector<Record> rows = {peak("copy", 200),
                              peak("read", 250),
                              peak("arithmetic_float", 2000),
                              row("scan", {{"kernel", "three_phase"}}, 0.02),
                              row("scan", {{"kernel", "lookback"}}, 0.01),
                              row("scan", {{"kernel", "hillis_steele"}}, 0.001)};
  EXPECT_EQ(value(rows, "copy"), 200);
  EXPECT_EQ(value(rows, "balance"), 8);
  EXPECT_EQ(value(rows, "best_scan"), 0.5) << "what hillis_steele moves is in vain";
  EXPECT_EQ(value(rows, "single_pass_gain"), 2);
  rows[4].cached = "yes";
  EXPECT_EQ(value(rows, "best_scan"), 0.25);
  rows.push_back(peak("write", 300));
  EXPECT_EQ(value(rows, "write"), 300);
}

// A row that another program slowed may be twice as fast in truth: as fast as the best, or far from it.
TEST(DeviceProfile, TheBestOfQuietRowsSaysSoWhereADisturbedRowMayBeBetter) {
  const auto best_with = [](double rival_s, double rival_copy) {
    std::vector<Record> rows = {peak("copy", 200),
                                peak("arithmetic_float", 2000),
                                peak("read", 250),
                                row("scan", {{"kernel", "lookback"}}, 0.01),
                                row("scan", {{"kernel", "three_phase"}}, rival_s),
                                peak("copy", rival_copy)};
    rows[5].case_id += "/vector=4";
    for (auto* rival : {&rows[4], &rows[5]}) rival->disturbed = "other processes used 2 processors";
    return profile_from(rows);
  };
  const Profile far = best_with(0.03, 90), near = best_with(0.015, 90), near_copy = best_with(0.03, 150);
  const auto expect = [](const Profile& profile, const char* name, double best, bool is_marked) {
    const Trait& found = trait(profile, name);
    EXPECT_EQ(found.undecided, "") << name;
    EXPECT_EQ(found.figure ? found.figure->value : 0, best) << name;
    EXPECT_EQ(found.remark.starts_with("the best of the quiet rows"), is_marked) << name;
  };
  expect(far, "best_scan", 0.5, false);
  expect(far, "copy", 200, false);
  expect(near, "best_scan", 0.5, true);
  expect(near, "copy", 200, false);
  expect(near_copy, "copy", 200, true);
  expect(near_copy, "best_scan", 0.5, true);
  expect(near_copy, "balance", 8, false);
}

// The best that the device does is that of tuned launches, too, and the profile says how it is launched. What
// follows from how launches differ is of those that are the same on every device.
TEST(DeviceProfile, TheBestMayBeTunedAndSaysHow) {
  std::vector<Record> rows = {
      peak("copy", 200), row("scan", {{"kernel", "three_phase"}, {"group", "256"}}, 0.02),
      row("scan", {{"kernel", "pipelined"}, {"subgroup_impl", "portable"}, {"group", "256"}}, 0.01),
      row("scan", {{"kernel", "pipelined"}, {"subgroup_impl", "ptx"}, {"group", "128"}}, 0.005)};
  EXPECT_EQ(trait(profile_from(rows), "best_scan").note, "pipelined uint");
  rows[3].tuned = "yes";
  const Profile tuned = profile_from(rows);
  EXPECT_EQ(trait(tuned, "best_scan").figure->value, 1);
  EXPECT_EQ(trait(tuned, "best_scan").note, "pipelined uint, tuned: group=128 ptx");
  for (const char* group : {"64", "128", "512", "1024"})
    rows.push_back(row("grayscale", {{"kernel", "naive"}, {"image", "2272x1704"}, {"group", group}},
                       group[0] == '5' ? 1 : 2));
  EXPECT_EQ(value(rows, "best_group"), 512);
  rows.push_back(row("grayscale", {{"kernel", "naive"}, {"image", "2272x1704"}, {"group", "32"}}, 0.5));
  rows.back().tuned = "yes";
  EXPECT_EQ(value(rows, "best_group"), 512);
}

TEST(DeviceProfile, ComputeUnitsFollowFromTheItems) {
  Record r = row("latency", {{"kernel", "chase_groups"}, {"chain_length", "1000"}}, 1);
  r.items = 4 * 1000 * 132;
  EXPECT_EQ(results_of({r}, all_families()).devices.at(0).compute_units, 132);
  r.compute_units = 66;
  EXPECT_EQ(results_of({r}, all_families()).devices.at(0).compute_units, 66)
      << "what a row says is not computed";
}

TEST(DeviceProfile, TheIntervalComesFromThoseOfTheRows) {
  auto rows = lanes();
  for (auto& r : rows) {
    r.device_type = "gpu";
    r.timer = Timer::event;
    r.time_low_s = *r.time_s * 0.9;
    r.time_high_s = *r.time_s * 1.1;
  }
  const Profile made = profile_from(rows);
  const Estimate paths = *trait(made, "divergence_slowdown").figure;
  // A ratio of two medians known to 10 % each is known to about 14 %.
  EXPECT_NEAR(paths.low, 2 / 1.15, 0.08);
  EXPECT_NEAR(paths.high, 2 * 1.15, 0.08);
  EXPECT_EQ(trait(made, "simd_width").figure->low, 16) << "no such noise makes another width of it";
  EXPECT_EQ(trait(made, "simd_width").figure->high, 16);
}

// Keeps the prior's spread as a floor: one process shows no spread, and a few may agree by chance.
TEST(DeviceProfile, RepetitionsThatAgreeStandWithWhatProcessesDifferBy) {
  const auto width = [](double seconds, const std::string& device_type, int runs, double interval) {
    Record sure = row("copy", {{"width", "1"}}, 1);
    sure.device_type = device_type;
    sure.timer = Timer::event;
    sure.time_s = seconds;
    sure.time_low_s = seconds * (1 - interval);
    sure.time_high_s = seconds * (1 + interval);
    const ResultsSet results = results_of(std::vector<Record>(runs, sure));
    const auto devices = device_rows(results);
    const auto time =
        estimate(devices.at(0), [](Resample clock) -> std::optional<double> { return clock[0]; });
    return time->high / time->low;
  };
  EXPECT_NEAR(std::log(width(5e-6, "gpu", 1, 1e-4)), 2 * 1.96 * 0.125, 0.1);
  EXPECT_NEAR(std::log(width(1e-3, "gpu", 1, 1e-4)), 2 * 1.96 * 0.005, 0.005);
  EXPECT_NEAR(std::log(width(1e-3, "cpu", 1, 1e-4)), 2 * 1.96 * 0.26, 0.2);
  EXPECT_NEAR(std::log(width(5e-6, "gpu", 2, 1e-4)), 2 * 1.96 * 0.125 / std::sqrt(2), 0.1)
      << "two may well agree";
  // The standard deviation of a median of three normal values is 0.67 times theirs.
  EXPECT_NEAR(std::log(width(5e-6, "gpu", 3, 1e-4)), 2 * 1.96 * 0.125 * 0.67, 0.1);
  EXPECT_LT(width(5e-6, "gpu", 50, 1e-4), width(5e-6, "gpu", 9, 1e-4));
  EXPECT_EQ(width(5e-6, "gpu", 1, 0), 1) << "known exactly";
}

// A million rows take seconds: what is read of them grows as their number does, and no faster.
TEST(DeviceProfile, MoreRowsAreDrawnLessOften) {
  Record unsure = row("copy", {{"width", "1"}}, 1);
  unsure.time_low_s = 0.9;
  unsure.time_high_s = 1.1;
  const ResultsSet results = results_of({unsure});
  const auto devices = device_rows(results);
  const auto calls = [&](std::size_t reads) {
    std::size_t count = 0;
    estimate(devices[0], [&](Resample clock) -> std::optional<double> {
      ++count;
      double sum = 0;
      for (std::size_t i = 0; i < reads; ++i) sum += clock[0];
      return sum;
    });
    return count;
  };
  EXPECT_EQ(calls(1), 201);
  EXPECT_EQ(calls(20'000), 201);
  EXPECT_EQ(calls(40'000), 101);
  EXPECT_EQ(calls(1'000'000), 21);
}

TEST(DeviceProfile, WhatIsCertainIsDrawnOnce) {
  const ResultsSet results = results_of({row("copy", {{"width", "1"}}, 1)});
  const auto devices = device_rows(results);
  std::size_t count = 0;
  estimate(devices[0], [&](Resample clock) -> std::optional<double> {
    ++count;
    return clock[0];
  });
  EXPECT_EQ(count, 1);
}

TEST(DeviceProfile, AProfileReadsItsRowsSoOftenAsTheyAre) {
  const auto reads = [](int sizes) {
    std::vector<Record> records;
    for (int n = 1; n <= sizes; ++n) {
      records.push_back(row("copy", {{"n", text(1024 * n)}}, 1e-3 * n));
      records.push_back(row("branch_divergence", {{"paths", "2"}, {"n", text(1024 * n)}}, 1e-3 * n));
      records.push_back(peak("copy", 100 + n));
    }
    const ResultsSet results = results_of(records, all_families());
    const auto devices = device_rows(results);
    profile_of(devices[0], all_families());
    return devices[0].reads;
  };
  const auto few = reads(50), many = reads(100);
  EXPECT_GT(few, 0);
  EXPECT_LE(many, 2 * few + 1000);
}

// A family that cannot tell says why; the profile says so instead of asking for a run.
TEST(DeviceProfileOutput, AnUndecidedFindingHasItsReasonAndWhereItLies) {
  auto families = all_families();
  auto& lanes_family = *std::ranges::find(families, "branch_divergence", &Family::name);
  lanes_family.findings = [](const std::vector<Outcome>&, const DeviceInfo&) {
    return std::vector<Finding>{{"simd_width", {}, "items", "two widths explain the times as well", 16, 32}};
  };
  const ResultsSet results = results_of(lanes());
  const std::vector<Profile> profiles = {profile_of(device_rows(results).at(0), families)};
  const Trait& width = trait(profiles[0], "simd_width");
  EXPECT_FALSE(width.figure);
  EXPECT_EQ(width.command, "");
  for (const char* format : {"text", "markdown"}) {
    EXPECT_THAT(shown(report_of(profiles, false), format),
                AllOf(HasSubstr("16 to 32, undecided"),
                      HasSubstr("simd_width of Loom 1 is undecided: two widths explain the times as well")));
  }
  EXPECT_THAT(shown(report_of(profiles, false), "csv"),
              HasSubstr(",execution,simd_width,,16,32,items,two widths explain the times as well,"));
  EXPECT_THAT(
      shown(report_of(profiles, false), "json"),
      AllOf(HasSubstr(R"("note": "two widths explain the times as well")"), HasSubstr(R"("value_low": 16)")));
}

// What the rows show not to exist is called the same in the table and below it, once for all its traits.
TEST(DeviceProfileOutput, NoneFoundIsOneWord) {
  auto families = all_families();
  std::ranges::find(families, "branch_divergence", &Family::name)->findings = [](const std::vector<Outcome>&,
                                                                                 const DeviceInfo&) {
    const std::string none = "none found: every path takes as long";
    return std::vector<Finding>{{"simd_width", {}, "items", none},
                                {"divergence_slowdown", {}, "ratio", none}};
  };
  const ResultsSet results = results_of(lanes());
  const std::vector<Profile> profiles = {profile_of(device_rows(results).at(0), families)};
  const std::string out = shown(report_of(profiles, false), "text");
  EXPECT_THAT(out, AllOf(HasSubstr("\nsimd_width           none found "),
                         HasSubstr("\nsimd_width, divergence_slowdown of Loom 1: none found: every path"),
                         testing::Not(HasSubstr("undecided"))));
}

TEST(DeviceProfileOutput, OneDevice) {
  const std::string out = shown(
      report_of(std::vector<Profile>{profile_from({peak("copy", 200), peak("read", 250)})}, true), "text");
  EXPECT_THAT(out, testing::StartsWith(R"(Loom 1, Invented, driver 1.2

trait             value  unit  by  meaning
──────────────────────────────────────────────────────────────────
memory hierarchy
copy                200  GB/s      copy bandwidth, both directions
read                250  GB/s      read bandwidth

not measured on Loom 1
)"));
  EXPECT_THAT(out, AllOf(HasSubstr(R"(
  simd_width: SIMD width (warp, wavefront, sub-group), inferred from times
  divergence_slowdown: time of two divergent paths / time of one path
    clweave run --device "Loom 1" --family branch_divergence
)"),
                         HasSubstr(R"(
rows of Loom 1
  copy
    peak/kernel=copy
)")));
}

TEST(DeviceProfileOutput, TwoDevicesSideBySide) {
  auto records = std::vector{peak("copy", 200), peak("copy", 1234.5), peak("read", 1300)};
  records[1].device = records[2].device = "Loom 2";
  std::vector<Profile> profiles;
  const ResultsSet results = results_of(records);
  for (const auto& rows : device_rows(results)) profiles.push_back(profile_of(rows, all_families()));
  EXPECT_THAT(shown(report_of(profiles, false), "markdown"), testing::StartsWith(
                                                                 R"(A  Loom 1, Invented, driver 1.2  
B  Loom 2, Invented, driver 1.2  

| trait | A | B | unit | meaning |
| --- | ---: | ---: | --- | --- |
| memory hierarchy |  |  |  |  |
| copy | 200 | 1234 | GB/s | copy bandwidth, both directions |
| read | - | 1300 | GB/s | read bandwidth |
)"));
  const std::string csv = shown(report_of(profiles, false), "csv");
  EXPECT_THAT(csv,
              testing::StartsWith(
                  "device,group,trait,value,value_low,value_high,unit,note,meaning,command,cases,remark\n"));
  EXPECT_THAT(
      csv,
      HasSubstr("\"Loom 2, Invented, driver 1.2\",memory hierarchy,copy,1234.5,1234.5,1234.5,GB/s,,\"copy "
                "bandwidth, both directions\",,peak/kernel=copy,\n"));
  EXPECT_THAT(shown(report_of(profiles, false), "json"), HasSubstr(R"("value": 1234.5)"));
}

TEST(DeviceProfileOutput, TheTwentySeventhDeviceHasALetterOfItsOwn) {
  EXPECT_EQ(letter_of(0), "A");
  EXPECT_EQ(letter_of(25), "Z");
  EXPECT_EQ(letter_of(26), "AA");
  EXPECT_EQ(letter_of(52), "BA");
  EXPECT_EQ(letter_of(26 + 26 * 26), "AAA");
}

TEST(DeviceProfileOutput, ANameInAnotherEncodingIsStillShown) {
  Record latin = peak("copy", 200);
  latin.device = "Caf\xe9";
  const Profile made = profile_from({latin});
  EXPECT_THAT(shown(report_of(std::vector{made}, false), "json"), HasSubstr("Caf\xef\xbf\xbd"));
}

}  // namespace
