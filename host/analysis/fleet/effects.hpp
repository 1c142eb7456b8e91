// SPDX-License-Identifier: Apache-2.0
// effects: what a fleet's devices are judged by.
//
// A device's effect in a family is the weighted median over its cases of how much longer it takes. Devices
// of one model differ in their clocks, which move all families alike. So besides each family a device is
// judged by the median over its families, by each family over the median of its others, and by what memory
// bounds over the rest: these have no part in the spread of the clocks, and tell a slow family or memory from
// a slow clock.
#pragma once
#include <vector>

#include "analysis/fleet/identical_devices.hpp"

namespace clweave::fleet {

// Sums of some values, from which one can be left out. Skips NaN.
struct Sums {
  double n = 0, sum = 0, squares = 0;

  void add(double value, double times = 1);
  Sums without(double value) const;
  double mean() const { return sum / n; }
  Spread spread() const;  // of two or more values
};

// A difference with its standard error: the statistic of a t test.
struct Difference {
  double value = 0, se = 1, degrees = 0;

  double p(double margin) const;
  // Returns by how many standard errors it lies beyond the margin.
  double beyond(double margin) const;
};

// Holds a value against those of others.
Difference difference(double value, const Sums& others, const Spread& prior, double tails);

struct Measure {
  enum class Of {
    family,
    all_families,        // the median over the families
    family_over_others,  // over the median of the other families
    memory_over_rest     // the cases that memory bounds over the other cases
  };

  Of of = Of::family;
  std::size_t family = 0;  // its number, if it is of one
  Spread prior;
  std::vector<double> values;  // per device, logarithms; NaN: not measured
  // Per device the effect that must lie beyond the margin, too, on the same side: a family that is as fast as
  // on other devices is not slow because the device's other families are fast.
  std::vector<double> own = {};

  bool of_one_family() const { return of == Of::family || of == Of::family_over_others; }
  // Returns whether a device that is an outlier here differs by itself.
  bool counts(std::size_t device, double margin) const;
};

struct Effects {
  const IdenticalDevices* devices = nullptr;
  std::vector<double> centres;  // per case
  std::vector<IdenticalDevices::OfFamily> families;
  std::vector<Measure> measures;  // first those of the families, in their order

  std::size_t size() const { return devices->units.size(); }
  // Returns a device's effect in a family.
  double of_family(std::size_t family, std::size_t device) const { return measures[family].values[device]; }
  // Counts the measures, or the families, that a device has a value of.
  std::size_t measures_of(std::size_t device) const;
  std::size_t families_of(std::size_t device) const;
};

// Returns the median of the values that are not NaN; NaN if there is none.
double middle_of(std::vector<double> values);

Effects effects_over(const IdenticalDevices&, std::vector<IdenticalDevices::OfFamily>,
                     std::vector<double> centres);

// Returns the p of each value as an outlier among the others, corrected for their number and so many tests; 1
// for a value that is none at this level. Finds them by the generalized extreme studentized deviate procedure
// (Rosner, "Percentage points for a generalized ESD many-outlier procedure", 1983): takes out the farthest,
// one after the other, while most values are left, and names all up to the last that is significant. For 4
// or more values that are not NaN.
std::vector<double> outlier_p(const std::vector<double>& values, const Spread& prior, double margin,
                              double level, std::size_t tests);

}  // namespace clweave::fleet
