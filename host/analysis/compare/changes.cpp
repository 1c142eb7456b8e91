// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "analysis/compare/case_noise.hpp"
#include "analysis/compare/common_change.hpp"
#include "analysis/compare/partly_known.hpp"
#include "analysis/compare/unit_shares.hpp"
#include "analysis/rows/prior.hpp"
#include "base/error.hpp"

namespace clweave::compare {

namespace {

// Returns the runs that count: the quiet ones, if at least half of them are; else all.
std::vector<const RunTime*> counted(const CaseTimes& at) {
  std::vector<const RunTime*> all, quiet;
  for (const auto& run : at.runs) {
    all.push_back(&run);
    if (!run.slowed) quiet.push_back(&run);
  }
  return 2 * quiet.size() >= all.size() ? quiet : all;
}

bool slowed(const CaseTimes& at) { return std::ranges::any_of(counted(at), &RunTime::slowed); }

// Returns the runs of a case, or the means of its sessions.
Units units_of(const CaseTimes& at, bool by_file) {
  std::map<std::uint32_t, Units> groups;
  for (const auto* run : counted(at)) {
    const auto number = by_file ? run->file : run->run;
    groups[number].push_back({number, std::log(run->time_s), run->log_variance});
  }
  Units units;
  for (const auto& [number, members] : groups)
    units.push_back({number, mean_of(members), within_of(members) / static_cast<double>(members.size())});
  return units;
}

std::string first_part(const std::string& text) { return text.substr(0, text.find(',')); }

const DeviceResults* same_device(const DeviceResults& device, const ResultsSet& in, const ResultsSet& from) {
  if (in.devices.size() == 1 && from.devices.size() == 1) return &in.devices.front();
  const auto namesakes = std::ranges::count(in.devices, device.name, &DeviceResults::name);
  const auto here = std::ranges::count(from.devices, device.name, &DeviceResults::name);
  const DeviceResults* found = nullptr;
  for (const auto& other : in.devices) {
    if (other.name != device.name) continue;
    if (namesakes == 1 && here == 1) return &other;
    if (first_part(other.platform) != first_part(device.platform) || other.user_label != device.user_label)
      continue;
    const bool told = !other.uuid.empty() && !device.uuid.empty();
    if (told ? other.uuid != device.uuid : other.id != device.id) continue;
    // Files of a side may be of several drivers, each of which makes a device.
    if (other.driver == device.driver) return &other;
    if (found == nullptr) found = &other;
  }
  return found;
}

// A comparable case.
struct Work {
  std::size_t index = 0;  // into RunComparison::cases
  PairedCase units;
  bool slowed = false;
};

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

// A test of a case; its p is not yet corrected for the number of tests.
struct Tested {
  std::size_t index = 0;  // into RunComparison::cases
  double p = 1, p_within = 1;
  bool shares = false;  // with many cases, a change beyond what a session's clock may explain
  Spread noise;
  std::array<Tail, 2> tails;
};

// Returns what chance makes of a case that its spread does not tell.
std::array<Tail, 2> tails_of(const CaseNoise& noise, const Basis& basis) {
  const bool another = basis.another_card != Basis::AnotherCard::no;
  return {noise.session, another ? noise.rare : noise.agreed_rare};
}

struct Pair {
  const DeviceResults *before, *after;
  std::vector<const DeviceResults*> noise;  // the same device in files with nothing changed between them
  std::span<const std::string> old_files, new_files;
};

// The comparison of one device: its cases of both sides, and the noise that is known of them.
struct DeviceChanges {
  const Pair* pair;
  const ChangeRules* rules;
  Basis basis;
  CaseLabels labels;
  std::vector<Work> works;
};

// Returns why the sides are known to be different devices of one model.
Basis::AnotherCard another_card(const DeviceResults& before, const DeviceResults& after) {
  const bool told = !before.uuid.empty() && !after.uuid.empty() && before.uuid != after.uuid;
  return told ? Basis::AnotherCard::by_uuid : Basis::AnotherCard::no;
}

DeviceChanges changes_of(const Pair& pair, bool by_file, const ChangeRules& rules) {
  DeviceChanges out{&pair, &rules, {}, {}, {}};
  for (const auto* device : {pair.before, pair.after}) {
    for (const auto& at : device->cases) out.labels.learn(*at.name);
  }
  out.basis.device = pair.after->label() + pair.after->called();
  out.basis.old_driver = pair.before->driver;
  out.basis.new_driver = pair.after->driver;
  out.basis.files = by_file;
  out.basis.machine = pair.after->host;
  if (pair.before->host != pair.after->host) out.basis.machine = pair.before->host + ", " + pair.after->host;
  out.basis.another_card = another_card(*pair.before, *pair.after);
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
    // What failed in some runs before, and in none now, may only be lucky.
    const bool now_and_then = b->ok() && a->bad < a->rows;
    if (now_and_then) reason += " before";
    if (!bad.reason.empty()) reason += ": " + bad.reason;
    return {a->ok()        ? Transition::broken
            : now_and_then ? Transition::apart
            : b->ok()      ? Transition::fixed
                           : Transition::failing,
            reason};
  }
  if (a->unverified || b->unverified) return {Transition::apart, "unverified: nothing checked the output"};
  std::string reason = difference_between(*a, *b);
  return {reason.empty() ? Transition::compared : Transition::apart, reason};
}

// Adds the units of the --noise files.
void add_quiet(const DeviceChanges& device, const CaseTimes& at, PairedCase& units) {
  std::uint32_t number = 0;
  for (const auto* quiet_device : device.pair->noise) {
    Units& runs = units.quiet_runs.emplace_back();
    ++number;
    const CaseTimes* quiet = same_launch(*quiet_device, at);
    if (quiet == nullptr || !quiet->ok()) continue;
    const auto host = at.clock == "host" ? quiet->by_host() : std::nullopt;
    if (host) quiet = &*host;
    if (quiet->clock != at.clock || slowed(*quiet)) continue;
    const Units all = units_of(*quiet, false);
    units.quiet_sessions.push_back({number, mean_of(all), within_of(all) / static_cast<double>(all.size())});
    // If the units of the sides are sessions, the runs within one session are too much alike.
    if (!device.basis.files) runs = all;
  }
}

Timer timer_of(const CaseTimes& at) {
  return at.clock.starts_with(text_of(Timer::event)) ? Timer::event : Timer::host;
}

// Returns the time of a command, on the side where it is shorter.
double command_s(const CaseTimes& a, const CaseTimes& b) {
  const auto of = [](const CaseTimes& at) {
    return at.median_s() / static_cast<double>(at.runs.front().commands);
  };
  return std::min(of(a), of(b));
}

Spread prior_of(DeviceChanges& device, const CaseTimes& a, const CaseTimes& b) {
  if (const auto& assumed = device.rules->assumed_spread)
    return {*assumed * *assumed, std::numeric_limits<double>::infinity()};
  const Timer timer = timer_of(a);
  const std::string& type = device.pair->after->type;
  device.basis.prior = prior_text(type, timer);
  double variance = 0, runs = 0;
  for (const CaseTimes* at : {&a, &b}) {
    for (const auto& run : at->runs) variance += run.log_variance;
    runs += static_cast<double>(at->runs.size());
  }
  return prior_spread(type, timer, command_s(a, b), variance / runs);
}

Work work_of(DeviceChanges& device, const CaseTimes& a, const CaseTimes& b, std::size_t index) {
  Work out;
  out.index = index;
  out.units.before = units_of(a, device.basis.files);
  out.units.after = units_of(b, device.basis.files);
  device.basis.old_units = std::max(device.basis.old_units, out.units.before.size());
  device.basis.new_units = std::max(device.basis.new_units, out.units.after.size());
  out.slowed = slowed(a) || slowed(b);
  out.units.prior = prior_of(device, a, b);
  if (!device.rules->assumed_spread)
    out.units.rare = rare_spread(device.pair->after->type, timer_of(a), command_s(a, b));
  out.units.log_time = (mean_of(out.units.before) + mean_of(out.units.after)) / 2;
  add_quiet(device, b, out.units);
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
  const auto typical_s = [&](const CaseTimes* at) -> Number {
    if (at == nullptr || !at->ok()) return {};
    return std::exp(mean_of(units_of(*at, device.basis.files)));
  };
  row.old_s = typical_s(a);
  row.new_s = typical_s(b);
  std::tie(row.transition, row.reason) = transition_of(a, b);
  if (row.transition == Transition::compared) {
    const Work& work = device.works.emplace_back(work_of(device, *a, *b, out.size()));
    row.old_runs = work.units.before.size();
    row.new_runs = work.units.after.size();
  }
  out.push_back(std::move(row));
}

// Returns the spread of what two sessions differ by in all cases.
Spread shared_by_sides(const DeviceNoise& noise, const Basis& basis) {
  constexpr double degrees = 4;  // of the assumed spread, where sessions show their own
  const Spread assumed{shared_by_session * shared_by_session, degrees};
  const double units = 1 / static_cast<double>(basis.old_units) + 1 / static_cast<double>(basis.new_units);
  Spread sessions = moderated(basis.files ? noise.shared_by_units : noise.shared_by_sessions, assumed);
  const bool shown = basis.files || sessions.degrees > degrees;
  sessions.variance *= basis.files ? units : 2;
  if (!basis.files) sessions.variance += noise.shared_by_units.variance * units;
  return {sessions.variance, shown ? sessions.degrees : HUGE_VAL};
}

// Names a unit of a side: its file, and the place of its run there.
std::string name_of(const OddUnit& odd, const DeviceChanges& device) {
  const DeviceResults& side = odd.is_new ? *device.pair->after : *device.pair->before;
  const auto& files = odd.is_new ? device.pair->new_files : device.pair->old_files;
  const char* which = odd.is_new ? "new" : "old";
  const auto file_name = [&](std::uint32_t file) {
    return file < files.size() ? files[file] : std::string(which);
  };
  if (device.basis.files) return file_name(odd.of);
  std::set<std::uint32_t> runs;
  for (const auto& at : side.cases) {
    for (const auto& run : at.runs) runs.insert(run.run);
  }
  const auto place = std::distance(runs.begin(), runs.find(odd.of)) + 1;
  return fmt::format("run {} of {}", place, file_name(0));
}

// Returns the cases nearest to a centre, and within their noise of it.
std::vector<PairedCase> cases_at(double centre, const std::vector<CommonChange>& changes,
                                 const std::vector<PairedCase>& cases, const std::vector<double>& scales) {
  std::vector<PairedCase> out;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto distance = [&](double to) { return std::abs(cases[i].difference() - to); };
    const bool nearest = std::ranges::all_of(
        changes, [&](const CommonChange& other) { return distance(centre) <= distance(other.centre); });
    if (nearest && distance(centre) <= near_a_centre * std::max(scales[i], least_scale))
      out.push_back(cases[i]);
  }
  return out;
}

