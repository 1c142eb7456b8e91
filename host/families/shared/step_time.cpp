// SPDX-License-Identifier: Apache-2.0
#include "families/shared/step_time.hpp"

#include <fmt/format.h>

namespace clweave::families {

void ChainTimes::add(std::int64_t steps, const Outcome& outcome) {
  const Outcome*& fastest = fastest_[steps];
  if (fastest == nullptr || outcome.time_s < fastest->time_s) fastest = &outcome;
}

double ChainTimes::ns_per_step() const {
  const auto& [steps, outcome] = *fastest_.rbegin();
  return 1e9 * outcome->time_s / static_cast<double>(steps);
}

Finding ChainTimes::finding(const std::string& name, const std::string& what) const {
  const auto& [few, shorter] = *fastest_.begin();
  const auto& [many, longer] = *fastest_.rbegin();
  Finding out{name, {}, "ns", ""};
  out.from = {shorter};
  if (few == many) {
    out.value = ns_per_step();
    out.text = fmt::format("{} {:.4g} ns, launch included, as only chains of {} were measured", what,
                           *out.value, few);
    return out;
  }
  out.from.push_back(longer);
  if (!shorter->low_s || !shorter->high_s || !longer->low_s || !longer->high_s) {
    out.text = fmt::format("chains of {} and {} have too few samples to compare", few, many);
    return out;
  }
  const auto slope = [steps = static_cast<double>(many - few)](double from_s, double to_s) {
    return 1e9 * (to_s - from_s) / steps;
  };
  const double ns = slope(shorter->time_s, longer->time_s);
  const double low = slope(*shorter->high_s, *longer->low_s), high = slope(*shorter->low_s, *longer->high_s);
  const std::string interval =
      fmt::format("{:.4g} to {:.4g} ns, from chains of {} and {}", low, high, few, many);
  constexpr double widest = 0.25;  // half width over the slope
  if (ns <= 0 || high - low > 2 * widest * ns) {
    out.text = fmt::format("{} {}: too far apart to tell", what, interval);
    return out;
  }
  // A launch takes no negative time, but for rounding.
  if (const double at_most = 1e9 * *longer->high_s / static_cast<double>(many); low > 1.001 * at_most) {
    out.text = fmt::format("{} {}, but a step of the longer chain takes {:.4g} ns at most: one was disturbed",
                           what, interval, at_most);
    return out;
  }
  out.value = ns;
  out.low = low;
  out.high = high;
  out.text = fmt::format("{} {:.4g} ns, the slope between chains of {} and {}", what, ns, few, many);
  return out;
}

}  // namespace clweave::families
