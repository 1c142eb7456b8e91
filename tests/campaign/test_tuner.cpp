// SPDX-License-Identifier: Apache-2.0
// test_tuner: the order of a search, the space it walks, what is kept of it, on invented times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "campaign/tuner.hpp"
#include "commands/searches_table.hpp"
#include "fake_runner.hpp"
#include "suite/family.hpp"
#include "suite/tuned_store.hpp"

using namespace clweave::commands;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

namespace {

Space grid(std::size_t columns, std::size_t rows) {
  std::vector<Point> points;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) points.push_back({column, row});
  }
  return Space(std::move(points));
}

// A valley with its floor at (column, row) and some roughness that a seed decides.
struct Valley {
  const Space& space;
  double column, row;
  std::uint64_t seed;

  double operator()(std::size_t point) const {
    const Point& at = space.points()[point];
    const double dx = static_cast<double>(at[0]) - column, dy = static_cast<double>(at[1]) - row;
    const double rough = 0.005 * std::abs(Random<double>(seed, 9)(point));
    return 1 + 0.004 * (dx * dx + dy * dy) + rough;
  }
};

struct Searched {
  std::vector<std::pair<std::size_t, double>> trials;  // point, effort
  double cost = 0;                                     // in full measurements
  double best_full = HUGE_VAL;
};

template <class F>
Searched searched(const Space& space, Strategy strategy, const F& time_of, std::size_t budget = SIZE_MAX) {
  Searched out;
  search(
      space, strategy, 1,
      [&](std::size_t point, double effort) -> std::optional<double> {
        out.trials.emplace_back(point, effort);
        out.cost += effort;
        if (effort == 1) out.best_full = std::min(out.best_full, time_of(point));
        return time_of(point);
      },
      [&] {
        return budget == SIZE_MAX ? 1.0
                                  : 1 - static_cast<double>(out.trials.size()) / static_cast<double>(budget);
      });
  return out;
}

TEST(Space, NeighboursAreOneStepAwayOnOneAxis) {
  const Space space = grid(3, 2);
  EXPECT_THAT(space.neighbours(0), UnorderedElementsAre(1, 3));
  EXPECT_THAT(space.neighbours(4), UnorderedElementsAre(3, 5, 1));
}

TEST(Space, AStepGoesOverWhatMakesNoSense) {
  const Space space({{0, 0}, {2, 0}, {3, 1}});
  EXPECT_THAT(space.neighbours(0), ElementsAre(1));
  EXPECT_THAT(space.neighbours(2), IsEmpty());
}

TEST(Search, ExhaustiveMeasuresEachOnceInFullTheDefaultFirst) {
  const Space space = grid(7, 5);
  const auto found = searched(space, Strategy::exhaustive, Valley{space, 3, 2, 1});
  EXPECT_THAT(found.trials, SizeIs(35));
  EXPECT_EQ(found.trials.front().first, 0U);
  EXPECT_EQ(std::set(found.trials.begin(), found.trials.end()).size(), 35U);
  EXPECT_EQ(found.cost, 35);
}

TEST(Search, TheBudgetEndsIt) {
  const Space space = grid(7, 5);
  for (const auto strategy : {Strategy::exhaustive, Strategy::coarse, Strategy::random, Strategy::halving})
    EXPECT_THAT(searched(space, strategy, Valley{space, 3, 2, 1}, 5).trials,
                SizeIs(strategy == Strategy::halving ? 6 : 5))
        << "halving looks at one in full anyhow";
}

// Measures some configuration in full, however small the budget: a short measurement is not enough to keep
// one.
TEST(Search, HalvingLooksAtSomethingInFull) {
  const Space space = grid(40, 40);
  for (const std::size_t budget : {2U, 5U, 10U, 50U, 200U}) {
    const auto found = searched(space, Strategy::halving, Valley{space, 3, 2, 1}, budget);
    EXPECT_LT(found.best_full, HUGE_VAL) << budget;
    EXPECT_THAT(found.trials, SizeIs(testing::Le(budget + 1))) << budget;
  }
}

TEST(Search, TheStartsComeFirst) {
  std::vector<Point> points;
  for (std::size_t p = 0; p < 50; ++p) points.push_back({p});
  for (const auto strategy : {Strategy::exhaustive, Strategy::halving}) {
    const Space space(points, 3);
    const auto found = searched(space, strategy, [](std::size_t) { return 1.0; });
    for (std::size_t start = 0; start < 3; ++start) EXPECT_EQ(found.trials[start].first, start);
    EXPECT_NE(found.trials[3].first * 10 + found.trials[4].first, 34U) << "the others are in random order";
  }
}

TEST(Search, CoarseClimbsToTheFloorOfAValley) {
  const Space space = grid(9, 9);
  const Valley valley{space, 3, 5, 0};
  const auto found = searched(space, Strategy::coarse, valley);
  EXPECT_LT(found.trials.size(), space.size() / 2);
  EXPECT_LT(found.best_full, 1.006);
}

// Over many spaces, so that luck does not decide: the promise is 2 % at a tenth of the cost.
TEST(Search, HalvingComesNearTheBestAtATenthOfTheCost) {
  const Space space = grid(18, 16);
  int near = 0;
  constexpr int spaces = 100;
  for (int i = 0; i < spaces; ++i) {
    const Random<std::uint32_t> draw(static_cast<std::uint64_t>(i), 3);
    const Valley valley{space, static_cast<double>(draw(0) % 18), static_cast<double>(draw(1) % 16),
                        static_cast<std::uint64_t>(i)};
    double best = HUGE_VAL;
    for (std::size_t p = 0; p < space.size(); ++p) best = std::min(best, valley(p));
    const auto found = searched(space, Strategy::halving, valley);
    EXPECT_LE(found.cost, 0.1 * static_cast<double>(space.size()));
    near += found.best_full <= 1.02 * best ? 1 : 0;
  }
  EXPECT_GE(near, 95);
}

