// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/rows/prior.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/quantity.hpp"
#include "report/table.hpp"
#include "suite/family.hpp"

namespace clweave::compare {

namespace {

struct Unit {
  double log_time = 0;
  double within = 0;  // variance of log_time that the samples tell
};

// The runs of a case, or the means of its sessions.
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

// Squares about the units' mean, added to those of other groups of the same case.
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
    // Units cannot agree better than their samples know; and a clock that ticks makes them equal.
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

// A comparable case between two computations.
struct Work {
  std::size_t index = 0;  // into Regression::cases
  std::vector<Unit> before, after;
  Spread runs, sessions;
  Spread prior;  // without a run or session that tells more
  double difference = 0;
  bool slowed = false;  // a run of either side was
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

// A case that is tested, whose verdict the others' share in.
struct Tested {
  std::size_t index = 0;  // into Regression::cases
  double p = 1;
  double se = 0, degrees = 0;  // of the logarithm of its ratio
};

// The change of a case at which its p, not yet corrected, is `p`.
double least_change(double p, double margin, double se, double degrees) {
  return std::exp(margin + t_quantile(1 - 2 * p, degrees) * se) - 1;
}

struct Pair {
  const DeviceResults *before, *after;
  std::vector<std::pair<const ResultsSet*, const DeviceResults*>> noise;
};

class DeviceComparison {
 public:
  DeviceComparison(const Pair& pair, bool old_by_file, bool new_by_file, const ChangeRules& rules,
                   RunComparison& out)
      : pair_(pair), old_by_file_(old_by_file), new_by_file_(new_by_file), rules_(rules), out_(out) {
    for (const auto* device : {pair.before, pair.after}) {
      for (const auto& at : device->cases) names_.learn(*at.name);
    }
    basis_.device = pair.after->label() + pair.after->called();
    basis_.old_driver = pair.before->driver;
    basis_.new_driver = pair.after->driver;
    basis_.files = old_by_file || new_by_file;
  }

  void run(std::vector<Tested>& tested) {
    for (const auto& at : pair_.before->cases) sort_out(&at, same_launch(*pair_.after, at));
    for (const auto& at : pair_.after->cases) {
      if (same_launch(*pair_.before, at) == nullptr) sort_out(nullptr, &at);
    }
    estimate(tested);
    out_.devices.push_back(basis_);
  }

 private:
  // The same id is the same launch, whether tune chose it or the user did.
  static const CaseTimes* same_launch(const DeviceResults& device, const CaseTimes& at) {
    const CaseTimes* found = device.find(at.id(), at.tuned);
    return found != nullptr ? found : device.find(at.id(), !at.tuned);
  }

  void sort_out(const CaseTimes* a, const CaseTimes* b) {
    const CaseTimes& any = a != nullptr ? *a : *b;
    // A driver's time stamps may be believed on one side only; the host's clock is on both.
    std::optional<CaseTimes> host_a, host_b;
    if (a != nullptr && b != nullptr && a->ok() && b->ok() &&
        (a->clock != b->clock || a->clock == several_clocks) && a->cache == b->cache &&
        a->cache != several_clocks) {
      host_a = a->by_host();
      host_b = b->by_host();
      if (host_a && host_b && a->runs.front().batch == b->runs.front().batch) {
        a = &*host_a;
        b = &*host_b;
        ++basis_.by_host;
      }
    }
    // What one session chose for itself is nothing that the other lacks.
    if ((a == nullptr || b == nullptr) && any.ok() && (any.tuned || any.reason == chosen_here)) return;
    Compared row;
    row.device = basis_.device;
    row.family = any.family();
    row.id = any.label();
    row.name = names_.of(*any.name) + (any.tuned ? " tuned" : "");
    if (a != nullptr && a->ok()) row.old_s = a->median_s();
    if (b != nullptr && b->ok()) row.new_s = b->median_s();
    if (b == nullptr || a == nullptr) {
      row.what = b == nullptr ? What::gone : What::added;
    } else if (!a->ok() || !b->ok()) {
      const CaseTimes& bad = b->ok() ? *a : *b;
      row.what = a->ok() ? What::broken : b->ok() ? What::fixed : What::failing;
      row.reason = text_of(bad.status);
      if (bad.bad < bad.rows) row.reason += fmt::format(" in {} of {} runs", bad.bad, bad.rows);
      if (!bad.reason.empty()) row.reason += ": " + bad.reason;
    } else if (auto why = difference_between(*a, *b); !why.empty()) {
      row.what = What::apart;
      row.reason = std::move(why);
    } else {
      Work work;
      work.index = out_.cases.size();
      work.before = units_of(*a, old_by_file_);
      work.after = units_of(*b, new_by_file_);
      row.old_runs = work.before.size();
      row.new_runs = work.after.size();
      basis_.old_units = std::max(basis_.old_units, row.old_runs);
      basis_.new_units = std::max(basis_.new_units, row.new_runs);
      work.difference = mean_of(work.after) - mean_of(work.before);
      work.slowed = slowed(*a) || slowed(*b);
      work.prior = prior_of(*a);
      learn_spreads(*b, work);
      works_.push_back(std::move(work));
    }
    out_.cases.push_back(std::move(row));
  }

