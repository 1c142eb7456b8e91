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

// Marks of a run in the tables of a summary: it is not known as well as was asked, or the machine was not
// quiet; and a cache held the buffers.
inline constexpr const char* doubtful_mark = " *";
inline constexpr const char* cached_mark = " c";

// Returns "87 %", with the cached mark where a cache held the buffers; "-" if it is not known.
std::string share_text(const RunTime&);

// Returns why cases of the device have no share, and what to type, in a line for each reason.
std::vector<std::string> missing_shares(const DeviceResults&, const std::vector<Family>&);

}  // namespace clweave::profile
