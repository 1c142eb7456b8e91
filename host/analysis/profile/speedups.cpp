// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/speedups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "analysis/rows/case_labels.hpp"
#include "analysis/rows/device_rows.hpp"
#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/quantity.hpp"
#include "base/stats.hpp"
#include "base/terminal.hpp"
#include "suite/family.hpp"
#include "suite/peak.hpp"
#include "suite/selection.hpp"

namespace clweave::profile {

namespace {

using Settings = std::vector<std::pair<std::string, Value>>;

// A case with its axes as the family knows them.
struct Known {
  const CaseTimes* of = nullptr;
  Case at;
};

struct SpeedUp {
  const CaseTimes* of = nullptr;
  const CaseTimes* over = nullptr;      // null: `why` says why
  double time_s = 0, over_s = 0;        // medians, by the clock that both have
  double ratio = 0, low = 0, high = 0;  // time of the baseline over the case's
  bool has_interval = false;            // else low and high are unknown
  std::size_t pairs = 0;                // of one process; 0: the typical runs were compared
  bool slowed = false;                  // a row of either was measured while the machine was not quiet
  std::string why = {};
};

Settings settings_of(const std::vector<std::string>& words) {
  Settings out;
  for (const auto& word : words) {
    auto [name, values] = setting_of(word);
    if (values.size() != 1)
      throw Error(ErrorCode::usage,
                  fmt::format("--baseline {}: one value each, as in --baseline kernel=naive", word));
    out.emplace_back(std::move(name), values.front());
  }
  return out;
}

bool has_axes(const Family& family, const Settings& settings) {
  return std::ranges::all_of(settings, [&](const auto& one) { return family.axis(one.first) != nullptr; });
}

bool is_named(const Settings& settings, const Family& family, const std::string& axis) {
  return std::ranges::any_of(settings, [&](const auto& one) { return family.axis(one.first)->name == axis; });
}

bool is_baseline(const Settings& settings, const Family& family, const Case& at) {
  return std::ranges::all_of(settings, [&](const auto& one) {
    const Axis& axis = *family.axis(one.first);
    return text_of(at.at(axis.name)) == axis.todays(text_of(one.second));
  });
}

bool is_same_task(const Settings& settings, const Family& family, const Case& one, const Case& other) {
  return std::ranges::all_of(family.axes, [&](const Axis& axis) {
    return axis.tunable || is_named(settings, family, axis.name) || !family.uses(one, axis.name) ||
           !family.uses(other, axis.name) || text_of(one.at(axis.name)) == text_of(other.at(axis.name));
  });
}

// Returns why a case has no time to compare; empty if it has one.
std::string obstacle(const CaseTimes& at) {
  if (!at.ok()) return text_of(at.status);
  if (at.known_incorrect) return "known incorrect";
  if (at.unverified) return "unverified";
  return at.typical() ? "" : "only with emptied caches";
}

struct Ratio {
  double middle, low, high;
  bool has_interval = true;
};

Ratio ratio_of(const RunTime& base, const RunTime& run) {
  const double ratio = base.time_s / run.time_s;
  if (!base.has_interval || !run.has_interval) return {ratio, ratio, ratio, false};
  if (!(base.log_variance > 0) || !(run.log_variance > 0))
    return {ratio, base.low_s / run.high_s, base.high_s / run.low_s};
  constexpr double z = 1.96;
  const double spread = std::exp(z * std::sqrt(base.log_variance + run.log_variance));
  return {ratio, ratio / spread, ratio * spread};
}

void compare(SpeedUp& out, const CaseTimes& of, const CaseTimes& over) {
  std::vector<Ratio> ratios;
  for (const auto& run : of.runs) {
    const auto same = std::ranges::find_if(over.runs, [&](const RunTime& base) {
      return base.file == run.file && base.run == run.run && base.cold == run.cold;
    });
    if (same != over.runs.end() && !run.cold) ratios.push_back(ratio_of(*same, run));
  }
  out.time_s = of.typical()->time_s;
  out.over_s = over.typical()->time_s;
  out.pairs = ratios.size();
  if (ratios.empty()) ratios.push_back(ratio_of(*over.typical(), *of.typical()));
  std::vector<double> logs;
  out.low = HUGE_VAL;
  for (const auto& one : ratios) {
    logs.push_back(std::log(one.middle));
    out.has_interval = out.has_interval || one.has_interval;
    out.low = std::min(out.low, one.low);
    out.high = std::max(out.high, one.high);
  }
  out.ratio = std::exp(median(logs));
}

// Returns the fastest baseline of the same task; null: there is none that has a time.
const CaseTimes* baseline_of(const Known& one, const std::vector<Known>& baselines, const Settings& settings,
                             const Family& family) {
  const CaseTimes* best = nullptr;
  for (const auto& base : baselines) {
    if (!obstacle(*base.of).empty() || !is_same_task(settings, family, one.at, base.at)) continue;
    if (best == nullptr || base.of->typical()->time_s < best->typical()->time_s) best = base.of;
  }
  return best;
}

// Sorts by task, in the order in which their baselines were met, and of a task the fastest first; what has no
// speed-up comes last.
void sort_by_task(std::vector<SpeedUp>& found, const std::vector<Known>& baselines) {
  const auto task_of = [&](const SpeedUp& one) { return std::ranges::find(baselines, one.over, &Known::of); };
  std::ranges::stable_sort(found, [&](const SpeedUp& a, const SpeedUp& b) {
    const auto of_a = task_of(a), of_b = task_of(b);
    return of_a != of_b ? of_a < of_b : a.ratio > b.ratio;
  });
}

std::vector<SpeedUp> speedups_of(const DeviceResults& device, const Family& family,
                                 const Settings& settings) {
  std::vector<Known> baselines, others;
  for (const auto& at : device.cases) {
    if (at.family() != family.name) continue;
    auto known = rows::case_of(family, *at.name);
    if (!known) continue;
    auto& side = is_baseline(settings, family, *known) ? baselines : others;
    side.push_back({&at, *std::move(known)});
  }
  std::vector<SpeedUp> out;
  for (const auto& one : others) {
    SpeedUp& row = out.emplace_back(SpeedUp{.of = one.of});
    row.why = obstacle(*one.of);
    if (!row.why.empty()) continue;
    const CaseTimes* over = baseline_of(one, baselines, settings, family);
    if (over == nullptr) {
      row.why = "no baseline with a time";
    } else if (over->clock != one.of->clock || over->clock == several_clocks) {
      const auto of_host = one.of->by_host(), over_host = over->by_host();
      row.why = of_host && over_host ? "" : "another clock than the baseline's";
      if (of_host && over_host) compare(row, *of_host, *over_host);
    } else {
      compare(row, *one.of, *over);
    }
    if (!row.why.empty()) continue;
    row.over = over;
    row.slowed = one.of->is_slowed() || std::ranges::any_of(baselines, [&](const Known& base) {
                   return base.of->is_slowed() && obstacle(*base.of).empty() &&
                          is_same_task(settings, family, one.at, base.at) &&
                          base.of->least_s() < over->typical()->time_s;
                 });
  }
  sort_by_task(out, baselines);
  return out;
}

void add_table(Report& out, const std::vector<SpeedUp>& found, const CaseLabels& labels) {
  Table table({{"case", Align::left, Overflow::cut},
               {"baseline's time", Align::right, Overflow::keep, 1},
               {"time", Align::right, Overflow::keep, 2},
               {"speed-up", Align::right},
               {"95 % interval", Align::right}});
  for (const auto& one : found) {
    const std::string label = labels.of(*one.of->name) + (one.of->tuned ? " (tuned)" : "");
    if (one.over == nullptr)
      table.add({label, "", "", one.why, ""});
    else
      table.add({label, seconds_text(one.over_s), seconds_text(one.time_s),
                 fmt::format("{:.3f}x{}", one.ratio, one.slowed ? "*" : ""),
                 one.has_interval ? fmt::format("{:.3f} to {:.3f}", one.low, one.high) : "-"});
  }
  out.table(std::move(table));
  if (std::ranges::any_of(found, &SpeedUp::slowed))
    out.line(fmt::format("* undecided: {}", machine_was_busy));
  out.line();
}

void add_rows(Report& out, const DeviceResults& device, const std::vector<SpeedUp>& found) {
  for (const auto& one : found) {
    const bool known = one.over != nullptr;
    const auto number = [&](double value) { return known ? Cell(value) : Cell(); };
    const auto end = [&](double value) { return known && one.has_interval ? Cell(value) : Cell(); };
    out.row({device.name, device.platform, device.driver, one.of->family(), one.of->id(), one.of->tuned,
             known ? Cell(one.over->id()) : Cell(), number(one.time_s), number(one.over_s), number(one.ratio),
             end(one.low), end(one.high), known ? Cell(static_cast<std::int64_t>(one.pairs)) : Cell(),
             one.why.empty() ? Cell() : Cell(one.why), one.slowed});
  }
}

// The values that cases have of the axes of a baseline, for when none is of it.
class Choices {
 public:
  explicit Choices(const Settings& settings) : settings_(settings), values_(settings.size()) {}

