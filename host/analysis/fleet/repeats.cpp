// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/repeats.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace clweave::fleet {

namespace {

// Computes the probability of `least` or more successes.
double binomial_tail(std::size_t trials, std::size_t least, double chance) {
  double out = 0, log_ways = 0;
  for (std::size_t k = 0; k <= trials; ++k) {
    const auto taken = static_cast<double>(k), left = static_cast<double>(trials - k);
    if (k >= least) out += std::exp(log_ways + taken * std::log(chance) + left * std::log1p(-chance));
    log_ways += std::log(left) - std::log(taken + 1);
  }
  return std::min(1.0, out);
}

// Counts processes, and those of them that ran slow once.
struct Accidents {
  double slow = 0, all = 0;

  void add(const Accidents& other, double times = 1) {
    slow += times * other.slow;
    all += times * other.all;
  }
  // Estimates how often a process is slow by accident: one in twenty until others were seen, one in five at
  // most, as more is none.
  double chance() const { return std::min(0.2, (slow + 1) / (all + 20)); }
};

std::vector<std::size_t> slow_families(const Effects& effects, const FleetDevice& device, double margin,
                                       std::size_t u) {
  std::vector<std::size_t> out;
  const bool whole = std::ranges::any_of(device.differences, [](const DeviceDifference& one) {
    return one.outlier && one.ratio > 1 && one.family == whole_device;
  });
  for (std::size_t f = 0; f < effects.families.size(); ++f) {
    const bool named = std::ranges::any_of(device.differences, [&](const DeviceDifference& one) {
      return one.outlier && one.ratio > 1 && one.family == effects.families[f].name;
    });
    if (named || (whole && effects.of_family(f, u) > margin)) out.push_back(f);
  }
  return out;
}

// Counts the processes of a device that were slow in these cases; a single process is as slow as the device.
SlowProcesses slow_in(const Effects& effects, std::size_t device, const std::vector<std::size_t>& cases,
                      double margin) {
  const auto processes = process_effects_of(*effects.devices, device, cases, effects.centres, 2);
  if (processes.size() < 2) return {1, 1};
  const auto slow = std::ranges::count_if(processes, [&](double effect) { return effect > margin; });
  return {static_cast<std::size_t>(slow), processes.size()};
}

// Returns whether a device was slow in a family in more than half of its processes: of two in both, as else
// nobody knows which of them is right.
bool slow_in_most(const Effects& effects, std::size_t u, std::size_t f, double margin) {
  const auto [slow, all] = slow_in(effects, u, effects.families[f].cases, margin);
  return 2 * slow > all;
}

// Counts the processes of a device and family.
Accidents accidents_of(const Effects& effects, double margin, std::size_t u, std::size_t f, bool slow) {
  if (std::isnan(effects.of_family(f, u))) return {};
  const auto processes =
      process_effects_of(*effects.devices, u, effects.families[f].cases, effects.centres, 2);
  if (processes.size() < 2) return {slow ? 1.0 : 0.0, 1};
  const double least = *std::ranges::min_element(processes);
  const auto slower =
      std::ranges::count_if(processes, [&](double effect) { return effect > least + 2 * margin; });
  return {static_cast<double>(slower), static_cast<double>(processes.size())};
}

// The slow families of each device, and the processes by device and family.
struct Slow {
  std::vector<std::vector<std::size_t>> families;  // per device
  std::vector<std::vector<Accidents>> processes;   // per device and family
  Accidents all;

