// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/error.hpp"

namespace clweave::fleet {

namespace {

constexpr std::size_t least_devices = 4;
constexpr double least_variance = 1e-8;  // a coarse clock makes devices equal

// Sums of some values, from which one can be left out.
struct Sums {
  double n = 0, sum = 0, squares = 0;

  void add(double value, double times = 1) {
    if (std::isnan(value)) return;
    n += times;
    sum += times * value;
    squares += times * value * value;
  }
  Sums without(double value) const {
    Sums out = *this;
    out.add(value, -1);
    return out;
  }
  double mean() const { return sum / n; }
  Spread spread() const {
    return {std::max(least_variance, (squares - n * mean() * mean()) / (n - 1)), n - 1};
  }
};

// A difference with its standard error: the statistic of a t test.
struct Difference {
  double value = 0, se = 1, degrees = 0;

  double p(double margin) const {
    // Skips the distribution for a difference within the margin, as most are.
    return std::abs(value) <= margin ? 1 : beyond_margin_p(value / se, margin / se, degrees);
  }
  // Returns by how many standard errors it lies beyond the margin.
  double beyond(double margin) const { return (std::abs(value) - margin) / se; }
};

Difference difference(double value, const Sums& others, const Spread& prior, double tails) {
  const Spread noise = noise_of(others.spread(), prior, tails);
  return {value - others.mean(), std::sqrt(noise.variance * (1 + 1 / others.n)), noise.degrees};
}

// Returns the probability that any of so many tests gives this p (Bonferroni).
double p_of_any(double p, std::size_t tests) { return std::min(1.0, p * static_cast<double>(tests)); }

// The effects of a fleet's devices: by how much longer each takes in each family, as logarithms.
struct Effects {
  const IdenticalDevices* devices;
  FleetRules rules;
  std::vector<double> centres;  // per case
  std::vector<IdenticalDevices::OfFamily> families;
  std::vector<std::vector<double>> values;  // per family and device

  std::size_t size() const { return devices->units.size(); }
  double margin() const { return std::log1p(rules.margin); }
  // Counts the families that a device has an effect in; its p is multiplied by their number.
  std::size_t families_of(std::size_t u) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(values, [&](const auto& of_family) { return !std::isnan(of_family[u]); }));
  }
};

Effects effects_over(const IdenticalDevices& devices, std::vector<IdenticalDevices::OfFamily> families,
                     std::vector<double> centres, const FleetRules& rules) {
  Effects out{&devices, rules, std::move(centres), std::move(families), {}};
  for (const auto& family : out.families) {
    auto& values = out.values.emplace_back();
    for (std::size_t u = 0; u < out.size(); ++u)
      values.push_back(effect_of(devices, u, family.cases, out.centres));
  }
  return out;
}

// ---- Against each other

// Returns a device's smallest p over its families, corrected for their number, and by how many standard
// errors its largest effect lies beyond the margin.
std::pair<double, double> odds_of(const Effects& effects, std::size_t u, const std::vector<Sums>& sums) {
  double least = 1, farthest = 0;
  for (std::size_t f = 0; f < effects.values.size(); ++f) {
    const double value = effects.values[f][u];
    if (std::isnan(value) || sums[f].n < least_devices) continue;
    const Difference one = difference(value, sums[f].without(value), effects.families[f].prior, family_tails);
    const double beyond = one.beyond(effects.margin());
    farthest = std::max(farthest, beyond);
    if (beyond > 2) least = std::min(least, one.p(effects.margin()));  // others are never significant
  }
  return {p_of_any(least, effects.families_of(u)), farthest};
}