  void learn_spreads(const CaseTimes& at, Work& work) const {
    Squares runs, sessions;
    runs.add(work.before);
    runs.add(work.after);
    std::vector<Unit> each;
    for (const auto& [set, device] : pair_.noise) {
      const CaseTimes* quiet = same_launch(*device, at);
      if (quiet == nullptr || !quiet->ok()) continue;
      const auto host = at.clock == "host" ? quiet->by_host() : std::nullopt;
      if (host) quiet = &*host;
      if (quiet->clock != at.clock) continue;
      const auto units = units_of(*quiet, false);
      // Where the sides' units are sessions, runs within one know too little.
      if (!basis_.files) runs.add(units);
      each.push_back({mean_of(units), within_of(units) / static_cast<double>(units.size())});
    }
    sessions.add(each);
    work.runs = runs.spread();
    work.sessions = sessions.spread();
  }

  Spread common(Spread Work::*which) const {
    std::vector<Spread> spreads;
    for (const auto& work : works_) spreads.push_back(work.*which);
    return common_spread(spreads);
  }

  Spread prior_of(const CaseTimes& at) {
    if (rules_.assumed_spread)
      return {*rules_.assumed_spread * *rules_.assumed_spread, std::numeric_limits<double>::infinity()};
    const Timer timer = at.clock.starts_with(text_of(Timer::event)) ? Timer::event : Timer::host;
    basis_.prior = prior_text(pair_.after->type, timer);
    return prior_spread(pair_.after->type, timer,
                        at.median_s() / static_cast<double>(at.runs.front().commands));
  }

  // By how much more than that the cases of this comparison are seen to differ, at least 1. About what all
  // have in common, and by the quarter that differs least: what changed many cases, or all of them alike, is
  // no luck of theirs. One case alone says nothing of it.
  double widened() const {
    constexpr double quartile_of_normal = 0.3186;  // of its absolute values
    std::vector<double> differences;
    for (const auto& work : works_) differences.push_back(work.difference);
    if (differences.size() < 2) return 1;
    const double common = median(differences);
    for (std::size_t i = 0; i < works_.size(); ++i)
      differences[i] = std::abs(works_[i].difference - common) / std::sqrt(2 * works_[i].prior.variance);
    // The least belongs to the median itself. With it, the quartile of 3 to 10 cases would be 0.5 to 0.8 of
    // what it is of many; without it, it is 1.8 to 1.1.
    differences.erase(std::ranges::min_element(differences));
    return std::max(1.0, quantile(differences, 0.25) / quartile_of_normal);
  }

