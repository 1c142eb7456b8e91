// SPDX-License-Identifier: Apache-2.0
// best: the best row of a family on a device, by one rule wherever a best is named.
//
// The merit of a row is its fraction of the measured peak, and among rows without one its rate (G items/s
// where the family is viewed so). Contenders are the cases with a time that counts (CaseTimes::counts),
// without
//   - those for comparison and those of no merit (Family::for_comparison, ::no_merit);
//   - those whose buffers fit a cache, where others do not: the peak of memory does not bound them;
//   - sizes n below an eighth of the largest: a part of their data may lie in a cache.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::rows {

// Asks Family::for_comparison of the family's default case with this kernel.
bool is_for_comparison(const Family&, const std::string& kernel);

struct Contender {
  const CaseTimes* at = nullptr;
  RunTime run;  // CaseTimes::typical

  Number speed(const Family&) const;
};

// Formats a speed for people: "3.12 GB/s", or a time if there is no rate.
std::string speed_text(const Contender&, const Family&);

std::vector<Contender> contenders(const Family&, const std::vector<const CaseTimes*>&);
std::vector<Contender> contenders(const Family&, const DeviceResults&);

// Returns the one of most merit, null if there is none. `seconds` replaces the times of the rows, as a
// bootstrap draw has them.
const Contender* best_row(const Family&, const std::vector<Contender>&,
                          const std::function<double(const Contender&)>& seconds = {});

// Returns whether another one than `best` may be the best in truth, or its speed is not known, as a row of
// theirs was slowed.
bool is_undecided(const Family&, const std::vector<Contender>&, const Contender& best);

}  // namespace clweave::rows