// Finds outliers by the generalized extreme studentized deviate procedure (Rosner 1983): takes out the most
// unlikely device, one after the other, and names all up to the last one that is significant. Returns which
// are named, and sets their p.
std::vector<bool> find_outliers(const Effects& effects, Fleet& fleet) {
  std::vector<Sums> sums(effects.values.size());
  for (std::size_t f = 0; f < sums.size(); ++f) {
    for (const double value : effects.values[f]) sums[f].add(value);
  }
  std::vector<std::size_t> left(effects.size()), taken;
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::size_t to_name = 0;
  while (taken.size() < std::max<std::size_t>(1, effects.size() / 4)) {
    std::size_t most = left.size();
    double least_p = 1, farthest = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto [p, distance] = odds_of(effects, left[i], sums);
      if (distance > 0 && (p < least_p || (p == least_p && distance > farthest))) {
        least_p = p;
        farthest = distance;
        most = i;
      }
    }
    if (most == left.size()) break;
    const std::size_t u = left[most];
    double& p = fleet.devices[u].p;
    p = p_of_any(least_p, 2 * left.size());
    taken.push_back(u);
    if (p < effects.rules.false_alarms) to_name = taken.size();
    for (std::size_t f = 0; f < sums.size(); ++f) sums[f].add(effects.values[f][u], -1);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(most));
  }
  std::vector<bool> named(effects.size());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (i < to_name)
      named[taken[i]] = true;
    else
      fleet.devices[taken[i]].p = 1;
  }
  // Gives an outlier that others masked a p no larger than that of the outlier found after it.
  double p = 1;
  for (std::size_t i = to_name; i-- > 0;)
    p = fleet.devices[taken[i]].p = std::min(p, fleet.devices[taken[i]].p);
  return named;
}

// Collects the differences of a fleet's devices in its families, and their p, not yet corrected.
struct FamilyTests {
  std::vector<std::vector<double>> p;   // per device
  std::vector<double> spreads, leasts;  // per family

  explicit FamilyTests(std::size_t devices) : p(devices) {}
};

void add_test(const Effects& effects, std::size_t u, std::size_t f, const Difference& one, FamilyTests& tests,
              Fleet& fleet) {
  const double reach = t_quantile(0.95, one.degrees) * one.se;
  fleet.devices[u].differences.push_back({effects.families[f].name,
                                          {},
                                          effects.families[f].cases.size(),
                                          std::exp(one.value),
                                          std::exp(one.value - reach),
                                          std::exp(one.value + reach)});
  tests.p[u].push_back(one.p(effects.margin()));
}

// Adds a family whose effects have this noise, and the least effect in it that names a device.
void add_noise(const Effects& effects, const Spread& noise, double others, FamilyTests& tests) {
  const double level =
      effects.rules.false_alarms / static_cast<double>(2 * effects.size() * effects.families.size());
  const double se = std::sqrt(noise.variance * (1 + 1 / others));
  tests.spreads.push_back(std::sqrt(noise.variance));
  tests.leasts.push_back(std::exp(effects.margin() + t_quantile(1 - 2 * level, noise.degrees) * se) - 1);
}

// Marks the families in which a named device is an outlier, at a false discovery rate of 1 % (Benjamini and
// Hochberg 1995).
void settle(const Effects& effects, const std::vector<bool>& named, const FamilyTests& tests, Fleet& fleet) {
  for (std::size_t u = 0; u < effects.size(); ++u) {
    const auto adjusted = benjamini_hochberg(tests.p[u]);
    for (std::size_t i = 0; i < adjusted.size(); ++i) {
      DeviceDifference& one = fleet.devices[u].differences[i];
      one.p = adjusted[i];
      one.outlier = named[u] && one.p < effects.rules.false_alarms;
    }
  }
  if (!tests.spreads.empty()) fleet.spread = median(tests.spreads);
  if (!tests.leasts.empty()) fleet.least = median(tests.leasts);
}

