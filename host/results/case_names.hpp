// SPDX-License-Identifier: Apache-2.0
// case_names: names of cases, each stored once for all rows of a set.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "results/record.hpp"

namespace clweave::results {

// A case as named by its rows. Axes are in the family's order, without those whose cell is empty; CaseNames
// owns their names and values.
struct CaseAxis {
  const std::string* name;
  const Value* value;
};
struct CaseName {
  std::string id, family;
  std::vector<CaseAxis> axes;

  const Value* axis(std::string_view wanted) const;  // null: it has none
};

class CaseNames {
 public:
  // Returns the name of a row's case, with the axes that its family got later, as add_later_axes fills them.
  const CaseName& of(const Record&, const std::vector<Family>&);
  // Returns the name of a published figure's case, which has no columns for axes.
  const CaseName& of_id(const std::string& id);
  // Returns the row's cells that are not axes, but follow from them and the device.
  std::vector<CaseAxis> derived_of(const Record&, const std::vector<Family>&);

 private:
  const CaseName& named(const Record&, const std::vector<Family>&);
  CaseAxis axis_of(const std::string& name, const std::string& cell);

  const CaseName& know(std::string_view id, const CaseName&);

  std::unordered_map<std::string_view, const CaseName*> known_;  // by id as in the rows
  std::deque<CaseName> names_;
  std::deque<std::string> former_;                           // ids of rows that differ from today's
  std::unordered_map<std::string, Value> values_;            // by text
  std::unordered_map<std::string, std::string> axis_names_;  // each its own
};

}  // namespace clweave::results
