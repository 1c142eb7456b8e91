// SPDX-License-Identifier: Apache-2.0
// rules: the numbers of rules, with their intervals: from rows of one size, or from a finding of their
// family.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/claims/selection.hpp"

namespace clweave::claims {

// A number that must satisfy a bound besides that of the rule.
struct Condition {
  Figure number;
  Bound bound;
};

struct RuleNumber {
  Figure number;
  std::vector<Condition> conditions;
  std::string note;
  std::set<const Timed*> used;  // rows that the number follows from
  Cells where = {};             // along the rule's axes, of a number that lies at one place
  bool is_undecided = false;    // the rows cannot tell, for the reason in `note`
};

// Computes the number of a rule of any kind but `finding`. std::nullopt if the rows do not suffice.
std::optional<RuleNumber> number_of(const Rule&, const Sides&, const DeviceRows&);

// Computes the number of one finding of a rule of kind `finding`, with the conditions of `also`.
std::optional<RuleNumber> number_of(const Rule&, const std::string& finding, const Conclusions&,
                                    const RowSelection&, const DeviceRows&);

}  // namespace clweave::claims
