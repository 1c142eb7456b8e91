// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "analysis/fleet/effects.hpp"
#include "analysis/fleet/failures.hpp"
#include "analysis/fleet/groups.hpp"
#include "analysis/fleet/repeats.hpp"
#include "analysis/fleet/wide_spread.hpp"
#include "analysis/rows/prior.hpp"
#include "base/error.hpp"

namespace clweave::fleet {

namespace {

constexpr std::size_t least_devices = 4;
constexpr std::size_t all_tests = 2;  // of families, and of cases

double margin_of(const FleetRules& rules) { return std::log1p(rules.margin); }

// Returns the probability that any of so many tests gives this p (Bonferroni).
double p_of_any(double p, std::size_t tests) { return std::min(1.0, p * static_cast<double>(tests)); }

// The devices that are named, and what for.
struct Named {
  std::vector<bool> devices;
  std::vector<std::vector<bool>> by_measure;  // per measure and device

  explicit Named(const Effects& effects)
      : devices(effects.size()), by_measure(effects.measures.size(), std::vector<bool>(effects.size())) {}
};

// ---- Groups

// A measure in which the devices fall into groups.
struct Split {
  const Measure* measure = nullptr;
  Groups groups;
};

// Makes two groups of the devices that are named, of one side, and the others.
Groups groups_by(const Measure& measure, const std::vector<double>& p, double level) {
  Groups out;
  out.sizes.assign(2, 0);
  out.means.assign(2, 0);
  const double middle = middle_of(measure.values);
  const auto is_odd = [&](std::size_t u) { return p[u] < level; };
  bool slower = false;
  for (std::size_t u = 0; u < p.size(); ++u) slower = slower || (is_odd(u) && measure.values[u] > middle);
  for (std::size_t u = 0; u < p.size(); ++u) {
    const double value = measure.values[u];
    const std::size_t g = is_odd(u) && (value > middle) == slower ? (slower ? 1 : 0) : (slower ? 0 : 1);
    out.of.push_back(std::isnan(value) ? Groups::none : g);
    if (std::isnan(value)) continue;
    ++out.sizes[g];
    out.means[g] += value;
  }
  for (std::size_t g = 0; g < 2; ++g)
    out.means[g] /= static_cast<double>(std::max<std::size_t>(1, out.sizes[g]));
  return out;
}

// Returns whether the slowest group and the fastest differ by themselves, not only over something else.
bool own_apart(const Measure& measure, const Groups& groups, double margin) {
  if (measure.own.empty()) return true;
  Sums fastest, slowest;
  for (std::size_t u = 0; u < groups.of.size(); ++u) {
    if (groups.of[u] == 0) fastest.add(measure.own[u]);
    if (groups.of[u] + 1 == groups.sizes.size()) slowest.add(measure.own[u]);
  }
  return slowest.mean() - fastest.mean() > margin;
}

// Returns the groups of a measure if nobody can tell which of them is as it should be: if more than a quarter
// of the devices is slow, more than a tenth is fast, or there is no group of three quarters. A single fast
// device is none.
std::optional<Split> split_of(const Measure& measure, const std::vector<double>& p, const FleetRules& rules) {
  const double middle = middle_of(measure.values);
  std::size_t slow = 0, fast = 0, n = 0;
  std::vector<double> rest = measure.values;
  for (std::size_t u = 0; u < p.size(); ++u) {
    if (std::isnan(measure.values[u])) continue;
    ++n;
    if (p[u] >= rules.false_alarms) continue;
    ++(measure.values[u] > middle ? slow : fast);
    rest[u] = unmeasured;
  }
  const Groups left = groups_of(rest, measure.prior, margin_of(rules));
  const bool many = 4 * slow > n || (fast > 1 && 10 * fast > n);
  const bool grouped = left.sizes.size() > 1 && 4 * left.largest() < 3 * n;
  if (!many && !grouped) return {};
  Groups groups = groups_of(measure.values, measure.prior, margin_of(rules));
  if (groups.sizes.size() < 2) groups = groups_by(measure, p, rules.false_alarms);
  if (!own_apart(measure, groups, margin_of(rules))) return {};
  return Split{&measure, std::move(groups)};
}

// Names the families that the devices fall into groups in.
std::string families_of(const std::vector<Split>& splits, const Effects& effects) {
  std::vector<std::string> names;
  for (const auto& split : splits) {
    if (split.measure->of == Measure::Of::all_families) return "most families";
    const std::string name = split.measure->of_one_family() ? effects.families[split.measure->family].name
                                                            : "what memory bounds over the rest";
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Returns that in all families, else the one whose groups are farthest apart.
const Split& clearest_of(const std::vector<Split>& splits) {
  const auto all = std::ranges::find_if(
      splits, [](const Split& split) { return split.measure->of == Measure::Of::all_families; });
  if (all != splits.end()) return *all;
  return *std::ranges::max_element(
      splits, {}, [](const Split& split) { return split.groups.means.back() - split.groups.means.front(); });
}

// Says what drivers the groups have, if they have none in common.
std::string drivers_of(const Groups& groups, const Fleet& fleet) {
  std::vector<std::set<std::string>> drivers(groups.sizes.size());
  std::map<std::string, std::size_t> in;  // groups by driver
  for (std::size_t u = 0; u < groups.of.size(); ++u) {
    const auto* results = fleet.devices[u].results;
    if (groups.of[u] == Groups::none || results == nullptr) continue;
    if (drivers[groups.of[u]].insert(results->driver).second) ++in[results->driver];
  }
  if (in.size() < 2 || std::ranges::any_of(in, [](const auto& driver) { return driver.second > 1; }))
    return "";
  std::vector<std::string> words;
  for (const auto& of : drivers) words.push_back(fmt::format("{}", fmt::join(of, ", ")));
  return fmt::format("; their drivers differ in the same way: {}", fmt::join(words, " against "));
}

// Tells the groups, and that none of the devices is judged.
void tell_groups(const Effects& effects, const std::vector<Split>& splits, Fleet& fleet) {
  if (splits.empty()) return;
  fleet.split = true;
  const Groups& groups = clearest_of(splits).groups;
  std::vector<std::string> words;
  for (std::size_t g = 0; g < groups.sizes.size(); ++g)
    words.push_back(
        fmt::format("{} at {:.2f}x", groups.sizes[g], std::exp(groups.means[g] - groups.means.front())));
  constexpr std::array<const char*, 5> numbers = {"", "", "two", "three", "four"};
  fleet.notes.push_back(fmt::format(
      "{} groups in {}: {}{}: which is as it should be, --baseline with times of good devices can tell",
      numbers[groups.sizes.size()], families_of(splits, effects), fmt::join(words, ", "),
      drivers_of(groups, fleet)));
  for (std::size_t u = 0; u < groups.of.size(); ++u) {
    fleet.devices[u].verdict = DeviceVerdict::unjudged;
    fleet.devices[u].shared = groups.of[u] == Groups::none
                                  ? "the fleet falls into groups, and it has not what tells of which it is"
                                  : fmt::format("of the group at {:.2f}x",
                                                std::exp(groups.means[groups.of[u]] - groups.means.front()));
  }
}

// ---- Spread

// A measure in which devices that are not named are spread so widely that nobody knows which is as it should
// be.
struct Spreading {
  const Measure* measure = nullptr;
  WideSpread ends;
};

// Returns that in all families, if it is there, else the widest.
std::optional<Spreading> spreading_of(const Effects& effects, const Named& named, double margin) {
  std::optional<Spreading> out;
  for (const Measure& measure : effects.measures) {
    if (!measure.own.empty()) continue;
    std::vector<double> others = measure.values;
    for (std::size_t u = 0; u < others.size(); ++u) {
      if (named.devices[u]) others[u] = unmeasured;
    }
    const auto ends = wide_spread(others, measure.prior, margin);
    if (!ends) continue;
    if (measure.of == Measure::Of::all_families) return Spreading{&measure, *ends};
    if (!out || ends->high - ends->low > out->ends.high - out->ends.low) out = Spreading{&measure, *ends};
  }
  return out;
}

// Tells that none of the devices is judged but those that are named.
void tell_spread(const Effects& effects, const Spreading& found, const Named& named, const std::string& who,
                 Fleet& fleet) {
  fleet.split = true;
  const std::string where = found.measure->of == Measure::Of::all_families
                                ? "most families"
                                : effects.families[found.measure->family].name;
  fleet.notes.push_back(
      fmt::format("spread in {}: the slowest device takes {:.2f}x the time of the fastest, and the others "
                  "lie between: which "
                  "is as it should be, {} can tell",
                  where, std::exp(found.ends.high - found.ends.low), who));
  for (std::size_t u = 0; u < effects.size(); ++u) {
    if (named.devices[u]) continue;
    fleet.devices[u].verdict = DeviceVerdict::unjudged;
    const double value = found.measure->values[u];
    fleet.devices[u].shared =
        std::isnan(value)
            ? "the fleet is spread widely, and it has not what tells where it lies"
            : fmt::format("at {:.2f}x of the fastest in {}", std::exp(value - found.ends.low), where);
  }
}

// ---- Against each other

// Finds the outliers of each measure, and the measures in which the devices fall into groups, whose outliers
// are not named.
std::vector<Split> find_outliers(const Effects& effects, const FleetRules& rules, Named& named,
                                 Fleet& fleet) {
  const double margin = margin_of(rules);
  std::vector<Split> splits;
  for (std::size_t m = 0; m < effects.measures.size(); ++m) {
    const Measure& measure = effects.measures[m];
    const auto measured =
        std::ranges::count_if(measure.values, [](double value) { return !std::isnan(value); });
    if (measured < static_cast<std::ptrdiff_t>(least_devices)) continue;
    auto p = outlier_p(measure.values, measure.prior, margin, rules.false_alarms,
                       all_tests * effects.measures.size());
    const bool relative = !measure.own.empty();
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (!measure.counts(u, margin)) p[u] = 1;
    }
    if (auto split = split_of(measure, p, rules); split && (!relative || splits.empty())) {
      splits.push_back(*std::move(split));
      continue;
    }
    if (relative && std::ranges::any_of(splits, [&](const Split& split) {
          return !split.measure->of_one_family() || !measure.of_one_family() ||
                 split.measure->family == measure.family;
        }))
      continue;
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (p[u] >= rules.false_alarms) continue;
      named.by_measure[m][u] = named.devices[u] = true;
      fleet.devices[u].p = std::min(fleet.devices[u].p, p[u]);
    }
  }
  return splits;
}

// Collects the differences of a fleet's devices in its families, and their p, not yet corrected.
struct FamilyTests {
  std::vector<std::vector<double>> p;              // per device
  std::vector<std::vector<std::size_t>> families;  // per device: of which these are
  std::vector<Difference> in_all;                  // per device
  std::vector<double> spreads, leasts;             // per family

