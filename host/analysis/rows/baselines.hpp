// SPDX-License-Identifier: Apache-2.0
// baselines: the best kernel beside the best program that people would use instead, for each piece of work.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::rows {

// Compares the same work on the same silicon, by the host's clock, wait included, where the baseline has no
// other.
//
// A ratio is fair within a round, in which both were measured in turns: other load on a processor changes
// from round to round by more than kernels differ. So `ratio` is the median of the rounds' ratios (of an even
// number the geometric mean of the middle two), and its interval is the hull of the rounds' intervals. Where
// no round has both sides, it is the ratio of the medians of their runs.
struct Baselines {
  const CaseTimes* ours = nullptr;
  BaselineTime native;
  CaseName work;                        // what is computed
  double ours_s = 0, native_s = 0;      // medians over the rounds
  double ratio = 0, low = 0, high = 0;  // time of the baseline over ours: above 1 ours is faster
  std::size_t rounds = 0;               // with both sides
  bool slowed = false;                  // half of the runs of either were, as the machine was not quiet
};

// Returns one for each piece of work that both did, sorted by family and axis values, since runs measure in
// random order.
std::vector<Baselines> baselines_of(const ResultsSet&, const DeviceResults&);

// Titles of the table of baselines.
inline constexpr std::array<const char*, 6> rival_columns = {
    "work", "best kernel here", "speed", "best beside it", "its speed", "ours over theirs"};
struct BaselineRow {
  std::string family;
  std::vector<std::string> cells;
  bool slowed = false;  // marked by a star
};
std::vector<BaselineRow> baseline_rows(const ResultsSet&, const DeviceResults&, const std::vector<Family>&);

// Adds the table of a device; nothing if it has no baselines.
void add_baselines(Report&, const ResultsSet&, const DeviceResults&, const std::vector<Family>&);

}  // namespace clweave::rows
