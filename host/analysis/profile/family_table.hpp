// SPDX-License-Identifier: Apache-2.0
// family_table: tables or plots of a family's cases, one for each combination of the axes in neither rows nor
// columns.
#pragma once
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::profile {

struct TableChoice {
  std::vector<std::string> families;  // empty: all that have rows
  // Axes, what is derived from them, or `device`; empty: as the family's view has it, over several devices
  // kernel by device.
  std::vector<std::string> rows, columns;
  std::string quantity;  // empty: the view's
  bool plot = false;

  bool operator==(const TableChoice&) const = default;
};

// Adds every case and finding of these families as data of a report, which the set must outlive.
void add_cases(Report&, const ResultsSet&, const std::vector<const Family*>&);

// Builds tables or plots of each family, with its findings and the gains of tuning, then a legend of the
// marks in the cells. As data, every case; the set must outlive the report. Throws `usage` that lists the
// choices for an unknown family, axis or quantity.
Report family_tables(const ResultsSet&, const std::vector<Family>&, const TableChoice&);

}  // namespace clweave::profile