  explicit FamilyTests(std::size_t devices) : p(devices), families(devices), in_all(devices) {}
};

DeviceDifference told(const std::string& family, const std::string& id, std::size_t cases,
                      const Difference& one) {
  const double reach = t_quantile(0.95, one.degrees) * one.se;
  return {family, id, cases, std::exp(one.value), std::exp(one.value - reach), std::exp(one.value + reach)};
}

void add_test(const Effects& effects, std::size_t u, std::size_t f, const Difference& one, double margin,
              FamilyTests& tests, Fleet& fleet) {
  fleet.devices[u].differences.push_back(
      told(effects.families[f].name, {}, effects.families[f].cases.size(), one));
  tests.p[u].push_back(one.p(margin));
  tests.families[u].push_back(f);
}

// Adds a family whose effects have this noise, and the least effect in it that names a device.
void add_noise(const Effects& effects, const Spread& noise, double others, const FleetRules& rules,
               FamilyTests& tests) {
  const double level =
      rules.false_alarms / static_cast<double>(all_tests * effects.size() * effects.measures.size());
  const double se = std::sqrt(noise.variance * (1 + 1 / others));
  tests.spreads.push_back(std::sqrt(noise.variance));
  tests.leasts.push_back(std::exp(margin_of(rules) + t_quantile(1 - 2 * level, noise.degrees) * se) - 1);
}

// Marks the families that a device was named by in this measure, or adds what they have in common.
void mark(const Effects& effects, const Measure& measure, std::size_t u, const FamilyTests& tests,
          FleetDevice& device) {
  if (measure.of == Measure::Of::all_families) {
    auto& difference = device.differences.emplace_back(
        told(whole_device, {}, effects.devices->cases.size(), tests.in_all[u]));
    difference.p = device.p;
    difference.outlier = true;
    return;
  }
  // Takes the families of that bound that differ by at least half as much as its cases do.
  const bool by_memory = measure.values[u] > 0;
  const auto takes_part = [&](std::size_t f) {
    if (measure.of_one_family()) return f == measure.family;
    const double own = std::abs(effects.of_family(f, u));
    return mostly_bound(*effects.devices, effects.families[f], Bound::memory) == by_memory &&
           2 * own > std::abs(measure.own[u]);
  };
  for (std::size_t i = 0; i < tests.families[u].size(); ++i) {
    if (takes_part(tests.families[u][i])) device.differences[i].outlier = true;
  }
}

// Marks what a named device is an outlier in: the families that it was named by, and those that it differs in
// at a false discovery rate of 1 % (Benjamini and Hochberg 1995).
void settle(const Effects& effects, const Named& named, const FamilyTests& tests, const FleetRules& rules,
            Fleet& fleet) {
  for (std::size_t u = 0; u < effects.size(); ++u) {
    const auto adjusted = benjamini_hochberg(tests.p[u]);
    for (std::size_t i = 0; i < adjusted.size(); ++i) {
      DeviceDifference& one = fleet.devices[u].differences[i];
      one.p = adjusted[i];
      one.outlier = named.devices[u] && one.p < rules.false_alarms;
    }
    for (std::size_t m = 0; m < effects.measures.size(); ++m) {
      if (named.by_measure[m][u]) mark(effects, effects.measures[m], u, tests, fleet.devices[u]);
    }
  }
  if (!tests.spreads.empty()) fleet.spread = median(tests.spreads);
  if (!tests.leasts.empty()) fleet.least = median(tests.leasts);
}

// Holds each device's families against those of the devices that are not named.
void test_families(const Effects& effects, const Named& named, const FleetRules& rules, Fleet& fleet) {
  FamilyTests tests(effects.size());
  for (const Measure& measure : effects.measures) {
    if (!measure.own.empty()) continue;
    Sums good;
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (!named.devices[u]) good.add(measure.values[u]);
    }
    for (std::size_t u = 0; u < effects.size(); ++u) {
      const double value = measure.values[u];
      if (std::isnan(value)) continue;
      const Sums others = named.devices[u] ? good : good.without(value);
      if (others.n < 2) continue;
      const Difference one = difference(value, others, measure.prior, family_tails);
      if (measure.of == Measure::Of::family)
        add_test(effects, u, measure.family, one, margin_of(rules), tests, fleet);
      else
        tests.in_all[u] = one;
    }
    if (good.n >= 2 && measure.of == Measure::Of::family)
      add_noise(effects, noise_of(good.spread(), measure.prior, family_tails), good.n, rules, tests);
  }
  settle(effects, named, tests, rules, fleet);
}

// Adds a case in which a device that is not named differs, if it does.
void test_case(const DeviceCase& one, const Difference& off, std::size_t tests, const FleetRules& rules,
               FleetDevice& device) {
  constexpr double far = 5;  // standard errors; less is never significant among so many tests
  if (off.beyond(margin_of(rules)) < far) return;
  const double p = p_of_any(off.p(margin_of(rules)), tests);
  if (p >= rules.false_alarms) return;
  auto& difference = device.differences.emplace_back(told(one.family, one.id, 1, off));
  difference.p = p;
  difference.outlier = true;
  device.p = std::min(device.p, p);
}

// Tests every case of the devices that are not named by itself.
void test_cases(const Effects& effects, const Named& named, const FleetRules& rules, Fleet& fleet) {
  const auto& cases = effects.devices->cases;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const DeviceCase& one = cases[c];
    Sums good;
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (!named.devices[u]) good.add(one.log_times[u] - effects.centres[c]);
    }
    if (good.n < least_devices) continue;
    for (std::size_t u = 0; u < effects.size(); ++u) {
      const double value = one.log_times[u] - effects.centres[c];
      if (named.devices[u] || std::isnan(value)) continue;
      test_case(one, difference(value, good.without(value), one.prior, case_tails),
                all_tests * cases.size() * effects.size(), rules, fleet.devices[u]);
    }
  }
}

