// SPDX-License-Identifier: Apache-2.0
// searches_table: the results of clweave tune for people.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "campaign/tuner.hpp"
#include "report/table.hpp"

namespace clweave::commands {

// Builds a row per search: the best configuration with its interval, the gain over the default, the spread of
// all, how many others are as good, and how many local minima the search space has.
Table searches_table(const std::vector<Search>&);

// Builds a row per design of each search in which several competed: the best configuration of each, of which
// the store keeps the winner's alone. `~` marks those that lost so early that few samples were taken. Empty
// if none did.
std::optional<Table> designs_table(const std::vector<Search>&);

// Says how many rows, which the tables mark, were measured while the machine was not quiet, and what to type
// unless the search waited for quiet moments already; empty: none was.
std::string disturbed_note(const std::vector<Search>&, bool waited);

}  // namespace clweave::commands
