// SPDX-License-Identifier: Apache-2.0
// summary: the records of a run as tables for people.
#pragma once
#include <string>
#include <vector>

#include "results/record.hpp"
#include "suite/family.hpp"

namespace clweave {

// Per device: its ceilings, per family one table as its View says, the findings, and what was not ok.
std::string summary_text(const std::vector<Record>&, const std::vector<Family>&, bool colour);

// A row's tunable axes, or the others: "group=256 rows=8".
std::string axes_text(const Record&, const Family&, bool tunable);

}  // namespace clweave