// Tells by what devices differ that are too few to tell which of them is slow.
void note_difference(const Effects& effects, double margin, Fleet& fleet) {
  for (const Measure& measure : effects.measures) {
    if (measure.of != Measure::Of::all_families) continue;
    const auto is_there = [](double value) { return !std::isnan(value); };
    std::vector<double> there;
    std::ranges::copy_if(measure.values, std::back_inserter(there), is_there);
    if (there.empty()) continue;
    const auto [low, high] = std::ranges::minmax(there);
    if (high - low > margin)
      fleet.notes.push_back(fmt::format("in most families the slowest takes {:.2f}x the time of the fastest",
                                        std::exp(high - low)));
  }
}

Effects hold_against_each_other(const IdenticalDevices& devices, const FleetRules& rules, Fleet& fleet) {
  Effects effects = effects_over(devices, devices.families(), centres(devices));
  const std::size_t n = effects.size();
  if (n < least_devices) {
    fleet.notes.push_back(fmt::format(
        "{} identical device{} cannot tell an outlier: {} can, or --baseline with times of good ones", n,
        n == 1 ? "" : "s", least_devices));
    note_difference(effects, margin_of(rules), fleet);
    for (auto& device : fleet.devices) device.verdict = DeviceVerdict::unjudged;
    return effects;
  }
  Named named(effects);
  const auto splits = find_outliers(effects, rules, named, fleet);
  test_families(effects, named, rules, fleet);
  test_cases(effects, named, rules, fleet);
  tell_groups(effects, splits, fleet);
  if (!splits.empty()) return effects;
  if (const auto spread = spreading_of(effects, named, margin_of(rules)))
    tell_spread(effects, *spread, named, "--baseline with times of good devices", fleet);
  return effects;
}