// Holds each device's families against those of the devices that are not named.
void test_families(const Effects& effects, const std::vector<bool>& named, Fleet& fleet) {
  FamilyTests tests(effects.size());
  for (std::size_t f = 0; f < effects.values.size(); ++f) {
    const Spread& prior = effects.families[f].prior;
    Sums good;
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (!named[u]) good.add(effects.values[f][u]);
    }
    for (std::size_t u = 0; u < effects.size(); ++u) {
      const double value = effects.values[f][u];
      if (std::isnan(value)) continue;
      const Sums others = named[u] ? good : good.without(value);
      if (others.n >= 2)
        add_test(effects, u, f, difference(value, others, prior, family_tails), tests, fleet);
    }
    if (good.n >= 2) add_noise(effects, noise_of(good.spread(), prior, family_tails), good.n, tests);
  }
  settle(effects, named, tests, fleet);
}

// Tests every case of the devices that are not named by itself.
void test_cases(const Effects& effects, const std::vector<bool>& named, Fleet& fleet) {
  constexpr double far = 5;  // standard errors; less is never significant among so many tests
  const auto& cases = effects.devices->cases;
  const std::size_t tests = 2 * cases.size() * effects.size();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const DeviceCase& one = cases[c];
    Sums good;
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (!named[u]) good.add(one.log_times[u] - effects.centres[c]);
    }
    if (good.n < least_devices) continue;
    for (std::size_t u = 0; u < effects.size(); ++u) {
      const double value = one.log_times[u] - effects.centres[c];
      if (named[u] || std::isnan(value)) continue;
      const Difference off = difference(value, good.without(value), one.prior, case_tails);
      if (off.beyond(effects.margin()) < far) continue;
      const double p = p_of_any(off.p(effects.margin()), tests);
      if (p >= effects.rules.false_alarms) continue;
      const double reach = t_quantile(0.95, off.degrees) * off.se;
      FleetDevice& device = fleet.devices[u];
      device.differences.push_back({one.family, one.id, 1, std::exp(off.value), std::exp(off.value - reach),
                                    std::exp(off.value + reach), p, true});
      device.p = std::min(device.p, p);
    }
  }
}

Effects hold_against_each_other(const IdenticalDevices& devices, const FleetRules& rules, Fleet& fleet) {
  Effects effects = effects_over(devices, devices.families(), centres(devices), rules);
  const std::size_t n = effects.size();
  if (n < least_devices) {
    fleet.notes.push_back(fmt::format(
        "{} identical device{} cannot tell an outlier: {} can, or --baseline with times of good ones", n,
        n == 1 ? "" : "s", least_devices));
    for (auto& device : fleet.devices) device.verdict = DeviceVerdict::unjudged;
    return effects;
  }
  const auto named = find_outliers(effects, fleet);
  test_families(effects, named, fleet);
  test_cases(effects, named, fleet);
  return effects;
}

// ---- Against a baseline

// Returns the spread of the baseline's units, or that of the fleet's devices if it is wider: sessions of one
// device do not tell what devices differ by. The devices' by their quartiles, as any number of them may be
// outliers; of a normal distribution these are as efficient as 0.37 of the number.
Spread widest(const Sums& base, const std::vector<double>& effects, const Spread& prior) {
  constexpr double interquartile_of_normal = 1.349, efficiency = 0.37;
  constexpr double guess = 0.25;  // as compare assumes if nobody has measured it
  Spread out = base.n > 1 ? noise_of(base.spread(), prior, family_tails) : prior;
  std::vector<double> there;
  std::ranges::copy_if(effects, std::back_inserter(there), [](double e) { return !std::isnan(e); });
  if (there.size() >= least_devices) {
    const double sd = (quantile(there, 0.75) - quantile(there, 0.25)) / interquartile_of_normal;
    const Spread devices =
        noise_of({std::max(least_variance, sd * sd), efficiency * static_cast<double>(there.size() - 1)},
                 prior, family_tails);
    if (devices.variance > out.variance || out.degrees == 0) out = devices;
  }
  return out.degrees > 0 ? out : Spread{guess * guess, family_tails};
}