  void estimate(std::vector<Tested>& tested) {
    const Spread of_runs = common(&Work::runs), of_sessions = common(&Work::sessions);
    const double wider = widened();
    const double margin = std::log1p(rules_.margin);
    std::vector<double> spreads;
    for (const auto& work : works_) {
      const auto na = static_cast<double>(work.before.size()), nb = static_cast<double>(work.after.size());
      const Spread runs = moderated(work.runs, of_runs), sessions = moderated(work.sessions, of_sessions);
      Spread difference;
      if (runs.degrees > 0) difference = {runs.variance * (1 / na + 1 / nb), runs.degrees};
      if (sessions.degrees > 0 && 2 * sessions.variance > difference.variance)
        difference = {2 * sessions.variance, sessions.degrees};
      // Several runs show in their spread what a neighbour does to them; of one, only the canary knows.
      const bool untold = difference.degrees == 0 && work.slowed;
      if (difference.degrees == 0) {
        const double within = within_of(work.before) / na + within_of(work.after) / nb;
        difference = {wider * wider * work.prior.variance * (1 / na + 1 / nb) + within, work.prior.degrees};
      }
      const double se = std::sqrt(difference.variance);
      spreads.push_back(se / std::sqrt(1 / na + 1 / nb));
      Compared& row = out_.cases[work.index];
      const double reach = t_quantile(0.95, difference.degrees) * se;
      row.ratio = std::exp(work.difference);
      row.low = std::exp(work.difference - reach);
      row.high = std::exp(work.difference + reach);
      row.least = least_change(rules_.false_discovery, margin, se, difference.degrees);
      if (untold) {
        row.reason = "measured while the device ran slow";
        ++basis_.slowed;
        continue;
      }
      tested.push_back({work.index, beyond_margin_p(work.difference / se, margin / se, difference.degrees),
                        se, difference.degrees});
    }
    const auto has = [&](Spread Work::*which) {
      return std::ranges::any_of(works_, [&](const Work& work) { return (work.*which).degrees > 0; });
    };
    basis_.source = has(&Work::sessions) ? Basis::Source::sessions
                    : has(&Work::runs)   ? Basis::Source::runs
                                         : Basis::Source::assumed;
    if (!spreads.empty()) basis_.spread = median(spreads);
    if (basis_.source == Basis::Source::assumed) basis_.wider = wider;
  }

  const Pair& pair_;
  bool old_by_file_, new_by_file_;
  const ChangeRules& rules_;
  RunComparison& out_;
  CaseLabels names_;
  Basis basis_;
  std::vector<Work> works_;
};

// The devices that are on both sides.
std::vector<Pair> pairs_of(const ResultsSet& before, const ResultsSet& after,
                           const std::vector<ResultsSet>& noise) {
  std::vector<Pair> out;
  for (const auto& device : before.devices) {
    const DeviceResults* other = same_device(device, after, before);
    if (other == nullptr) continue;
    Pair pair{&device, other, {}};
    for (const auto& set : noise) {
      if (const auto* quiet = same_device(*other, set, after)) pair.noise.emplace_back(&set, quiet);
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
                          "compared with --mode architectures",
                          names(before), names(after)));
}

}  // namespace

const char* word_of(What what) {
  switch (what) {
    case What::compared: return "compared";
    case What::broken: return "broken";
    case What::fixed: return "fixed";
    case What::failing: return "failing";
    case What::apart: return "not comparable";
    case What::gone: return "only old";
    case What::added: return "only new";
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

std::size_t RunComparison::count(What what) const {
  return static_cast<std::size_t>(std::ranges::count(cases, what, &Compared::what));
}

std::size_t RunComparison::count(Change verdict) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      cases, [&](const Compared& row) { return row.what == What::compared && row.verdict == verdict; }));
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
  std::vector<Tested> tested;
  const auto pairs = pairs_of(before, after, noise);
  for (const auto& pair : pairs)
    DeviceComparison(pair, before.files.size() > 1, after.files.size() > 1, rules, out).run(tested);
  for (const auto* set : {&before, &after}) {
    for (const auto& device : set->devices) {
      const bool met = std::ranges::any_of(
          pairs, [&](const Pair& pair) { return pair.before == &device || pair.after == &device; });
      if (!met)
        out.notes.push_back(fmt::format("{} is only in {}: its {} cases are not compared", device.name,
                                        fmt::join(set->files, ", "), device.cases.size()));
    }
  }
  std::vector<double> p;
  for (const auto& one : tested) p.push_back(one.p);
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    Compared& row = out.cases[tested[i].index];
    row.least_alone = least_change(rules.false_discovery / static_cast<double>(tested.size()),
                                   std::log1p(rules.margin), tested[i].se, tested[i].degrees);
    row.p = adjusted[i];
    if (row.p < rules.false_discovery) {
      row.verdict = row.ratio > 1 ? Change::slower : Change::faster;
    } else if (row.low > 1 / (1 + rules.margin) && row.high < 1 + rules.margin) {
      row.verdict = Change::same;
    }
  }
  return out;
}

