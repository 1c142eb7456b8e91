// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/identical_devices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/rows/prior.hpp"

namespace clweave::fleet {

namespace {

std::string first_part(const std::string& text) { return text.substr(0, text.find(',')); }

// A unit's time of a case.
struct UnitTime {
  std::size_t unit;
  const CaseTimes* at;
  std::string clock;               // of most of its runs
  double log_time;                 // unmeasured if the canary ran slow beside every run
  std::vector<double> by_process;  // in the order of the unit's processes
};

// Returns the key with the highest count.
std::string most_common(const std::map<std::string, std::size_t>& counts) {
  return std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
}

// Takes the runs of a unit by the clock of most; `processes` are the unit's so far. Of three sessions one
// that trusted the host's clock alone costs its own times, not those of the others.
UnitTime unit_time(std::size_t unit, const CaseTimes& at, const std::vector<const RunTime*>& runs,
                   std::map<std::uint32_t, std::size_t>& processes) {
  std::string clock = at.clock;
  const bool differ = clock == several_clocks;
  if (differ) {
    std::map<std::string, std::size_t> clocks;
    for (const auto* run : runs) ++clocks[clock_of(*run)];
    clock = most_common(clocks);
  }
  std::vector<double> all, by_process;
  for (const auto* run : runs) {
    const std::size_t process = processes.try_emplace(run->run, processes.size()).first->second;
    if (run->slowed || (differ && clock_of(*run) != clock)) continue;
    if (by_process.size() <= process) by_process.resize(process + 1, unmeasured);
    all.push_back(by_process[process] = std::log(run->time_s));
  }
  return {unit, &at, std::move(clock), all.empty() ? unmeasured : median(all), std::move(by_process)};
}

// Returns whether the runs that are ok may count: times that cannot be true are a busy host's, not the
// device's.
bool may_count(const CaseTimes& at) {
  return at.ranks() && !at.tuned && (at.ok() ? at.reason != chosen_here : !is_device_failure(at));
}

Bound bound_of(const RunTime& run) {
  if (of_memory(run.peak) && !run.cached) return Bound::memory;
  if (run.peak == Peak::local || run.of_operations()) return Bound::arithmetic;
  return Bound::other;
}

// The times of a device name's units, by case in the order met.
struct Times {
  std::unordered_map<std::string, std::size_t> index;  // by case id
  std::vector<std::vector<UnitTime>> cases;
};

// Adds a device: one unit, or one for each of its sessions.
void add(const DeviceResults& device, const std::string& location, Unit unit, bool by_file,
         std::vector<DeviceUnit>& units, Times& times) {
  std::map<std::uint32_t, std::size_t> own;                               // units by session
  std::map<std::size_t, std::map<std::uint32_t, std::size_t>> processes;  // by unit
  const auto unit_of = [&](const RunTime& run) {
    const std::uint32_t session = unit == Unit::device ? 0 : by_file ? run.file : run.run;
    const auto [it, is_new] = own.try_emplace(session, units.size());
    if (is_new) units.push_back({&device, location});
    return it->second;
  };
  for (const auto& at : device.cases) {
    if (!may_count(at) || at.runs.empty()) continue;
    std::map<std::size_t, std::vector<const RunTime*>> runs;
    for (const auto& run : at.runs) runs[unit_of(run)].push_back(&run);
    const auto [it, is_new] = times.index.try_emplace(at.id(), times.cases.size());
    if (is_new) times.cases.emplace_back();
    for (const auto& [number, its] : runs)
      times.cases[it->second].push_back(unit_time(number, at, its, processes[number]));
  }
  for (const auto& [number, its] : processes) units[number].processes = its.size();
  if (unit == Unit::device && own.empty()) units.push_back({&device, location});  // no case of it is ok
}

// Returns the case if at least half of the units have it by one clock, with that of most units; counts the
// times that are left out.
std::optional<DeviceCase> case_of(const std::vector<UnitTime>& times, const std::string& type,
                                  std::vector<DeviceUnit>& units) {
  const CaseTimes& any = *times.front().at;
  DeviceCase out;
  out.id = any.id();
  out.family = any.family();
  std::map<std::string, std::size_t> clocks, works;
  for (const auto& one : times) {
    ++clocks[one.clock];
    ++works[one.at->work];
  }
  out.clock = most_common(clocks);
  out.work = most_common(works);
  out.bound = bound_of(any.runs.front());
  out.log_times.assign(units.size(), unmeasured);
  out.by_process.resize(units.size());
  std::vector<double> seconds;
  for (const auto& one : times) {
    if (one.clock != out.clock || one.at->work != out.work) {
      ++units[one.unit].apart;
      continue;
    }
    seconds.push_back(one.at->median_s());
    if (std::isnan(one.log_time)) ++units[one.unit].slowed;
    out.log_times[one.unit] = one.log_time;
    out.by_process[one.unit] = one.by_process;
  }
  if (2 * seconds.size() < units.size()) return {};
  const Timer timer = out.clock.starts_with(text_of(Timer::event)) ? Timer::event : Timer::host;
  const Spread prior =
      prior_spread(type, timer, median(seconds) / static_cast<double>(any.runs.front().commands));
  if (std::isfinite(prior.degrees)) {
    out.prior = prior;
    out.weight = 1 / prior.variance;
  }
  return out;
}

// Returns locations such as "node07 0000:18:00.0", with the first digits of the UUID if these are not unique.
std::vector<std::string> locations_of(const std::vector<const DeviceResults*>& devices) {
  std::vector<std::string> out;
  std::map<std::string, std::size_t> count;
  for (const auto* device : devices) {
    const std::string& where = !device->user_label.empty() ? device->user_label : device->host;
    ++count[out.emplace_back(where.empty() ? device->id : where + " " + device->id)];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (count[out[i]] < 2) continue;
    out[i] += devices[i]->uuid.empty() ? ", driver " + devices[i]->driver
                                       : ", uuid " + devices[i]->uuid.substr(0, 8);
  }
  return out;
}

}  // namespace

std::vector<IdenticalDevices::OfFamily> IdenticalDevices::families() const {
  std::vector<OfFamily> out;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    auto it = std::ranges::find(out, cases[c].family, &OfFamily::name);
    if (it == out.end()) it = out.insert(out.end(), {cases[c].family, {}, cases[c].prior});
    it->cases.push_back(c);
    if (cases[c].prior.degrees == 0 || cases[c].prior.variance < it->prior.variance)
      it->prior = cases[c].prior;
  }
  return out;
}

