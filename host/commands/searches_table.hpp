// SPDX-License-Identifier: Apache-2.0
// searches_table: the results of clweave tune for people.
#pragma once
#include <vector>

#include "campaign/tuner.hpp"
#include "report/table.hpp"

namespace clweave::commands {

// Builds a row per search: the best configuration with its interval, the gain over the default, the spread of
// all, how many others are as good, and how many local minima the search space has.
Table searches_table(const std::vector<Search>&);

}  // namespace clweave::commands
