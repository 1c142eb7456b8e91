// SPDX-License-Identifier: Apache-2.0
// metric: the quantities that tables and charts can show of a case.
#pragma once
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave::rows {

struct Metric {
  const char* name;
  const char* meaning;  // above the table
  // Computes it for a run. `reference_s`: time of the first row in its column; `best_s`: least of the table.
  Number (*of)(const RunTime&, double reference_s, double best_s);
  const char* suffix;  // behind each number
  const char* unit;    // as number_text takes it; empty: GB/s or Gop/s, as the rows are
  bool of_time;        // grows with the time: else falls with it
};

const std::vector<Metric>& metrics();

// Throws `usage` that lists the names if there is no such metric.
const Metric& metric_named(const std::string& name);

}  // namespace clweave::rows