// Returns the baseline's centres for the cases of the fleet that are the same by clock and work.
std::vector<double> centres_of(const IdenticalDevices& baseline, const std::vector<double>& base_centres,
                               const IdenticalDevices& devices) {
  std::map<std::string_view, std::size_t> there;
  for (std::size_t c = 0; c < baseline.cases.size(); ++c) there[baseline.cases[c].id] = c;
  std::vector<double> out;
  for (const auto& one : devices.cases) {
    const auto it = there.find(one.id);
    const bool same = it != there.end() && baseline.cases[it->second].clock == one.clock &&
                      baseline.cases[it->second].work == one.work;
    out.push_back(same ? base_centres[it->second] : unmeasured);
  }
  return out;
}

Effects hold_against(const IdenticalDevices& baseline, const IdenticalDevices& devices,
                     const FleetRules& rules, Fleet& fleet) {
  const auto base_centres = centres(baseline);
  auto middle = centres_of(baseline, base_centres, devices);
  auto families = devices.families();
  for (auto& family : families)
    std::erase_if(family.cases, [&](std::size_t c) { return std::isnan(middle[c]); });
  std::erase_if(families, [](const auto& family) { return family.cases.empty(); });
  Effects effects = effects_over(devices, std::move(families), std::move(middle), rules);
  const auto of_base = baseline.families();
  FamilyTests tests(effects.size());
  for (std::size_t f = 0; f < effects.families.size(); ++f) {
    Sums base;
    const auto its = std::ranges::find(of_base, effects.families[f].name, &IdenticalDevices::OfFamily::name);
    for (std::size_t u = 0; its != of_base.end() && u < baseline.units.size(); ++u)
      base.add(effect_of(baseline, u, its->cases, base_centres));
    const double n = std::max(1.0, base.n);
    const Spread noise = widest(base, effects.values[f], effects.families[f].prior);
    const double se = std::sqrt(noise.variance * (1 + 1 / n));
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (const double value = effects.values[f][u]; !std::isnan(value))
        add_test(effects, u, f, {value, se, noise.degrees}, tests, fleet);
    }
    add_noise(effects, noise, n, tests);
  }
  std::vector<bool> named(effects.size());
  for (std::size_t u = 0; u < effects.size(); ++u) {
    double& p = fleet.devices[u].p;
    for (const double one : tests.p[u]) p = std::min(p, p_of_any(one, effects.size() * tests.p[u].size()));
    named[u] = p < rules.false_alarms;
  }
  settle(effects, named, tests, fleet);
  return effects;
}

// ---- Verdicts

std::string why_unjudged(const FleetDevice& device) {
  const std::size_t asked = device.cases + device.missing;
  if (2 * device.slowed > asked)
    return fmt::format(
        "beside {} of {} cases the canary ran slow: its clock falls under load, or its host had other work",
        device.slowed, asked);
  if (2 * device.apart > asked)
    return fmt::format("{} of {} cases were timed by another clock than on most devices, or did other work",
                       device.apart, asked);
  return fmt::format("it has {} of the {} cases that most devices have", device.cases, asked);
}

std::vector<std::size_t> cases_bound_by(const IdenticalDevices& devices, Bound bound) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < devices.cases.size(); ++c) {
    if (devices.cases[c].bound == bound) out.push_back(c);
  }
  return out;
}

