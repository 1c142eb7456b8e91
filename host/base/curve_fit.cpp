// SPDX-License-Identifier: Apache-2.0
#include "base/curve_fit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clweave::base {

std::string Reached::between(double best, double unit) const {
  if (below.first == 0) return "";
  return fmt::format(", between {:.4g} with {:.0f} % and {:.4g} with {:.0f} %", below.first / unit,
                     100 * below.second / best, from.first / unit, 100 * from.second / best);
}

std::optional<Reached> where_reached(const Rates& rates, double rate) {
  std::pair<double, double> below = {0, 0};  // the fastest yet: who has fewer in flight is no slower for it
  for (const auto& point : rates) {
    if (point.second >= rate) {
      if (below.first == 0) return Reached{point.first, 0, below, point};
      const double share = (rate - below.second) / (point.second - below.second);
      const double at = below.first + share * (point.first - below.first);
      return Reached{at, std::min(at, rate * below.first / below.second), below, point};
    }
    if (point.second > below.second) below = point;
  }
  return {};
}

}  // namespace clweave::base
