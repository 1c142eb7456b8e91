// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/rows/prior.hpp"
#include "base/error.hpp"

namespace clweave::compare {

namespace {

struct Unit {
  double log_time = 0;
  double within = 0;  // variance of log_time, estimated from the samples
};

// Returns the runs of a case, or the means of its sessions.
std::vector<Unit> units_of(const CaseTimes& at, bool by_file) {
  std::map<std::uint32_t, std::vector<Unit>> groups;
  for (const auto& run : at.runs)
    groups[by_file ? run.file : run.run].push_back({std::log(run.time_s), run.log_variance});
  std::vector<Unit> units;
  for (const auto& [key, members] : groups) {
    Unit mean;
    const auto n = static_cast<double>(members.size());
    for (const auto& member : members) {
      mean.log_time += member.log_time / n;
      mean.within += member.within / (n * n);
    }
    units.push_back(mean);
  }
  return units;
}

double mean_of(const std::vector<Unit>& units) {
  double sum = 0;
  for (const auto& unit : units) sum += unit.log_time;
  return sum / static_cast<double>(units.size());
}

double within_of(const std::vector<Unit>& units) {
  double sum = 0;
  for (const auto& unit : units) sum += unit.within;
  return sum / static_cast<double>(units.size());
}

// Sums the squares about each group's mean, over several groups of units of one case.
struct Squares {
  double sum = 0, degrees = 0, within = 0, groups = 0;

  void add(const std::vector<Unit>& units) {
    if (units.size() < 2) return;
    const double centre = mean_of(units);
    for (const auto& unit : units) sum += (unit.log_time - centre) * (unit.log_time - centre);
    degrees += static_cast<double>(units.size() - 1);
    within += within_of(units);
    ++groups;
  }

