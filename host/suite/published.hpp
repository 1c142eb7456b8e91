// SPDX-License-Identifier: Apache-2.0
// published: figures of results/published/figures.csv to print beside findings.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "suite/family.hpp"

namespace clweave::suite {

// Returns "; published: 870.9 us, 154.1 GB/s (GeForce GTX 690, n=16777216)", or "" for a key that no row has.
// A key is an entry of column `finding`, and the name of the finding wherever only one is meant.
std::string published_text(const std::string& key);

// Returns the first number of that key.
std::optional<double> published_value(const std::string& key);

// Returns a family's findings, with published figures appended to the sentences that name some.
std::vector<Finding> findings_of(const Family&, const std::vector<Outcome>&, const DeviceInfo&);

}  // namespace clweave::suite
