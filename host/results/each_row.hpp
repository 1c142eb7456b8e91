// SPDX-License-Identifier: Apache-2.0
// each_row: the rows of results files one by one, as they stand, by today's names.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace clweave::results {

// Gives `take` each row of the files in their order, without footers; rows of these families with the axes
// that these got later. The record is valid during the call. Returns notes on files that were interrupted.
// Throws `io` as RecordReader and CsvReader do, for a file that ends within a row, and for a footer that
// counts other rows.
std::vector<std::string> each_row(const std::vector<std::string>& files, const std::vector<Family>&,
                                  const std::function<void(const Record&)>& take);

}  // namespace clweave::results
