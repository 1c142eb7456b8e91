// SPDX-License-Identifier: Apache-2.0
#include "report/drawn_graph.hpp"

#include <algorithm>

namespace clweave::report {

Scale::Scale(double least, double most, bool logarithmic) : low(least), high(most), log(logarithmic) {
  if (!log) low = std::min(0.0, low);
  if (!(high > low)) high = low + 1;
}

Scale::Scale(const std::vector<double>& values, bool logarithmic)
    : Scale(*std::ranges::min_element(values), *std::ranges::max_element(values), logarithmic) {}

bool spans_a_decade(const std::vector<double>& values) {
  if (values.empty()) return false;
  const auto [low, high] = std::ranges::minmax(values);
  return low > 0 && high > 10 * low;
}

}  // namespace clweave::report