// Says what the slow cases of a device have in common: its clock, its memory, its cores, or a family.
std::string shared_by(const Effects& effects, const FleetDevice& device, std::size_t u, double spread) {
  const double margin = effects.margin();
  std::vector<double> logs;
  std::vector<std::string> slow;
  bool by_case = true;
  for (const auto& one : device.differences) {
    if (one.id.empty()) logs.push_back(std::log(one.ratio));
    if (!one.outlier || one.ratio < 1) continue;
    by_case = by_case && !one.id.empty();
    if (std::ranges::find(slow, one.family) == slow.end()) slow.push_back(one.family);
  }
  if (by_case) return fmt::format("single cases of {}", fmt::join(slow, ", "));
  const double middle = median(logs);
  // Families of one cause differ by up to the margin, and by the noise of two.
  const double same = std::max(margin, 0.25 * middle) + 2 * spread;
  if (logs.size() > 2 && middle > margin &&
      std::ranges::all_of(logs, [&](double log) { return std::abs(log - middle) <= same; }))
    return fmt::format(
        "every family by about the same factor, {:.2f}x: its clock, or a part of it is not there",
        std::exp(middle));
  const auto of = [&](Bound bound) {
    return effect_of(*effects.devices, u, cases_bound_by(*effects.devices, bound), effects.centres);
  };
  const double of_memory = of(Bound::memory), of_arithmetic = of(Bound::arithmetic);
  const auto factors = [&] {
    return fmt::format("{:.2f}x where memory bounds, {:.2f}x where arithmetic does", std::exp(of_memory),
                       std::exp(of_arithmetic));
  };
  if (of_memory > margin && of_arithmetic < margin) return "memory: " + factors();
  if (of_arithmetic > margin && of_memory < margin) return "clock or power of its cores: " + factors();
  if (of_arithmetic > margin && of_memory > margin) return "memory and cores: " + factors();
  return fmt::format("{} alone", fmt::join(slow, ", "));
}

void conclude(const Effects& effects, Fleet& fleet) {
  for (std::size_t u = 0; u < effects.size(); ++u) {
    FleetDevice& device = fleet.devices[u];
    for (const auto& one : effects.devices->cases)
      (std::isnan(one.log_times[u]) ? device.missing : device.cases) += 1;
    if (device.verdict == DeviceVerdict::unjudged) continue;
    const auto is = [&](bool slower) {
      return std::ranges::any_of(device.differences, [&](const DeviceDifference& one) {
        return one.outlier && (one.ratio > 1) == slower;
      });
    };
    if (is(true)) {
      device.verdict = DeviceVerdict::drain;
      device.shared = shared_by(effects, device, u, fleet.spread);
    } else if (is(false)) {
      device.verdict = DeviceVerdict::faster;
    } else if (2 * effects.families_of(u) < effects.families.size() || effects.families.empty()) {
      device.verdict = DeviceVerdict::unjudged;
      device.shared = why_unjudged(device);
    }
  }
}

// ---- Failures

// The outcomes of one case over the devices.
struct Outcomes {
  std::string family;
  std::map<const DeviceResults*, const CaseTimes*> failed;
  std::size_t right = 0, unsupported = 0, implausible = 0;
};

void add_failures(Fleet& fleet) {
  std::map<std::string, Outcomes> outcomes;
  std::vector<std::string> order;
  for (const auto& device : fleet.devices) {
    for (const auto& at : device.results->cases) {
      if (at.known_incorrect) continue;
      const auto [it, is_new] = outcomes.try_emplace(at.label());
      if (is_new) order.push_back(at.label());
      it->second.family = at.family();
      if (at.ok())
        ++it->second.right;
      else if (is_device_failure(at))
        it->second.failed[device.results] = &at;
      else if (at.status == Status::implausible)
        ++it->second.implausible;
      else
        ++it->second.unsupported;
    }
  }
  std::size_t of_most = 0, lacked = 0, implausible = 0;
  for (const auto& id : order) {
    const Outcomes& one = outcomes[id];
    implausible += one.implausible;
    if (one.unsupported > 0 && one.unsupported < one.right) ++lacked;
    if (one.failed.empty()) continue;
    if (one.failed.size() > one.right) {
      ++of_most;
      continue;
    }
    for (auto& device : fleet.devices) {
      const auto it = one.failed.find(device.results);
      if (it == one.failed.end()) continue;
      device.failures.push_back({one.family, id, it->second->status, it->second->reason});
    }
  }
  if (of_most > 0)
    fleet.notes.push_back(fmt::format(
        "{} cases fail on more devices than they are right on: that is their kernel or driver, not a device",
        of_most));
  if (implausible > 0)
    fleet.notes.push_back(
        fmt::format("{} time{} of a case on a device {} implausible and not counted: had {} other work?",
                    implausible, implausible == 1 ? "" : "s", implausible == 1 ? "is" : "are",
                    implausible == 1 ? "its host" : "their hosts"));
  if (lacked > 0)
    fleet.notes.push_back(fmt::format(
        "{} cases are unsupported on some devices that others run: have all one driver?", lacked));
}