TEST(Search, WhatFailsIsNeverTheBest) {
  const Space space = grid(6, 6);
  std::vector<double> efforts;
  search(
      space, Strategy::halving, 1,
      [&](std::size_t point, double effort) -> std::optional<double> {
        if (point % 2 == 1) {
          EXPECT_LT(effort, 0.25) << "a failed configuration was looked at again";
          return {};
        }
        efforts.push_back(effort);
        return 1.0 + static_cast<double>(point);
      },
      [] { return 1.0; });
  EXPECT_THAT(efforts, testing::Contains(1.0));
}

TEST(Search, ALocalMinimumIsFasterThanItsMeasuredNeighbours) {
  const Space space = grid(5, 1);
  EXPECT_THAT(local_minima(space, {3.0, 1.0, 2.0, 1.5, 1.6}), ElementsAre(1, 3));
  EXPECT_THAT(local_minima(space, {3.0, {}, 2.0, {}, 1.6}), IsEmpty());
}

TEST(Search, AnUnknownStrategyIsToldTheKnown) {
  for (const auto& [name, hint] : {std::pair{"fast", "there are coarse, exhaustive, halving, random"},
                                   {"halvign", "did you mean 'halving'?"}}) {
    try {
      strategy_of(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(hint));
    }
  }
}

// ---- A family with one tunable axis of numbers and one of words ------------------------------------------

const Family& toy() {
  static const Family family = {
      .name = "toy",
      .question = "Which?",
      .axes = {{"kernel", "", {"a", "b"}},
               {.name = "n", .meaning = "", .values = {1024}, .domain = whole(1, 1 << 20)},
               {.name = "group",
                .meaning = "",
                .values = {256, 32, 64, 96},
                .tunable = true,
                .former = {"work_group"},
                .domain = whole(1, 1024)},
               {.name = "order", .meaning = "", .values = {"up", "down"}, .tunable = true}},
      .presets = {.quick = {"kernel=a,b n=1024 group=96"}},
      .is_valid = [](const Case& at) { return !(at.is("kernel", "b") && at.is("order", "down")); },
      .plan =
          [](const Case& at, const DeviceInfo& device) {
            Plan::need(at.number("group") <= device.max_group, "too large");
            return Plan();
          }};
  return family;
}

DeviceInfo device() {
  DeviceInfo info;
  info.platform = "Invented";
  info.name = "Device";
  info.driver = "1";
  info.max_group = 128;
  info.usable_bytes = info.memory_bytes = info.max_alloc_bytes = 1 << 30;
  return info;
}

std::vector<Job> toy_jobs() {
  std::vector<Job> jobs;
  for (auto& at : cases_of(toy(), toy().presets.at("quick"), 1)) jobs.push_back({&toy(), at});
  return jobs;
}

TEST(SearchSpaces, HoldEveryConfigurationThatTheDeviceCanRun) {
  const auto all = search_spaces_of(toy_jobs(), {}, device());
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].work, "toy/kernel=a/n=1024");
  // Leaves out 256, which is too large, and adds 96 of the preset. Numbers ascend, after the default if it
  // can run.
  std::vector<std::string> texts;
  for (const auto& at : all[1].cases) texts.push_back(at.id());
  EXPECT_THAT(texts,
              ElementsAre("toy/kernel=b/n=1024/group=32/order=up", "toy/kernel=b/n=1024/group=64/order=up",
                          "toy/kernel=b/n=1024/group=96/order=up"));
  EXPECT_THAT(all[0].cases, SizeIs(6));
}

TEST(SearchSpaces, SetNarrowsThem) {
  Selection wanted;
  for (const char* set : {"group=16", "work_group=16"}) {
    wanted.set = {set};
    EXPECT_THAT(search_spaces_of(toy_jobs(), wanted, device())[0].cases, SizeIs(2)) << set;
  }
}

Record row(const Case& at, double time_s, int round = 1) {
  Record record;
  record.family = at.family;
  record.case_id = at.id();
  for (const auto& [name, value] : at.axes) record.axes.emplace_back(name, text_of(value));
  record.status = Status::ok;
  record.run = round;
  record.time_s = time_s;
  record.time_low_s = 0.99 * time_s;
  record.time_high_s = 1.01 * time_s;
  return record;
}

TEST(Searches, TheTableNamesTheBestItsTiesAndTheGain) {
  const auto all = search_spaces_of(toy_jobs(), {}, device());
  const Search found{
      &all[1], {row(all[1].cases[0], 2e-3), row(all[1].cases[1], 1e-3), row(all[1].cases[2], 1.01e-3)}, 3};
  const std::string text = searches_table({found}).text(Screen());
  EXPECT_THAT(text, HasSubstr("group=64 order=up"));
  EXPECT_THAT(text, HasSubstr("2.00x"));
  EXPECT_THAT(text, HasSubstr("3 of 3"));
  EXPECT_THAT(text, testing::ContainsRegex("  1 .* 1 .*3 of 3"));  // one tie, one minimum
}

TEST(Searches, ALongerLookCountsMoreThanABriefOne) {
  const auto all = search_spaces_of(toy_jobs(), {}, device());
  const Search found{&all[1], {row(all[1].cases[0], 0.5e-3), row(all[1].cases[1], 1e-3, 2)}, 3};
  EXPECT_THAT(searches_table({found}).text(Screen()), HasSubstr("group=64"));
}

TEST(Searches, WhatTheBudgetLeftOutIsSaidSo) {
  const auto all = search_spaces_of(toy_jobs(), {}, device());
  const Search none{&all[1], {}, 1, false};
  EXPECT_EQ(none.best(), nullptr);
  EXPECT_THAT(searches_table({none}).text(Screen()),
              testing::AllOf(HasSubstr("not measured: the budget ended"), testing::Not(HasSubstr("right"))));
}

TEST(Searches, NothingRightIsSaidSo) {
  const auto all = search_spaces_of(toy_jobs(), {}, device());
  Record wrong = row(all[1].cases[0], 1);
  wrong.status = Status::wrong_result;
  EXPECT_THAT(searches_table({{&all[1], {wrong}, 1}}).text(Screen()), HasSubstr("none was right"));
}

