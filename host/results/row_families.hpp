// SPDX-License-Identifier: Apache-2.0
// row_families: families that results files have rows of and this program does not know, such as a kernel
// that a user described, as far as the rows tell of them.
#pragma once
#include <vector>

#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::results {

// Returns at most a hundred such families, in the order met, with the axes and values of their rows, which
// tables and charts can show. They cannot run: `plan` throws `usage`.
std::vector<Family> row_families(const ResultsSet&, const std::vector<Family>& known);

}  // namespace clweave::results