  Spread spread() const {
    if (degrees == 0) return {};
    // Units cannot agree better than their samples resolve, and a coarse clock makes them equal.
    constexpr double least = 1e-8;
    return {std::max({sum / degrees, within / groups, least}), degrees};
  }
};

std::string first_part(const std::string& text) { return text.substr(0, text.find(',')); }

const DeviceResults* same_device(const DeviceResults& device, const ResultsSet& in, const ResultsSet& from) {
  if (in.devices.size() == 1 && from.devices.size() == 1) return &in.devices.front();
  const auto namesakes = std::ranges::count(in.devices, device.name, &DeviceResults::name);
  const auto here = std::ranges::count(from.devices, device.name, &DeviceResults::name);
  for (const auto& other : in.devices) {
    if (other.name != device.name) continue;
    if (namesakes == 1 && here == 1) return &other;
    if (first_part(other.platform) != first_part(device.platform) || other.user_label != device.user_label)
      continue;
    const bool told = !other.uuid.empty() && !device.uuid.empty();
    if (told ? other.uuid == device.uuid : other.id == device.id) return &other;
  }
  return nullptr;
}

// A comparable case whose noise is not estimated yet.
struct Work {
  std::size_t index = 0;  // into RunComparison::cases
  std::vector<Unit> before, after;
  Spread runs, sessions;
  Spread prior;  // if no run or session tells more
  double difference = 0;
  bool slowed = false;  // a run of either side, beside a slow canary
};

bool slowed(const CaseTimes& at) { return std::ranges::any_of(at.runs, &RunTime::slowed); }

std::string difference_between(const CaseTimes& a, const CaseTimes& b) {
  if (a.clock != b.clock || a.clock == several_clocks)
    return fmt::format("timed by {} before, by {} now", a.clock, b.clock);
  if (a.each_by_itself != b.each_by_itself)
    return fmt::format("executions of a batch timed each by itself {}, back to back {}",
                       a.each_by_itself ? "before" : "now", a.each_by_itself ? "now" : "before");
  if (a.work != b.work)
    return fmt::format("does other work: {} bytes/operations/items before, {} now", a.work, b.work);
  return {};
}

// A test of a case; its p is corrected for the number of tests.
struct Tested {
  std::size_t index = 0;  // into RunComparison::cases
  double p = 1;
  double se = 0, degrees = 0;  // of the logarithm of its ratio
};

// Returns the change of a case at which its uncorrected p is `p`.
double least_change(double p, double margin, double se, double degrees) {
  return std::exp(margin + t_quantile(1 - 2 * p, degrees) * se) - 1;
}

struct Pair {
  const DeviceResults *before, *after;
  std::vector<const DeviceResults*> noise;  // the same device in files with nothing changed between them
};

// The comparison of one device: its cases of both sides, and the noise that is known of them.
struct DeviceChanges {
  const Pair* pair;
  bool old_by_file, new_by_file;  // the units of a side are its files, not its runs
  const ChangeRules* rules;
  Basis basis;
  CaseLabels labels;
  std::vector<Work> works;
};

DeviceChanges changes_of(const Pair& pair, bool old_by_file, bool new_by_file, const ChangeRules& rules) {
  DeviceChanges out{&pair, old_by_file, new_by_file, &rules, {}, {}, {}};
  for (const auto* device : {pair.before, pair.after}) {
    for (const auto& at : device->cases) out.labels.learn(*at.name);
  }
  out.basis.device = pair.after->label() + pair.after->called();
  out.basis.old_driver = pair.before->driver;
  out.basis.new_driver = pair.after->driver;
  out.basis.files = old_by_file || new_by_file;
  return out;
}

// Returns the case of the same id, and so of the same launch configuration, whether tuning or the user chose
// it; null if there is none.
const CaseTimes* same_launch(const DeviceResults& device, const CaseTimes& at) {
  const CaseTimes* found = device.find(at.id(), at.tuned);
  return found != nullptr ? found : device.find(at.id(), !at.tuned);
}

// Returns both cases by the host's clock, where the device's was trusted on one side only and all else is
// equal.
std::optional<std::pair<CaseTimes, CaseTimes>> both_by_host(const CaseTimes& a, const CaseTimes& b) {
  const bool clocks_differ = a.clock != b.clock || a.clock == several_clocks;
  if (!a.ok() || !b.ok() || !clocks_differ || a.cache != b.cache || a.cache == several_clocks) return {};
  auto host_a = a.by_host(), host_b = b.by_host();
  if (!host_a || !host_b || a.runs.front().batch != b.runs.front().batch) return {};
  return std::pair(*std::move(host_a), *std::move(host_b));
}

// Decides whether the two sides of a case can be compared, and says why not. Null: the side lacks the case.
std::pair<Transition, std::string> transition_of(const CaseTimes* a, const CaseTimes* b) {
  if (b == nullptr) return {Transition::gone, ""};
  if (a == nullptr) return {Transition::added, ""};
  if (!a->ok() || !b->ok()) {
    const CaseTimes& bad = b->ok() ? *a : *b;
    std::string reason = text_of(bad.status);
    if (bad.bad < bad.rows) reason += fmt::format(" in {} of {} runs", bad.bad, bad.rows);
    if (!bad.reason.empty()) reason += ": " + bad.reason;
    return {a->ok() ? Transition::broken : b->ok() ? Transition::fixed : Transition::failing, reason};
  }
  std::string reason = difference_between(*a, *b);
  return {reason.empty() ? Transition::compared : Transition::apart, reason};
}

// Estimates how much runs and sessions of a case differ without a change, from both sides and the --noise
// files.
void learn_spreads(const DeviceChanges& device, const CaseTimes& at, Work& work) {
  Squares runs, sessions;
  runs.add(work.before);
  runs.add(work.after);
  std::vector<Unit> each;
  for (const auto* quiet_device : device.pair->noise) {
    const CaseTimes* quiet = same_launch(*quiet_device, at);
    if (quiet == nullptr || !quiet->ok()) continue;
    const auto host = at.clock == "host" ? quiet->by_host() : std::nullopt;
    if (host) quiet = &*host;
    if (quiet->clock != at.clock) continue;
    const auto units = units_of(*quiet, false);
    // If the units of the sides are sessions, the runs within one session are too much alike.
    if (!device.basis.files) runs.add(units);
    each.push_back({mean_of(units), within_of(units) / static_cast<double>(units.size())});
  }
  sessions.add(each);
  work.runs = runs.spread();
  work.sessions = sessions.spread();
}

Spread prior_of(DeviceChanges& device, const CaseTimes& at) {
  if (const auto& assumed = device.rules->assumed_spread)
    return {*assumed * *assumed, std::numeric_limits<double>::infinity()};
  const Timer timer = at.clock.starts_with(text_of(Timer::event)) ? Timer::event : Timer::host;
  const std::string& type = device.pair->after->type;
  device.basis.prior = prior_text(type, timer);
  return prior_spread(type, timer, at.median_s() / static_cast<double>(at.runs.front().commands));
}

Work work_of(DeviceChanges& device, const CaseTimes& a, const CaseTimes& b, std::size_t index) {
  Work out;
  out.index = index;
  out.before = units_of(a, device.old_by_file);
  out.after = units_of(b, device.new_by_file);
  device.basis.old_units = std::max(device.basis.old_units, out.before.size());
  device.basis.new_units = std::max(device.basis.new_units, out.after.size());
  out.difference = mean_of(out.after) - mean_of(out.before);
  out.slowed = slowed(a) || slowed(b);
  out.prior = prior_of(device, a);
  learn_spreads(device, b, out);
  return out;
}

// Adds a case, of which either side may be null.
void add(DeviceChanges& device, const CaseTimes* a, const CaseTimes* b, std::vector<ComparedCase>& out) {
  const CaseTimes& any = a != nullptr ? *a : *b;
  std::optional<std::pair<CaseTimes, CaseTimes>> by_host;
  if (a != nullptr && b != nullptr) by_host = both_by_host(*a, *b);
  if (by_host) {
    a = &by_host->first;
    b = &by_host->second;
    ++device.basis.by_host;
  }
  // A case that one session chose for itself is not missing from the other.
  if ((a == nullptr || b == nullptr) && any.ok() && (any.tuned || any.reason == chosen_here)) return;
  ComparedCase row;
  row.device = device.basis.device;
  row.family = any.family();
  row.id = any.label();
  row.name = device.labels.of(*any.name) + (any.tuned ? " tuned" : "");
  if (a != nullptr && a->ok()) row.old_s = a->median_s();
  if (b != nullptr && b->ok()) row.new_s = b->median_s();
  std::tie(row.transition, row.reason) = transition_of(a, b);
  if (row.transition == Transition::compared) {
    const Work& work = device.works.emplace_back(work_of(device, *a, *b, out.size()));
    row.old_runs = work.before.size();
    row.new_runs = work.after.size();
  }
  out.push_back(std::move(row));
}

// Computes by how much more than their priors the cases scatter, at least 1. Their scatter about the common
// change is measured by the quarter of the cases that differs least, as a real change of many cases, or of
// all of them alike, is not noise. One case alone tells nothing.
double widening(const std::vector<Work>& works) {
  constexpr double quartile_of_normal = 0.3186;  // of its absolute values
  if (works.size() < 2) return 1;
  std::vector<double> differences;
  for (const auto& work : works) differences.push_back(work.difference);
  const double common = median(differences);
  for (std::size_t i = 0; i < works.size(); ++i)
    differences[i] = std::abs(works[i].difference - common) / std::sqrt(2 * works[i].prior.variance);
  // The smallest belongs to the median itself. With it, the quartile of 3 to 10 cases would be 0.5 to 0.8 of
  // that of many; without it, it is 1.8 to 1.1 of that.
  differences.erase(std::ranges::min_element(differences));
  return std::max(1.0, quantile(differences, 0.25) / quartile_of_normal);
}

Spread common(const std::vector<Work>& works, Spread Work::*which) {
  std::vector<Spread> spreads;
  for (const auto& work : works) spreads.push_back(work.*which);
  return common_spread(spreads);
}

// Sets ratio, interval and the least change that would be called, by the widest of the known spreads, each
// moderated by what the cases have in common (Smyth 2004). Returns the tests, whose p is not yet corrected.
std::vector<Tested> test_cases(DeviceChanges& device, std::vector<ComparedCase>& cases) {
  const auto& works = device.works;
  Basis& basis = device.basis;
  const Spread of_runs = common(works, &Work::runs), of_sessions = common(works, &Work::sessions);
  const double wider = widening(works);
  const double margin = std::log1p(device.rules->margin);
  std::vector<Tested> out;
  std::vector<double> spreads;
  for (const auto& work : works) {
    const auto na = static_cast<double>(work.before.size()), nb = static_cast<double>(work.after.size());
    const Spread runs = moderated(work.runs, of_runs), sessions = moderated(work.sessions, of_sessions);
    Spread difference;
    if (runs.degrees > 0) difference = {runs.variance * (1 / na + 1 / nb), runs.degrees};
    if (sessions.degrees > 0 && 2 * sessions.variance > difference.variance)
      difference = {2 * sessions.variance, sessions.degrees};
    const bool assumed = difference.degrees == 0;
    if (assumed) {
      const double within = within_of(work.before) / na + within_of(work.after) / nb;
      difference = {wider * wider * work.prior.variance * (1 / na + 1 / nb) + within, work.prior.degrees};
    }
    const double se = std::sqrt(difference.variance);
    spreads.push_back(se / std::sqrt(1 / na + 1 / nb));
    ComparedCase& row = cases[work.index];
    const double reach = t_quantile(0.95, difference.degrees) * se;
    row.ratio = std::exp(work.difference);
    row.low = std::exp(work.difference - reach);
    row.high = std::exp(work.difference + reach);
    row.least = least_change(device.rules->false_discovery, margin, se, difference.degrees);
    // The spread of several runs includes what a neighbour does to them; with one run only the canary tells.
    if (assumed && work.slowed) {
      row.reason = "measured while the machine was not quiet";
      ++basis.slowed;
      continue;
    }
    out.push_back({work.index, beyond_margin_p(work.difference / se, margin / se, difference.degrees), se,
                   difference.degrees});
  }
  const auto has = [&](Spread Work::*which) {
    return std::ranges::any_of(works, [&](const Work& work) { return (work.*which).degrees > 0; });
  };
  basis.source = has(&Work::sessions) ? Basis::Source::sessions
                 : has(&Work::runs)   ? Basis::Source::runs
                                      : Basis::Source::assumed;
  if (!spreads.empty()) basis.spread = median(spreads);
  if (basis.source == Basis::Source::assumed) basis.wider = wider;
  return out;
}

// Adds the cases of a device and what its verdicts rest on. Returns its tests.
std::vector<Tested> compare_pair(const Pair& pair, bool old_by_file, bool new_by_file,
                                 const ChangeRules& rules, RunComparison& out) {
  DeviceChanges device = changes_of(pair, old_by_file, new_by_file, rules);
  for (const auto& at : pair.before->cases) add(device, &at, same_launch(*pair.after, at), out.cases);
  for (const auto& at : pair.after->cases) {
    if (same_launch(*pair.before, at) == nullptr) add(device, nullptr, &at, out.cases);
  }
  auto tests = test_cases(device, out.cases);
  out.devices.push_back(device.basis);
  return tests;
}

// Calls cases faster, slower or the same at the false discovery rate of the rules (Benjamini and Hochberg
// 1995).
void judge(const std::vector<Tested>& tests, const ChangeRules& rules, std::vector<ComparedCase>& cases) {
  std::vector<double> p;
  for (const auto& one : tests) p.push_back(one.p);
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    ComparedCase& row = cases[tests[i].index];
    row.least_alone = least_change(rules.false_discovery / static_cast<double>(tests.size()),
                                   std::log1p(rules.margin), tests[i].se, tests[i].degrees);
    row.p = adjusted[i];
    if (row.p < rules.false_discovery)
      row.verdict = row.ratio > 1 ? Change::slower : Change::faster;
    else if (row.low > 1 / (1 + rules.margin) && row.high < 1 + rules.margin)
      row.verdict = Change::same;
  }
}

// Returns the devices that are on both sides.
std::vector<Pair> pairs_of(const ResultsSet& before, const ResultsSet& after,
                           const std::vector<ResultsSet>& noise) {
  std::vector<Pair> out;
  for (const auto& device : before.devices) {
    const DeviceResults* other = same_device(device, after, before);
    if (other == nullptr) continue;
    Pair pair{&device, other, {}};
    for (const auto& set : noise) {
      if (const auto* quiet = same_device(*other, set, after)) pair.noise.push_back(quiet);
    }
    out.push_back(std::move(pair));
  }
  if (!out.empty()) return out;
  const auto names = [](const ResultsSet& set) {
    std::vector<std::string> all;
    for (const auto& device : set.devices) all.push_back(device.name);
    return fmt::format("{}", fmt::join(all, ", "));
  };
  throw Error(ErrorCode::usage,
              fmt::format("no device is on both sides: {} before, {} now. Different devices are "
                          "compared by clweave compare-devices",
                          names(before), names(after)));
}

}  // namespace

