// SPDX-License-Identifier: Apache-2.0
// doubts: rows that decide no claim, as their times are not those of an undisturbed device (the machine was
// busy, the device was slowed, the median had not settled) or their output was not verified, or wrong in one
// of the runs.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "analysis/claims/selection.hpp"

namespace clweave::claims {

struct Doubt {
  std::string why;                 // one sentence, without the rows; empty: there is none
  std::string options;             // of clweave run, that measure the rows better
  std::vector<std::string> cases;  // ids of the rows
};

// Returns the first kind of doubt about the rows that a rule's estimate follows from, and about those beside
// them that may be the fastest in truth: a time that was slowed may be any part of what was measured, an
// unsettled median lies anywhere in its interval. A row is in doubt if at least half of its runs are, as else
// its median is that of good ones; but if a single one was wrong, as a kernel that is wrong now and then may
// do less work. None is where nothing decides that depends on the run.
Doubt doubt_of(const Rule&, const Sides&, const std::set<const TimedCase*>& used);

// Returns the doubt about cases none of whose rows is verified though one says ok.
Doubt doubt_of(const std::vector<ExpectedCases>&);

}  // namespace clweave::claims
