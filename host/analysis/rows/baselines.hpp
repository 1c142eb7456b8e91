// SPDX-License-Identifier: Apache-2.0
// rivals: the best kernel beside the best of what people would use instead, for each piece of work.
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

// Of the same work on the same silicon. On which clock: the host's, wait included, where the rival has no
// other.
//
// A ratio is fair within a round, in which both were measured in turns: neighbours that come and go change
// what a processor does from round to round by more than kernels differ. So it is the median of the rounds'
// ratios, of an even number the geometric mean of the two in the middle, and lies between the lowest and the
// highest end of the rounds' intervals. Of sides that no round has both, it is that of the middles of
// their runs.
struct Baselines {
  const CaseTimes* ours = nullptr;
  BaselineTime native;
  CaseName work;                        // what is computed
  double ours_s = 0, native_s = 0;      // medians over the rounds, likewise
  double ratio = 0, low = 0, high = 0;  // the native's time over ours: above 1 ours is faster
  std::size_t rounds = 0;               // that both were measured in
};

// One for each piece of work that both did, by family and then by the values of its axes: runs measure in an
// order of chance.
std::vector<Baselines> baselines_of(const ResultsSet&, const DeviceResults&);

// One of them for people, under these titles.
inline constexpr std::array<const char*, 6> rival_columns = {
    "work", "best kernel here", "speed", "best beside it", "its speed", "ours over theirs"};
struct BaselineRow {
  std::string family;
  std::vector<std::string> cells;
};
std::vector<BaselineRow> baseline_rows(const ResultsSet&, const DeviceResults&, const std::vector<Family>&);

// The table of a device's, empty where there are none.
void add_baselines(Report&, const ResultsSet&, const DeviceResults&, const std::vector<Family>&);

}  // namespace clweave::rows
