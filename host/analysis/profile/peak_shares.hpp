// SPDX-License-Identifier: Apache-2.0
// peak_shares: the share of a measured peak that a run reaches.
#pragma once
#include <string>

#include "results/results_set.hpp"

namespace clweave::profile {

// Returns "87 %", with "c" where a cache held the buffers; "-" if it is not known.
std::string share_text(const RunTime&);

}  // namespace clweave::profile
