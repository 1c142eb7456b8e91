// SPDX-License-Identifier: Apache-2.0
// test_prior: what one run a side is assumed to differ by, held against sessions between which nothing
// changed.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "answers/prior.hpp"
#include "answers/regression.hpp"
#include "results/results_set.hpp"
#include "suite/all_families.hpp"

using namespace clweave;

namespace {

constexpr int sessions = 4;

const ResultsSet& session(int i) {
  static const auto all = [] {
    std::vector<ResultsSet> read;
    for (int s = 1; s <= sessions; ++s)
      read.push_back(
          read_results({fmt::format("{}/results/nvidia-h200/2026-11-22-aa-{}.csv", CLWEAVE_SOURCE_DIR, s)},
                       all_families()));
    return read;
  }();
  return all.at(static_cast<std::size_t>(i));
}

double command_s(const CaseTimes& at) {
  return at.median_s() / static_cast<double>(at.runs.front().commands);
}

}  // namespace

TEST(Prior, CallsNothingBetweenSessionsOfNoChange) {
  double called = 0, of = 0;
  for (int a = 0; a < sessions; ++a) {
    for (int b = 0; b < sessions; ++b) {
      if (a == b) continue;
      const Regression all = compare_regression(session(a), session(b), {});
      called += static_cast<double>(all.count(Change::slower) + all.count(Change::faster));
      of += static_cast<double>(all.count(What::compared));
    }
  }
  EXPECT_GT(of, 3000);
  EXPECT_LE(called / of, 0.01);
}

// Of kernels that take longer than 50 us, from one run a side.
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
    for (const auto& row : compare_regression(session(0), after, {}).cases) {
      if (std::ranges::find(slower, row.id) == slower.end()) continue;
      ++changed;
      found += row.verdict == Change::slower;
    }
  }
  EXPECT_GT(changed, 30);
  EXPECT_GE(found / changed, 0.9);
}

// The bands hold what was measured: not less than it, and no more than half as much again.
TEST(Prior, IsWhatTheSessionsDifferBy) {
  struct Band {
    double at_s, from_s, to_s;
  };
  for (const auto& [at_s, from_s, to_s] : {Band{4e-6, 0, 8e-6}, {2e-5, 8e-6, 5e-5}, {1e-3, 5e-5, HUGE_VAL}}) {
    double squares = 0, cases = 0;
    for (const auto& first : session(0).devices.at(0).cases) {
      std::vector<double> logs;
      for (int s = 0; s < sessions; ++s) {
        const CaseTimes* at = session(s).devices.at(0).find(first.id());
        if (at != nullptr && at->ok() && at->clock.starts_with("event"))
          logs.push_back(std::log(at->median_s()));
      }
      if (logs.size() < sessions || command_s(first) < from_s || command_s(first) >= to_s) continue;
      double mean = 0;
      for (const double x : logs) mean += x / sessions;
      for (const double x : logs) squares += (x - mean) * (x - mean) / (sessions - 1);
      ++cases;
    }
    const double measured = std::sqrt(squares / cases),
                 assumed = std::sqrt(prior_spread("gpu", Timer::event, at_s).variance);
    EXPECT_GT(cases, 20) << at_s;
    EXPECT_GE(assumed, measured) << at_s;
    EXPECT_LE(assumed, 1.5 * measured) << at_s;
  }
}
