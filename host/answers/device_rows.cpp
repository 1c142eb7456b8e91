// SPDX-License-Identifier: Apache-2.0
#include "answers/device_rows.hpp"

#include <algorithm>
#include <numbers>

#include "base/random.hpp"
#include "base/stats.hpp"

namespace clweave {

namespace {

constexpr std::size_t draws = 200;

// Two independent normal deviates would come of a pair (Box and Muller 1958); one is enough here.
double normal(std::uint64_t key, std::uint64_t i) {
  const Random<double> uniform(key, i);
  const double radius = std::sqrt(-2 * std::log((uniform(0) + 1) / 2 + 0x1p-54));
  return radius * std::cos(std::numbers::pi * uniform(1));
}

Timed::Repetition repetition_of(const Record& r) {
  const double median_s = *r.time_s;
  // Too few samples for an interval: their spread.
  return {median_s, std::min(median_s, r.time_low_s.value_or(r.min_s.value_or(median_s))),
          std::max(median_s, r.time_high_s.value_or(r.p95_s.value_or(median_s)))};
}

// The median of repetitions drawn with replacement, each at a time drawn from its interval.
double drawn_seconds(const Timed& timed, std::uint64_t draw) {
  const std::size_t n = timed.runs.size();
  const Random<std::uint64_t> choice(draw, timed.index);
  std::vector<double> medians;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& run = timed.runs[choice(i) % n];
    const double sigma = std::log(run.high_s / run.low_s) / (2 * 1.96);
    medians.push_back(run.median_s * std::exp(sigma * normal(choice(n + i), draw)));
  }
  return median(medians);
}

std::int64_t number(const Timed& timed, const std::string& axis) {
  const auto it = timed.axes.find(axis);
  const Value value = it == timed.axes.end() ? Value(std::int64_t{0}) : value_of(it->second);
  const auto* n = std::get_if<std::int64_t>(&value);
  return n != nullptr ? *n : 0;
}

// Families launch so many groups per compute unit, and rows count the items.
std::int64_t units_of(const Timed& timed) {
  const auto items = timed.record->items.value_or(0);
  std::int64_t per_unit = 0;
  if (timed.record->family == "arithmetic")
    per_unit = number(timed, "groups_per_unit") * number(timed, "group") * number(timed, "width");
  if (timed.record->family == "latency" && timed.axes.contains("kernel") &&
      timed.axes.at("kernel") == "chase_groups")
    per_unit = 4 * number(timed, "hops");
  return per_unit > 0 && items % per_unit == 0 ? items / per_unit : 0;
}

}  // namespace

std::vector<DeviceRows> device_rows(const std::vector<Record>& records) {
  std::vector<DeviceRows> out;
  std::map<std::string, std::size_t> known;
  std::vector<std::map<std::string, std::size_t>> cases;
  const auto key = [](const Record& r) {
    return r.platform + "\n" + r.device + "\n" + r.device_id + "\n" + r.driver;
  };
  for (const auto& r : records) {
    if (r.api != "opencl") continue;
    const auto [it, first] = known.emplace(key(r), out.size());
    if (first) {
      out.push_back({r.device, r.platform, r.driver, r.device_type, {}, {}, 0, {}});
      cases.emplace_back();
    }
  }
  for (const auto& r : records) {
    if (r.api != "opencl") continue;
    const std::size_t d = known.at(key(r));
    DeviceRows& device = out[d];
    if (!r.finding.empty()) continue;
    if (!r.ok() || !r.exhibit.empty() || !r.time_s) {
      device.untimed.push_back(&r);
      continue;
    }
    if (r.cache == "cold") continue;
    const auto [it, first] = cases[d].emplace(r.case_id + "\n" + text_of(r.timer), device.timed.size());
    if (first) {
      Timed timed{&r, {{timer_axis, text_of(r.timer)}}, {}, device.timed.size()};
      for (const auto& [axis, value] : r.axes) {
        if (!value.empty()) timed.axes.emplace(axis, value);
      }
      device.compute_units = std::max(device.compute_units, units_of(timed));
      device.timed.push_back(std::move(timed));
    }
    Timed& timed = device.timed[it->second];
    timed.runs.push_back(repetition_of(r));
    if (!timed.record->of_ceiling && r.of_ceiling) timed.record = &r;  // not every run measures ceilings
  }
  for (auto& device : out) {
    auto& measured = device.clocks.emplace_back();
    for (const auto& timed : device.timed) {
      std::vector<double> medians;
      for (const auto& run : timed.runs) medians.push_back(run.median_s);
      measured.push_back(median(medians));
    }
    for (std::size_t k = 1; k <= draws; ++k) {
      auto& clock = device.clocks.emplace_back();
      for (const auto& timed : device.timed) clock.push_back(drawn_seconds(timed, k));
    }
  }
  return out;
}

std::optional<Figure> figure(const DeviceRows& rows,
                             const std::function<std::optional<double>(Clock)>& number) {
  const auto measured = number(rows.clocks.front());
  if (!measured) return {};
  if (!std::isfinite(*measured)) return Figure{*measured, *measured, *measured};
  std::vector<double> drawn;
  for (std::size_t k = 1; k < rows.clocks.size(); ++k) {
    if (const auto value = number(rows.clocks[k]); value && std::isfinite(*value)) drawn.push_back(*value);
  }
  if (drawn.empty()) return Figure{*measured, *measured, *measured};
  // The least of many noisy times lies below most draws' own: the number as measured belongs to its interval.
  return Figure{*measured, std::min(*measured, quantile(drawn, 0.025)),
                std::max(*measured, quantile(drawn, 0.975))};
}

std::vector<Outcome> outcomes_of(const Family& family, std::span<const Timed* const> rows, Clock clock) {
  std::vector<Outcome> out;
  for (const auto* row : rows) {
    Case at{family.name, {}, 0};
    for (const auto& axis : family.axes) {
      if (const auto it = row->axes.find(axis.name); it != row->axes.end())
        at.axes.emplace_back(axis.name, value_of(it->second));
    }
    if (at.axes.size() == family.axes.size()) out.push_back({std::move(at), clock[row->index]});
  }
  return out;
}

DeviceInfo device_of(const DeviceRows& rows) {
  DeviceInfo device;
  device.name = rows.device;
  device.platform = rows.platform;
  device.driver = rows.driver;
  device.type = rows.type;
  device.compute_units = rows.compute_units;
  return device;
}

}  // namespace clweave