bool identical(const DeviceResults& a, const DeviceResults& b) {
  return a.name == b.name && first_part(a.platform) == first_part(b.platform) &&
         (a.compute_units == b.compute_units || a.compute_units == 0 || b.compute_units == 0);
}

std::vector<IdenticalDevices> identical_devices(const ResultsSet& set, Unit unit) {
  std::vector<std::vector<const DeviceResults*>> kinds;
  const auto all = measured(set);
  for (const auto* device : all) {
    auto it =
        std::ranges::find_if(kinds, [&](const auto& kind) { return identical(*kind.front(), *device); });
    if (it == kinds.end()) it = kinds.insert(it, std::vector<const DeviceResults*>());
    it->push_back(device);
  }
  std::vector<IdenticalDevices> out;
  for (const auto& devices : kinds) {
    IdenticalDevices& made = out.emplace_back();
    made.device = devices.front()->name;
    made.kind = devices.front();
    const auto locations = locations_of(devices);
    Times times;
    for (std::size_t i = 0; i < devices.size(); ++i)
      add(*devices[i], locations[i], unit, set.files.size() > 1, made.units, times);
    for (const auto& one : times.cases) {
      if (auto measured = case_of(one, devices.front()->type, made.units))
        made.cases.push_back(*std::move(measured));
    }
  }
  return out;
}

std::vector<double> centres(const IdenticalDevices& devices) {
  std::vector<double> out, there;
  for (const auto& one : devices.cases) {
    there.clear();
    std::ranges::copy_if(one.log_times, std::back_inserter(there), [](double y) { return !std::isnan(y); });
    out.push_back(there.empty() ? unmeasured : median(there));
  }
  return out;
}

namespace {

// Returns the weighted median of how much longer `log_time` of each case says that it takes.
template <class LogTime>
double effect_by(const IdenticalDevices& devices, const std::vector<std::size_t>& cases,
                 const std::vector<double>& centres, const LogTime& log_time) {
  std::vector<double> values, weights;
  values.reserve(cases.size());
  weights.reserve(cases.size());
  for (const std::size_t c : cases) {
    const double difference = log_time(devices.cases[c]) - centres[c];
    if (std::isnan(difference)) continue;
    values.push_back(difference);
    weights.push_back(devices.cases[c].weight);
  }
  return values.empty() || 2 * values.size() < cases.size() ? unmeasured : weighted_median(values, weights);
}

}  // namespace

double effect_of(const IdenticalDevices& devices, std::size_t unit, const std::vector<std::size_t>& cases,
                 const std::vector<double>& centres) {
  return effect_by(devices, cases, centres, [&](const DeviceCase& one) { return one.log_times[unit]; });
}

std::vector<double> process_effects_of(const IdenticalDevices& devices, std::size_t unit,
                                       const std::vector<std::size_t>& cases,
                                       const std::vector<double>& centres, std::size_t least) {
  std::vector<double> out;
  std::size_t processes = 0;
  for (const std::size_t c : cases) {
    const auto& all = devices.cases[c].by_process;
    if (!all.empty()) processes = std::max(processes, all[unit].size());
  }
  if (processes < least) return out;
  for (std::size_t process = 0; process < processes; ++process) {
    const double effect = effect_by(devices, cases, centres, [&](const DeviceCase& one) {
      return one.by_process.empty() || process >= one.by_process[unit].size() ? unmeasured
                                                                              : one.by_process[unit][process];
    });
    if (!std::isnan(effect)) out.push_back(effect);
  }
  return out;
}

bool mostly_bound(const IdenticalDevices& devices, const IdenticalDevices::OfFamily& family, Bound bound) {
  const auto n =
      std::ranges::count_if(family.cases, [&](std::size_t c) { return devices.cases[c].bound == bound; });
  return 2 * static_cast<std::size_t>(n) > family.cases.size();
}

bool is_device_failure(const CaseTimes& at) { return at.failed() && at.status != Status::implausible; }

Spread noise_of(const Spread& own, const Spread& prior, double tails) {
  const Spread both = moderated(own, prior);
  return {both.variance, std::min(both.degrees, tails)};
}

}  // namespace clweave::fleet
