// SPDX-License-Identifier: Apache-2.0
// roofline: every kernel of a results file under the ceilings that were measured with it.
//
// After S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
// multicore architectures", 2009; with measured ceilings in place of a datasheet's.
#pragma once
#include <string>
#include <vector>

#include "base/terminal.hpp"
#include "results/record.hpp"

namespace clweave {

// A sloped or flat line over the kernels.
struct Roof {
  Ceiling name = Ceiling::none;
  double rate = 0;  // in unit_of(name)

  bool memory() const { return !of_arithmetic(name); }
};

// A kernel under them: the fastest row of its family, kernel and type.
struct Placed {
  const Record* row = nullptr;
  std::string name;      // family kernel type
  double intensity = 0;  // operations per byte; 0: it only moves
  double gflop_per_s = 0;
  double bound = 0;      // by the lower of the two roofs over it, Gop/s; GB/s for one that only moves
  double fraction = 0;   // of that bound
  Ceiling bound_by = Ceiling::none;  // that roof
};

struct Roofline {
  std::string device;
  std::vector<Roof> roofs;
  std::vector<Placed> kernels;  // by intensity, then name
};

// One per device of the records; devices without measured ceilings have no kernels. The records must outlive
// it.
std::vector<Roofline> rooflines_of(const std::vector<Record>&);

// A log-log plot with a letter per kernel and a table of what they mean.
std::string roofline_text(const Roofline&, const Screen&);

// The same as CSV, for other tools: device, what (roof or kernel), name, intensity, gb_per_s, gflop_per_s,
// bound, bound_by, fraction. `header` tells whether to begin with the names.
std::string roofline_csv(const Roofline&, bool header);

}  // namespace clweave