// ---- Designs that compete
// ----------------------------------------------------------------------------------

// Makes a copy family of two kernels, one with an axis that the other ignores; a third computes something
// else and does not compete.
const Family& competing() {
  static const Family family = {
      .name = "competing",
      .question = "Which?",
      .axes = {{"kernel", "", {"slow", "fast", "other"}},
               {"subgroup_impl", "", {"portable", "own"}},
               {.name = "n", .meaning = "", .values = {1024}, .domain = whole(1, 1 << 30)},
               {.name = "group",
                .meaning = "",
                .values = {64, 32},
                .tunable = true,
                .domain = whole(1, 1024),
                .search_values =
                    [](const Case&, const DeviceInfo& on) {
                      Values search_values;
                      for (std::int64_t size = 32; size <= on.max_group; size *= 2)
                        search_values.emplace_back(size);
                      return search_values;
                    }},
               {.name = "vectors_per_item",
                .meaning = "",
                .values = {1, 2},
                .tunable = true,
                .search_values =
                    [](const Case& at, const DeviceInfo&) {
                      return at.is("kernel", "fast") ? Values{1, 2} : Values{1};
                    }}},
      .presets = {.quick = {"kernel=slow,fast,other"},
                  .tune = {"kernel=slow,fast", "kernel=fast subgroup_impl=own group=48 vectors_per_item=2"}},
      .plan = [](const Case& at, const DeviceInfo& on) {
        Plan::need(at.number("group") <= on.max_group, "too large");
        Plan::need(at.is("subgroup_impl", "portable") || on.vendor == "Own", "another subgroup_impl");
        Plan plan;
        plan.input<std::uint32_t>(at.count("n"), [](std::uint64_t) { return 0U; });
        return plan;
      }};
  return family;
}

std::vector<Job> competing_jobs(const char* preset) {
  std::vector<Job> jobs;
  for (auto& at : cases_of(competing(), competing().presets.at(preset), 1))
    jobs.push_back({&competing(), at});
  return jobs;
}

DeviceInfo own() {
  DeviceInfo info = device();
  info.vendor = "Own";
  info.type = "gpu";
  info.compute_units = 16;
  return info;
}

TEST(Designs, AreSearchedTogetherFromWhereTheyStart) {
  Selection wanted;
  wanted.preset = "tune";
  wanted.set = {"n=4096"};
  const auto all = search_spaces_of(competing_jobs("tune"), wanted, own());
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].work, "competing/n=1024") << "the jobs have the n of --set";
  EXPECT_THAT(all[0].among, ElementsAre("kernel", "subgroup_impl"));
  // Groups of 32, 64 and 128: three of slow, six of fast, eight with its own subgroup_impl, which start
  // at 48.
  EXPECT_THAT(all[0].cases, SizeIs(3 + 6 + 8));
  EXPECT_EQ(all[0].configurations.starts(), 3U);
  EXPECT_EQ(all[0].cases[0].id(),
            "competing/kernel=slow/subgroup_impl=portable/n=1024/group=64/vectors_per_item=1");
  EXPECT_EQ(all[0].cases[2].id(),
            "competing/kernel=fast/subgroup_impl=own/n=1024/group=48/vectors_per_item=2");
  const auto portable = search_spaces_of(competing_jobs("tune"), wanted, device());
  EXPECT_THAT(portable[0].cases, SizeIs(3 + 6)) << "what the device cannot run is not tried";
}

// The store keeps the winner alone, but people compare.
TEST(Designs, AreEachNamedAtTheirBest) {
  Selection wanted;
  wanted.preset = "tune";
  wanted.set = {"n=4096"};
  const auto all = search_spaces_of(competing_jobs("tune"), wanted, device());
  const auto timed = [&](const std::string& kernel, int group, double time_s, int round) {
    const auto at = std::ranges::find_if(all[0].cases, [&](const Case& one) {
      return one.is("kernel", kernel) && one.number("group") == group && one.number("vectors_per_item") == 1;
    });
    return row(*at, time_s, round);
  };
  Search found{all.data(),
               {timed("fast", 32, 1e-3, 1), timed("fast", 64, 2e-3, 1), timed("fast", 32, 1.5e-3, 2),
                timed("slow", 32, 9e-3, 1), timed("slow", 64, 6e-3, 1)},
               3};
  const auto table = designs_table({found});
  ASSERT_TRUE(table);
  EXPECT_THAT(table->text(Screen()),
              testing::AllOf(testing::ContainsRegex("fast .*group=32 .*1.50 ms .*1.00x\n"),
                             testing::ContainsRegex("slow .*group=64 .*6.00 ms ~ .*4.00x\n"),
                             testing::Not(HasSubstr("9.00 ms"))));
  EXPECT_EQ(disturbed_note({found}, false), "");
  found.rows[2].disturbed = "other processes used 90 %";
  EXPECT_THAT(designs_table({found})->text(Screen()), HasSubstr("1.50 ms *"));
  EXPECT_THAT(searches_table({found}).text(Screen()), HasSubstr("1.50 ms *"));
  EXPECT_THAT(disturbed_note({found}, false),
              testing::AllOf(HasSubstr("1 of 5 rows"), HasSubstr("--wait-quiet 5m")));
  EXPECT_THAT(disturbed_note({found}, true), testing::Not(HasSubstr("--wait-quiet")));
  found.rows.resize(2);
  EXPECT_FALSE(designs_table({found})) << "one design alone";
}

TEST(Designs, AreHeldAgainstEachOtherAtTheSizeOfTheDevice) {
  Selection wanted;
  wanted.preset = "tune";
  DeviceInfo large = own();
  large.cache_bytes = 50 << 20;
  large.memory_bytes = large.usable_bytes = large.max_alloc_bytes = std::int64_t{64} << 30;
  EXPECT_EQ(search_spaces_of(competing_jobs("tune"), wanted, large)[0].work, "competing/n=201326592")
      << "half a GiB";
  large.type = "cpu";
  EXPECT_EQ(search_spaces_of(competing_jobs("tune"), wanted, large)[0].work, "competing/n=100663296")
      << "four caches";
  large.cache_bytes = 0;
  EXPECT_EQ(search_spaces_of(competing_jobs("tune"), wanted, large)[0].work, "competing/n=50331648")
      << "of a driver that knows no cache, 128 MiB";
  wanted.preset = "quick";
  EXPECT_THAT(search_spaces_of(competing_jobs("quick"), wanted, large), SizeIs(3)) << "each by itself";
}

