// SPDX-License-Identifier: Apache-2.0
// selection: which rows of a device decide a rule, at which size, and whether all of them are there.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/claims/claim.hpp"
#include "analysis/rows/device_rows.hpp"

namespace clweave::claims {

// Returns null if there is no family of this name.
const Family* family_named(const std::vector<Family>&, const std::string& name);

// Compares 4 and 4.0 as the same number, and a group of 256 whether its axis holds numbers or shapes.
bool is_same(const Value&, const Value&);
bool is_word(const Value&);
double number_in(const Value&);                             // 0 for a word
Value value_in(const TimedCase&, const std::string& axis);  // empty text if the row lacks the axis

using AxisValues = std::vector<std::pair<std::string, Value>>;  // axis and value
std::string text_of_axis_values(const AxisValues&);             // "n=1024 type=float"

// Rows by their values along some axes. A row that lacks one of these axes belongs to every value of it, as
// an axis that a family does not have asks nothing of its rows.
class RowsByAxisValues {
 public:
  RowsByAxisValues(const RowSelection& all, const std::vector<std::string>& axes);

  const std::vector<AxisValues>& distinct_keys() const { return distinct_keys_; }  // in the order met
  RowSelection at(const AxisValues&) const;                                        // in their order

 private:
  std::map<std::vector<Value>, RowSelection> complete_;
  std::set<std::vector<Value>> met_;
  std::vector<AxisValues> distinct_keys_;
  RowSelection partial_;
};

// The rows of each side of a rule at one size, type and timer, which are `chosen`.
struct Sides {
  RowSelection numerator, denominator, numerator_before_change, denominator_before_change;
  AxisValues chosen = {};
};

// A side of a rule with its rows.
struct Side {
  RowQuery Rule::*query;
  RowSelection Sides::*rows;
};
inline constexpr std::array<Side, 4> all_sides = {
    {{&Rule::numerator, &Sides::numerator},
     {&Rule::denominator, &Sides::denominator},
     {&Rule::numerator_before_change, &Sides::numerator_before_change},
     {&Rule::denominator_before_change, &Sides::denominator_before_change}}};

struct SelectedRows {
  RowSelection rows;
  bool has_other_defaults = false;  // measured by a version with other defaults for tunable axes
};

// Selects the rows of a query. If no row has today's defaults of the tunable axes, rows with other values
// count, provided that all of them have the same ones: another version had other defaults.
SelectedRows rows_of(const RowQuery&, const DeviceRows&, const std::vector<Family>&);

// Selects the cases of a query that failed or whose times do not count.
std::vector<const FailedCase*> failed_of(const RowQuery&, const DeviceRows&, const std::vector<Family>&);

// Divides the rows of a rule by size, type and timer, the preferred ones first: by the
// types in the rule's order, then the timer with most rows, then the largest size.
std::vector<Sides> sides_by_choice(const Rule&, const Sides&);

// Returns whether rows of CUDA can exist beside those of this OpenCL platform.
bool has_cuda(const std::string& platform);

// The values chosen for this device of axes such as n, of which it has the largest that all sides have.
using ChosenValues = std::map<std::string, Value>;

// Returns the cases that a query asks for, one sweep per alternative, with a chosen value in place of each
// list of sizes or types.
std::vector<Sweep> sweeps_of(const RowQuery&, const ChosenValues&);

// The cases that one side of a rule asks for at one size and type, and which of them were run.
class ExpectedCases {
 public:
  ExpectedCases(const RowQuery&, const RowSelection& measured, bool has_other_defaults, const ChosenValues&,
                const DeviceRows&, const std::vector<Family>&);

  // Returns whether all were run, successfully or not: a kernel of which some launches are missing was
  // searched less than the other side. The functions below are for sides that are complete.
  bool is_complete() const { return complete_; }

  // Returns the cases without a time whose row failed for this reason, as the fastest may be among those: it
  // was too fast to be plausible, or its output was not verified.
  std::vector<const FailedCase*> without_time(bool (*reason)(const FailedCase&)) const;

  // Groups the cases by their values of these axes, and returns the groups of which no case has a time. A
  // case with values that only one vendor's devices run is not missed (Axis::vendor_values).
  std::set<std::string> left_out(const std::set<std::string>& grouping_axes) const;

 private:
  struct ExpectedCase {
    Case at;
    std::size_t alternative = 0;  // of the query
    bool has_run = false;
  };
  using RowValues = std::vector<const Value*>;  // by the family's axes; null: the row lacks it

  RowValues values_of(const CaseName&) const;
  bool is_row_of(const Case&, const RowValues&) const;
  bool is_of_a_vendor(const Case&) const;
  static std::string label_of(const Case&, const std::set<std::string>& axes);

  const RowQuery* query_;
  const Family* family_;
  std::vector<RowQuery::Axes> alternatives_;
  std::vector<const FailedCase*> failed_;
  std::vector<bool> any_value_;      // by the family's axes: whether a row of any value counts
  std::vector<ExpectedCase> cases_;  // as far as they were run
  bool complete_ = true;
};

}  // namespace clweave::claims
