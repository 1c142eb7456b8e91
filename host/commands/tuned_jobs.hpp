// SPDX-License-Identifier: Apache-2.0
// tuned_jobs: adds to each job the same work in the configurations that tune found.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "suite/selection.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::commands {

// Collects where the tuned configurations come from, and which cases have none.
struct TunedSummary {
  std::set<std::string> devices;  // on which they were found; "": on this one
  bool similar_work = false;      // some were found for similar work, not the same
  struct TooLarge {
    const Family* family;
    NotCarried least;
  };
  std::map<std::string, TooLarge> too_large = {};  // by family: its smallest case that is too large for any
};

// Inserts after each job the same work in those tuned configurations that the selection allows.
std::vector<Job> with_tuned(std::vector<Job>, const TunedLaunches&, const Selection&, TunedSummary&);

// Builds a line per family that has too large cases.
std::vector<std::string> too_large_lines(const TunedSummary&);

// Logs on which devices the configurations were found that are measured beside the default ones.
void log_tuned(const DeviceInfo&, const TunedSummary&);

}  // namespace clweave::commands