  void add(const Family& family, const Case& at) {
    for (std::size_t s = 0; s < values_.size(); ++s)
      values_[s].insert(text_of(at.at(family.axis(settings_[s].first)->name)));
  }

  bool empty() const { return values_.front().empty(); }

  // Suggests a value of the first axis of which no case has the one asked for; else of the first axis.
  std::string suggested() const {
    std::size_t s = 0;
    while (s < values_.size() && values_[s].contains(text_of(settings_[s].second))) ++s;
    if (s == values_.size()) return "; each of these values has cases, but none has all of them";
    const auto& [axis, value] = settings_[s];
    const std::vector<std::string> known(values_[s].begin(), values_[s].end());
    if (const auto near = near_word(text_of(value), known);
        std::holds_alternative<std::string>(value) && !near.empty())
      return fmt::format("; did you mean '{}={}'?", axis, near);
    std::vector<std::string> all;
    for (const auto& one : known) all.push_back(fmt::format("{}={}", axis, one));
    return "; there are " + short_list(all);
  }

 private:
  const Settings& settings_;
  std::vector<std::set<std::string>> values_;
};

// Suggests an axis in place of the first one that no family has.
std::string suggested_axis(const Settings& settings, const std::vector<const Family*>& families) {
  std::vector<std::string> known;
  for (const auto* family : families) {
    for (const auto& axis : family->axes) {
      if (std::ranges::find(known, axis.name) == known.end()) known.push_back(axis.name);
    }
  }
  for (const auto& one : settings) {
    const auto has = [&one](const Family* family) { return family->axis(one.first) != nullptr; };
    if (std::ranges::none_of(families, has)) return suggestion(one.first, known);
  }
  return {};
}

// Leaves out the peaks that were measured for the others' sake: what speed-ups are of must be asked for.
void keep_asked(std::vector<const Family*>& families, const std::vector<std::string>& names) {
  const auto is_peak = [](const Family* family) { return family->name == peak_family; };
  if (names.empty() && !std::ranges::all_of(families, is_peak)) std::erase_if(families, is_peak);
}

// Returns the families of which some row is a baseline: others may have an axis of that name without that
// value. Throws `usage` if there is none.
std::vector<const Family*> with_baseline(const ResultsSet& set, const std::vector<const Family*>& chosen,
                                         const Settings& settings, const std::string& words) {
  Choices choices(settings);
  std::set<const Family*> found;
  for (const auto* device : measured(set)) {
    for (const auto& at : device->cases) {
      const auto family = std::ranges::find(chosen, at.family(), &Family::name);
      const auto known = family != chosen.end() ? rows::case_of(**family, *at.name) : std::nullopt;
      if (!known) continue;
      if (is_baseline(settings, **family, *known)) found.insert(*family);
      choices.add(**family, *known);
    }
  }
  if (found.empty())
    throw Error(ErrorCode::usage,
                fmt::format("--baseline {}: no row is of it{}", words, choices.suggested()));
  std::vector<const Family*> out;
  std::ranges::copy_if(chosen, std::back_inserter(out),
                       [&](const Family* family) { return found.contains(family); });
  return out;
}

}  // namespace

Report speedups(const ResultsSet& set, const std::vector<Family>& families,
                const std::vector<std::string>& names, const std::vector<std::string>& baseline) {
  const Settings settings = settings_of(baseline);
  const std::string words = fmt::format("{}", fmt::join(baseline, " "));
  std::vector<const Family*> chosen;
  for (const auto& family : families) {
    const bool wanted = names.empty() || std::ranges::find(names, family.name) != names.end();
    const bool here = std::ranges::any_of(measured(set), [&](const DeviceResults* device) {
      return std::ranges::any_of(device->cases,
                                 [&](const CaseTimes& at) { return at.family() == family.name; });
    });
    if (wanted && here) chosen.push_back(&family);
  }
  keep_asked(chosen, names);
  const auto here = chosen;
  std::erase_if(chosen, [&](const Family* family) { return !has_axes(*family, settings); });
  if (chosen.empty())
    throw Error(ErrorCode::usage, fmt::format("--baseline {}: no family of these rows has that axis{}", words,
                                              suggested_axis(settings, here)));
  chosen = with_baseline(set, chosen, settings, words);
  Report out;
  for (const auto& note : set.notes) out.line(paint("note: " + note, Style::yellow));
  out.columns({"device", "platform", "driver", "family", "case_id", "tuned", "baseline_case_id", "time_s",
               "baseline_time_s", "speedup", "speedup_low", "speedup_high", "pairs", "reason", "disturbed"});
  CaseLabels labels;
  for (const auto* device : measured(set)) {
    for (const auto& at : device->cases) labels.learn(*at.name);
  }
  for (const auto* device : measured(set)) {
    for (const auto* family : chosen) {
      const auto found = speedups_of(*device, *family, settings);
      if (found.empty()) continue;
      out.line(fmt::format("{}  over {} on {}, driver {}", paint(family->name, Style::bold), words,
                           device->name + device->called(), device->driver));
      add_table(out, found, labels);
      add_rows(out, *device, found);
    }
  }
  return out;
}

void need_baseline(const std::vector<Job>& jobs, const std::vector<std::string>& baseline) {
  if (baseline.empty()) return;
  const Settings settings = settings_of(baseline);
  const auto is_peak = [](const Job& job) { return job.family->name == peak_family; };
  const bool peaks_alone = std::ranges::all_of(jobs, is_peak);  // else they are measured for the others' sake
  Choices choices(settings);
  std::vector<const Family*> families;
  for (const auto& job : jobs) {
    if (is_peak(job) && !peaks_alone) continue;
    if (families.empty() || families.back() != job.family) families.push_back(job.family);
    if (!has_axes(*job.family, settings)) continue;
    if (is_baseline(settings, *job.family, job.at)) return;
    choices.add(*job.family, job.at);
  }
  const std::string words = fmt::format("{}", fmt::join(baseline, " "));
  if (choices.empty())
    throw Error(ErrorCode::usage, fmt::format("--baseline {}: no family of this run has that axis{}", words,
                                              suggested_axis(settings, families)));
  throw Error(ErrorCode::usage,
              fmt::format("--baseline {}: no case of this run is of it{}", words, choices.suggested()));
}

}  // namespace clweave::profile
