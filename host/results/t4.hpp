// SPDX-License-Identifier: Apache-2.0
// t4: rows as the results of auto-tuning that Kernel Tuner and other tuners write and read.
//
// The format is T4, version 1.0.0, of J. O. Tørring et al., "FAIR Sharing of Data in Autotuning Research",
// 2024 (https://doi.org/10.1145/3629527.3651429), as Kernel Tuner 1.5 writes it: times in milliseconds.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace clweave::results {

// Returns the word for why a configuration has no valid time: timeout, compile, runtime, correctness or
// constraints; correct for one that has. Rows that were not verified have none: nobody may rank them.
const char* invalidity_of(const Record&);

// Returns the results of the family's cases in these files, each by its last row, which is that of the most
// samples. Findings, baselines and other families are left out; an empty `family` stands for the only one
// beside the peaks. Throws `usage` for several devices or families, whose configurations T4 cannot tell
// apart, and for files without such a row; and as each_row does.
nlohmann::ordered_json t4_of(const std::vector<std::string>& files, const std::vector<Family>& families,
                             const std::string& family);

}  // namespace clweave::results
