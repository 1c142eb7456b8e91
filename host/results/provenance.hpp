// SPDX-License-Identifier: Apache-2.0
// provenance: the cells of a row that tell where and how it was made.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace clweave::results {

// What is the same in every row of one call: run id, version, command, seed, host, system, processor, loader,
// and what its user calls the devices.
Record provenance(const std::vector<std::string>& arguments, std::uint64_t seed,
                  const std::string& label = {});

// Copies that into a row of repetition `run`, finished now.
void stamp(Record&, const Record& common, int run);

}  // namespace clweave::results
