// SPDX-License-Identifier: Apache-2.0
// interference: how much identical devices of one computer slow each other down: their times while all of
// them work over their times alone.
//
// For each run and family it is the median over the cases of the ratio's logarithm; its variance between runs
// is moderated by what all families of all devices have in common (Smyth 2004), as compare does with cases. A
// slow-down is called if it lies beyond the margin at a false discovery rate of 1 % over all families and
// devices.
#pragma once
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/record.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::fleet {

struct InterferenceOf {
  std::string device, family;  // empty for all
  std::size_t cases = 0;
  std::size_t slower = 0;               // of these, as compare calls them
  double ratio = 1, low = 1, high = 1;  // at once / alone, with its 95 % interval if there are several runs
  double p = 1;                         // adjusted, under no change beyond the margin
  std::string worst;                    // the case of largest ratio, in few words
  double worst_ratio = 1;
};

struct Interference {
  std::string device;
  std::vector<std::string> devices;  // ids
  std::size_t runs = 0;
  std::size_t failed =
      0;  // cases left out, as some device has no time of them and so made it easier for the others
  std::size_t apart = 0;                 // cases of a device that do not compare, most by different clocks
  std::size_t slowed = 0;                // cases of a device left out, as it was slowed while alone
  std::vector<InterferenceOf> families;  // over all devices; the first is over all families
  std::vector<InterferenceOf> each;      // one per device, over all families
};

struct InterferenceRules {
  double margin = 0.03;           // ratios up to 1 + margin are no slow-down
  double false_discovery = 0.01;  // rate
};

// Compares the rows of the same cases run by run, alone and at once. Returns a value for each kind of device
// that was measured at once, in the order met.
std::vector<Interference> interference_of(const std::vector<Record>& alone,
                                          const std::vector<Record>& at_once, const std::vector<Family>&,
                                          const InterferenceRules& = {});

Report report_of(const std::vector<Interference>&, const InterferenceRules& = {});

}  // namespace clweave::fleet
