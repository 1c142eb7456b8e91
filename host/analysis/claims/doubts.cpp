// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/doubts.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "analysis/claims/rules.hpp"
#include "results/contradictions.hpp"
#include "suite/outcome.hpp"

namespace clweave::claims {

namespace {

struct Kind {
  bool (*of)(const TimedCase&);
  const char *why, *options;
};

bool in_half_of_runs(const TimedCase& timed, bool (*of)(const RunTime&)) {
  return 2 * std::ranges::count_if(timed.runs, [&](const RunTime* run) { return of(*run); }) >=
         std::ssize(timed.runs);
}

constexpr std::array<Kind, 4> kinds = {
    {{[](const TimedCase& timed) { return timed.at != nullptr && timed.at->status == Status::wrong_result; },
      "the result was wrong in some of the runs: times of such a kernel decide nothing", " --runs 3"},
     {[](const TimedCase& timed) {
        return in_half_of_runs(timed, [](const RunTime& run) { return run.disturbed; });
      },
      machine_was_busy, " --wait-quiet 5m"},
     {[](const TimedCase& timed) {
        return in_half_of_runs(timed, [](const RunTime& run) { return run.slowed && !run.disturbed; });
      },
      "the device was slowed, as column throttled of its rows says: measure again once it has cooled down",
      " --runs 3"},
     {[](const TimedCase& timed) {
        return in_half_of_runs(timed, [](const RunTime& run) { return run.unsettled; });
      },
      "medians have not settled, as column converged of their rows says: sample longer, or with --precision "
      "0.05 for a wider interval",
      " --max-seconds 10"}}};

// Returns the least time that a doubtful row may have in truth.
double least_s(const TimedCase& timed) {
  double out = timed.median_s;
  for (const auto* run : timed.runs) out = std::min(out, run->least_s());
  return out;
}

// Returns whether two rows compete to be the best of their side: they differ in no axis whose values the rule
// compares.
bool compete(const TimedCase& one, const TimedCase& other, const Rule& rule) {
  const auto is_equal = [&](const std::string& axis) { return value_in(one, axis) == value_in(other, axis); };
  return std::ranges::all_of(rule.matched_axes, is_equal) &&
         std::ranges::all_of(rule.varied_axes, is_equal) &&
         std::ranges::all_of(rule.competitor_axes, is_equal);
}

// Returns the rows of a side that are used, and those that may be faster than one of them that they compete
// with.
RowSelection deciding(const Rule& rule, const RowSelection& side, const std::set<const TimedCase*>& used) {
  RowSelection out;
  std::ranges::copy_if(side, std::back_inserter(out), [&](const TimedCase* row) {
    return used.contains(row) || std::ranges::any_of(side, [&](const TimedCase* best) {
             return used.contains(best) && least_s(*row) < best->median_s && compete(*row, *best, rule);
           });
  });
  return out;
}

}  // namespace

Doubt doubt_of(const Rule& rule, const Sides& sides, const std::set<const TimedCase*>& used) {
  if (!depends_on_run(rule)) return {};
  RowSelection rows;
  for (const auto& side : all_sides)
    std::ranges::copy(deciding(rule, sides.*side.rows, used), std::back_inserter(rows));
  for (const auto& kind : kinds) {
    Doubt out{kind.why, kind.options, {}};
    for (const auto* row : rows) {
      if (kind.of(*row) && std::ranges::find(out.cases, row->name->id) == out.cases.end())
        out.cases.push_back(row->name->id);
    }
    if (!out.cases.empty()) return out;
  }
  return {};
}

Doubt doubt_of(const std::vector<ExpectedCases>& expected) {
  Doubt out{unverified, " --runs 3", {}};
  for (const auto& side : expected) {
    for (const auto* row :
         side.without_time([](const FailedCase& one) { return one.reason == unverified; })) {
      if (std::ranges::find(out.cases, row->name->id) == out.cases.end()) out.cases.push_back(row->name->id);
    }
  }
  return out.cases.empty() ? Doubt() : out;
}

}  // namespace clweave::claims
