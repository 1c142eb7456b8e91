// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/wide_spread.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "analysis/fleet/identical_devices.hpp"

namespace clweave::fleet {

std::optional<WideSpread> wide_spread(std::span<const double> values, const Spread& prior, double margin) {
  std::vector<double> there;
  std::ranges::copy_if(values, std::back_inserter(there), [](double value) { return !std::isnan(value); });
  if (there.empty() || prior.degrees == 0) return {};
  const double middle = median(there),
               reach = margin + t_quantile(0.99, family_tails) * std::sqrt(prior.variance);
  const auto far =
      std::ranges::count_if(there, [&](double value) { return std::abs(value - middle) > reach; });
  if (4 * far <= std::ssize(there)) return {};
  const auto [low, high] = std::ranges::minmax(there);
  return WideSpread{low, high};
}

}  // namespace clweave::fleet