// Sets by what the units of a side differ, and which one is the odd one.
void tell_units(const DeviceChanges& device, const SideShares& units, double& ratio, std::string& odd) {
  ratio = std::exp(units.odd ? units.odd->difference : units.widest);
  if (units.odd) odd = name_of(*units.odd, device);
}

// Judges a common change by the noise of its cases, and by what the units of a side differ by in all of them:
// the error of a sum of both, its degrees by Satterthwaite (1946).
Together together_of(const DeviceChanges& device, const CommonChange& change, const SideShares& units) {
  const double margin = std::log1p(device.rules->margin), of_cases = change.se * change.se,
               of_units = units.mean_difference.variance, se = std::sqrt(of_cases + of_units);
  const double degrees =
      of_units > 0 ? units.mean_difference.degrees * std::pow(1 + of_cases / of_units, 2) : HUGE_VAL;
  const double reach = t_quantile(0.95, degrees) * se;
  Together out;
  out.ratio = std::exp(change.centre);
  out.low = std::exp(change.centre - reach);
  out.high = std::exp(change.centre + reach);
  out.cases = change.cases;
  if (std::abs(change.centre) - t_quantile(0.98, HUGE_VAL) * change.se <= margin) return out;
  if (std::abs(change.centre) - t_quantile(0.98, degrees) * se > margin) {
    out.verdict = change.centre > 0 ? Change::slower : Change::faster;
    return out;
  }
  tell_units(device, units, out.units_ratio, out.odd_unit);
  return out;
}