void blame(FleetDevice& device) {
  if (device.failures.empty()) return;
  device.verdict = DeviceVerdict::drain;
  std::map<Status, std::set<std::string>> kinds;
  for (const auto& failure : device.failures) kinds[failure.status].insert(failure.family);
  std::vector<std::string> words;
  for (const auto& [status, families] : kinds) {
    const auto n = std::ranges::count(device.failures, status, &DeviceFailure::status);
    words.push_back(fmt::format("{} in {} of {}", text_of(status),
                                n == 1 ? "a case" : std::to_string(n) + " cases", fmt::join(families, ", ")));
  }
  device.shared =
      fmt::format("{}{}{}", fmt::join(words, "; "), device.shared.empty() ? "" : "; ", device.shared);
}

void note_drivers(Fleet& fleet) {
  std::map<std::string, std::size_t> drivers;
  for (const auto& device : fleet.devices) ++drivers[device.results->driver];
  if (drivers.size() < 2) return;
  std::vector<std::string> words;
  for (const auto& [driver, n] : drivers) words.push_back(fmt::format("{} on {}", driver, n));
  fleet.notes.push_back(fmt::format("several drivers: {}", fmt::join(words, ", ")));
}

}  // namespace

const char* word_of(DeviceVerdict verdict) {
  switch (verdict) {
    case DeviceVerdict::fine: return "fine";
    case DeviceVerdict::faster: return "faster";
    case DeviceVerdict::unjudged: return "not judged";
    case DeviceVerdict::drain: return "drain";
  }
  return "";
}

std::size_t Fleet::count(DeviceVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(devices, verdict, &FleetDevice::verdict));
}

Fleet fleet_of(const IdenticalDevices& devices, const IdenticalDevices* baseline, const FleetRules& rules) {
  Fleet out;
  out.device = devices.device;
  out.by_baseline = baseline != nullptr;
  for (const auto& unit : devices.units) {
    FleetDevice& device = out.devices.emplace_back();
    device.results = unit.device;
    device.location = unit.location;
    device.slowed = unit.slowed;
    device.apart = unit.apart;
  }
  const Effects effects = baseline != nullptr ? hold_against(*baseline, devices, rules, out)
                                              : hold_against_each_other(devices, rules, out);
  out.cases = devices.cases.size();
  out.families = effects.families.size();
  conclude(effects, out);
  return out;
}

std::vector<Fleet> fleets_of(const ResultsSet& set, const ResultsSet* baseline, const FleetRules& rules) {
  std::vector<IdenticalDevices> good;
  if (baseline != nullptr) {
    good = identical_devices(*baseline, Unit::device);
    // Takes the sessions of a single device instead.
    auto sessions = identical_devices(*baseline, Unit::session);
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (good[i].units.size() < 2) good[i] = std::move(sessions[i]);
    }
  }
  std::vector<Fleet> out;
  std::vector<std::string> without;
  for (const auto& devices : identical_devices(set, Unit::device)) {
    const auto base = std::ranges::find(good, devices.device, &IdenticalDevices::device);
    if (baseline != nullptr && base == good.end()) {
      without.push_back(devices.device);
      continue;
    }
    Fleet& fleet = out.emplace_back(fleet_of(devices, baseline != nullptr ? &*base : nullptr, rules));
    add_failures(fleet);
    for (auto& device : fleet.devices) blame(device);
    note_drivers(fleet);
  }
  if (out.empty())
    throw Error(ErrorCode::usage, fmt::format("the baseline has no device of {}", fmt::join(without, ", ")));
  for (const auto& device : without)
    out.front().notes.push_back(fmt::format("{} is left out: the baseline has none", device));
  return out;
}

}  // namespace clweave::fleet
