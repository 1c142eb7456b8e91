// SPDX-License-Identifier: Apache-2.0
// rules: estimates what a rule compares, with its interval: from rows of one size, or from a finding of their
// family.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/claims/selection.hpp"

namespace clweave::claims {

// An estimate that must satisfy a bound besides that of the rule.
struct Condition {
  Estimate estimate;
  Bound bound;
};

// The level of a claim's interval: where all launches are equal, a claim is decided in two of 100 files.
inline constexpr double claim_level = 0.985;

// Estimates a number at claim_level.
std::optional<Estimate> estimate_of_claim(const DeviceRows&,
                                          const std::function<std::optional<double>(Resample)>&);

struct RuleEstimate {
  Estimate estimate;
  std::function<std::optional<double>(Resample)> number = {};  // what is estimated, of one sample
  std::vector<Condition> conditions = {};
  std::string note = {};
  std::set<const TimedCase*> used = {};  // rows that the estimate follows from
  AxisValues varied_values = {};         // values of the varied axes at which a maximum lies
  bool is_undecided = false;             // the rows cannot tell, for the reason in `note`
};

// Returns whether the number follows from times, or from what a kernel counted as it ran, not from columns
// alone that are known before, such as bytes: slow and noisy rows have these as others do.
bool depends_on_run(const Rule&);

// Estimates what a rule of any kind but `finding` compares. std::nullopt if the rows do not suffice.
std::optional<RuleEstimate> estimate_rule(const Rule&, const Sides&, const DeviceRows&);

// Estimates one finding of a rule of kind `finding`, with the rule's extra conditions.
std::optional<RuleEstimate> estimate_finding_rule(const Rule&, const std::string& finding,
                                                  const std::shared_ptr<const Conclusions>&,
                                                  const RowSelection&, const DeviceRows&);

}  // namespace clweave::claims
