// SPDX-License-Identifier: Apache-2.0
#include "analysis/fleet/interference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/compare/changes.hpp"
#include "analysis/rows/prior.hpp"
#include "base/quantity.hpp"
#include "base/stats.hpp"
#include "report/table.hpp"
#include "results/results_set.hpp"

namespace clweave::fleet {

namespace {

std::string kind_of(const Record& record) {
  return fmt::format("{} / {} / {}", record.platform, record.device, record.driver);
}

// A case of a device: its time at once over its time alone, run by run, as logarithms.
struct Pairs {
  std::string family, name;
  std::vector<double> differences;
  bool slower = false;

  double mean() const {
    double sum = 0;
    for (const double d : differences) sum += d;
    return sum / static_cast<double>(differences.size());
  }
};

// The rows of a device.
struct PairedRows {
  std::string id;
  std::vector<Record> alone, at_once;
  std::vector<Pairs> cases = {};
};

// An effect per run, before the noise and the number of tests are known.
struct Effect {
  InterferenceOf told;
  std::vector<double> runs;

  double mean() const {
    double sum = 0;
    for (const double e : runs) sum += e;
    return sum / static_cast<double>(runs.size());
  }
  Spread spread() const {
    const auto degrees = static_cast<double>(runs.size()) - 1;
    if (degrees <= 0) return {};
    double sum = 0;
    for (const double e : runs) sum += (e - mean()) * (e - mean());
    return {std::max(sum / degrees, least_variance), degrees};
  }
};

// Cases of a device that are left out.
struct LeftOut {
  std::size_t apart = 0;   // they do not compare
  std::size_t slowed = 0;  // the machine was not quiet while they were measured alone
};

// Pairs the cases of a device.
LeftOut pair_up(PairedRows& device, const std::vector<Family>& families) {
  const ResultsSet before = results_of(device.alone, families), after = results_of(device.at_once, families);
  const RunComparison found = compare_runs(before, after, {});
  LeftOut out{.apart = found.count(Transition::apart)};
  const auto by_label = [](const ResultsSet& set) {
    std::map<std::string, const CaseTimes*> out;
    for (const auto& at : set.devices.front().cases) out.emplace(at.label(), &at);
    return out;
  };
  const auto alone = by_label(before), at_once = by_label(after);
  for (const auto& row : found.cases) {
    if (row.transition != Transition::compared) continue;
    CaseTimes a = *alone.at(row.id), b = *at_once.at(row.id);
    // At once, the other devices may be what slows it.
    if (a.is_slowed()) {
      ++out.slowed;
      continue;
    }
    // Falls back on the host's clock, which every run has, as compare does.
    if (a.clock != b.clock || a.clock == several_clocks) {
      a = a.by_host().value();
      b = b.by_host().value();
    }
    Pairs& pairs = device.cases.emplace_back(Pairs{row.family, row.name, {}, row.verdict == Change::slower});
    for (std::size_t r = 0; r < std::min(a.runs.size(), b.runs.size()); ++r)
      pairs.differences.push_back(std::log(b.runs[r].time_s / a.runs[r].time_s));
  }
  return out;
}

// Computes the effect over these devices on one family or, without a name, on all. It has no runs if there is
// no case.
Effect effect_of(const std::vector<const PairedRows*>& devices, const std::string& family, bool of_all) {
  Effect out;
  out.told.device = of_all ? "" : devices.front()->id;
  out.told.family = family;
  const Pairs* worst = nullptr;
  std::vector<std::vector<double>> runs;
  for (const auto* device : devices) {
    for (const auto& one : device->cases) {
      if (!family.empty() && one.family != family) continue;
      ++out.told.cases;
      out.told.slower += one.slower ? 1 : 0;
      if (worst == nullptr || one.mean() > worst->mean()) worst = &one;
      if (runs.size() < one.differences.size()) runs.resize(one.differences.size());
      for (std::size_t r = 0; r < one.differences.size(); ++r) runs[r].push_back(one.differences[r]);
    }
  }
  for (const auto& run : runs) out.runs.push_back(median(run));
  if (worst != nullptr) {
    out.told.worst = worst->name;
    out.told.worst_ratio = std::exp(worst->mean());
  }
  return out;
}

// Returns an effect with its interval, and its p before it is corrected.
InterferenceOf tested(const Effect& effect, const Spread& common, const InterferenceRules& rules) {
  InterferenceOf out = effect.told;
  out.ratio = out.low = out.high = std::exp(effect.mean());
  const Spread noise = moderated(effect.spread(), common);
  if (noise.degrees <= 0) return out;
  const double se = std::sqrt(noise.variance / static_cast<double>(effect.runs.size()));
  const double reach = t_quantile(0.95, noise.degrees) * se;
  out.low = std::exp(effect.mean() - reach);
  out.high = std::exp(effect.mean() + reach);
  out.p = beyond_margin_p(effect.mean() / se, std::log1p(rules.margin) / se, noise.degrees);
  return out;
}

// Returns the cases without a time of some device, alone or at once: the other devices had it easier.
std::set<std::string> failed_cases(const std::vector<PairedRows>& devices) {
  std::set<std::string> out;
  for (const auto& device : devices) {
    for (const auto* rows : {&device.alone, &device.at_once}) {
      for (const auto& row : *rows) {
        if (row.failed()) out.insert(row.case_id);
      }
    }
  }
  return out;
}

Interference interference_between(std::vector<PairedRows> devices, const std::vector<Family>& families,
                                  const InterferenceRules& rules) {
  Interference out;
  out.device = devices.front().at_once.front().device;
  const auto failed = failed_cases(devices);
  out.failed = failed.size();
  std::vector<const PairedRows*> all;
  std::vector<std::string> names;
  for (auto& device : devices) {
    for (auto* rows : {&device.alone, &device.at_once})
      std::erase_if(*rows, [&](const Record& row) { return failed.contains(row.case_id); });
    out.devices.push_back(device.id);
    all.push_back(&device);
    if (device.alone.empty() || device.at_once.empty()) continue;
    const LeftOut left_out = pair_up(device, families);
    out.apart += left_out.apart;
    out.slowed += left_out.slowed;
    for (const auto& one : device.cases) {
      if (std::ranges::find(names, one.family) == names.end()) names.push_back(one.family);
    }
  }
  if (names.empty()) return out;

  std::vector<Spread> spreads;
  for (const auto& device : devices) {
    for (const auto& family : names) {
      if (const Spread one = effect_of({&device}, family, false).spread(); one.degrees > 0)
        spreads.push_back(one);
    }
  }
  const Spread common = common_spread(spreads);
  names.insert(names.begin(), "");
  std::vector<double> p;
  for (const auto& family : names) {
    const Effect effect = effect_of(all, family, true);
    out.runs = std::max(out.runs, effect.runs.size());
    p.push_back(out.families.emplace_back(tested(effect, common, rules)).p);
  }
  for (const auto& device : devices) {
    const Effect effect = effect_of({&device}, "", false);
    if (effect.runs.empty()) continue;
    p.push_back(out.each.emplace_back(tested(effect, common, rules)).p);
  }
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < adjusted.size(); ++i)
    (i < out.families.size() ? out.families[i] : out.each[i - out.families.size()]).p = adjusted[i];
  return out;
}

bool slowed_down(const InterferenceOf& one, const InterferenceRules& rules) {
  return one.ratio > 1 && one.p < rules.false_discovery;
}

bool not_slowed(const InterferenceOf& one, const InterferenceRules& rules) {
  return one.low > 1 / (1 + rules.margin) && one.high < 1 + rules.margin && one.low < one.high;
}

std::string ratio_text(double ratio) { return fmt::format("{:.3g}x", ratio); }

std::string interval_text(const InterferenceOf& one) {
  return one.low < one.high ? fmt::format("{:.3g} .. {:.3g}", one.low, one.high) : "of one run";
}

void add(Table& table, const std::string& name, const InterferenceOf& one, const InterferenceRules& rules) {
  table.add({name, paint(ratio_text(one.ratio), slowed_down(one, rules) ? Style::red : Style::dim),
             interval_text(one), fmt::format("{} of {}", one.slower, one.cases), ratio_text(one.worst_ratio),
             one.worst});
}

Table table_of(const char* what) {
  return Table({{what},
                {"at once/alone", Align::right},
                {"95 % interval", Align::left, Overflow::cut, 1},
                {"slower", Align::right},
                {"worst", Align::right},
                {"case", Align::left, Overflow::cut}});
}

std::string verdict_of(const Interference& all, const InterferenceRules& rules) {
  const InterferenceOf& whole = all.families.front();
  const auto n = std::ranges::count_if(all.families.begin() + 1, all.families.end(),
                                       [&](const InterferenceOf& one) { return slowed_down(one, rules); });
  const std::string margin = percent_text(rules.margin, 0);
  if (n == 0 && !slowed_down(whole, rules))
    return not_slowed(whole, rules)
               ? fmt::format("They do not slow each other down by more than {}.", margin)
               : "These runs cannot tell whether they slow each other down; more --runs can.";
  return paint(fmt::format("They slow each other down: together a case takes {} of its time alone, and {} of "
                           "{} families are slower by more than {}.",
                           ratio_text(whole.ratio), n, all.families.size() - 1, margin),
               Style::red);
}

}  // namespace