// Finds what the cases of a device share and widens their noise to their scatter about it. Returns the
// centres.
std::vector<double> share(DeviceChanges& device, const std::vector<PairedCase>& units, DeviceNoise& noise) {
  std::vector<double> differences, scales, centres;
  // Those of a machine that was not quiet scatter by more than the others, and tell nothing of them.
  std::vector<PairedCase> quiet;
  std::vector<CaseNoise> noise_of_quiet;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (device.works[i].slowed) continue;
    quiet.push_back(units[i]);
    noise_of_quiet.push_back(noise.cases[i]);
    differences.push_back(units[i].difference());
    scales.push_back(std::sqrt(noise.cases[i].difference.variance));
  }
  Basis& basis = device.basis;
  const auto changes = common_changes(differences, scales);
  for (const auto& change : changes) {
    // A centre that chance explains is no common change.
    const bool by_chance = std::abs(change.centre) < 1.96 * change.se;
    centres.push_back(by_chance ? 0 : change.centre);
    const auto shares =
        side_shares(cases_at(change.centre, changes, quiet, scales), std::log1p(device.rules->margin));
    basis.together.push_back(together_of(device, change, shares));
  }
  if (const SideShares all = side_shares(quiet, std::log1p(device.rules->margin));
      all.widest > std::log1p(device.rules->margin))
    tell_units(device, all, basis.units_ratio, basis.odd_unit);
  const bool told = !centres.empty();
  if (!told) centres.push_back(differences.empty() ? 0 : median(differences));
  basis.wider = widen(quiet, centres, noise_of_quiet);
  for (std::size_t i = 0, at = 0; i < units.size(); ++i) {
    if (!device.works[i].slowed) noise.cases[i] = noise_of_quiet[at++];
  }
  constexpr double as_cards_do = 2;
  if (basis.wider > as_cards_do && basis.another_card == Basis::AnotherCard::no && told)
    basis.another_card = Basis::AnotherCard::by_scatter;
  if (!told) centres.clear();
  return centres;
}

