// SPDX-License-Identifier: Apache-2.0
// report: the claim_results of one or more devices, for people and for programs.
#pragma once
#include <string>
#include <vector>

#include "analysis/claims/verdict.hpp"
#include "report/report.hpp"

namespace clweave::claims {

struct DeviceClaimResults {
  std::string device, name;  // name: with platform and driver
  std::vector<ClaimResult> claim_results;
};

// Writes the published values, each with the verdict it gives on its own claim, and whether they are void.
std::string evidence_text(const Claim&);

// Reports the claim_results, which must outlive the report; `with_cases` adds, for people, the rows behind
// each.
Report report_of(const std::vector<DeviceClaimResults>&, bool with_cases);

}  // namespace clweave::claims