namespace {

std::string ratio_text(double ratio) { return fmt::format("{:.3g}x", ratio); }

std::string basis_text(const RunComparison& all, const Basis& basis) {
  const char* unit = basis.files ? "session" : "run";
  const auto number = [&](std::size_t n) { return fmt::format("{} {}{}", n, unit, n == 1 ? "" : "s"); };
  std::vector<double> least, alone, ratios;
  for (const auto& row : all.cases) {
    if (row.what != What::compared || row.device != basis.device) continue;
    least.push_back(row.least);
    if (row.least_alone > 0) alone.push_back(row.least_alone);  // tested
    ratios.push_back(row.ratio);
  }
  std::string out = basis.device;
  if (basis.old_driver != basis.new_driver)
    out += fmt::format(", driver {} -> {}", basis.old_driver, basis.new_driver);
  out += fmt::format(": {} against {}", number(basis.old_units), number(basis.new_units));
  if (basis.by_host > 0)
    out += fmt::format(" ({} cases by the host's clock: the device's was not believed every time)",
                       basis.by_host);
  if (least.empty()) return out;
  const std::string typical = percent_text(basis.spread, 1),
                    call =
                        fmt::format("{} to be called{}", percent_text(median(least), 0),
                                    alone.empty() ? "" : ", one alone by " + percent_text(median(alone), 0));
  // Of fewer the table tells.
  constexpr std::size_t many = 10;
  const double common = median(ratios);
  const std::string together = ratios.size() < many || std::abs(std::log(common)) <= std::log1p(all.margin)
                                   ? ""
                                   : fmt::format("\n  Half of the cases take {} as long or {}.",
                                                 ratio_text(common), common > 1 ? "longer" : "less");
  switch (basis.source) {
    case Basis::Source::assumed:
      return out +
             fmt::format(
                 "\n  One run a side knows nothing of its own luck. Assumed: {}{}.\n  A typical case must "
                 "change by {}. --runs 5 on both sides, or --noise with sessions of no change, see more.",
                 basis.prior.empty() ? typical + " between processes" : basis.prior,
                 basis.wider > 1.05
                     ? fmt::format(", widened {:.2g} times, as these cases scatter more", basis.wider)
                     : "",
                 call) +
             (basis.slowed > 0
                  ? fmt::format("\n  {} cases are undecided because the canary beside them ran slow: the "
                                "machine had other work, or a lower clock.",
                                basis.slowed)
                  : "") +
             together;
    case Basis::Source::runs:
      return out +
             fmt::format("; {}s differ by {}; a typical case must change by {}{}", unit, typical, call,
                         basis.files ? ""
                                     : "\n  Runs of one file share its session: --noise tells what sessions "
                                       "differ by.") +
             together;
    case Basis::Source::sessions:
      return out +
             fmt::format("; without a change sessions differ by {}; a typical case must change by {}",
                         typical, call) +
             together;
  }
  return out;
}

Style style_of(const Compared& row) {
  if (row.what == What::broken || row.verdict == Change::slower) return Style::red;
  if (row.what == What::fixed || row.verdict == Change::faster) return Style::green;
  return Style::dim;
}

// Worst first: broken, slower by how much, faster, then what is not certain.
int rank_of(const Compared& row) {
  if (row.what == What::broken) return 0;
  if (row.verdict == Change::slower) return 1;
  if (row.verdict == Change::faster) return 2;
  if (row.what == What::fixed) return 3;
  if (row.what == What::apart) return 4;
  if (row.what == What::failing) return 7;
  if (row.what != What::compared) return 8;
  return row.verdict == Change::undecided ? 5 : 6;
}

void cases_block(const RunComparison& all, Report& out, bool every) {
  std::vector<const Compared*> shown;
  for (const auto& row : all.cases) {
    if (every || rank_of(row) <= 4) shown.push_back(&row);
  }
  std::ranges::stable_sort(shown, {}, [](const Compared* row) {
    return std::pair(rank_of(*row), row->ratio > 0 ? -std::abs(std::log(row->ratio)) : 0.0);
  });
  constexpr std::size_t most = 20;
  const std::size_t left = every || shown.size() <= most ? 0 : shown.size() - most;
  shown.resize(shown.size() - left);
  if (!shown.empty()) {
    Table table({{"verdict"},
                 {"case", Align::left, Overflow::cut},
                 {"old", Align::right},
                 {"new", Align::right},
                 {"new/old", Align::right},
                 {"95 % interval", Align::left, Overflow::cut, 1}});
    for (const auto* row : shown) {
      const bool compared = row->what == What::compared;
      std::string device = all.devices.size() > 1 ? " on " + row->device : "";
      table.add(
          {paint(boost::to_upper_copy<std::string>(compared ? word_of(row->verdict) : word_of(row->what)),
                 style_of(*row)),
           row->name + device, row->old_s ? seconds_text(*row->old_s) : "-",
           row->new_s ? seconds_text(*row->new_s) : "-", compared ? ratio_text(row->ratio) : "",
           compared ? fmt::format("{:.3f} .. {:.3f}", row->low, row->high)
                    : row->reason.substr(0, row->reason.find('\n')).substr(0, 60)});
    }
    out.line("");
    out.table(std::move(table));
    if (left > 0) out.line(fmt::format("and {} more: --all shows every case", left));
  }
}

void families_block(const RunComparison& all, Report& out) {
  Table families({{"family"},
                  {"slower", Align::right},
                  {"faster", Align::right},
                  {"same", Align::right},
                  {"undecided", Align::right},
                  {"new/old, geometric mean", Align::right}});
  std::vector<std::string> names;
  for (const auto& row : all.cases) {
    if (row.what == What::compared && std::ranges::find(names, row.family) == names.end())
      names.push_back(row.family);
  }
  for (const auto& name : names) {
    std::map<Change, int> counts;
    std::vector<double> ratios;
    for (const auto& row : all.cases) {
      if (row.family != name || row.what != What::compared) continue;
      ++counts[row.verdict];
      ratios.push_back(row.ratio);
    }
    const auto cell = [&](Change verdict) {
      return counts[verdict] > 0 ? std::to_string(counts[verdict]) : "";
    };
    families.add({name, paint(cell(Change::slower), Style::red), paint(cell(Change::faster), Style::green),
                  cell(Change::same), cell(Change::undecided), ratio_text(geometric_mean(ratios))});
  }
  if (!names.empty()) {
    out.line("");
    out.table(std::move(families));
  }
}

Cell cell_of(const Number& number) { return number ? Cell(*number) : Cell(); }

void add_rows(const RunComparison& all, Report& out) {
  out.columns({"device", "family", "case_id", "what", "verdict", "ratio", "ratio_low", "ratio_high",
               "p_adjusted", "least_change", "old_s", "new_s", "old_runs", "new_runs", "reason"});
  out.rows([&all](const std::function<void(Report::Row)>& take) {
    for (const auto& row : all.cases) {
      const bool compared = row.what == What::compared;
      const auto number = [&](double value) { return compared ? Cell(rounded(value)) : Cell(); };
      const auto count = [&](std::size_t n) {
        return compared ? Cell(static_cast<std::int64_t>(n)) : Cell();
      };
      take({row.device, row.family, row.id, word_of(row.what), compared ? Cell(word_of(row.verdict)) : Cell(),
            number(row.ratio), number(row.low), number(row.high), number(row.p), number(row.least),
            cell_of(row.old_s), cell_of(row.new_s), count(row.old_runs), count(row.new_runs), row.reason});
    }
  });
}

nlohmann::json document_of(const RunComparison& all) {
  using nlohmann::json;
  json out;
  out["mode"] = "regression";
  out["old"] = all.old_files;
  out["new"] = all.new_files;
  out["notes"] = all.notes;
  out["margin"] = all.margin;
  for (const auto& basis : all.devices) {
    const char* source = basis.source == Basis::Source::assumed ? "assumed"
                         : basis.source == Basis::Source::runs  ? "runs"
                                                                : "sessions";
    out["devices"].push_back({{"device", basis.device},
                              {"old_driver", basis.old_driver},
                              {"new_driver", basis.new_driver},
                              {"spread_from", source},
                              {"spread", basis.spread},
                              {"unit", basis.files ? "session" : "run"},
                              {"by_host_clock", basis.by_host},
                              {"slowed", basis.slowed},
                              {"old_units", basis.old_units},
                              {"new_units", basis.new_units}});
  }
  for (const auto verdict : {Change::slower, Change::faster, Change::same, Change::undecided})
    out["counts"][word_of(verdict)] = all.count(verdict);
  for (const auto what : {What::broken, What::fixed, What::failing, What::apart, What::gone, What::added})
    out["counts"][word_of(what)] = all.count(what);
  for (const auto& row : all.cases) {
    json one = {
        {"device", row.device}, {"family", row.family}, {"case_id", row.id}, {"what", word_of(row.what)}};
    if (row.old_s) one["old_s"] = *row.old_s;
    if (row.new_s) one["new_s"] = *row.new_s;
    if (!row.reason.empty()) one["reason"] = row.reason;
    if (row.what == What::compared)
      one.update({{"verdict", word_of(row.verdict)},
                  {"ratio", row.ratio},
                  {"ratio_low", row.low},
                  {"ratio_high", row.high},
                  {"p_adjusted", row.p},
                  {"least_change", row.least},
                  {"old_runs", row.old_runs},
                  {"new_runs", row.new_runs}});
    out["cases"].push_back(std::move(one));
  }
  return out;
}

}  // namespace

