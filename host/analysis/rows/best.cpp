// SPDX-License-Identifier: Apache-2.0
#include "analysis/rows/best.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/rows/device_rows.hpp"
#include "base/quantity.hpp"

namespace clweave::rows {

namespace {

constexpr std::int64_t part_of_largest = 8;

std::int64_t size_of(const Contender& one) {
  const Value* n = one.at->name->axis("n");
  const auto* size = n != nullptr ? std::get_if<std::int64_t>(n) : nullptr;
  return size != nullptr ? *size : 0;
}

// Returns fraction of peak, rate, and speed, which ranks rows without either.
std::tuple<double, double, double> merit_of(const Family& family, const Contender& one, double seconds) {
  const double faster = one.run.time_s / seconds;
  const bool bounded = one.run.fraction_of_peak && !one.run.cached;
  return {bounded ? *one.run.fraction_of_peak * faster : 0, one.speed(family).value_or(0) * faster,
          1 / seconds};
}

}  // namespace

bool is_for_comparison(const Family& family, const std::string& kernel) {
  if (!family.for_comparison) return false;
  Case at{family.name, {}, 0};
  for (const auto& axis : family.axes)
    at.axes.emplace_back(axis.name, axis.name == "kernel" ? Value(kernel) : axis.values.front());
  return family.for_comparison(at);
}

Number Contender::speed(const Family& family) const {
  return family.view.quantity == "items" ? run.gitems_per_s : run.rate();
}

std::string speed_text(const Contender& one, const Family& family) {
  const Number speed = one.speed(family);
  if (!speed) return seconds_text(one.run.time_s);
  return number_text(*speed, family.view.quantity == "items" ? "G items/s"
                             : one.run.of_operations()       ? "Gop/s"
                                                             : "GB/s");
}

std::vector<Contender> contenders(const Family& family, const std::vector<const CaseTimes*>& cases) {
  std::vector<Contender> out;
  for (const auto* one : cases) {
    const auto run = one->ranks() ? one->typical() : std::nullopt;
    if (!run) continue;
    if (family.for_comparison || family.no_merit) {
      const auto at = case_of(family, *one->name);
      if (at && family.for_comparison && family.for_comparison(*at)) continue;
      if (at && family.no_merit && family.no_merit(*at)) continue;
    }
    out.push_back({one, *run});
  }
  const auto is_cached = [](const Contender& one) { return one.run.cached; };
  if (!std::ranges::all_of(out, is_cached)) std::erase_if(out, is_cached);
  std::int64_t largest = 0;
  for (const auto& one : out) largest = std::max(largest, size_of(one));
  std::erase_if(out, [&](const Contender& one) { return size_of(one) < largest / part_of_largest; });
  return out;
}

std::vector<Contender> contenders(const Family& family, const DeviceResults& device) {
  std::vector<const CaseTimes*> cases;
  for (const auto& at : device.cases) {
    if (at.family() == family.name) cases.push_back(&at);
  }
  return contenders(family, cases);
}

const Contender* best_row(const Family& family, const std::vector<Contender>& all,
                          const std::function<double(const Contender&)>& seconds) {
  const auto best = std::ranges::max_element(all, {}, [&](const Contender& one) {
    return merit_of(family, one, seconds ? seconds(one) : one.run.time_s);
  });
  return best != all.end() ? &*best : nullptr;
}

bool is_undecided(const Family& family, const std::vector<Contender>& all, const Contender& best) {
  if (best.run.slowed) return true;
  const auto least_s = [](const Contender& one) {
    return one.run.slowed ? one.run.least_s() : one.run.time_s;
  };
  return best_row(family, all, least_s)->at != best.at;
}

}  // namespace clweave::rows
