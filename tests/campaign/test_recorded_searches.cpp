// SPDX-License-Identifier: Apache-2.0
// test_recorded_searches: halving on spaces of which every configuration was measured, without a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/csv.hpp"
#include "base/random.hpp"
#include "commands/read_results.hpp"
#include "results/record.hpp"
#include "suite/family.hpp"
#include "suite/search.hpp"

using namespace clweave::commands;

namespace {

// A file of results, with the axes that its search went along. Rows differ in no other.
struct Recording {
  const char* file;
  const char* family;
  std::vector<const char*> axes;
  const char* work;  // what the rows that count have in their id
};

void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.file; }

// Replays a search space that was measured in full. A short measurement returns any time within the recorded
// interval.
struct RecordedSpace {
  Space space;
  std::vector<Record> rows;

  double best_s() const {
    double best = HUGE_VAL;
    for (const auto& row : rows) best = std::min(best, *row.time_s);
    return best;
  }
};

RecordedSpace read(const Recording& recording) {
  const std::string path = std::string(CLWEAVE_SOURCE_DIR "/results/nvidia-h200/") + recording.file;
  const auto& families = all_families();
  std::vector<Record> rows;
  for (auto& row : records_of(read_csv(unpacked({path}).at(0)), path)) {
    add_later_axes(row, families);
    if (row.ok() && row.time_s && row.finding.empty() && row.family == recording.family &&
        row.case_id.find(recording.work) != std::string::npos)
      rows.push_back(std::move(row));
  }
  std::vector<Values> known;
  for (const char* axis : recording.axes) {
    Values& values = known.emplace_back();
    std::set<std::string> seen;
    for (const auto& row : rows) {
      if (seen.insert(row.axis(axis)).second) values.push_back(value_of(row.axis(axis)));
    }
    std::ranges::sort(values);
  }
  std::vector<Point> points;
  for (const auto& row : rows) {
    Point& point = points.emplace_back();
    for (std::size_t a = 0; a < known.size(); ++a) {
      const auto at = std::ranges::find(known[a], value_of(row.axis(recording.axes[a])));
      point.push_back(static_cast<std::size_t>(at - known[a].begin()));
    }
  }
  EXPECT_EQ(std::set(points.begin(), points.end()).size(), points.size()) << "axes that tell rows apart";
  return {Space(std::move(points)), std::move(rows)};
}

struct Searched {
  double over_best = HUGE_VAL;  // of the one that it would keep
  double cost = 0;              // in full samplings
  std::size_t trials = 0;
};

// `budget`: trials, however long.
Searched halved(const RecordedSpace& all, std::uint64_t seed, std::size_t budget = SIZE_MAX) {
  const Random<std::uint64_t> noise(seed, 0x100C);
  Searched out;
  double best_s = HUGE_VAL;
  search(
      all.space, Strategy::halving, seed,
      [&](std::size_t point, double effort) -> std::optional<double> {
        const Record& row = all.rows[point];
        out.cost += effort;
        const double low = row.time_low_s.value_or(*row.time_s), high = row.time_high_s.value_or(*row.time_s);
        const double part = static_cast<double>(noise(++out.trials) % 1000) / 1000;
        const double seen = effort == 1 ? *row.time_s : low + part * (high - low);
        if (effort == 1 && seen < best_s) {
          best_s = seen;
          out.over_best = *row.time_s / all.best_s();
        }
        return seen;
      },
      [&] {
        return budget == SIZE_MAX ? 1.0 : 1 - static_cast<double>(out.trials) / static_cast<double>(budget);
      });
  return out;
}

class RecordedSearch : public testing::TestWithParam<Recording> {};

// The promise is 1 %. Of a hundred seeds a few may have bad luck; the program's own is the first.
TEST_P(RecordedSearch, HalvingComesWithinAHundredthOfTheBest) {
  const RecordedSpace all = read(GetParam());
  ASSERT_GT(all.space.size(), 200U);
  constexpr int seeds = 100;
  int near = 0;
  double worst = 1, cost = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Searched found = halved(all, static_cast<std::uint64_t>(seed));
    if (seed == 1) {
      EXPECT_LE(found.over_best, 1.01);
    }
    near += found.over_best <= 1.01 ? 1 : 0;
    worst = std::max(worst, found.over_best);
    cost += found.cost / seeds;
  }
  RecordProperty("mean_cost", std::to_string(cost));
  EXPECT_GE(near, 97);
  EXPECT_LE(worst, 1.03);
  EXPECT_LE(cost, 0.05 * static_cast<double>(all.space.size())) << "full samplings";
}

// Searches with as many trials as a slow device has time for.
TEST_P(RecordedSearch, WithFewTrialsItComesWithinSomeHundredths) {
  const RecordedSpace all = read(GetParam());
  double mean = 0;
  constexpr int seeds = 50;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Searched found = halved(all, static_cast<std::uint64_t>(seed), 60);
    EXPECT_LE(found.trials, 61U);
    mean += found.over_best / seeds;
  }
  EXPECT_LE(mean, 1.02);
}

INSTANTIATE_TEST_SUITE_P(
    OnAnH200, RecordedSearch,
    testing::Values(
        // The published search: 16 Mi words, 1056 launches.
        Recording{"search.zip", "copy", {"kernel", "width", "group", "groups", "split"}, "setup=outside/"},
        // 64 Mi words, four kernels.
        Recording{"tune.zip", "copy", {"kernel", "width", "group", "groups", "ilp"}, "/n=67108864/"},
        // Reductions of 192 Mi words by three kernels.
        Recording{"tune.zip", "reduction", {"kernel", "group", "unroll", "groups_per_cu"}, "reduction/"},
        // 16 Mi words, two kernels, groups of 32 to 1024.
        Recording{"tune.zip", "copy", {"kernel", "width", "group", "groups", "store"}, "/n=16777216/"}),
    [](const auto& of) {
      std::string name = fmt::format("{}{}{}", of.param.file, of.param.family, of.param.work);
      std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return name;
    });

}  // namespace