std::vector<Interference> interference_of(const std::vector<Record>& alone,
                                          const std::vector<Record>& at_once,
                                          const std::vector<Family>& families,
                                          const InterferenceRules& rules) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<PairedRows>> kinds;
  const auto rows_of = [&](const Record& record, bool make) -> PairedRows* {
    const std::string kind = kind_of(record);
    if (make && !kinds.contains(kind)) order.push_back(kind);
    if (!make && !kinds.contains(kind)) return nullptr;
    auto& devices = kinds[kind];
    const auto it = std::ranges::find(devices, record.device_id, &PairedRows::id);
    if (it != devices.end()) return &*it;
    return make ? &devices.emplace_back(PairedRows{record.device_id, {}, {}}) : nullptr;
  };
  const auto is_case = [](const Record& record) { return record.finding.empty() && !record.is_baseline(); };
  for (const auto& record : at_once) {
    if (is_case(record)) rows_of(record, true)->at_once.push_back(record);
  }
  for (const auto& record : alone) {
    PairedRows* const device =
        is_case(record) && record.reason != chosen_here ? rows_of(record, false) : nullptr;
    if (device != nullptr) device->alone.push_back(record);
  }
  std::vector<Interference> out;
  for (const auto& kind : order) out.push_back(interference_between(std::move(kinds[kind]), families, rules));
  return out;
}

