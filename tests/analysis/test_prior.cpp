// SPDX-License-Identifier: Apache-2.0
// test_prior: what one run a side is assumed to differ by, held against sessions between which nothing
// changed.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/compare/changes.hpp"
#include "analysis/rows/prior.hpp"
#include "commands/read_results.hpp"
#include "results/results_set.hpp"
#include "suite/all_families.hpp"

using namespace clweave::commands;

namespace {

// Counts the recorded sessions: four of one program in sequence, and a fifth half a day or more apart. On the
// H200 the fifth is of another card: the prior of one card comes from the four, and has to hold for the
// fifth, too.
constexpr int sessions = 5, of_one_card = 4;
const std::string h200 = "nvidia-h200", pocl_3 = "epyc-2-cores-pocl-3", pocl_5 = "xeon-16-cores-pocl-5",
                  rusticl = "epyc-2-cores-rusticl";

std::string file_of(const std::string& device, int session) {
  return fmt::format("{}/results/{}/sessions-{}.zip", CLWEAVE_SOURCE_DIR, device, session);
}

const ResultsSet& session(int i, const std::string& device = h200) {
  static std::map<std::string, std::vector<ResultsSet>> known;
  auto& read = known[device];
  for (int s = static_cast<int>(read.size()) + 1; s <= sessions; ++s)
    read.push_back(read_results(clweave::commands::unpacked({file_of(device, s)}), all_families()));
  return read.at(static_cast<std::size_t>(i));
}

double command_s(const CaseTimes& at) {
  return at.median_s() / static_cast<double>(at.runs.front().commands);
}

// Root mean square, over the cases that all sessions have, of how the logarithms of their times differ.
struct SampleSet {
  double cases = 0, sd = 0;
};
template <class Counts>
SampleSet measured(const std::string& files, int of, const Counts& counts) {
  double squares = 0, cases = 0;
  for (const auto& first : session(0, files).devices.at(0).cases) {
    std::vector<double> logs;
    for (int s = 0; s < of; ++s) {
      const CaseTimes* at = session(s, files).devices.at(0).find(first.id());
      if (at != nullptr && at->ok() && counts(*at)) logs.push_back(std::log(at->median_s()));
    }
    if (std::ssize(logs) < of || !counts(first)) continue;
    double mean = 0;
    for (const double x : logs) mean += x / of;
    for (const double x : logs) squares += (x - mean) * (x - mean) / (of - 1);
    ++cases;
  }
  return {cases, std::sqrt(squares / cases)};
}

}  // namespace

TEST(Prior, CallsNothingBetweenSessionsOfNoChange) {
  for (const auto& [files, least] : {std::pair{h200, 3000}, {pocl_3, 2000}, {pocl_5, 1000}, {rusticl, 900}}) {
    double called = 0, of = 0;
    for (int a = 0; a < sessions; ++a) {
      for (int b = 0; b < sessions; ++b) {
        if (a == b) continue;
        const RunComparison all = compare_runs(session(a, files), session(b, files), {});
        called += static_cast<double>(all.count(Change::slower) + all.count(Change::faster));
        of += static_cast<double>(all.count(Transition::compared));
      }
    }
    EXPECT_GT(of, least) << files;
    EXPECT_LE(called / of, 0.01) << files;
  }
}

