// SPDX-License-Identifier: Apache-2.0
// contradictions: holds the cells of a row against each other, as one that was edited alone contradicts those
// that it follows from.
#pragma once
#include <cstddef>
#include <string>

#include "results/record.hpp"

namespace clweave::results {

// Throws `io` with file, line and column for a cell that contradicts others of its row: family, axes and case
// id; a rate or an energy per unit that is not its count over its time; ends of an interval, quartiles and
// extremes out of order; fractions outside 0 to 1, negative counts; an `ok` row whose output was wrong.
// An ok row may say in its reason that nothing checked its output. Allows what a spreadsheet loses, which
// keeps six digits.
void check_cells(const Record&, const std::string& file, std::size_t line);

// The reason of a row that says ok, and in column verified that its output was wrong: it counts as failed,
// with status wrong_result.
inline constexpr const char* unverified = "column verified says that the output was wrong";

// Begins the reason of a row of run --unchecked whose output nothing checked: it is ok, and verified says no.
inline constexpr const char* unchecked = "unverified: ";
bool is_unchecked(const Record&);

}  // namespace clweave::results
