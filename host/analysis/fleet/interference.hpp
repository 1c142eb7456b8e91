// SPDX-License-Identifier: Apache-2.0
// disturbance: by how much equal cards of one computer slow each other down: what each took alone against
// what it took while all of them worked.
//
// Per run and family the median over the cases of the ratio's logarithm; what these differ by from run to run
// is their noise, moderated by what all families of all cards have in common, as compare does with cases.
// Disturbed is what lies beyond the margin at a false discovery rate of 1 % over all families and cards.
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
  std::string card, family;  // empty: all of them
  std::size_t cases = 0;
  std::size_t slower = 0;               // of these, as compare calls them
  double ratio = 1, low = 1, high = 1;  // at once / alone, with its 95 % interval; of one run that is all
  double p = 1;                         // adjusted, of no change beyond the margin
  std::string worst;                    // the case of largest ratio, in few words
  double worst_ratio = 1;
};

struct Interference {
  std::string device;
  std::vector<std::string> cards;
  std::size_t runs = 0;
  std::size_t failed = 0;  // cases of which a card has no time, alone or at once: the others had it easier
  std::size_t apart = 0;   // cases of a card that do not compare: most were not timed by one clock
  std::vector<InterferenceOf> families;  // over all cards; the first is over all families
  std::vector<InterferenceOf> each;      // a card each, over all families
};

struct InterferenceRules {
  double margin = 0.03;           // ratios up to 1 + margin are no disturbance
  double false_discovery = 0.01;  // rate
};

// Of the rows of the same cases: run by run, alone and at once. A value for each kind of card that was
// measured at once, in the order met.
std::vector<Interference> interference_of(const std::vector<Record>& alone,
                                          const std::vector<Record>& at_once, const std::vector<Family>&,
                                          const InterferenceRules& = {});

Report report_of(const std::vector<Interference>&, const InterferenceRules& = {});

}  // namespace clweave::fleet
