// SPDX-License-Identifier: Apache-2.0
// compare_architectures: one suite on different devices: which variant is best where, and what one for all
// costs.
//
// A variant is a value of the first axis in a family's view (kernel, variant ..); of the launch shapes
// measured, each device has its best. Variants meet in a condition: the same values of the other axes, the
// same items and the same clock. Devices are compared in units of their own: fractions of their own ceilings,
// and speed-ups over one variant, as geometric means over the conditions that the variant has on every device
// where it works.
#pragma once
#include <string>
#include <vector>

#include "analysis/rows/case_labels.hpp"
#include "report/report.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::compare {

enum class State { absent, ok, slow, wrong, unsupported, timeout, other };  // slow: below half of the best

struct VariantOnDevice {
  State state = State::absent;
  Status status = Status::none;  // of the row that is not ok
  Number fraction;               // of the device's ceiling
  Number speedup;                // over the family's reference
  Number relative;               // speed over the first device measured
  Number efficiency;             // speed over the best variant's on this device: application efficiency
  std::size_t conditions = 0;
};

struct VariantRow {
  std::string name;
  std::vector<VariantOnDevice> on;  // per device
  // Pennycook, Sewall and Lee 2016: the harmonic mean of its efficiencies over the devices measured, 0 where
  // one cannot run it. By fractions of ceilings where every device has them, else by efficiencies.
  Number portability;
  Number worst;  // lowest efficiency: what it costs where it suits least
};

struct Inversion {
  std::string family, winner, loser, condition;
  std::size_t where = 0, elsewhere = 0;  // devices
  double factor = 1, loss = 1;           // it wins by the one and loses by the other
};

struct FamilyComparison {
  std::string name, reference;
  bool by_ceiling = false;
  // False: the values of its first axis are no ways of doing one thing, but parts of the problem, such as a
  // number of paths, or things of their own, such as a latency; they are shown, not ranked.
  bool of_variants = false;
  std::vector<VariantRow> variants;
  std::size_t conditions = 0;
  std::vector<int> best;              // variant per device, -1 without any
  std::vector<Number> best_fraction;  // of peak, per device: of its best row
  int one_for_all = -1;               // highest harmonic mean of efficiencies over the devices measured
  Number agreement;        // of the rankings by speed-up: Kendall's tau-b of two devices, W of more
  std::size_t ranked = 0;  // variants that every device ranks
  std::vector<Inversion> inversions;  // strongest first
};

struct DeviceTotals {
  std::map<State, std::size_t> cases;       // without exhibits; never slow
  std::size_t exhibits = 0, elsewhere = 0;  // elsewhere: cases that some other device has and this has not
  Number speed;  // geometric mean over the common cases, relative to the first device
  std::size_t wins = 0;
};

struct DeviceComparison {
  std::vector<const DeviceResults*> devices;  // in ResultsSet
  std::vector<std::string> labels, notes;
  std::vector<DeviceTotals> totals;
  std::size_t cases = 0;    // of measured devices, without exhibits
  std::size_t common = 0;   // ok on all of them, and compared
  std::size_t by_host = 0;  // of these by the host's clock, as not every device has one to believe
  std::size_t clocks = 0;   // ok on all, but by clocks that do not compare
  std::vector<FamilyComparison> families;
};

// The set must outlive the result.
DeviceComparison compare_devices(const ResultsSet&, const std::vector<Family>&);

Report report_of(const DeviceComparison&, bool chosen, bool every_table);

}  // namespace clweave::compare