void tell_source(const DeviceNoise& noise, const std::vector<PairedCase>& units, Basis& basis) {
  const bool sessions =
      std::ranges::any_of(units, [](const PairedCase& one) { return one.quiet_sessions.size() > 1; });
  basis.source = sessions                                                ? Basis::Source::sessions
                 : std::ranges::all_of(noise.cases, &CaseNoise::assumed) ? Basis::Source::assumed
                                                                         : Basis::Source::runs;
  std::vector<double> spreads;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto na = static_cast<double>(units[i].before.size()),
               nb = static_cast<double>(units[i].after.size());
    spreads.push_back(std::sqrt(noise.cases[i].difference.variance / (1 / na + 1 / nb)));
  }
  if (!spreads.empty()) basis.spread = median(spreads);
}

// Returns whether the common change nearest to a difference is more than a session's clock may explain.
bool shared_beyond(double difference, const std::vector<double>& centres, double reach) {
  const auto nearest =
      std::ranges::min_element(centres, {}, [&](double centre) { return std::abs(difference - centre); });
  return nearest != centres.end() && std::abs(*nearest) > reach;
}

// Sets ratio, interval and the least change that would be called. Returns the tests, whose p is not yet
// corrected.
std::vector<Tested> test_cases(DeviceChanges& device, std::vector<ComparedCase>& cases) {
  std::vector<PairedCase> units;
  for (const auto& work : device.works) units.push_back(work.units);
  DeviceNoise noise = noise_of(units, device.basis.files);
  const auto centres = share(device, units, noise);
  Basis& basis = device.basis;
  tell_source(noise, units, basis);
  const double margin = std::log1p(device.rules->margin), rate = device.rules->false_discovery;
  // A verdict needs a change beyond the margin as well, so that a smaller part of it has to be the program's
  // than an interval may leave out.
  const Spread shared = shared_by_sides(noise, basis);
  const double in_intervals = t_quantile(0.99, shared.degrees) * std::sqrt(shared.variance);
  basis.shared = t_quantile(0.92, shared.degrees) * std::sqrt(shared.variance);
  std::vector<Tested> out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const Spread& spread = noise.cases[i].difference;
    const double difference = units[i].difference();
    const PartlyKnown change = without_shared(difference, spread, centres, basis.shared);
    const auto [low, high] = interval_95(without_shared(difference, spread, centres, in_intervals));
    const auto tails = tails_of(noise.cases[i], basis);
    ComparedCase& row = cases[device.works[i].index];
    row.ratio = std::exp(difference);
    row.low = std::exp(low);
    row.high = std::exp(high);
    row.least = std::expm1(basis.shared + least_difference(spread, tails, margin, rate, rate));
    if (device.works[i].slowed) {
      row.reason = "measured while the machine was not quiet";
      ++basis.slowed;
      continue;
    }
    out.push_back({device.works[i].index, p_of_no_change(change, tails), p_within(change, margin),
                   shared_beyond(difference, centres, basis.shared), spread, tails});
  }
  return out;
}

