// SPDX-License-Identifier: Apache-2.0
// summary: the result of a run on one screen: the device, the best row of each family, the time of every
// variant where they are few, anomalies, and commands to run next.
#pragma once
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::profile {

// A kind of anomaly among a device's rows: the number of cases and what they have in common, and the first of
// them.
struct Anomaly {
  std::string kind, first;
  bool failure = false;
  std::string mark;  // of such rows in a summary's tables; empty: none

  std::string text() const { return kind + ": " + first; }
};
std::vector<Anomaly> anomalies_of(const DeviceResults&);

// Builds at most 40 lines of 100 columns per device. `files` hold the rows; empty if they went to stdout.
Report summary_of(const ResultsSet&, const std::vector<Family>&, const std::vector<std::string>& files);

}  // namespace clweave::profile
