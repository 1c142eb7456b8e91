// SPDX-License-Identifier: Apache-2.0
// levels: levels of a memory hierarchy in times that grow with what is gone through: working sets of loads,
// or code.
#pragma once
#include <cstdint>
#include <vector>

#include "families/shared/monotone.hpp"

namespace clweave::families {

struct Level {
  std::int64_t first = 0, last = 0;  // sizes on the plateau
  double ns = 0;
  std::int64_t fits = 0,
               beyond = 0;  // largest size that fits, smallest that does not; 0: none
  // The capacity lies between these, whatever the noise; where is_sure is false, not even that there is such
  // a level.
  std::int64_t low = 0, high = 0;
  bool is_sure = true;
};

// Finds the levels of a monotone curve: plateaus over a factor of 1.4 in size within 15 % in time, at least
// 30 % above the previous one with a steep rise between. A level ends at the geometric mean of its time and
// the next one's, as near the end only some accesses miss. The last one has no end.
std::vector<Level> levels_of(const Curve& ns);

// Finds the levels, and how well they are known at this noise (standard deviation of log(time)): from the
// curve with its noise drawn again (parametric bootstrap, Efron 1979), a level must follow in 9 of 10 draws,
// between the same sizes within a factor of 1.5.
std::vector<Level> levels_of(const Curve& ns, double noise);

}  // namespace clweave::families
