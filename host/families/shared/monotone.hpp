// SPDX-License-Identifier: Apache-2.0
// monotone: times that only grow along an axis, such as working sets: their curve without noise, the noise,
// and where they begin to rise.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace clweave::families {

using Curve = std::map<std::int64_t, double>;  // positive times by a value of an axis

// Returns the monotone curve with the least sum of absolute differences from this one: pooled adjacent
// violators with their medians (Robertson and Wright, "Algorithms in order restricted statistical inference",
// 1980). One disturbed time changes nothing, and noise makes a plateau neither higher nor lower.
Curve made_monotone(const Curve&);

// Returns the standard deviation of log(time) between neighbours: from the median absolute second difference,
// without those that are steps of the curve rather than noise.
double noise_of(const std::vector<Curve>&);

// Where a curve first exceeds its beginning markedly.
struct Rise {
  bool is_none = false;  // the best explanation is that it never does
  std::int64_t last = 0,
               first = 0;          // the last place before, and the first one after, by the best explanation
  std::int64_t low = 0, high = 0;  // the same by all others that are nearly as good; high 0: perhaps never
  double worst = 0;                // greatest difference of a time from the best explanation, in errors

  bool is_certain() const { return low == last && high == first; }
  // Returns whether it is certain that nothing rises by the factor asked for.
  bool is_surely_none = false;
};

// Explains the curve by one time up to a place and another behind it, higher by `factor` at least, for every
// place; where no place explains it within three errors, by any times that are higher, by `factor` and five
// errors at least. The squares of the differences, over `error` (standard deviation of log(time)), are
// chi-square: places whose sum exceeds the least by 9 are ruled out. A curve of one point has no rise.
Rise rise_of(const Curve&, double error, double factor);

}  // namespace clweave::families
