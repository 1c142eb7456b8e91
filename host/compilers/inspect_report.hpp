// SPDX-License-Identifier: Apache-2.0
// inspecting: what clweave inspect prints.
#pragma once
#include <string>
#include <vector>

#include "compilers/survey.hpp"
#include "report/report.hpp"

namespace clweave::compilers {

// Selects what is printed beside the figures.
struct InspectionText {
  bool diff = false;  // of two: only the figures that differ
  bool source = false, log = false, isa = false;
};

// Reports one case by each compiler: a table of figures for every kernel, and the errors. `missing`: a
// sentence for each target that was left out.
Report inspection_report(const Job&, const std::vector<Inspected>&, const std::vector<std::string>& missing,
                         const InspectionText&);

// Findings, and a table for each family: registers and occupancy of every kernel on every target.
Report survey_report(const Survey&, const std::vector<std::string>& missing);

// Writes it to a folder, as README.md and kernels.csv. Throws `io`.
void write_survey(const Report&, const std::string& folder);

}  // namespace clweave::compilers