// ---- Budgets, by an invented clock -----------------------------------------------------------------------

// Every run takes a second, but for those that a test makes longer.
class Budgeted : public testing::Test {
 protected:
  Budgeted() {
    runner_.before = [this](const Job& job) {
      const auto it = takes_s_.find(job.at.id());
      now_s_ += it != takes_s_.end() ? it->second : 1;
    };
  }

  // Measurements in each search space.
  std::vector<std::size_t> search(const std::vector<SearchSpace>& spaces, std::optional<double> budget_s,
                                  const std::vector<Job>& peaks = {}) {
    Record common;
    common.run_id = "one";
    ResultsFile file(folder_.of("rows.csv"), axis_names({fake::families()[0], toy()}), {"[]", "one", "1", {}},
                     true);
    TuningRules rules{.sampling = {},
                      .peak_sampling = peak_sampling_,
                      .strategy = Strategy::exhaustive,
                      .budget_s = budget_s};
    rules.environment = {.interrupts = [] { return 0; }, .now = [this] { return now_s_; }};
    testing::internal::CaptureStderr();
    Tuner tuner(rules, runner_, device_, file, common);
    tuner.execute(peaks, spaces);
    testing::internal::GetCapturedStderr();
    std::vector<std::size_t> measured;
    for (const auto& found : tuner.searches()) measured.push_back(found.rows.size());
    return measured;
  }
  auto times_run(const std::string& id) const { return std::ranges::count(runner_.ran, id); }

  const DeviceInfo device_ = device();
  fake::Folder folder_;
  fake::FakeRunner runner_;
  std::map<std::string, double> takes_s_;
  std::optional<SamplingOptions> peak_sampling_;
  double now_s_ = 0;
};

TEST_F(Budgeted, ItBeginsBehindTheCeilings) {
  takes_s_[fake::peak().at.id()] = 100;
  EXPECT_THAT(search(search_spaces_of(toy_jobs(), {}, device_), 8, {fake::peak()}), ElementsAre(4, 3));
}

TEST_F(Budgeted, TheForecastHeedsTheBudget) {
  const auto spaces = search_spaces_of(toy_jobs(), {}, device_);
  const auto searches_s = [&](const TuningRules& rules) {
    return forecast(rules, {}, spaces, device_).searches_s();
  };
  const double whole_s = searches_s({.sampling = {}});
  EXPECT_GT(whole_s, 0);
  EXPECT_NEAR(searches_s({.sampling = {}, .budget_s = whole_s / 9}), whole_s / 9, whole_s / 90);
  EXPECT_NEAR(searches_s({.sampling = {}, .budget_cases = 3}), whole_s * 3 / 9, whole_s / 8);
  EXPECT_GT(forecast({.sampling = {}}, {fake::peak()}, spaces, device_).peaks_s(), 0);
}

// Samples a peak as the rules say of peaks.
TEST_F(Budgeted, PeaksAreSampledForLess) {
  peak_sampling_ = SamplingOptions{};
  peak_sampling_->stop.max_seconds = 0.15;
  search(search_spaces_of(toy_jobs(), {}, device_), {}, {fake::peak()});
  EXPECT_EQ(runner_.rules.front().stop.max_seconds, 0.15);
  EXPECT_EQ(runner_.rules.back().stop.max_seconds, SamplingOptions().stop.max_seconds);
}

// The first of two is cut off when it has its half, and the other looks at something in any case.
TEST_F(Budgeted, OneCaseDoesNotTakeTheShareOfOtherWork) {
  const auto spaces = search_spaces_of(toy_jobs(), {}, device_);
  takes_s_[spaces[0].cases[0].id()] = 100;
  EXPECT_THAT(search(spaces, 8), ElementsAre(1, 2));
}

TEST_F(Budgeted, FurtherLooksAtOneCaseTakeATenth) {
  static const Family implausible = [] {
    Family family = toy();
    family.plan = fake::families()[0].plan;
    return family;
  }();
  std::vector<Job> jobs = toy_jobs();
  for (auto& job : jobs) job.family = &implausible;
  jobs.pop_back();
  const auto spaces = search_spaces_of(jobs, {}, device_);
  ASSERT_THAT(spaces, SizeIs(1));
  for (const auto& at : spaces[0].cases) runner_.times({&implausible, at}, {0.5e-3});  // of a peak's 1e-3
  const std::string first = spaces[0].cases[0].id();
  search(spaces, {}, {fake::peak()});
  EXPECT_EQ(times_run(first), 4) << "as often as a run looks at what cannot be true";
  runner_.ran.clear();
  EXPECT_THAT(search(spaces, 20, {fake::peak()}), ElementsAre(6));
  EXPECT_EQ(times_run(first), 2);
}

// ---- The store -------------------------------------------------------------------------------------------

class Store : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "deep" / "tuned.json").string(); }

  static Case at(const char* kernel, std::int64_t n, std::int64_t group) {
    return {"toy",
            {{"kernel", std::string(kernel)}, {"n", n}, {"group", group}, {"order", std::string("up")}}};
  }
  static Tuned tuned(const Case& best, double time_s = 1e-3) {
    return {best, {}, time_s, 2e-3, "2026-01-01T00:00:00Z", "1"};
  }
  static Case of_competing(const char* kernel, const char* subgroup_impl, std::int64_t n,
                           std::int64_t group) {
    return {"competing",
            {{"kernel", std::string(kernel)},
             {"subgroup_impl", std::string(subgroup_impl)},
             {"n", n},
             {"group", group},
             {"vectors_per_item", std::int64_t{1}}}};
  }
  static Tuned best_of_competing(const Case& best, double time_s = 1e-3) {
    return {best, {"kernel", "subgroup_impl"}, time_s, 2e-3, "2026-01-01T00:00:00Z", "1"};
  }
  // The groups of what is worth a look beside a case.
  static std::vector<std::int64_t> beside(const nlohmann::json& store, const DeviceInfo& on,
                                          const Family& family, const Case& at) {
    std::vector<std::int64_t> groups;
    for (const auto& launch : TunedLaunches(on, {store}).beside(family, at))
      groups.push_back(launch.at.number("group"));
    return groups;
  }

 private:
  std::filesystem::path folder_ = std::filesystem::absolute("store_" + std::to_string(getpid()));
};

