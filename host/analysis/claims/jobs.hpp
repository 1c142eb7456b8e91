// SPDX-License-Identifier: Apache-2.0
// jobs: the cases that `run --claims` measures.
#pragma once
#include <limits>
#include <vector>

#include "analysis/claims/claim.hpp"
#include "suite/selection.hpp"

namespace clweave::claims {

// The longest case, in seconds on the device, of rules of fixed sizes whose claim is not asked for by id: all
// claims are to be decided in ten minutes, on two cores, too.
inline constexpr double longest_case_unless_named_s = 1.2;

// Returns the cases that decide the claims on this device, those of the peaks first. Sizes are the largest
// that the device has room for and does in about a second; a rule of fixed sizes with a case that takes
// longer than `longest_s`, infinity where claims are asked for by id, is left out, and with a finite one each
// claim that is measured only if named. Throws `usage` as select_jobs does.
std::vector<Job> claim_jobs(const std::vector<Claim>&, const std::vector<Family>&, const Selection&,
                            const DeviceInfo&, double longest_s = std::numeric_limits<double>::infinity());

}  // namespace clweave::claims