// ---- Against a baseline

// Returns how much the devices of a fleet differ within their groups; of one group by its quartiles, as some
// of it may be outliers. Of a normal distribution quartiles are as efficient as 0.37 of the number.
Spread spread_within(const Measure& measure, double margin) {
  constexpr double interquartile_of_normal = 1.349, efficiency = 0.37;
  const Groups groups = groups_of(measure.values, measure.prior, margin);
  if (groups.sizes.size() != 1 || groups.within.degrees == 0) return groups.within;
  std::vector<double> there = measure.values;
  std::erase_if(there, [](double value) { return std::isnan(value); });
  const double sd = (quantile(there, 0.75) - quantile(there, 0.25)) / interquartile_of_normal;
  return {std::max(least_variance, sd * sd), efficiency * groups.within.degrees};
}

// Returns the spread of a baseline of four or more devices. Sessions of one device do not tell what devices
// differ by: then that of the fleet's devices counts, if it is wider.
Spread noise_for(const Sums& base, bool of_devices, const Measure& measure, double margin) {
  constexpr double guess = 0.25;  // as compare assumes if nobody has measured it
  Spread out = base.n > 1 ? noise_of(base.spread(), measure.prior, family_tails) : measure.prior;
  if (!of_devices) {
    const Spread within = spread_within(measure, margin);
    const Spread devices = within.degrees > 0 ? noise_of(within, measure.prior, family_tails) : Spread{};
    if (devices.degrees > 0 && (devices.variance > out.variance || out.degrees == 0)) out = devices;
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

// A baseline, as the fleet's cases and families ask for it.
struct Baseline {
  const IdenticalDevices* devices;
  std::vector<double> centres;  // per case of its own
  Effects effects;              // of its units, in the fleet's families
  bool of_devices = false;      // four or more, not sessions of one
};

Baseline baseline_for(const IdenticalDevices& devices,
                      const std::vector<IdenticalDevices::OfFamily>& wanted) {
  Baseline out{&devices, centres(devices), {}, false};
  std::vector<IdenticalDevices::OfFamily> families;
  const auto all = devices.families();
  for (const auto& family : wanted)
    families.push_back(*std::ranges::find(all, family.name, &IdenticalDevices::OfFamily::name));
  out.effects = effects_over(devices, std::move(families), out.centres);
  std::set<std::string_view> locations;
  for (const auto& unit : devices.units) locations.insert(unit.location);
  out.of_devices = locations.size() >= least_devices;
  return out;
}

// Tests every case of the devices that are not named against the baseline's.
void test_cases(const Effects& effects, const Baseline& baseline, const Named& named, const FleetRules& rules,
                Fleet& fleet) {
  const auto& cases = effects.devices->cases;
  std::map<std::string_view, std::size_t> there;
  for (std::size_t c = 0; c < baseline.devices->cases.size(); ++c) there[baseline.devices->cases[c].id] = c;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (std::isnan(effects.centres[c])) continue;
    const std::size_t of_base = there.at(cases[c].id);
    Sums base;
    for (const double log_time : baseline.devices->cases[of_base].log_times)
      base.add(log_time - baseline.centres[of_base]);
    const Spread noise = base.n > 1 ? noise_of(base.spread(), cases[c].prior, case_tails) : cases[c].prior;
    if (noise.degrees == 0) continue;
    const double se = std::sqrt(noise.variance * (1 + 1 / std::max(1.0, base.n)));
    for (std::size_t u = 0; u < effects.size(); ++u) {
      const double value = cases[c].log_times[u] - effects.centres[c];
      if (!named.devices[u] && !std::isnan(value))
        test_case(cases[c], {value, se, std::min(case_tails, noise.degrees)},
                  all_tests * cases.size() * effects.size(), rules, fleet.devices[u]);
    }
  }
}

// Names the devices whose least p is significant among all devices (Holm, "A simple sequentially rejective
// multiple test procedure", 1979). `p` is per measure and device.
Named named_by(const Effects& effects, const std::vector<std::vector<double>>& p, const FleetRules& rules,
               Fleet& fleet) {
  Named out(effects);
  std::vector<std::size_t> order(effects.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t u = 0; u < effects.size(); ++u) {
    for (const auto& of_measure : p)
      fleet.devices[u].p =
          std::min(fleet.devices[u].p, p_of_any(of_measure[u], all_tests * effects.measures_of(u)));
  }
  std::ranges::sort(order, {}, [&](std::size_t u) { return fleet.devices[u].p; });
  double least = 0;  // of the devices before
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t u = order[i], left = order.size() - i;
    fleet.devices[u].p = least = std::max(least, p_of_any(fleet.devices[u].p, left));
    out.devices[u] = least < rules.false_alarms;
    for (std::size_t m = 0; m < p.size(); ++m)
      out.by_measure[m][u] =
          out.devices[u] && p_of_any(p[m][u], all_tests * effects.measures_of(u) * left) < rules.false_alarms;
  }
  return out;
}

