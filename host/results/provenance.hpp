// SPDX-License-Identifier: Apache-2.0
// provenance: the cells of a row that say where and how it was measured.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace clweave::results {

// Fills the cells that are the same in every row of a run: run id, version, command, seed, host, system,
// processor, loader, and the user's label of the devices.
Record provenance(const std::vector<std::string>& arguments, std::uint64_t seed,
                  const std::string& label = {});

// Copies these cells into a row of repetition `run` that was finished now.
void fill_common_columns(Record&, const Record& common, int run);

}  // namespace clweave::results
