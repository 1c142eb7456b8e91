// SPDX-License-Identifier: Apache-2.0
// test_published: figures of texts beside invented rows.
#include "analysis/profile/published.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>

#include "analysis/invented_records.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;

namespace {

Family loom() {
  Family family;
  family.name = "loom";
  family.axes = {{"kernel", "", {"plain", "twill"}},
                 {.name = "width", .meaning = "", .values = {4, 1, 2}, .tunable = true},
                 {.name = "group", .meaning = "", .values = {256, 64}, .tunable = true},
                 {"n", "", {1024, 4096}}};
  family.view = {.rows = {"kernel"}, .columns = {"width"}, .quantity = "rate"};
  return family;
}

Record timed(const char* kernel, int width, int group, int n, double seconds, double fraction_of_peak) {
  Record r = row("loom", {{"kernel", kernel},
                          {"width", std::to_string(width)},
                          {"group", std::to_string(group)},
                          {"n", std::to_string(n)}});
  r.time_s = seconds;
  r.fraction_of_peak = fraction_of_peak;
  return r;
}

const std::string header = "source,year,device,case,seconds,fraction_of_peak,over,speedup,evidence,note\n";

std::string shown(const std::string& figures, const std::vector<Record>& records,
                  const Family& family = loom()) {
  const std::vector<Family> families = {family};
  ResultsSet set = results_of(records, families);
  set.add(header + figures, "figures.csv");
  Report out;
  add_published(out, set, {&families.front()});
  return text_of(out, "text", Screen{.ascii = false});
}

// Pairs stay pairs at their best, for people look for them in the tables: the group alone is chosen.
TEST(Published, StandsBesideWhatIsLaunchedAlikeAndAtItsBest) {
  EXPECT_EQ(shown("J,1804,Loom 0,loom/kernel=plain/width=2/group=64,5e-4,,,,,\n"
                  "J,1804,Loom 0,loom/kernel=plain/width=1/group=64,6e-4,,,,void,cut off\n"
                  "J,1804,Loom 0,loom/kernel=twill/width=1/group=64,6e-4,,,,,\n",
                  {timed("plain", 2, 64, 1024, 4e-4, 0.5), timed("plain", 2, 256, 1024, 1e-4, 0.9),
                   timed("plain", 1, 64, 1024, 3e-4, 0.6), timed("plain", 4, 256, 1024, 1e-5, 0.9)}),
            "loom, published  Loom 0 (1804)  launched alike  at its best\n"
            "───────────────────────────────────────────────────────────\n"
            "plain width=2           500 us          400 us       100 us\n"
            "plain width=1    600 us (void)          300 us       300 us\n"
            "void: what was published is no measurement of what it says; see the claims\n\n");
}

// Treats an axis whose published values differ as part of the variant, also if it names the table's rows; one
// that is the same in all texts stays a launch parameter.
TEST(Published, WhatTextsCompareInTheTablesRowsIsNoLaunch) {
  Family family = loom();
  family.view = {.rows = {"kernel", "width", "group"}, .columns = {"n"}, .quantity = "rate"};
  const std::vector<Record> records = {timed("plain", 1, 64, 1024, 4e-4, 0.5),
                                       timed("plain", 1, 256, 1024, 3e-4, 0.5),
                                       timed("plain", 4, 256, 1024, 1e-4, 0.5)};
  const auto text = shown(
      "J,1804,Loom 0,loom/kernel=plain/width=1/group=64,5e-4,,,,,\n"
      "J,1804,Loom 0,loom/kernel=plain/width=4/group=64,5e-4,,,,,\n",
      records, family);
  EXPECT_THAT(text, testing::ContainsRegex("width=1 +500 us +400 us +300 us"));
  EXPECT_THAT(text, testing::ContainsRegex("width=4 +500 us +- +100 us"));
}

TEST(Published, SaysWhyAFigureIsNotToBeBelieved) {
  const auto text = shown("J,1804,Loom 0,loom/kernel=plain/width=1,5e-4,,,,inconsistent,elsewhere 4e-4\n",
                          {timed("plain", 1, 256, 1024, 3e-4, 0.5)});
  EXPECT_THAT(text, testing::HasSubstr("500 us (inconsistent)"));
  EXPECT_THAT(text, testing::HasSubstr("\ninconsistent: its source says otherwise elsewhere\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("void")));
}

TEST(Published, NamesWhatAFractionIsOf) {
  const std::vector<Family> families = {loom()};
  ResultsSet set = results_of({timed("plain", 4, 256, 1024, 1e-4, 0.5)}, families);
  set.add(
      "source,year,device,case,seconds,fraction_of_peak,fraction_of,over,speedup,evidence,note\n"
      "J,1804,Loom 0,loom/kernel=plain,,0.8,pin bandwidth,,,,\n",
      "figures.csv");
  Report out;
  add_published(out, set, {&families.front()});
  const std::string text = text_of(out, "text", Screen{.ascii = false});
  EXPECT_THAT(text, testing::HasSubstr("80 % of pin bandwidth"));
  EXPECT_THAT(text, testing::HasSubstr("%: published of what is named; here of what family peak reached"));
}

TEST(Published, FractionsAndSpeedUpsAreTakenAtTheLargestSize) {
  const auto text = shown(
      "J,1804,Loom 0,loom/kernel=plain/n=*,,0.8,,,,\n"
      "J,1804,Loom 0,loom/kernel=twill/n=*,,,loom/kernel=plain/n=*,2,,\n",
      {timed("plain", 4, 256, 1024, 1e-4, 0.5), timed("plain", 4, 256, 4096, 4e-4, 0.6),
       timed("twill", 4, 64, 4096, 1e-4, 0.7), timed("twill", 4, 256, 4096, 8e-4, 0.7)});
  EXPECT_THAT(text, testing::ContainsRegex("plain +80 % +60 % +60 %"));
  EXPECT_THAT(text, testing::ContainsRegex("twill over plain +2x +4x +4x"));
}

// Ignores a sub-group implementation that only one side was measured with, which would be no fair speed-up.
TEST(Published, SpeedUpsAreOfBackendsThatBothSidesHave) {
  Family family = loom();
  family.axes.push_back(
      {.name = "subgroup_impl", .meaning = "", .values = {"portable", "ptx"}, .tunable = true});
  const auto by = [](const char* kernel, const char* impl, double seconds) {
    Record r = timed(kernel, 4, 256, 1024, seconds, 0.5);
    r.axes.emplace_back("subgroup_impl", impl);
    r.case_id += fmt::format("/subgroup_impl={}", impl);
    return r;
  };
  const std::string figure = "J,1804,Loom 0,loom/kernel=plain/n=*,,,loom/kernel=twill/n=*,2,,\n";
  std::vector<Record> records = {by("plain", "portable", 2e-4), by("plain", "ptx", 1e-4),
                                 by("twill", "portable", 6e-4)};
  EXPECT_THAT(shown(figure, records, family), testing::ContainsRegex("plain over twill +2x +3x +3x"));
  // Compares a kernel without sub-group implementations with the best of the others.
  const Record without = timed("plain", 4, 256, 1024, 3e-4, 0.5);
  EXPECT_THAT(shown(figure, {without, by("twill", "portable", 6e-4)}, family),
              testing::ContainsRegex("plain over twill +2x +2x +2x"));
  records.push_back(by("twill", "ptx", 4e-4));
  EXPECT_THAT(shown(figure, records, family), testing::ContainsRegex("plain over twill +2x +4x +4x"));
}

// A program of the vendor beside ours, by the clock that it was timed by.
TEST(Published, SpeedUpsOverOtherProgramsAreOverTheirRows) {
  Record ours = timed("plain", 4, 256, 1024, 1e-4, 0.5);
  ours.timer = Timer::event;
  ours.wall_s = 2e-4;
  Record native = ours;
  native.api = "cuda";
  native.axes = {{"kernel", "cub_loom"}, {"n", "1024"}};
  native.case_id = "loom/kernel=cub_loom/n=1024";
  native.time_s = native.time_low_s = native.time_high_s = 6e-4;
  native.wall_s = {};
  const std::string figure = "J,1804,Loom 0,loom/kernel=plain/n=*,,,loom/kernel=cub_loom/n=*,2,,\n";
  EXPECT_THAT(shown(figure, {ours, native}), testing::ContainsRegex("over cub_loom +2x +6x +6x"));
  // Uses the median of their repetitions, as of ours, not one fast run.
  Record slower = native;
  slower.time_s = slower.time_low_s = slower.time_high_s = 8e-4;
  EXPECT_THAT(shown(figure, {ours, native, slower}), testing::ContainsRegex("over cub_loom +2x +7x +7x"));
  native.timer = Timer::host;
  EXPECT_THAT(shown(figure, {ours, native}), testing::ContainsRegex("over cub_loom +2x +3x +3x"));
  native.case_id = "loom/kernel=cub_loom/n=4096";
  EXPECT_EQ(shown(figure, {ours, native}), "");
}

// A misspelt axis would be met by its default, and so would one that a family no longer has.
TEST(Published, EveryShippedFigureNamesAxesAndKernelsThatThereAre) {
  ResultsSet set;
  std::ifstream in(CLWEAVE_SOURCE_DIR "/results/published/figures.csv");
  set.add(std::string(std::istreambuf_iterator<char>(in), {}), "figures.csv");
  ASSERT_GT(set.figures.size(), 50U);
  for (const auto& figure : set.figures) {
    for (const CaseName* name : {figure.of, figure.over}) {
      if (name == nullptr) continue;
      const auto family = std::ranges::find(all_families(), name->family, &Family::name);
      ASSERT_NE(family, all_families().end()) << name->id;
      for (const auto& [axis, value] : name->axes) {
        const Axis* known = family->axis(*axis);
        ASSERT_TRUE(known != nullptr && known->name == *axis) << name->id << ": no axis " << *axis;
        const bool any = text_of(*value) == "*", native = text_of(*value).starts_with("cub_");
        EXPECT_TRUE(any || native || known->taken(*value)) << name->id << ": " << *axis;
      }
    }
  }
}

TEST(Published, WithoutRowsThereIsNoTable) {
  EXPECT_EQ(
      shown("J,1804,Loom 0,loom/kernel=twill/width=1,5e-4,,,,,\n", {timed("plain", 4, 256, 1024, 1, 1)}), "");
}

}  // namespace