Effects hold_against(const IdenticalDevices& good, const IdenticalDevices& devices, const FleetRules& rules,
                     Fleet& fleet) {
  const double margin = margin_of(rules);
  auto middle = centres_of(good, centres(good), devices);
  auto families = devices.families();
  for (auto& family : families)
    std::erase_if(family.cases, [&](std::size_t c) { return std::isnan(middle[c]); });
  std::erase_if(families, [](const auto& family) { return family.cases.empty(); });
  const Baseline baseline = baseline_for(good, families);
  Effects effects = effects_over(devices, std::move(families), std::move(middle));
  FamilyTests tests(effects.size());
  std::vector<std::vector<double>> p;
  for (std::size_t m = 0; m < effects.measures.size(); ++m) {
    const Measure& measure = effects.measures[m];
    Sums base;
    for (const double value : baseline.effects.measures[m].values) base.add(value);
    const double n = std::max(1.0, base.n);
    const Spread noise = noise_for(base, baseline.of_devices, measure, margin);
    const double se = std::sqrt(noise.variance * (1 + 1 / n));
    auto& of_measure = p.emplace_back(effects.size(), 1);
    for (std::size_t u = 0; u < effects.size(); ++u) {
      if (std::isnan(measure.values[u])) continue;
      const Difference one{measure.values[u], se, noise.degrees};
      if (measure.counts(u, margin)) of_measure[u] = one.p(margin);
      if (measure.of == Measure::Of::family)
        add_test(effects, u, measure.family, one, margin, tests, fleet);
      else if (measure.of == Measure::Of::all_families)
        tests.in_all[u] = one;
    }
    if (measure.of == Measure::Of::family) add_noise(effects, noise, n, rules, tests);
  }
  const Named named = named_by(effects, p, rules, fleet);
  settle(effects, named, tests, rules, fleet);
  test_cases(effects, baseline, named, rules, fleet);
  // What devices differ by was taken from the fleet itself, so that its spread is no difference.
  if (baseline.of_devices) return effects;
  if (const auto spread = spreading_of(effects, named, margin))
    tell_spread(effects, *spread, named, "a baseline of four good devices or more", fleet);
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
std::string shared_by(const Effects& effects, const FleetDevice& device, std::size_t u, double spread,
                      double margin) {
  std::vector<double> logs;
  std::vector<std::string> slow;
  bool by_case = true;
  for (const auto& one : device.differences) {
    if (one.id.empty() && one.family != whole_device) logs.push_back(std::log(one.ratio));
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

// Says in how many processes a device was slow in what it is named for, where the fewest were.
std::string times_of(const Effects& effects, const FleetDevice& device, std::size_t u, double margin) {
  SlowProcesses least{Groups::none, 0};
  for (const auto& one : device.differences) {
    if (!one.outlier || one.ratio < 1) continue;
    const auto found = slow_processes(effects, u, one, margin);
    // A difference of all families may be too small in each process by itself.
    if (found.slow > 0 && found.slow < least.slow) least = found;
  }
  if (least.all == 0) return "in no process by itself";
  return least.all == 1 ? "in its only process" : fmt::format("in {} of {} processes", least.slow, least.all);
}

void conclude(const Effects& effects, const FleetRules& rules, Fleet& fleet) {
  const double margin = margin_of(rules);
  for (std::size_t u = 0; u < effects.size(); ++u) {
    FleetDevice& device = fleet.devices[u];
    for (const auto& one : effects.devices->cases)
      (std::isnan(one.log_times[u]) ? device.missing : device.cases) += 1;
    for (std::size_t f = 0; f < effects.families.size(); ++f) {
      if (std::isnan(effects.of_family(f, u))) device.lacks.push_back(effects.families[f].name);
    }
  }
  const auto for_good = slow_for_good(effects, fleet, rules);
  for (std::size_t u = 0; u < effects.size(); ++u) {
    FleetDevice& device = fleet.devices[u];
    const auto is = [&](bool slower) {
      return std::ranges::any_of(device.differences, [&](const DeviceDifference& one) {
        return one.outlier && (one.ratio > 1) == slower;
      });
    };
    if (is(true)) {
      device.verdict = for_good[u] ? DeviceVerdict::drain : DeviceVerdict::again;
      device.shared = shared_by(effects, device, u, fleet.spread, margin);
      if (!for_good[u]) device.shared += ", " + times_of(effects, device, u, margin);
    } else if (device.verdict == DeviceVerdict::unjudged) {
      continue;
    } else if (is(false)) {
      device.verdict = DeviceVerdict::faster;
    } else if (2 * effects.families_of(u) < effects.families.size() || effects.families.empty()) {
      device.verdict = DeviceVerdict::unjudged;
      device.shared = why_unjudged(device);
    }
  }
}

// ---- Notes

void note_drivers(Fleet& fleet) {
  std::map<std::string, std::size_t> drivers;
  for (const auto& device : fleet.devices) ++drivers[device.results->driver];
  if (drivers.size() < 2) return;
  std::vector<std::string> words;
  for (const auto& [driver, n] : drivers) words.push_back(fmt::format("{} on {}", driver, n));
  fleet.notes.push_back(fmt::format("several drivers: {}", fmt::join(words, ", ")));
}

bool is_slow(const FleetDevice& device) {
  return device.verdict == DeviceVerdict::drain || device.verdict == DeviceVerdict::again;
}

// Judges no device whose driver few have, if all with that driver are slow: nobody can tell one from the
// other. With a baseline of that driver somebody can.
void doubt_drivers(Fleet& fleet, const DeviceResults* baseline) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> drivers;  // devices, and slow ones
  for (const auto& device : fleet.devices) {
    auto& [all, slow] = drivers[device.results->driver];
    ++all;
    slow += is_slow(device) ? 1 : 0;
  }
  for (auto& device : fleet.devices) {
    const std::string& driver = device.results->driver;
    const auto [all, slow] = drivers[driver];
    const bool known = baseline != nullptr && baseline->driver == driver;
    if (known || !is_slow(device) || slow < all || 2 * all >= fleet.devices.size()) continue;
    device.verdict = DeviceVerdict::unjudged;
    device.shared += fmt::format("; {} driver {}: it, or the device?",
                                 all == 1 ? "alone has" : fmt::format("so are all {} with", all), driver);
  }
}

// Notes that all devices are slower than the baseline: what they share may be at fault.
void note_common_slowness(Fleet& fleet, const DeviceResults* baseline) {
  if (baseline == nullptr || fleet.devices.size() < 2 || !std::ranges::all_of(fleet.devices, is_slow)) return;
  const std::string driver = baseline->driver == fleet.devices.front().results->driver
                                 ? ""
                                 : fmt::format(" (its driver is {}, theirs {})", baseline->driver,
                                               fleet.devices.front().results->driver);
  fleet.notes.push_back(fmt::format(
      "all {} devices are slower than the baseline: look first at what they share, as driver, power limit or "
      "cooling, and at the baseline{}",
      fleet.devices.size(), driver));
}

// Notes families that some devices lack and most have.
void note_missing(Fleet& fleet) {
  constexpr std::size_t most = 5;
  std::vector<std::string> words;
  for (const auto& device : fleet.devices) {
    if (device.lacks.empty() || device.verdict == DeviceVerdict::unjudged) continue;
    words.push_back(fmt::format("{}: {}", device.location, fmt::join(device.lacks, ", ")));
  }
  if (words.empty()) return;
  const std::size_t left = words.size() > most ? words.size() - most : 0;
  words.resize(words.size() - left);
  fleet.notes.push_back(fmt::format("not judged in these families, for want of times: {}{}",
                                    fmt::join(words, "; "),
                                    left > 0 ? fmt::format("; and {} devices more", left) : ""));
}

// Notes devices of which a process was slow as a whole, but not those that decide: they are the more.
void note_slow_processes(const Effects& effects, double margin, Fleet& fleet) {
  constexpr std::size_t most = 5, least_processes = 3;
  std::vector<std::size_t> all(effects.devices->cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::size_t n = 0;
  for (std::size_t u = 0; u < effects.size(); ++u) {
    if (fleet.devices[u].verdict != DeviceVerdict::fine) continue;
    const auto processes = process_effects_of(*effects.devices, u, all, effects.centres, least_processes);
    if (processes.size() < least_processes) continue;
    std::vector<double> slow;
    const double usual = median(processes);
    std::ranges::copy_if(processes, std::back_inserter(slow),
                         [&](double effect) { return effect > usual + 2 * margin; });
    if (slow.empty() || ++n > most) continue;
    fleet.notes.push_back(fmt::format(
        "{}: {} of {} processes took {:.2f}x the time of the others in most cases", fleet.devices[u].location,
        slow.size(), processes.size(), std::exp(median(slow) - usual)));
  }
  if (n > most) fleet.notes.push_back(fmt::format("and {} devices more with slow processes", n - most));
}

// Says what to run for the devices that are to be measured again.
void note_repeats(Fleet& fleet) {
  constexpr std::size_t most = 5;
  std::size_t n = 0;
  for (const auto& device : fleet.devices) {
    if (device.verdict != DeviceVerdict::again) continue;
    if (++n > most) continue;
    std::set<std::string> families;
    for (const auto& one : device.differences) {
      if (one.outlier && one.ratio > 1 && one.family != whole_device) families.insert(one.family);
    }
    fleet.notes.push_back(fmt::format(
        "a process may run slow once; with the options of its file, {}: clweave run --device {} --family {} "
        "--runs 2 --csv again.csv; then clweave fleet with that file, too",
        device.location, device.results->uuid.empty() ? device.results->id : device.results->uuid,
        families.empty() ? "all" : fmt::format("{}", fmt::join(families, ","))));
  }
  if (n > most) fleet.notes.push_back(fmt::format("and {} devices more to be measured again", n - most));
}

}  // namespace

const char* word_of(DeviceVerdict verdict) {
  switch (verdict) {
    case DeviceVerdict::fine: return "fine";
    case DeviceVerdict::faster: return "faster";
    case DeviceVerdict::unjudged: return "not judged";
    case DeviceVerdict::again: return "measure again";
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
  conclude(effects, rules, out);
  note_slow_processes(effects, margin_of(rules), out);
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
    const auto base =
        std::ranges::find_if(good, [&](const auto& one) { return identical(*one.kind, *devices.kind); });
    if (baseline != nullptr && base == good.end()) {
      without.push_back(devices.device);
      continue;
    }
    Fleet& fleet = out.emplace_back(fleet_of(devices, baseline != nullptr ? &*base : nullptr, rules));
    doubt_drivers(fleet, baseline != nullptr ? base->kind : nullptr);
    blame_for_failures(fleet, baseline);
    note_drivers(fleet);
    note_common_slowness(fleet, baseline != nullptr ? base->kind : nullptr);
    note_missing(fleet);
    note_repeats(fleet);
  }
  if (out.empty())
    throw Error(ErrorCode::usage, fmt::format("the baseline has no device of {}", fmt::join(without, ", ")));
  for (const auto& device : without)
    out.front().notes.push_back(fmt::format("{} is left out: the baseline has none", device));
  return out;
}

}  // namespace clweave::fleet
