// SPDX-License-Identifier: Apache-2.0
// family_table: a family's cases as tables or curves: rows by columns, one for each value of the other axes.
#pragma once
#include <string>
#include <vector>

#include "answers/median_cases.hpp"
#include "answers/report.hpp"
#include "suite/family.hpp"

namespace clweave {

struct TableChoice {
  std::vector<std::string> families;  // empty: all that have rows
  // Axes, or `device`; empty: as the family's view has it, over several devices kernel by device.
  std::vector<std::string> rows, columns;
  std::string quantity;  // empty: the view's
  bool plot = false;
};

// Tables, or plots, of each family with its findings and what tuning gained; then what the marks in the cells
// mean, and how many there are. As data, every case. Throws `usage` for a family, an axis or a quantity that
// there is not, with those that there are.
Report family_tables(const MedianCases&, const std::vector<Family>&, const TableChoice&);

}  // namespace clweave
