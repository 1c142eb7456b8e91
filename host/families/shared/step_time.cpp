// SPDX-License-Identifier: Apache-2.0
#include "families/shared/step_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clweave::families {

void ChainTimes::add(std::int64_t steps, const Outcome& outcome) {
  const Outcome*& fastest = fastest_[steps];
  if (fastest == nullptr || outcome.time_s < fastest->time_s) fastest = &outcome;
}

double ChainTimes::ns_per_step() const {
  const auto& [steps, outcome] = *fastest_.rbegin();
  return 1e9 * outcome->time_s / static_cast<double>(steps);
}

Finding ChainTimes::slope(const std::string& name, const std::string& what, double noise) const {
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
  const double reach = std::exp(1.96 * noise);
  const auto least = [reach](const Outcome* o) { return std::min(*o->low_s, o->time_s / reach); };
  const auto most = [reach](const Outcome* o) { return std::max(*o->high_s, o->time_s * reach); };
  // The errors of the two are independent, so they add in quadrature; takes 99 % in place of the rows' 95, as
  // many latencies are told at once.
  constexpr double wider = 2.576 / 1.96;
  const auto error = [&](double of_shorter_s, double of_longer_s) {
    return per_step(0, wider * std::hypot(of_shorter_s, of_longer_s));
  };
  const double low = ns - error(most(shorter) - shorter->time_s, longer->time_s - least(longer)),
               high = ns + error(shorter->time_s - least(shorter), most(longer) - longer->time_s);
  const double at_most = 1e9 * most(longer) / static_cast<double>(many);
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