  // Leaves out a family that many devices are slow in: that is no accident.
  void leave_out(std::size_t family) {
    for (auto& device : processes) {
      all.add(device[family], -1);
      device[family] = {};
    }
  }
};

Slow slow_of(const Effects& effects, const Fleet& fleet, double margin) {
  Slow out;
  for (std::size_t u = 0; u < effects.size(); ++u) {
    const auto& slow = out.families.emplace_back(slow_families(effects, fleet.devices[u], margin, u));
    auto& processes = out.processes.emplace_back();
    // Counts no accidents of a device that is slow in most families: they are of single ones.
    if (2 * slow.size() > effects.families_of(u)) {
      processes.resize(effects.families.size());
      continue;
    }
    for (std::size_t f = 0; f < effects.families.size(); ++f) {
      const bool here = std::ranges::find(slow, f) != slow.end();
      out.all.add(processes.emplace_back(accidents_of(effects, margin, u, f, here)));
    }
  }
  return out;
}

// Returns the families in which more devices were slow every time than the accidents of the other families
// explain.
std::vector<bool> common_families(const Slow& slow, std::size_t families, double false_alarms) {
  std::vector<bool> out(families);
  for (std::size_t f = 0; f < families; ++f) {
    std::size_t devices = 0;
    double times = HUGE_VAL;
    Accidents others = slow.all;
    for (std::size_t u = 0; u < slow.families.size(); ++u) {
      const Accidents& own = slow.processes[u][f];
      others.add(own, -1);
      if (std::ranges::find(slow.families[u], f) == slow.families[u].end() || (own.all > 1 && own.slow > 0))
        continue;
      ++devices;
      times = std::min(times, std::max(1.0, own.all));
    }
    out[f] = devices > 1 && static_cast<double>(families) * binomial_tail(slow.families.size(), devices,
                                                                          std::pow(others.chance(), times)) <
                                false_alarms;
  }
  return out;
}

std::vector<std::size_t> bound_by(const Effects& effects, Bound bound) {
  std::vector<std::size_t> out;
  for (std::size_t f = 0; f < effects.families.size(); ++f) {
    if (mostly_bound(*effects.devices, effects.families[f], bound)) out.push_back(f);
  }
  return out;
}

}  // namespace

SlowProcesses slow_processes(const Effects& effects, std::size_t device, const DeviceDifference& difference,
                             double margin) {
  std::vector<std::size_t> cases;
  for (std::size_t c = 0; c < effects.devices->cases.size(); ++c) {
    const DeviceCase& one = effects.devices->cases[c];
    if (difference.id.empty() ? one.family == difference.family || difference.family == whole_device
                              : one.id == difference.id)
      cases.push_back(c);
  }
  return slow_in(effects, device, cases, margin);
}

namespace {

// Returns the probability that by accident as many processes of a device are slow as were in what it is named
// for, where that is most likely.
double accident_of(const Effects& effects, const FleetDevice& device, std::size_t u, double margin,
                   double chance) {
  double out = 0;
  for (const auto& one : device.differences) {
    if (!one.outlier || one.ratio < 1) continue;
    const auto [bad, all] = slow_processes(effects, u, one, margin);
    out = std::max(out, binomial_tail(all, std::max<std::size_t>(1, bad), chance));
  }
  return out;
}

}  // namespace

std::vector<bool> slow_for_good(const Effects& effects, const Fleet& fleet, const FleetRules& rules) {
  constexpr double patterns = 3;  // any families, those that memory bounds, those that arithmetic bounds
  const double margin = std::log1p(rules.margin);
  std::vector<bool> out(effects.size());
  if (std::ranges::none_of(fleet.devices, [](const FleetDevice& device) {
        return std::ranges::any_of(device.differences, &DeviceDifference::outlier);
      }))
    return out;
  Slow slow = slow_of(effects, fleet, margin);
  const auto common = common_families(slow, effects.families.size(), rules.false_alarms);
  for (std::size_t f = 0; f < common.size(); ++f) {
    if (common[f]) slow.leave_out(f);
  }
  const std::vector<std::vector<std::size_t>> bound = {bound_by(effects, Bound::memory),
                                                       bound_by(effects, Bound::arithmetic)};
  for (std::size_t u = 0; u < effects.size(); ++u) {
    auto families = slow.families[u];
    std::erase_if(families, [&](std::size_t f) { return !slow_in_most(effects, u, f, margin); });
    if (families.empty()) continue;
    Accidents others = slow.all;
    for (const auto& own : slow.processes[u]) others.add(own, -1);
    const double each = accident_of(effects, fleet.devices[u], u, margin, others.chance());
    double accident = binomial_tail(effects.families_of(u), families.size(), each);
    for (const auto& all : bound) {
      const auto n = static_cast<std::size_t>(std::ranges::count_if(
          all, [&](std::size_t f) { return std::ranges::find(families, f) != families.end(); }));
      if (n > 1) accident = std::min(accident, binomial_tail(all.size(), n, each));
    }
    out[u] = patterns * static_cast<double>(effects.size()) * accident < rules.false_alarms ||
             std::ranges::any_of(families, [&](std::size_t f) { return common[f]; });
  }
  return out;
}

}  // namespace clweave::fleet
