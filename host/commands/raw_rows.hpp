// SPDX-License-Identifier: Apache-2.0
// raw_rows: the rows of results files for programs: every row and every cell, numbers as numbers.
#pragma once
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/record.hpp"

namespace clweave::commands {

// Lists the rows of these files and families in their order, under the columns of results files and of the
// axes that any of them has. The families must outlive the report, which reads the files again each time it
// is printed. Throws as each_row does.
Report raw_rows(const std::vector<std::string>& files, const std::vector<Family>& all,
                const std::vector<std::string>& chosen);

}  // namespace clweave::commands
