// SPDX-License-Identifier: Apache-2.0
// family_table: a family's cases as tables or curves: rows by columns, one for each value of the other axes.
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

// Every case and finding of these families as the data of a report, which the set must outlive.
void add_cases(Report&, const ResultsSet&, const std::vector<const Family*>&);

// Tables, or plots, of each family with its findings and what tuning gained; then what the marks in the cells
// mean, and how many there are. As data, every case; the set must outlive it. Throws `usage` for a family, an
// axis or a quantity that there is not, with those that there are.
Report family_tables(const ResultsSet&, const std::vector<Family>&, const TableChoice&);

}  // namespace clweave::profile
