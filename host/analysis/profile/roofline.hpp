// SPDX-License-Identifier: Apache-2.0
// roofline: every kernel of a results file under the peaks that were measured with it.
//
// After S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
// multicore architectures", 2009; with measured peaks in place of a datasheet's.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::profile {

// A line over the kernels: sloped for memory, flat for arithmetic.
struct Roof {
  Peak name = Peak::none;
  double rate = 0;  // in unit_of(name)

  bool memory() const { return !of_arithmetic(name); }
};

// A kernel under the roofs: the fastest row of its family, kernel and type.
struct Placed {
  std::string name;  // family kernel type
  double gb_per_s = 0;
  double intensity = 0;  // operations per byte; 0: it only moves
  double gflop_per_s = 0;
  double bound = 0;            // by the lower of the two roofs over it, Gop/s; GB/s for one that only moves
  double fraction = 0;         // of that bound
  Peak bound_by = Peak::none;  // that roof
};

struct Roofline {
  std::string device;
  std::vector<Roof> roofs;
  std::vector<Placed> kernels;  // by intensity, then name
  // Rows by family that no roof bounds, such as those of latencies and caches.
  std::map<std::string, std::size_t> elsewhere = {};
  std::map<std::string, std::size_t> cached = {};  // rows by family whose buffers fit a cache
  // The least of any copy and of float arithmetic, where they were run with --energy.
  Number joules_per_byte = {}, joules_per_flop = {};
};

// Compute the fraction of the least energy per operation, and of the highest rate, at an intensity in
// operations per byte. After J. Choi, D. Bedard, R. Fowler, R. Vuduc, "A roofline model of energy", 2013: the
// energy of bytes always adds, their time overlaps with that of operations. `byte` is the energy or time of a
// byte over that of an operation.
double energy_left(double intensity, double byte);
double time_left(double intensity, double byte);

// One per measured device with a time; devices without measured peaks have no kernels.
std::vector<Roofline> rooflines_of(const ResultsSet&);

// Per device a log-log plot with a letter per kernel and a table of what they mean. Its rows are the roofs
// and the kernels.
Report report_of(const std::vector<Roofline>&);

}  // namespace clweave::profile
