// SPDX-License-Identifier: Apache-2.0
// worker: the jobs of one device, in order, in this process.
#pragma once
#include <functional>
#include <vector>

#include "measure.hpp"
#include "record.hpp"
#include "session.hpp"
#include "suite.hpp"

namespace clweave {

struct Watcher {
  std::function<void(std::size_t job)> started;
  std::function<void(Record&)> finished;  // a job's row or a finding's
  std::function<bool()> stop;             // asked before every job
};

// Runs every job, then draws the families' findings from what was ok. Rows get the fraction of the ceilings
// that jobs of family ceiling measured before them.
void run_jobs(Session&, const std::vector<Job>&, const Measuring&, const Watcher&);

}  // namespace clweave
