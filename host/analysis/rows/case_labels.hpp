// SPDX-License-Identifier: Apache-2.0
// case_labels: short names of cases and devices.
#pragma once
#include <map>
#include <set>
#include <string>

#include "results/results_set.hpp"

namespace clweave::rows {

// Returns whether a value needs its axis' name to be understood: numbers and shapes such as 16x16 do.
bool needs_name(const Value&);

// Names a device among several: A to Z, then AA to AZ, BA ..
std::string letter_of(std::size_t device);

// Labels cases by their family and the axes that vary among those learnt. Words stand alone, other values
// behind their axis' name.
class CaseLabels {
 public:
  void learn(const CaseName&);
  std::string of(const CaseName&) const;

 private:
  struct Axes {
    std::map<std::string, Value> first;  // the value met first
    std::set<std::string> varies;
  };
  std::map<std::string, Axes> families_;
};

}  // namespace clweave::rows
