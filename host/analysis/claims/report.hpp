// SPDX-License-Identifier: Apache-2.0
// report: the rulings of one or more devices, for people and for programs.
#pragma once
#include <string>
#include <vector>

#include "analysis/claims/verdict.hpp"
#include "report/report.hpp"

namespace clweave::claims {

struct DeviceRulings {
  std::string device, name;  // name: with platform and driver
  std::vector<Ruling> rulings;
};

// Writes the published values, each with the verdict it gives on its own claim, and whether they are void.
std::string evidence_text(const Claim&);

// Reports the rulings; `with_cases` adds, for people, the rows behind each.
Report report_of(const std::vector<DeviceRulings>&, bool with_cases);

}  // namespace clweave::claims
