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

Finding ChainTimes::slope(const std::string& name, const std::string& what) const {
  const auto& [few, shorter] = *fastest_.begin();
  const auto& [many, longer] = *fastest_.rbegin();
  Finding out{name, {}, "ns", ""};
  out.from = {shorter, longer};
  if (!shorter->low_s || !shorter->high_s || !longer->low_s || !longer->high_s) {
    out.text = fmt::format("chains of {} and {} have too few samples to compare", few, many);
    return out;
  }
  const auto per_step = [steps = static_cast<double>(many - few)](double from_s, double to_s) {
    return 1e9 * (to_s - from_s) / steps;
  };
  const double ns = per_step(shorter->time_s, longer->time_s);
  const double low = per_step(*shorter->high_s, *longer->low_s),
               high = per_step(*shorter->low_s, *longer->high_s);
  const double at_most = 1e9 * *longer->high_s / static_cast<double>(many);
  const std::string interval =
      fmt::format("{:.4g} to {:.4g} ns, from chains of {} and {}", low, high, few, many);
  constexpr double widest = 0.25;  // half width over the slope
  if (ns <= 0 || high - low > 2 * widest * ns) {
    out.text = fmt::format("{} {}: too far apart to tell", what, interval);
  } else if (low > 1.001 * at_most) {  // a launch takes no negative time, but for rounding
    out.text = fmt::format("{} {}, but a step of the longer chain takes {:.4g} ns at most: one was disturbed",
                           what, interval, at_most);
  } else {
    out.value = ns;
    out.low = low;
    out.high = high;
    out.text = fmt::format("{} {:.4g} ns, the slope between chains of {} and {}", what, ns, few, many);
  }
  return out;
}

Finding ChainTimes::whole(const std::string& name, const std::string& what, const std::string& beside) const {
  const auto& [steps, outcome] = *fastest_.rbegin();
  Finding out{name, ns_per_step(), "ns", fmt::format("{} {:.4g} ns{}", what, ns_per_step(), beside)};
  const auto each = [steps = static_cast<double>(steps)](Number seconds) {
    return seconds ? Number(1e9 * *seconds / steps) : Number();
  };
  out.low = each(outcome->low_s);
  out.high = each(outcome->high_s);
  out.from = {outcome};
  return out;
}

}  // namespace clweave::families
