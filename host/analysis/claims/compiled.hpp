// SPDX-License-Identifier: Apache-2.0
// compiled: what offline compilers make of kernels (results/compilers/registers.csv) as rows of results, so
// that rules about registers, which OpenCL does not tell, are decided as all others are.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave::claims {

// The figures of one device, as the rows of a run on it: what a row measured (column value) is the registers
// of a work-item, its time says nothing.
struct CompiledRows {
  ResultsSet results;
  std::map<std::string, std::string> compilers;  // by case id: target and compiler
};

// Returns nothing if the file has no target like this device. Throws `usage` for a case in the file that no
// family has.
std::optional<CompiledRows> compiled_rows_of(const DeviceResults&, const std::vector<Family>&);

// Returns the targets that the file has, "sm_90, gfx1100".
std::string compiled_targets();

}  // namespace clweave::claims
