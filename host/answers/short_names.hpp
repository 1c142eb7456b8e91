// SPDX-License-Identifier: Apache-2.0
// short_names: a case in few words.
#pragma once
#include <map>
#include <string>

#include "results/results_set.hpp"

namespace clweave {

// Digits, points and x: 4096, 0.5, 16x16.
bool is_number(const std::string&);

// A case in few words: its family and the axes that vary among `cases`. Words stand alone, numbers with their
// axis' name.
class ShortNames {
 public:
  void learn(const CaseTimes&);
  std::string of(const CaseTimes&) const;

 private:
  std::map<std::string, std::map<std::string, std::string>> first_;  // family -> axis -> the value met first
  std::map<std::string, std::map<std::string, bool>> varies_;
};

}  // namespace clweave