TEST_F(Store, KeepsPerVariant) {
  TunedStore(path()).put(device(), toy(), tuned(at("a", 1024, 64)));
  const auto store = TunedStore(path()).text();
  EXPECT_THAT(beside(store, device(), toy(), at("a", 1024, 96)), ElementsAre(64));
  EXPECT_THAT(beside(store, device(), toy(), at("a", 1024, 64)), IsEmpty()) << "is tuned already";
  EXPECT_THAT(beside(store, device(), toy(), at("b", 1024, 96)), IsEmpty());
}

TEST_F(Store, IsReadAgainWhereEveryAxisIsTunable) {
  Family family = toy();
  std::erase_if(family.axes, [](const Axis& axis) { return !axis.tunable; });
  TunedStore(path()).put(device(), family, tuned(at("a", 1024, 64)));
  EXPECT_EQ(TunedStore(path()).text()["devices"].front().front()["axes"], nlohmann::json::object());
}

TEST_F(Store, TakesTheNearestSizeWhereThereIsNoOther) {
  TunedStore store(path());
  store.put(device(), toy(), tuned(at("a", 1024, 64)));
  store.put(device(), toy(), tuned(at("a", 1 << 20, 32)));
  EXPECT_THAT(beside(store.text(), device(), toy(), at("a", 4096, 96)), ElementsAre(64));
  EXPECT_THAT(beside(store.text(), device(), toy(), at("a", 1 << 20, 96)), ElementsAre(32));
}

// A launch that suits few elements an item need not suit many.
TEST_F(Store, IsCarriedToFourTimesItsSizeAtMost) {
  TunedStore store(path());
  store.put(device(), toy(), tuned(at("a", 1024, 64)));
  for (const std::int64_t n : {8, 4096})
    EXPECT_THAT(beside(store.text(), device(), toy(), at("a", n, 96)), ElementsAre(64)) << n;
  EXPECT_THAT(beside(store.text(), device(), toy(), at("a", 4097, 96)), IsEmpty());
  const auto left_out = [&](const Case& beside_what) {
    std::optional<NotCarried> out;
    TunedLaunches(device(), {store.text()}).beside(toy(), beside_what, &out);
    return out ? fmt::format("{} from {}", out->at.id(), out->found_at_n) : "none";
  };
  EXPECT_EQ(left_out(at("a", 4096, 96)), "none");
  EXPECT_EQ(left_out(at("b", 4097, 96)), "none") << "nothing is known of it";
  EXPECT_EQ(left_out(at("a", 4097, 96)), "toy/kernel=a/n=4097/group=64/order=up from 1024");
  store.put(device(), toy(), tuned(at("a", 1 << 20, 32)));
  EXPECT_THAT(beside(store.text(), device(), toy(), at("a", 4097, 96)), ElementsAre(32))
      << "the nearest that may be carried";
  EXPECT_EQ(left_out(at("a", 4097, 96)), "none");
}

// The toy whose orders are works, some of them alike.
Family with_works(Values orders, std::function<bool(const Value&, const Value&)> alike) {
  Family family = toy();
  for (auto& axis : family.axes) {
    if (axis.name != "order") continue;
    axis.tunable = false;
    axis.values = std::move(orders);
    axis.alike = std::move(alike);
    break;
  }
  return family;
}

Case of_order(const Value& order, Case at) {
  at.axes.back().second = order;
  return at;
}

// Uses a configuration tuned for similar work, such as another operation or selectivity, if there is none for
// the same.
TEST_F(Store, IsTriedAtWorkThatIsAlikeWhereNothingNearerIsKnown) {
  static const Family related = with_works({"up", "down", "round"}, alike_within({{"up", "down"}}));
  const auto ordered = [](const char* order, std::int64_t n, std::int64_t group) {
    return of_order(std::string(order), at("a", n, group));
  };
  TunedStore store(path());
  store.put(device(), related, tuned(ordered("up", 1024, 64)));
  EXPECT_THAT(beside(store.text(), device(), related, ordered("down", 1024, 96)), ElementsAre(64));
  EXPECT_THAT(beside(store.text(), device(), related, ordered("down", 4097, 96)), IsEmpty()) << "too large";
  EXPECT_THAT(beside(store.text(), device(), related, ordered("round", 1024, 96)), IsEmpty())
      << "is of no list with another";
  store.put(device(), related, tuned(ordered("down", 4096, 32)));
  EXPECT_THAT(beside(store.text(), device(), related, ordered("down", 1024, 96)), ElementsAre(32))
      << "the work itself, if of another size, before one that is alike";
  EXPECT_THAT(beside(store.text(), device(), related, ordered("up", 1024, 96)), ElementsAre(64));
  EXPECT_THAT(beside(store.text(), device(), related, ordered("down", 4096, 32)), IsEmpty())
      << "is the best itself";
}

// And the row can say of which work it is.
TEST_F(Store, OfWorksThatAreAlikeTheNearestLaunchIsTriedWhicheverIsFaster) {
  static const Family related = with_works({0.0, 0.5, 0.9, 1.0}, all_alike);
  const auto kept = [](double share, std::int64_t group) { return of_order(share, at("a", 1024, group)); };
  TunedStore store(path());
  store.put(device(), related, tuned(kept(0, 64), 1e-3));
  store.put(device(), related, tuned(kept(0.5, 32), 2e-3));
  const auto beside_90_percent = TunedLaunches(device(), {store.text()}).beside(related, kept(0.9, 96));
  ASSERT_THAT(beside_90_percent, SizeIs(1));
  EXPECT_EQ(beside_90_percent[0].at.number("group"), 32);
  EXPECT_EQ(beside_90_percent[0].with, "order=0.5");
  const auto beside_half = TunedLaunches(device(), {store.text()}).beside(related, kept(0.5, 96));
  ASSERT_THAT(beside_half, SizeIs(1));
  EXPECT_EQ(beside_half[0].with, "");
}

