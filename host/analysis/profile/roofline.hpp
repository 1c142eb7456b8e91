// SPDX-License-Identifier: Apache-2.0
// roofline: every kernel of a results file below the peaks that were measured with it.
//
// After S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for
// multicore architectures", 2009; with measured peaks in place of a datasheet's.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/drawn_graph.hpp"
#include "report/report.hpp"
#include "results/results_set.hpp"
#include "suite/known_kernels.hpp"

namespace clweave::profile {

// A measured peak: a sloped line for memory, a flat one for arithmetic.
struct Roof {
  Peak name = Peak::none;
  double rate = 0;  // in unit_of(name)

  bool memory() const { return !of_arithmetic(name); }
};

// A kernel below the roofs: the fastest row of its family, kernel and type.
struct Placed {
  std::string name;  // family kernel type
  double gb_per_s = 0;
  double intensity = 0;  // operations per byte; 0: it only moves data
  double gflop_per_s = 0;
  double bound = 0;            // set by the lower of its two roofs, Gop/s; GB/s for one that only moves data
  double fraction = 0;         // reached, of that bound
  Peak bound_by = Peak::none;  // that roof
  double may_reach = 0;        // at most, of that bound, in truth: its rows that were slowed

  // Returns whether its fraction is that of a row that was slowed, or such a one may be the fastest in truth.
  bool is_undecided() const { return may_reach > fraction; }

  // Kernels far above their bound keep their data in registers or local memory: no roof here bounds them, and
  // charts leave them out.
  bool is_bounded() const { return bound > 0 && fraction <= 1.5; }
};

// Where a kernel that everybody knows lies, by its formula: the best that any program of it can do here.
struct KnownPlace {
  const KnownKernel* kernel = nullptr;
  double intensity = 0;        // operations on floats per byte
  double bound = 0;            // Gop/s, by the lower of copy and float arithmetic
  Peak bound_by = Peak::none;  // that roof
};

struct Roofline {
  std::size_t index = 0;  // of the device in measured()
  std::string device;
  std::vector<Roof> roofs;             // peaks measured on a quiet machine
  std::size_t busy_peaks = 0;          // those measured on a busy one alone, which are no roofs
  std::vector<Placed> kernels;         // by intensity, then name
  std::vector<KnownPlace> known = {};  // by intensity; none without roofs of copy and floats
  // Rows per family that no roof bounds, such as those of latencies and caches.
  std::map<std::string, std::size_t> elsewhere = {};
  std::map<std::string, std::size_t> cached = {};  // rows per family whose buffers fit a cache
  // The least energy of a copied byte and of an operation on floats, where they were run with --energy.
  Number joules_per_byte = {}, joules_per_flop = {};
};

// Fraction of the least energy per operation, and of the peak rate, that remains where an operation comes
// with 1 / `intensity` bytes. After J. Choi, D. Bedard, R. Fowler, R. Vuduc, "A roofline model of energy",
// 2013: energies of bytes and operations add up, while their times overlap. `byte` is the cost of a byte in
// operations, of energy or of time.
double energy_left(double intensity, double byte);
double time_left(double intensity, double byte);

// Returns the arch line between two intensities: the rate at which operations would come if the energy that
// they leave bounded it, `peak` times energy_left, as Choi et al. draw it over a roofline. By intensity.
std::vector<std::pair<double, double>> arch_line(double peak, double byte, double low, double high);

// One per measured device with a time; devices without measured peaks have no kernels.
std::vector<Roofline> rooflines_of(const ResultsSet&);

// The log-log chart of S. Williams, with a panel for each device that has both kinds of roofs and a kernel
// that computes. Kernels that only move data have no place on it.
DrawnGraph graph_of(const std::vector<Roofline>&);

// Draws a chart per device, with a letter per kernel, and explains the letters in a table, whose rows are the
// roofs and the kernels.
Report report_of(const std::vector<Roofline>&);

}  // namespace clweave::profile
