// SPDX-License-Identifier: Apache-2.0
// summary: how a run ended, on one screen: the device, its best of each family, what was odd, what to type
// next.
#pragma once
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::profile {

// What of a device's rows was odd, a line for each kind: how many cases, and the first of them.
struct Anomaly {
  std::string text;
  bool failure = false;
};
std::vector<Anomaly> anomalies_of(const DeviceResults&);

// `files` hold the rows; none where they went to stdout. Of each device no more than 40 lines of 100 columns.
Report summary_of(const ResultsSet&, const std::vector<Family>&, const std::vector<std::string>& files);

}  // namespace clweave::profile