// A design that was searched at something else alone does not stand beside the best of those that competed.
TEST_F(Store, WhatWasSearchedItselfHasNoneOfWhatIsAlike) {
  static const Family related = [] {
    Family family = competing();
    for (auto& axis : family.axes) {
      if (axis.name == "n") axis.alike = all_alike;
    }
    return family;
  }();
  TunedStore store(path());
  store.put(own(), related, best_of_competing(of_competing("fast", "own", 1024, 32)));
  store.put(own(), related, tuned(of_competing("slow", "portable", 2048, 128)));
  EXPECT_THAT(beside(store.text(), own(), related, of_competing("slow", "portable", 1024, 64)),
              ElementsAre(32));
  store.put(own(), related, tuned(of_competing("fast", "own", 2048, 32)));
  EXPECT_THAT(beside(store.text(), own(), related, of_competing("fast", "own", 1024, 64)), ElementsAre(32))
      << "the same launch was found at both";
  EXPECT_THAT(beside(store.text(), own(), related, of_competing("slow", "portable", 512, 64)),
              ElementsAre(128, 32))
      << "neither is";
}

// Axis::alike is for neither designs nor sizes, and no known-incorrect case is a similar task.
TEST(Alike, IsAQuestionOfData) {
  for (const auto& family : all_families()) {
    for (const auto& axis : family.axes) {
      if (!axis.alike) continue;
      EXPECT_FALSE(axis.tunable) << family.name << " " << axis.name;
      EXPECT_FALSE(is_size(axis.name)) << family.name << " " << axis.name;
      EXPECT_EQ(std::ranges::count(design_axes(family), axis.name), 0) << family.name << " " << axis.name;
      EXPECT_FALSE(axis.alike(value_of("published"), axis.values.front()) &&
                   axis.taken(value_of("published")))
          << family.name << " " << axis.name;
      for (const auto& value : axis.values)
        EXPECT_EQ(axis.alike(axis.values.front(), value), axis.alike(value, axis.values.front()));
    }
  }
}

TEST_F(Store, TheBestDesignStandsBesideAllThatDoItsWork) {
  TunedStore store(path());
  store.put(own(), competing(), best_of_competing(of_competing("fast", "own", 1024, 32)));
  const TunedLaunches tuned(own(), {store.text()});
  for (const char* kernel : {"slow", "fast", "other"}) {
    const auto launches = tuned.beside(competing(), of_competing(kernel, "portable", 2048, 64));
    ASSERT_THAT(launches, SizeIs(1)) << kernel;
    EXPECT_EQ(launches[0].at.id(),
              "competing/kernel=fast/subgroup_impl=own/n=2048/group=32/vectors_per_item=1");
    EXPECT_EQ(launches[0].of, "");
  }
  // And its own design, where that was tuned by itself.
  store.put(own(), competing(), Store::tuned(of_competing("slow", "portable", 1024, 128)));
  EXPECT_THAT(beside(store.text(), own(), competing(), of_competing("slow", "portable", 1024, 64)),
              ElementsAre(128, 32));
}

TEST_F(Store, ALaterSearchTakesThePlaceOfAnotherDesignsBest) {
  TunedStore store(path());
  store.put(own(), competing(), best_of_competing(of_competing("fast", "own", 1024, 32), 1e-3));
  store.put(own(), competing(), best_of_competing(of_competing("slow", "portable", 1024, 128), 2e-3));
  EXPECT_THAT(beside(store.text(), own(), competing(), of_competing("fast", "portable", 1024, 64)),
              ElementsAre(128));
}

// ---- Which device ----------------------------------------------------------------------------------------

class Nearest : public Store {
 protected:
  static DeviceInfo named(const char* platform, const char* vendor, const char* name, const char* driver,
                          std::int64_t units, const char* type = "gpu") {
    DeviceInfo info = device();
    info.platform = platform;
    info.vendor = vendor;
    info.name = name;
    info.driver = driver;
    info.compute_units = units;
    info.type = type;
    return info;
  }
  // Returns where the configuration was found that is measured beside a case.
  static std::string of(const DeviceInfo& on, const std::vector<nlohmann::json>& stores) {
    const auto launches = TunedLaunches(on, stores).beside(toy(), at("a", 1024, 96));
    return launches.empty() ? "none" : launches[0].of;
  }
  nlohmann::json store_of(const DeviceInfo& known, std::int64_t group = 64) const {
    std::filesystem::remove(path());
    TunedStore store(path());
    store.put(known, toy(), tuned(at("a", 1024, group)));
    return store.text();
  }
};

TEST_F(Nearest, IsTheDeviceItselfThenAnotherDriverThenOneLikeIt) {
  const auto h200 = named("NVIDIA CUDA", "NVIDIA", "H200", "580.159.04", 132);
  const auto older = named("NVIDIA CUDA", "NVIDIA", "H200", "535.12", 132);
  const auto a10 = named("NVIDIA CUDA", "NVIDIA", "A10", "580.1", 72);
  const auto small = named("NVIDIA CUDA", "NVIDIA", "T4", "580.1", 40);
  const auto mi300 = named("AMD", "AMD", "MI300", "1", 130);
  const std::vector<nlohmann::json> all = {store_of(mi300), store_of(small), store_of(a10), store_of(older),
                                           store_of(h200)};
  EXPECT_EQ(of(h200, all), "");
  EXPECT_EQ(of(named("NVIDIA CUDA", "NVIDIA", "H200", "570.1", 132), all),
            "NVIDIA CUDA, H200, driver 580.159.04")
      << "the driver of the nearest generation";
  EXPECT_EQ(of(named("NVIDIA CUDA", "NVIDIA", "A100", "580.1", 108), {all[0], all[1], all[2]}),
            "NVIDIA CUDA, A10, driver 580.1")
      << "of its vendor, by units, not another's of as many";
  EXPECT_EQ(of(named("Intel", "Intel", "Arc", "1", 128), all), "AMD, MI300, driver 1");
  EXPECT_EQ(of(named("PoCL", "AMD", "EPYC", "3", 132, "cpu"), all), "none") << "of another type";
}