Report report_of(const std::vector<Interference>& all, const InterferenceRules& rules) {
  constexpr std::size_t most = 12;
  Report out;
  for (const auto& one : all) {
    out.line("");
    out.heading(fmt::format("{} x {}: all at once against each alone", one.devices.size(), one.device));
    out.line(one.families.empty() ? "No case was measured both ways on every device."
                                  : verdict_of(one, rules));
    if (one.slowed > 0)
      out.line(fmt::format("{} cases measured alone are left out: {}.", one.slowed, machine_was_busy));
    if (one.failed > 0)
      out.line(fmt::format("{} cases are left out: not every device has a time of them.", one.failed));
    if (one.apart > 0)
      out.line(fmt::format("{} cases of a device are left out: not timed by the same clock every time.",
                           one.apart));
    if (one.families.empty()) continue;
    Table devices = table_of("device");
    for (const auto& device : one.each) add(devices, device.device, device, rules);
    add(devices, "all", one.families.front(), rules);
    out.table(std::move(devices));

    std::vector<const InterferenceOf*> worst;
    for (const auto& family : one.families) {
      if (!family.family.empty()) worst.push_back(&family);
    }
    std::ranges::stable_sort(worst, [](const auto* a, const auto* b) { return a->ratio > b->ratio; });
    const std::size_t left = worst.size() > most ? worst.size() - most : 0;
    worst.resize(worst.size() - left);
    Table families = table_of("family");
    for (const auto* family : worst) add(families, family->family, *family, rules);
    out.line("");
    out.table(std::move(families));
    if (left > 0)
      out.line(fmt::format("and {} families more, at most {}", left, ratio_text(worst.back()->ratio)));
  }
  return out;
}

}  // namespace clweave::fleet