const char* word_of(Transition transition) {
  switch (transition) {
    case Transition::compared: return "compared";
    case Transition::broken: return "broken";
    case Transition::fixed: return "fixed";
    case Transition::failing: return "failing";
    case Transition::apart: return "not comparable";
    case Transition::gone: return "only old";
    case Transition::added: return "only new";
  }
  return "";
}

const char* word_of(Change verdict) {
  switch (verdict) {
    case Change::undecided: return "undecided";
    case Change::same: return "same";
    case Change::faster: return "faster";
    case Change::slower: return "slower";
  }
  return "";
}

std::size_t RunComparison::count(Transition transition) const {
  return static_cast<std::size_t>(std::ranges::count(cases, transition, &ComparedCase::transition));
}

std::size_t RunComparison::count(Change verdict) const {
  return static_cast<std::size_t>(std::ranges::count_if(cases, [&](const ComparedCase& row) {
    return row.transition == Transition::compared && row.verdict == verdict;
  }));
}

RunComparison compare_runs(const ResultsSet& before, const ResultsSet& after,
                           const std::vector<ResultsSet>& noise, const ChangeRules& rules) {
  RunComparison out;
  out.old_files = before.files;
  out.new_files = after.files;
  for (const auto* set : {&before, &after})
    out.notes.insert(out.notes.end(), set->notes.begin(), set->notes.end());
  for (const auto& set : noise) out.notes.insert(out.notes.end(), set.notes.begin(), set.notes.end());
  out.margin = rules.margin;
  std::vector<Tested> tests;
  const auto pairs = pairs_of(before, after, noise);
  for (const auto& pair : pairs)
    std::ranges::move(compare_pair(pair, before.files.size() > 1, after.files.size() > 1, rules, out),
                      std::back_inserter(tests));
  judge(tests, rules, out.cases);
  for (const auto* set : {&before, &after}) {
    for (const auto& device : set->devices) {
      const bool met = std::ranges::any_of(
          pairs, [&](const Pair& pair) { return pair.before == &device || pair.after == &device; });
      if (!met)
        out.notes.push_back(fmt::format("{} is only in {}: its {} cases are not compared", device.name,
                                        fmt::join(set->files, ", "), device.cases.size()));
    }
  }
  return out;
}

}  // namespace clweave::compare
