// SPDX-License-Identifier: Apache-2.0
// load: reads claims from JSON. results/published/claims.json is part of the program; --claims-file reads
// another.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/claims/claim.hpp"

namespace clweave::claims {

// Parses a list of claims. Throws `io` that names the file, the claim and what is wrong with it.
std::vector<Claim> parse_claims(std::string_view text, const std::string& name);

// Reads the claims of a file; of the built-in one if `path` is empty.
std::vector<Claim> load_claims(const std::string& path);

// Returns the claims with these ids, all if none is given. Throws `usage` that lists the known ids.
std::vector<Claim> chosen_claims(std::vector<Claim>, const std::vector<std::string>& ids);

}  // namespace clweave::claims