// The user's own search may have been cut short, and what ships may be of a machine that differs in what no
// name tells: which is better is measured.
TEST_F(Nearest, OfTheSameDeviceTheUsersOwnStandsBesideWhatShips) {
  const auto on = device();
  const auto other = named("Invented", "", "Another", "1", 1);
  const std::vector<nlohmann::json> stores = {store_of(on, 32), store_of(on, 64), store_of(other, 128)};
  const auto launches = TunedLaunches(on, stores).beside(toy(), at("a", 1024, 96));
  ASSERT_THAT(launches, SizeIs(2));
  EXPECT_EQ(launches[0].at.number("group"), 32);
  EXPECT_EQ(launches[1].at.number("group"), 64);
  for (const auto& launch : launches) EXPECT_EQ(launch.of, "");
}

TEST_F(Nearest, WhatTheDeviceCannotRunIsPassedOver) {
  auto big = named("NVIDIA CUDA", "NVIDIA", "H200", "580", 132);
  big.max_group = 1024;
  auto less = named("NVIDIA CUDA", "NVIDIA", "T4", "580", 40);
  const auto on = named("NVIDIA CUDA", "NVIDIA", "H100", "580", 130);  // groups of 128 at most
  EXPECT_EQ(of(on, {store_of(big, 256), store_of(less, 64)}), "NVIDIA CUDA, T4, driver 580");
}

TEST_F(Store, IsReadUnderTheNamesThatAxesHad) {
  Family before = toy();
  before.axes[0].name = "variant";
  before.axes[2].name = "work_group";
  Case then = at("a", 1024, 64);
  then.axes[0].first = "variant";
  then.axes[2].first = "work_group";
  TunedStore store(path());
  store.put(device(), before, tuned(then));
  Family now = toy();
  now.axes[0].former = {"variant"};
  EXPECT_THAT(beside(store.text(), device(), now, at("a", 1024, 96)), ElementsAre(64));
  EXPECT_THAT(beside(store.text(), device(), now, at("b", 1024, 96)), IsEmpty());
}

TEST_F(Store, PutReplaces) {
  TunedStore store(path());
  store.put(device(), toy(), tuned(at("a", 1024, 64)));
  store.put(device(), toy(), tuned(at("a", 1024, 32)));
  EXPECT_THAT(beside(store.text(), device(), toy(), at("a", 1024, 96)), ElementsAre(32));
}

// Searches that end at once, each with a store that it read before.
TEST_F(Store, NothingIsLostOfProcessesThatWriteAtOnce) {
  TunedStore(path()).try_write();
  constexpr int processes = 4, entries = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      TunedStore store(path());
      for (int e = 0; e < entries; ++e) store.put(device(), toy(), tuned(at("a", 1 + p * entries + e, 64)));
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(TunedStore(path()).text()["devices"].front().size(), processes * entries);
}

// A brief look, or one at few configurations, is no reason to forget a better one.
TEST_F(Store, KeepsWhatIsBetterOverASearchCutShort) {
  const auto all = search_spaces_of(toy_jobs(), {}, device());
  const auto found = [&](double time_s, bool whole, Verified verified) {
    Record best = row(all[1].cases[1], time_s);
    best.verified = verified;
    return Search{&all[1], {best}, 3, whole};
  };
  TunedStore store(path());
  EXPECT_EQ(keep(store, device(), found(1e-3, true, Verified::before)), Kept::no);
  EXPECT_EQ(keep(store, device(), found(1e-3, true, Verified::yes)), Kept::yes);
  EXPECT_EQ(keep(store, device(), found(2e-3, false, Verified::yes)), Kept::no);
  EXPECT_EQ(keep(store, device(), found(0.9e-3, false, Verified::yes)), Kept::yes);
  EXPECT_EQ(keep(store, device(), found(2e-3, true, Verified::yes)), Kept::yes) << "a whole search is newer";
}

// Beside other processes any configuration may seem the fastest.
TEST_F(Store, KeepsNoWinnerOfABusyMachine) {
  const auto all = search_spaces_of(toy_jobs(), {}, device());
  const auto found = [&](double time_s, const std::string& best_by, const std::string& rival_by) {
    Record best = row(all[1].cases[1], time_s), rival = row(all[1].cases[2], 2 * time_s);
    best.verified = rival.verified = Verified::yes;
    best.disturbed = best_by;
    rival.disturbed = rival_by;
    return Search{&all[1], {best, rival}, 3, true};
  };
  TunedStore store(path());
  EXPECT_EQ(keep(store, device(), found(1e-3, "other processes used 90 %", "")), Kept::disturbed);
  EXPECT_EQ(keep(store, device(), found(1e-3, "", "other processes used 90 %")), Kept::yes);
  EXPECT_EQ(keep(store, device(), found(2e-3, "", "other processes used 90 %")), Kept::no)
      << "the rival may be faster, and so may the stored one";
  EXPECT_EQ(keep(store, device(), found(2e-3, "", "")), Kept::yes);
}

