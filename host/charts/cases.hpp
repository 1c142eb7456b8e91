// SPDX-License-Identifier: Apache-2.0
// cases: the measured cases of a chart, and the values that place each of them on it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::charts {

using Names = std::vector<std::string>;  // of axes
using Key = std::vector<std::string>;    // a value for each of them

struct GraphCase {
  const CaseTimes* of;
  RunTime run;  // the middle of its warm runs
  std::size_t device;
  Key series, x, apart;
};

struct GraphCases {
  std::vector<GraphCase> cases;
  Names apart;  // the axes that split the chart into panels
};

// Returns the cases that a chart asks for, on all devices; without published forms that are known to be
// wrong. Its panels are split by every axis in which two cases of one place differ, but tunable ones: of
// these the fastest is shown.
GraphCases cases_of(const Graph&, const Family&, const std::vector<const DeviceResults*>& devices);

// Sorts keys as people look for them: words as the family lists them, numbers by size.
class KeyOrder {
 public:
  explicit KeyOrder(const Family& family) : family_(&family) {}
  bool operator()(const Names& axes, const Key& one, const Key& other) const;

 private:
  std::pair<std::ptrdiff_t, Value> rank(const std::string& axis, const std::string& text) const;
  const Family* family_;
};

// The product of numbers; none if one is a word.
std::optional<double> number_of(const Key&);

bool contains(const Names&, const std::string& axis);

}  // namespace clweave::charts
