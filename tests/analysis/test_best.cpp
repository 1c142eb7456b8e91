// SPDX-License-Identifier: Apache-2.0
// test_best: one best row per family, whoever names it, in the committed results.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/compare/devices.hpp"
#include "analysis/profile/profile.hpp"
#include "analysis/profile/summary.hpp"
#include "analysis/rows/best.hpp"
#include "commands/read_results.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::EndsWith;
using testing::HasSubstr;

namespace {

std::vector<std::string> quick_files() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CLWEAVE_SOURCE_DIR "/results")) {
    if (entry.path().filename() == "quick.zip") out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return unpacked(out);
}

std::string line_of(const std::string& text, const std::string& family) {
  const auto begin = text.find("\n" + family + " ");
  if (begin == std::string::npos) return "";
  return text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
}

void expect_one_best(const Family& family, const DeviceResults& device, const Profile& profile,
                     const FamilyComparison* compared, std::size_t column, const std::string& summary) {
  const auto all = contenders(family, device);
  const Contender* best = best_row(family, all);
  if (best == nullptr || !best->speed(family) || family.view.quantity == "slowdown") return;
  const auto trait = std::ranges::find(profile.traits, "best_" + family.name, &Trait::name);
  if (trait != profile.traits.end() && trait->figure) EXPECT_EQ(trait->cases.front(), best->at->id());
  if (compared != nullptr && compared->of_variants) {
    const Value* variant = best->at->name->axis(family.view.rows.front());
    ASSERT_NE(variant, nullptr);
    const int index = compared->best.at(column);
    ASSERT_GE(index, 0) << family.name;
    EXPECT_THAT(compared->variants.at(static_cast<std::size_t>(index)).name, EndsWith(text_of(*variant)));
  }
  if (best->run.fraction_of_peak)
    EXPECT_THAT(line_of(summary, family.name),
                HasSubstr(fmt::format(" {:.0f} %", 100 * *best->run.fraction_of_peak)));
}

}  // namespace

TEST(Best, IsTheSameRowInSummaryProfileAndComparison) {
  std::vector<Family> families = all_families();
  // Leaves out what is concluded from the rows: not asked here, and most of the time.
  for (auto& family : families) {
    family.findings = nullptr;
    family.traits.clear();
  }
  const auto files = quick_files();
  ASSERT_GE(files.size(), 5U);
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    const ResultsSet set = read_results({file}, families);
    const auto comparison = compare_devices(set, families);
    const std::string summary = text_of(summary_of(set, families, {}), "text", Screen{.ascii = false});
    const auto devices = device_rows(set);
    ASSERT_EQ(devices.size(), 1U);
    const Profile profile = profile_of(devices[0], families);
    for (const auto& family : families) {
      const auto compared = std::ranges::find(comparison.families, family.name, &FamilyComparison::name);
      expect_one_best(family, *devices[0].results, profile,
                      compared != comparison.families.end() ? &*compared : nullptr, 0, summary);
    }
  }
}

// A case that is for comparison, has no merit, fits a cache or is small is never the best, however fast.
TEST(Best, HasMerit) {
  Family family;
  family.name = "loom";
  family.axes = {{"kernel", "", {"row", "grid", "copy", "vain"}}, {"n", "", {64, 1024}}};
  family.view = {.rows = {"kernel"}, .columns = {"n"}};
  family.for_comparison = [](const Case& at) { return at.is("kernel", "copy"); };
  family.no_merit = [](const Case& at) { return at.is("kernel", "vain"); };
  std::vector<Record> records;
  const auto add = [&](const char* kernel, std::int64_t n, double fraction_of_peak, bool cached) {
    Record& r = records.emplace_back();
    r.device = "Loom 1";
    r.family = "loom";
    r.case_id = fmt::format("loom/kernel={}/n={}", kernel, n);
    r.axes = {{"kernel", kernel}, {"n", std::to_string(n)}};
    r.status = Status::ok;
    r.timer = Timer::event;
    r.time_s = 1;
    r.gb_per_s = 100 * fraction_of_peak;
    r.fraction_of_peak = fraction_of_peak;
    r.cached = cached ? "yes" : "";
  };
  add("row", 1024, 0.5, false);
  add("grid", 1024, 0.6, false);
  add("grid", 64, 0.9, false);
  add("row", 4096, 0.9, true);
  add("copy", 1024, 1, false);
  add("vain", 1024, 0.8, false);
  const ResultsSet set = results_of(records, {family});
  const auto all = contenders(family, set.devices.at(0));
  ASSERT_NE(best_row(family, all), nullptr);
  EXPECT_EQ(best_row(family, all)->at->id(), "loom/kernel=grid/n=1024");
  EXPECT_TRUE(is_for_comparison(family, "copy"));
  EXPECT_FALSE(is_for_comparison(family, "grid"));
  const auto faster = [](const Contender& one) {
    return one.at->id() == "loom/kernel=row/n=1024" ? 0.5 : 1.0;
  };
  EXPECT_EQ(best_row(family, all, faster)->at->id(), "loom/kernel=row/n=1024");
}

// One that was slowed may be twice as fast as it was measured.
TEST(Best, IsUndecidedWhereADisturbedRowMayBeTheBest) {
  Family family;
  family.name = "loom";
  family.axes = {{"kernel", "", {"row", "grid"}}};
  family.view = {.rows = {"kernel"}, .columns = {}};
  const auto is_undecided_with = [&](double row_s, bool row_disturbed, bool grid_disturbed) {
    std::vector<Record> records;
    for (const bool row : {true, false}) {
      Record& r = records.emplace_back();
      r.device = "Loom 1";
      r.family = "loom";
      r.axes = {{"kernel", row ? "row" : "grid"}};
      r.case_id = row ? "loom/kernel=row" : "loom/kernel=grid";
      r.status = Status::ok;
      r.timer = Timer::event;
      r.time_s = row ? row_s : 1;
      r.gb_per_s = 100 / *r.time_s;
      if (row ? row_disturbed : grid_disturbed) r.disturbed = "other processes used 2 processors";
    }
    const ResultsSet set = results_of(records, {family});
    const auto all = contenders(family, set.devices.at(0));
    return is_undecided(family, all, *best_row(family, all));
  };
  EXPECT_FALSE(is_undecided_with(1.5, false, false));
  EXPECT_TRUE(is_undecided_with(1.5, true, false));
  EXPECT_FALSE(is_undecided_with(2.5, true, false));
  EXPECT_TRUE(is_undecided_with(2.5, false, true));
}