// Adds the cases of a device and what its verdicts rest on. Returns its tests.
std::vector<Tested> compare_pair(const Pair& pair, bool by_file, const ChangeRules& rules,
                                 RunComparison& out) {
  DeviceChanges device = changes_of(pair, by_file, rules);
  for (const auto& at : pair.before->cases) add(device, &at, same_launch(*pair.after, at), out.cases);
  for (const auto& at : pair.after->cases) {
    if (same_launch(*pair.before, at) == nullptr) add(device, nullptr, &at, out.cases);
  }
  auto tests = test_cases(device, out.cases);
  out.devices.push_back(device.basis);
  return tests;
}

// Calls cases faster, slower or the same at the false discovery rate of the rules (Benjamini and Hochberg
// 1995), those alone whose change lies beyond the margin. A case alone has to be less likely by chance, but
// no farther beyond the margin than among others.
void judge(const std::vector<Tested>& tests, const ChangeRules& rules, std::vector<ComparedCase>& cases) {
  // Of many cases that are all nearly beyond the margin, luck carries some over it.
  std::vector<double> p, shared;
  for (const auto& one : tests) {
    p.push_back(one.p);
    if (one.shares) shared.push_back(one.p_within);
  }
  const auto adjusted = benjamini_hochberg(p), adjusted_shared = benjamini_hochberg(shared);
  auto next_shared = adjusted_shared.begin();
  const double rate = rules.false_discovery, margin = std::log1p(rules.margin);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    ComparedCase& row = cases[tests[i].index];
    row.least_alone = std::expm1(least_difference(tests[i].noise, tests[i].tails, margin,
                                                  rate / static_cast<double>(tests.size()), rate));
    row.p = std::max(adjusted[i], tests[i].shares ? *next_shared++ : tests[i].p_within);
    if (row.p < rate)
      row.verdict = row.ratio > 1 ? Change::slower : Change::faster;
    else if (row.low > 1 / (1 + rules.margin) && row.high < 1 + rules.margin)
      row.verdict = Change::same;
  }
}

// Names the driver of a device of which the set has another with another driver.
std::string with_driver(const DeviceResults& device, const ResultsSet& set) {
  const bool several = std::ranges::any_of(set.devices, [&](const DeviceResults& other) {
    return other.name == device.name && other.driver != device.driver;
  });
  return several ? fmt::format(" with driver {}", device.driver) : "";
}

// Returns the devices that are on both sides.
std::vector<Pair> pairs_of(const ResultsSet& before, const ResultsSet& after,
                           const std::vector<ResultsSet>& noise) {
  std::vector<Pair> out;
  for (const auto& device : before.devices) {
    const DeviceResults* other = same_device(device, after, before);
    if (other == nullptr) continue;
    Pair pair{&device, other, {}, before.files, after.files};
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
  const bool by_file = before.files.size() > 1 || after.files.size() > 1;
  for (const auto& pair : pairs)
    std::ranges::move(compare_pair(pair, by_file, rules, out), std::back_inserter(tests));
  judge(tests, rules, out.cases);
  for (const auto* set : {&before, &after}) {
    for (const auto& device : set->devices) {
      const bool met = std::ranges::any_of(
          pairs, [&](const Pair& pair) { return pair.before == &device || pair.after == &device; });
      if (met) continue;
      const std::string driver = with_driver(device, *set);
      if (set == &after && !driver.empty()) out.of_other_drivers += device.cases.size();
      out.notes.push_back(fmt::format("{}{} is only in {}: its {} cases are not compared", device.name,
                                      driver, fmt::join(set->files, ", "), device.cases.size()));
    }
  }
  return out;
}

}  // namespace clweave::compare
