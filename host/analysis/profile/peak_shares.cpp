// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/peak_shares.hpp"

#include <fmt/format.h>

namespace clweave::profile {

std::string share_text(const RunTime& run) {
  if (!run.fraction_of_peak) return "-";
  return fmt::format("{:.0f} %{}", 100 * *run.fraction_of_peak, run.cached ? " c" : "");
}

}  // namespace clweave::profile