// The best of one design is not the best of all.
TEST_F(Store, KeepsWhatIsBetterOverASearchAmongWhatTheUserChose) {
  TunedStore store(path());
  const auto kept = [&](const Selection& wanted, double time_s) {
    const auto all = search_spaces_of(competing_jobs("tune"), wanted, own());
    Record best = row(all[0].cases[0], time_s);
    best.verified = Verified::yes;
    return keep(store, own(), Search{all.data(), {best}, 3, true}) == Kept::yes;
  };
  Selection all_of_them;
  all_of_them.preset = "tune";
  Selection one_design = all_of_them, another = all_of_them, launches = all_of_them, by_filter = all_of_them,
            work = all_of_them;
  one_design.set = {"kernel=fast"};
  another.where = {"subgroup_impl=portable"};
  launches.set = {"group=64"};
  by_filter.filter = "fast";
  work.where = {"n=1024"};
  EXPECT_TRUE(kept(all_of_them, 1e-3));
  for (const auto& narrow : {one_design, another, launches, by_filter}) {
    EXPECT_FALSE(kept(narrow, 2e-3));
    EXPECT_TRUE(kept(narrow, 0.9e-3));
    EXPECT_TRUE(kept(all_of_them, 1e-3));
  }
  EXPECT_TRUE(kept(work, 2e-3)) << "of that work it is the best";
  EXPECT_TRUE(kept(one_design, 0.5e-3));
  EXPECT_TRUE(kept(launches, 0.4e-3));
  for (const auto& entry : store.text()["devices"].front())
    EXPECT_EQ(entry["default_s"], 2e-3) << "of all designs, whatever a narrowed search began with";
}

TEST_F(Store, IsTriedBeforeASearch) {
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  std::filesystem::create_directory(path());
  EXPECT_THROW(TunedStore{path()}, Error) << "a folder";
  std::filesystem::remove(path());
  TunedStore(path()).try_write();
  EXPECT_NO_THROW(TunedStore{path()});
  std::ofstream(std::filesystem::path(path()).parent_path() / "file") << "x";
  TunedStore nowhere((std::filesystem::path(path()).parent_path() / "file" / "tuned.json").string());
  EXPECT_THROW(nowhere.try_write(), Error);
}

TEST_F(Store, ADamagedEntryIsNamed) {
  TunedStore(path()).put(device(), toy(), tuned(at("a", 1024, 64)));
  const auto whole = nlohmann::json::parse(std::ifstream(path()));
  const auto changed = [&](const std::function<void(nlohmann::json&)>& change) {
    auto store = whole;
    for (const auto& [name, entries] : store["devices"].items()) {
      for (const auto& [variant, entry] : entries.items()) change(entry);
    }
    return store.dump();
  };
  for (const auto& wrong :
       {changed([](auto& entry) { entry.erase("configuration"); }),
        changed([](auto& entry) { entry["time_s"] = "1"; }), changed([](auto& entry) { entry["axes"] = 1; }),
        changed([](auto& entry) { entry["axes"]["n"] = 1; })}) {
    std::ofstream(path()) << wrong;
    try {
      const TunedStore store{path()};
      FAIL() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::io);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path()), HasSubstr("Device"), HasSubstr("--store")));
    }
  }
  for (const char* wrong : {R"({"schema": 3})", R"({"schema": "clweave-tuned-1", "devices": {"a": []}})",
                            R"({"schema": "clweave-tuned-1", "devices": {}, "about": {"a": 1}})",
                            R"({"schema": "clweave-tuned-1", "devices": {}, "about": {"a": {"type": 1}}})"}) {
    std::ofstream(path()) << wrong;
    EXPECT_THROW(TunedStore{path()}, Error) << wrong;
  }
}

TEST_F(Store, OfManyLevelsIsRefused) {
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  std::string deep = "1";
  for (int level = 0; level < 100'000; ++level) deep = "{\"a\":" + std::move(deep);
  std::ofstream(path()) << deep << std::string(100'000, '}');
  EXPECT_THROW(TunedStore{path()}, Error);
}

// Each value is held against its axis as it is read.
TEST_F(Store, LeavesOutWhatNoCaseCanBe) {
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  const auto with = [](const std::string& axis, const std::string& value, double time_s = 1e-3,
                       const std::string& family = "copy") {
    nlohmann::json entry = {{"family", family},
                            {"axes", {{"kernel", "buffer"}}},
                            {"configuration", {{"group", "64"}}},
                            {"time_s", time_s}};
    entry["configuration"][axis] = value;
    return entry;
  };
  nlohmann::json store = {{"schema", "clweave-tuned-1"}, {"devices", {{"D", nlohmann::json::object()}}}};
  auto& entries = store["devices"]["D"];
  const std::vector<std::string> wrong = {"NaN", "0.1", "-9223372036854775808", "0", "inf", "x", "1e300", ""};
  for (const auto& value : wrong) entries[value] = with("group", value);
  entries["time"] = with("group", "64", -1);
  entries["family"] = with("group", "64", 1e-3, "weave");
  entries["sound"] = with("group", "64");
  std::ofstream(path()) << store.dump();
  std::vector<std::string> left_out;
  const auto stores = known_stores(path(), left_out);
  EXPECT_EQ(stores.front().at("devices").at("D").size(), 1U);
  EXPECT_TRUE(stores.front().at("devices").at("D").contains("sound"));
  EXPECT_EQ(left_out.size(), wrong.size() + 2);
  EXPECT_THAT(left_out, testing::Each(AllOf(HasSubstr(path()), HasSubstr(" is left out: "))));
  EXPECT_THAT(left_out, testing::Contains(HasSubstr("group=NaN: group takes")));
}

// In a folder that others may write, a link of theirs leads nowhere.
TEST_F(Store, IsWrittenThroughNoLinkOfOthers) {
  const std::filesystem::path folder = std::filesystem::path(path()).parent_path();
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "victim") << "mine";
  std::filesystem::create_symlink(folder / "victim", fmt::format("{}.{}", path(), getpid()));
  TunedStore(path()).put(device(), toy(), tuned(at("a", 1024, 64)));
  std::string text;
  std::getline(std::ifstream(folder / "victim"), text);
  EXPECT_EQ(text, "mine");
}

TEST_F(Store, RefusesWhatIsNoStore) {
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  std::ofstream(path()) << R"({"schema": "other"})";
  EXPECT_THROW(TunedStore{path()}, Error);
  std::ofstream(path()) << "half a f";
  EXPECT_THROW(TunedStore{path()}, Error);
}

}  // namespace
