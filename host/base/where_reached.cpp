// SPDX-License-Identifier: Apache-2.0
#include "base/where_reached.hpp"

#include <fmt/format.h>

namespace clweave {

std::string Reached::between(double best, double unit) const {
  if (below.first == 0) return "";
  return fmt::format(", between {:.4g} with {:.0f} % and {:.4g} with {:.0f} %", below.first / unit,
                     100 * below.second / best, from.first / unit, 100 * from.second / best);
}

std::optional<Reached> where_reached(const Rates& rates, double rate) {
  std::pair<double, double> below = {0, 0};  // the fastest yet: who has fewer in flight is no slower for it
  for (const auto& point : rates) {
    if (point.second >= rate) {
      const double share = below.first == 0 ? 1 : (rate - below.second) / (point.second - below.second);
      return Reached{below.first + share * (point.first - below.first), below, point};
    }
    if (point.second > below.second) below = point;
  }
  return {};
}

}  // namespace clweave
