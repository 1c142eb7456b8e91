// SPDX-License-Identifier: Apache-2.0
// partly_known: a change of which the session may have made a part.
//
// What all cases of a session share, a clock above all, is no property of the program. One session a side
// cannot tell it from a change of all cases: each case's own change lies between its difference and what is
// left of it without the shared part, however long the kernels ran. Such a change is identified up to a set;
// the intervals are those of Imbens and Manski (2004), which hold the true change, not the set, in 95 %.
#pragma once
#include <span>
#include <vector>

#include "base/stats.hpp"

namespace clweave::compare {

struct PartlyKnown {
  double low = 0, high = 0;  // of the logarithm: the set, equal if the change is known but for noise
  double se = 0, degrees = 0;

  double least() const;  // the number in the set next to 0
};

// Returns the set of a difference from which up to `reach` of any of the centres may be taken. Without a
// centre, of too few cases, what they share may be all of the difference.
PartlyKnown without_shared(double difference, const Spread&, const std::vector<double>& centres,
                           double reach);

struct LogInterval {
  double low, high;
};
LogInterval interval_95(const PartlyKnown&);

// A normal difference that chance makes in a part of the cases, and how likely the units of such a case agree
// as well as these. Both probabilities make one p value by the distribution of a product (Fisher 1932).
struct Tail {
  double part = 0;
  double sd = 0;
  double agreement = 1;

  double p(double difference) const;
};

// Returns the p value under no change, the largest of those by its own spread and by the tails, and under one
// that lies within the margin.
double p_of_no_change(const PartlyKnown&, std::span<const Tail>);
double p_within(const PartlyKnown&, double margin);

// Returns the smallest difference that has both p values, the first one at `p_no_change`, the other one at
// `p_margin`.
double least_difference(const Spread&, std::span<const Tail>, double margin, double p_no_change,
                        double p_margin);

}  // namespace clweave::compare
