// SPDX-License-Identifier: Apache-2.0
// wrong_alike: kernels whose outputs are all wrong, and alike: then what they are checked by is likelier
// wrong.
#pragma once
#include <string>
#include <vector>

#include "results/row.hpp"
#include "suite/selection.hpp"

namespace clweave::campaign {

// A row whose output a check refused.
struct WrongRow {
  const Family* family = nullptr;
  Record record;
  WrongOutput output;
};

// Returns a sentence for each family of which all kernels of a task have wrong outputs that agree. A task is
// what all axes say but `kernel` and those that are tunable; `records` are all rows of the run.
std::vector<std::string> wrong_alike(const std::vector<WrongRow>& wrong, const std::vector<Record>& records);

}  // namespace clweave::campaign
