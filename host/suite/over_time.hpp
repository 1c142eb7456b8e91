// SPDX-License-Identifier: Apache-2.0
// over_time: what a case that is repeated for a while took from one stretch of time to the next, and the
// clock and the temperature then, as a cell of its row.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

// A stretch of about bin_s.
struct TimeBin {
  double at_s = 0;    // from the start of the first to the end of this one, without the pauses in between
  double time_s = 0;  // of one execution
  std::optional<double> core_mhz = {}, celsius = {}, watts = {};  // empty: not read in this bin
};

inline constexpr double bin_s = 0.05;

// Formats a cell: "at_s time_s core_mhz celsius watts", an unknown one as "-", bins joined by ";".
std::string text_of(const std::vector<TimeBin>&);
// Reads such a cell. What is none gives no bins.
std::vector<TimeBin> bins_of(const std::string&);

}  // namespace clweave::suite