// Kernels longer than 50 us, one run per side.
TEST(Prior, FindsFifteenPercent) {
  double found = 0, changed = 0;
  for (int b = 1; b < sessions; ++b) {
    ResultsSet after = session(b);
    std::vector<std::string> slower;
    auto& cases = after.devices.at(0).cases;
    for (std::size_t c = 0; c < cases.size(); c += 7) {
      if (!cases[c].ok() || command_s(cases[c]) < 50e-6) continue;
      for (auto& run : cases[c].runs) run.time_s *= 1.15;
      slower.push_back(cases[c].label());
    }
    for (const auto& row : compare_runs(session(0), after, {}).cases) {
      if (std::ranges::find(slower, row.id) == slower.end()) continue;
      ++changed;
      found += row.verdict == Change::slower ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 30);
  EXPECT_GE(found / changed, 0.9);
}

// A change of all cases alike, or of the long ones, is more than sessions share. Where another card is on one
// side, the comparison still tells it, but no case of it.
TEST(Prior, FindsFifteenPercentOfAllCases) {
  for (const bool all : {true, false}) {
    double found = 0, changed = 0;
    for (int b = 1; b < (all ? sessions : of_one_card); ++b) {
      ResultsSet after = session(b);
      std::vector<std::string> slower;
      for (auto& at : after.devices.at(0).cases) {
        const bool is_long = at.ok() && command_s(at) >= 50e-6;
        if (!all && !is_long) continue;
        for (auto& run : at.runs) run.time_s *= 1.15;
        if (is_long) slower.push_back(at.label());
      }
      const RunComparison comparison = compare_runs(session(0), after, {});
      EXPECT_TRUE(std::ranges::any_of(comparison.devices.at(0).together, [](const Together& group) {
        return group.verdict == Change::slower && group.low < 1.16 && 1.14 < group.high;
      })) << b;
      for (const auto& row : comparison.cases) {
        if (std::ranges::find(slower, row.id) == slower.end() || b >= of_one_card) continue;
        ++changed;
        found += row.verdict == Change::slower ? 1 : 0;
      }
    }
    EXPECT_GT(changed, 300) << all;
    EXPECT_GE(found / changed, 0.9) << all;
  }
}

// A case that changes alone has to change by more: of three hundred, chance makes some look changed.
TEST(Prior, FindsAQuarterOfOneCaseAlone) {
  double found = 0, changed = 0;
  for (int b = 1; b < of_one_card; ++b) {
    ResultsSet after = session(b);
    auto& cases = after.devices.at(0).cases;
    for (std::size_t c = 0; c < cases.size(); c += 9) {
      if (!cases[c].ok() || command_s(cases[c]) < 50e-6) continue;
      const auto unchanged = cases[c].runs;
      for (auto& run : cases[c].runs) run.time_s *= 1.25;
      for (const auto& row : compare_runs(session(0), after, {}).cases) {
        if (row.id != cases[c].label()) continue;
        ++changed;
        found += row.verdict == Change::slower ? 1 : 0;
      }
      cases[c].runs = unchanged;
    }
  }
  EXPECT_GT(changed, 20);
  EXPECT_GE(found / changed, 0.9);
}

// The bands hold what was measured: not less than it, and no more than half as much again.
TEST(Prior, IsWhatTheSessionsDifferBy) {
  struct Band {
    double at_s, from_s, to_s;
  };
  for (const auto& [at_s, from_s, to_s] : {Band{4e-6, 0, 8e-6}, {2e-5, 8e-6, 5e-5}, {1e-3, 5e-5, HUGE_VAL}}) {
    const auto [cases, sd] = measured(h200, of_one_card, [&, from = from_s, to = to_s](const CaseTimes& at) {
      return at.clock.starts_with("event") && command_s(at) >= from && command_s(at) < to;
    });
    const double assumed = std::sqrt(prior_spread("gpu", Timer::event, at_s).variance);
    EXPECT_GT(cases, 20) << at_s;
    EXPECT_GE(assumed, sd) << at_s;
    EXPECT_LE(assumed, 1.5 * sd) << at_s;
  }
}

// Expects the largest spread of all CPUs, which share one prior.
TEST(Prior, OfProcessorsIsWhatTheSessionsThatDifferMostDifferBy) {
  double most = 0;
  for (const auto& files : {pocl_3, pocl_5, rusticl}) {
    const auto [cases, sd] = measured(files, sessions, [](const CaseTimes&) { return true; });
    EXPECT_GT(cases, 60) << files;
    most = std::max(most, sd);
  }
  for (const Timer timer : {Timer::event, Timer::host}) {
    const double assumed = std::sqrt(prior_spread("cpu", timer, 1e-3).variance);
    EXPECT_GE(assumed, most);
    EXPECT_LE(assumed, 1.5 * most);
  }
}
