// SPDX-License-Identifier: Apache-2.0
// short_names: a case or a device in few words.
#pragma once
#include <map>
#include <set>
#include <string>

#include "results/results_set.hpp"

namespace clweave::rows {

// Whether a value needs its axis' name to be understood: numbers and shapes such as 16x16 do, words do not.
bool needs_name(const Value&);

// A device among several: A to Z, then AA to AZ, BA ..
std::string letter_of(std::size_t device);

// A case in few words: its family and the axes that vary among `cases`. Words stand alone, other values with
// their axis' name.
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
