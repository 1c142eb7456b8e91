// SPDX-License-Identifier: Apache-2.0
// devices: compares one suite on several devices: which variant is best where, and how much one variant for
// all devices costs.
//
// A variant is a value of the first axis in a family's view (kernel, variant ..); each device takes the best
// of its measured launch configurations. Variants are compared under a condition: equal values of the other
// axes, equal numbers of items and the same clock. Devices are compared by fractions of their own measured
// peaks and by speed-ups over one variant, as geometric means over the conditions that the variant has on
// every device where it works.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "analysis/compare/same_bits.hpp"
#include "analysis/rows/case_labels.hpp"
#include "report/report.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::compare {

enum class State { absent, ok, slow, wrong, unsupported, timeout, other };  // slow: below half of the best

struct VariantOnDevice {
  State state = State::absent;
  Status status = Status::none;  // of the failed row
  Number fraction;               // of the device's measured peak
  Number speedup;                // over the family's reference
  Number relative;               // speed over the first device measured
  Number efficiency;             // speed over the best variant's on this device: application efficiency
  std::size_t conditions = 0;
  // A row was measured while the machine was not quiet: of these numbers, and of those that the efficiency
  // follows from.
  bool slowed = false, efficiency_slowed = false;
};

struct VariantRow {
  std::string name;
  std::vector<VariantOnDevice> on;  // per device
  // Performance portability (Pennycook, Sewall and Lee 2016): the harmonic mean over the measured devices of
  // fractions of peak, or of application efficiencies if not every device has a peak; 0 if one cannot run it.
  Number portability;
  Number worst;  // lowest efficiency on any device

  bool is_slowed() const { return std::ranges::any_of(on, &VariantOnDevice::slowed); }
};

struct Inversion {
  std::string family, winner, loser, condition;
  std::size_t where = 0, elsewhere = 0;  // devices
  double factor = 1, loss = 1;           // it wins by the one and loses by the other
  bool undecided = false;                // one of the rows was measured while the machine was not quiet
};

struct FamilyComparison {
  std::string name, reference;
  bool by_peak = false;
  // False if the values of the first axis are not alternatives for one problem, but parts of the problem,
  // such as a number of paths, or quantities of their own, such as a latency: these are shown but not ranked.
  bool of_variants = false;
  std::vector<VariantRow> variants;
  std::size_t conditions = 0;
  std::vector<int> best;              // variant per device, -1 without any
  std::vector<Number> best_fraction;  // of peak, per device: of its best row
  std::vector<bool> best_undecided;   // per device: as a row was measured while the machine was not quiet
  int one_for_all = -1;               // highest harmonic mean of efficiencies over the devices measured
  Number agreement;        // of the rankings by speed-up: Kendall's tau-b of two devices, W of more
  std::size_t ranked = 0;  // variants that every device ranks
  std::vector<Inversion> inversions;  // those decided first, of these the strongest
};

struct DeviceTotals {
  std::map<State, std::size_t> cases;  // without known-incorrect kernels; never slow
  std::size_t known_incorrect = 0;     // cases
  std::size_t elsewhere = 0;           // cases that another device has and this one lacks
  Number speed;                        // geometric mean over the common cases, relative to the first device
  std::size_t wins = 0;
};

struct DeviceComparison {
  std::vector<const DeviceResults*> devices;  // in ResultsSet
  std::vector<std::string> labels, notes;
  std::vector<DeviceTotals> totals;
  std::size_t cases = 0;    // of measured devices, without known-incorrect kernels
  std::size_t common = 0;   // ok on all of them, and compared
  std::size_t by_host = 0;  // of these by the host's clock, as not every device has a trustworthy one
  std::size_t clocks = 0;   // ok on all, but by clocks that do not compare
  std::size_t slowed = 0;   // ok on all, but measured while a machine was not quiet
  std::vector<FamilyComparison> families;
  std::vector<SameBits> same_bits;
};

constexpr double least_factor = 1.25;  // of an inversion: less may be the luck of one process

// The set must outlive the result.
DeviceComparison compare_devices(const ResultsSet&, const std::vector<Family>&);

// Shows every variant of the families if `chosen`, as they were asked for, or if `every_table`. The
// comparison must outlive the report.
Report report_of(const DeviceComparison&, bool chosen, bool every_table);

}  // namespace clweave::compare