FailOn fail_on_of(const std::string& text) {
  FailOn out;
  if (text.find_first_not_of(',') == std::string::npos)
    throw Error(ErrorCode::usage,
                "--fail-on " + text + ": write slower, slower:5%, broken, or several with commas");
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    std::string word = text.substr(at, comma - at);
    at = comma + 1;
    if (word == "broken") {
      out.broken = true;
      continue;
    }
    const auto colon = word.find(':');
    bool right = word.substr(0, colon) == "slower";
    double percent = 0;
    if (right && colon != std::string::npos) {
      std::string number = word.substr(colon + 1);
      if (number.ends_with('%')) number.pop_back();
      const auto value = number_of<double>(number);
      right = value && *value >= 0;
      percent = value.value_or(0);
    }
    if (!right)
      throw Error(ErrorCode::usage,
                  "--fail-on " + text + ": write slower, slower:5%, broken, or several with commas");
    out.slower_than = percent / 100;
  }
  return out;
}

Report report_of(const RunComparison& all, bool every) {
  Report out;
  for (const auto& note : all.notes) out.line(paint("note: " + note, Style::yellow));
  for (const auto& basis : all.devices) out.line(basis_text(all, basis));
  out.line("");
  const auto counted = [&](auto what, Style style) {
    const std::size_t n = all.count(what);
    const std::string text = fmt::format("{} {}", n, boost::to_upper_copy<std::string>(word_of(what)));
    return n > 0 ? paint(text, style) : text;
  };
  std::string totals = fmt::format("{}  {}  {}  {}", counted(Change::slower, Style::red),
                                   counted(Change::faster, Style::green), counted(Change::same, Style::bold),
                                   counted(Change::undecided, Style::bold));
  for (const auto& [what, style] : {std::pair{What::broken, Style::red}, {What::fixed, Style::green}}) {
    if (all.count(what) > 0) totals += "  " + counted(what, style);
  }
  out.line(totals);
  std::vector<std::string> rest;
  for (const auto what : {What::apart, What::failing, What::gone, What::added}) {
    if (const auto n = all.count(what); n > 0) rest.push_back(fmt::format("{} {}", n, word_of(what)));
  }
  out.line(fmt::format("{} cases compared{}{}", all.count(What::compared),
                       rest.empty() ? "" : "; not compared: ", fmt::join(rest, ", ")));

  cases_block(all, out, every);
  families_block(all, out);
  out.line("");
  out.line(fmt::format(
      "Times are medians of runs. SLOWER, FASTER: beyond {}, at a false discovery rate of 1 % over "
      "all cases.\nSAME: the interval lies within it.",
      percent_text(all.margin, all.margin * 100 == std::round(all.margin * 100) ? 0 : 1)));
  add_rows(all, out);
  out.document([&all] { return document_of(all); });
  return out;
}

}  // namespace clweave::compare
