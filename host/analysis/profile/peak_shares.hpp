// SPDX-License-Identifier: Apache-2.0
// peak_shares: the share of a measured peak that a run reaches.
#pragma once
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::profile {

// Returns "87 %", with "c" where a cache held the buffers; "-" if it is not known.
std::string share_text(const RunTime&);

// Returns why cases of the device have no share, and what to type, in a line for each reason.
std::vector<std::string> missing_shares(const DeviceResults&, const std::vector<Family>&);

}  // namespace clweave::profile
