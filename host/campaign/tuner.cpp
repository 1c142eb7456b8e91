// SPDX-License-Identifier: Apache-2.0
#include "campaign/tuner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "base/quantity.hpp"
#include "base/stats.hpp"
#include "base/table.hpp"
#include "base/terminal.hpp"
#include "base/version.hpp"
#include "suite/family.hpp"
#include "suite/tuned_store.hpp"

namespace clweave {

namespace {

bool has_tunable(const Family& family) { return std::ranges::any_of(family.axes, &Axis::tunable); }

// The values to search of each axis: numbers in order, so that neighbours are near; words as listed.
Values values_to_search(const Axis& axis, const Selection& selection, const std::vector<const Job*>& jobs) {
  const auto given = values_set(selection, axis);
  Values values = given.value_or(axis.values);
  if (!given) {
    for (const auto* job : jobs) {
      if (std::ranges::find(values, job->at.at(axis.name)) == values.end())
        values.push_back(job->at.at(axis.name));
    }
  }
  if (std::ranges::none_of(values, [](const Value& v) { return std::holds_alternative<std::string>(v); }))
    std::ranges::sort(values);
  return values;
}

bool runs_on(const Family& family, const Case& at, const DeviceInfo& device) {
  try {
    plan_of(family, at, device);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The cross product of the tunable axes' values; the default, the first value of each axis, comes first.
Landscape landscape_of(const std::vector<const Job*>& jobs, const Selection& selection,
                       const DeviceInfo& device) {
  const Family& family = *jobs.front()->family;
  std::vector<std::pair<Point, Case>> grown = {{{}, jobs.front()->at}};
  Case preferred = jobs.front()->at;
  std::size_t a = 0;
  for (const auto& axis : family.axes) {
    const std::size_t place = a++;
    if (!axis.tunable) continue;
    preferred.axes[place].second = axis.values.front();
    const Values values = values_to_search(axis, selection, jobs);
    std::vector<std::pair<Point, Case>> wider;
    for (const auto& [point, at] : grown) {
      for (std::size_t v = 0; v < values.size(); ++v) {
        wider.emplace_back(point, at);
        wider.back().first.push_back(v);
        wider.back().second.axes[place].second = values[v];
      }
    }
    grown = std::move(wider);
  }
  std::erase_if(grown, [&](const auto& one) {
    return (family.makes_sense && !family.makes_sense(one.second)) || !runs_on(family, one.second, device);
  });
  std::stable_partition(grown.begin(), grown.end(),
                        [&](const auto& one) { return one.second.id() == preferred.id(); });
  std::vector<Point> points;
  std::vector<Case> cases;
  for (auto& [point, at] : grown) {
    points.push_back(std::move(point));
    cases.push_back(std::move(at));
  }
  return {&family, variant_of(family, preferred), std::move(cases), Space(std::move(points))};
}

// The last row of each configuration that has a time, fastest first.
std::vector<const Record*> candidates(const std::vector<Record>& rows) {
  std::map<std::string, const Record*> last;
  for (const auto& row : rows) {
    if (row.ok() && row.time_s) last[row.case_id] = &row;
  }
  std::vector<const Record*> out;
  for (const auto& [id, row] : last) out.push_back(row);
  std::ranges::stable_sort(out, {}, [](const Record* row) { return *row->time_s; });
  return out;
}

const Record* row_of(const std::vector<const Record*>& rows, const Case& at) {
  const auto it = std::ranges::find(rows, at.id(), &Record::case_id);
  return it != rows.end() ? *it : nullptr;
}

// The fastest of those measured most often: each round of a search looks longer than the one before, and
// `run` counts the rounds.
const Record* best_of(const std::vector<const Record*>& rows) {
  std::int64_t last_round = 0;
  for (const auto* row : rows) last_round = std::max(last_round, row->run.value_or(1));
  const auto it =
      std::ranges::find_if(rows, [&](const Record* row) { return row->run.value_or(1) == last_round; });
  return it != rows.end() ? *it : nullptr;
}

bool tied(const Record& row, const Record& best) {
  return &row != &best && row.time_low_s && best.time_high_s && *row.time_low_s <= *best.time_high_s;
}

// The variant without the axes that all variants of the table share.
std::string short_name(const Landscape& landscape, const std::vector<Search>& all) {
  std::vector<std::string> parts;
  for (const auto& axis : landscape.family->axes) {
    if (axis.tunable) continue;
    std::set<std::string> values;
    for (const auto& one : all) {
      if (one.landscape->family == landscape.family && !one.landscape->cases.empty())
        values.insert(text_of(one.landscape->cases.front().at(axis.name)));
    }
    if (values.size() > 1) parts.push_back(axis.name + "=" + text_of(landscape.cases.front().at(axis.name)));
  }
  return landscape.family->name + (parts.empty() ? "" : " ") + fmt::format("{}", fmt::join(parts, " "));
}

std::string speed_text(const Record& row) {
  const Number rate = rate_of(row);
  if (!rate) return seconds_text(*row.time_s);
  return fmt::format("{:.4g} {}", *rate, unit_of(row.ceiling));
}

// How many measurements and seconds are left to the whole search, dealt out evenly to the variants to come.
class Budget {
 public:
  Budget(const TuningRules& rules, std::size_t variants)
      : seconds_(rules.budget_s), cases_(rules.budget_cases), outside_(rules.outside), variants_(variants) {}

  void begin_variant() {
    const auto left = static_cast<double>(variants_--);
    until_s_ = seconds_ ? outside_.now() + std::max(0.0, *seconds_ - used_s_) / left : HUGE_VAL;
    cases_left_ = cases_ ? static_cast<std::size_t>(
                               std::ceil(static_cast<double>(*cases_ - std::min(*cases_, used_)) / left))
                         : SIZE_MAX;
    began_s_ = outside_.now();
  }
  bool spent() const { return outside_.interrupts() != 0 || cases_left_ == 0 || outside_.now() >= until_s_; }
  void count() {
    --cases_left_;
    ++used_;
  }
  double end_variant() {
    const double took_s = outside_.now() - began_s_;
    used_s_ += took_s;
    return took_s;
  }

 private:
  std::optional<double> seconds_;
  std::optional<std::size_t> cases_;
  const Outside& outside_;
  std::size_t variants_, used_ = 0, cases_left_ = SIZE_MAX;
  double used_s_ = 0, until_s_ = HUGE_VAL, began_s_ = 0;
};

// Less effort: shorter sampling that is content with less.
Measuring with_effort(Measuring rule, double effort) {
  if (effort >= 1) return rule;
  rule.stop.max_seconds *= effort;
  rule.stop.precision = std::min(0.1, rule.stop.precision / effort);
  rule.stop.min_samples = std::min<std::size_t>(rule.stop.min_samples, 5);
  rule.check_again = false;  // the best are measured in full before one is kept
  rule.warm_up_s *= effort;
  return rule;
}

}  // namespace

Tuner::Tuner(TuningRules rules, Runner& runner, const DeviceInfo& device, ResultsFile& file, Record common)
    : rules_(std::move(rules)), runner_(runner), device_(device), file_(file), common_(std::move(common)) {}

void Tuner::execute(const std::vector<Job>& ceilings, const std::vector<Landscape>& landscapes) {
  std::vector<double> predicted;
  for (const auto& job : ceilings) predicted.push_back(predicted_seconds(job, device_));
  std::vector<std::size_t> first_step;
  const Strategy strategy = rules_.strategy;
  for (const auto& landscape : landscapes) {
    first_step.push_back(predicted.size());
    const std::size_t trials = expected_trials(landscape.space, strategy);
    for (std::size_t i = 0; i < trials; ++i)
      predicted.push_back(
          predicted_seconds({landscape.family, landscape.cases[i % landscape.cases.size()]}, device_));
  }
  first_step.push_back(predicted.size());
  progress_ =
      std::make_unique<Progress>(stderr, std::move(predicted), screen_of(STDERR_FILENO), rules_.outside.now);
  examiner_.emplace(runner_, file_, device_, ceilings, common_, rules_.outside);
  runner_.begin(device_);
  for (std::size_t i = 0; i < ceilings.size() && rules_.outside.interrupts() == 0; ++i) {
    progress_->start(i, ceilings[i].at.id());
    run(ceilings[i], rules_.measuring, 1);
  }
  Budget budget(rules_, landscapes.size());
  for (std::size_t l = 0; l < landscapes.size() && rules_.outside.interrupts() == 0; ++l) {
    const Landscape& landscape = landscapes[l];
    runner_.begin(device_);
    searches_.push_back({&landscape, {}, 0});
    Search& found = searches_.back();
    std::map<std::size_t, int> times_measured;
    std::size_t step = first_step[l];
    std::string incumbent = landscape.variant;
    double best_s = HUGE_VAL;
    budget.begin_variant();
    search(
        landscape.space, strategy, rules_.seed,
        [&](std::size_t point, double effort) -> std::optional<double> {
          budget.count();
          progress_->start(std::min(step++, std::max(first_step[l + 1], first_step[l] + 1) - 1), incumbent);
          const auto row = run({landscape.family, landscape.cases[point]},
                               with_effort(rules_.measuring, effort), ++times_measured[point]);
          if (!row) return {};
          found.rows.push_back(*row);
          if (!row->ok() || !row->time_s) return {};
          if (*row->time_s < best_s) {
            best_s = *row->time_s;
            incumbent = fmt::format("{}: best {} {}", landscape.variant, seconds_text(best_s),
                                    axes_text(*row, *landscape.family, true));
          }
          return row->time_s;
        },
        [&] { return budget.spent(); });
    found.whole = !budget.spent();
    found.took_s = budget.end_variant();
  }
  progress_.reset();
}

void Tuner::tick() {
  if (progress_ != nullptr) progress_->tick();
}

std::optional<Record> Tuner::run(const Job& job, const Measuring& rule, int round) {
  auto row = examiner_->measured(job, rule);
  if (!row) return {};
  examiner_->write(*row, round, ++order_, [&](const std::string& line) { progress_->note(line); });
  failed_ = failed_ || row->record.failed();
  return row->record;
}

bool keep(TunedStore& store, const DeviceInfo& device, const Search& found) {
  const Landscape& landscape = *found.landscape;
  auto rows = candidates(found.rows);
  const Record* usual = row_of(rows, landscape.cases.front());
  std::erase_if(rows, [](const Record* row) { return row->verified != Verified::yes; });
  const Record* best = best_of(rows);
  if (best == nullptr) return false;
  const auto at =
      std::ranges::find_if(landscape.cases, [&](const Case& c) { return c.id() == best->case_id; });
  Tuned tuned{{}, *best->time_s, usual != nullptr ? *usual->time_s : *best->time_s, best->time_utc, version};
  for (const auto& axis : landscape.family->axes) {
    if (axis.tunable) tuned.configuration.emplace_back(axis.name, at->at(axis.name));
  }
  const auto stored = store.find(device, *landscape.family, *at);
  if (!found.whole && stored && stored->exact && stored->time_s <= tuned.time_s) return false;
  store.put(device, *landscape.family, *at, tuned);
  return true;
}

std::vector<Landscape> landscapes_of(const std::vector<Job>& jobs, const Selection& selection,
                                     const DeviceInfo& device) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Job*>> variants;
  for (const auto& job : jobs) {
    if (job.exhibit || job.is_ceiling || !has_tunable(*job.family)) continue;
    auto& here = variants[variant_of(*job.family, job.at)];
    if (here.empty()) order.push_back(variant_of(*job.family, job.at));
    here.push_back(&job);
  }
  if (order.empty()) {
    std::vector<std::string> names;
    for (const auto& family : all_families()) {
      if (has_tunable(family)) names.push_back(family.name);
    }
    throw Error(Kind::usage, fmt::format("nothing here has a tunable axis; families that have: --family {}",
                                         fmt::join(names, ",")));
  }
  std::vector<Landscape> out;
  for (const auto& variant : order) {
    auto landscape = landscape_of(variants[variant], selection, device);
    if (landscape.space.size() > 0) out.push_back(std::move(landscape));
  }
  return out;
}

Table searches_table(const std::vector<Search>& searches) {
  Table table({{"best configuration", Align::left, Give::cut},
               {"variant"},
               {"speed", Align::right, Give::keep, 7},
               {"default / best", Align::right},
               {"time", Align::right, Give::keep, 8},
               {"95 % interval", Align::right, Give::keep, 6},
               {"median / best", Align::right, Give::keep, 3},
               {"worst / best", Align::right, Give::keep, 2},
               {"as good", Align::right, Give::keep, 4},
               {"minima", Align::right, Give::keep, 1},
               {"measured", Align::right, Give::keep, 5},
               {"took", Align::right, Give::keep, 5}});
  for (const auto& found : searches) {
    const Landscape& landscape = *found.landscape;
    const auto rows = candidates(found.rows);
    const std::string name = short_name(landscape, searches);
    const std::string measured = fmt::format("{} of {}", rows.size(), landscape.space.size());
    const Record* best = best_of(rows);
    if (best == nullptr) {
      table.add({"none was right", name, "-", "-", "-", "-", "-", "-", "-", "-", measured,
                 seconds_text(found.took_s)});
      continue;
    }
    std::vector<double> times;
    std::vector<std::optional<double>> landscape_times(landscape.space.size());
    for (const auto* row : rows) times.push_back(*row->time_s);
    for (std::size_t p = 0; p < landscape_times.size(); ++p) {
      if (const Record* row = row_of(rows, landscape.cases[p])) landscape_times[p] = row->time_s;
    }
    const Record* usual = row_of(rows, landscape.cases.front());
    const auto over_best = [&](double seconds) { return fmt::format("{:.2f}x", seconds / *best->time_s); };
    table.add(
        {axes_text(*best, *landscape.family, true), name, speed_text(*best),
         usual != nullptr ? paint(over_best(*usual->time_s), Style::bold) : "-", seconds_text(*best->time_s),
         best->time_low_s ? seconds_text(*best->time_low_s) + " .. " + seconds_text(*best->time_high_s) : "-",
         over_best(median(times)), over_best(times.back()),
         std::to_string(std::ranges::count_if(rows, [&](const Record* r) { return tied(*r, *best); })),
         std::to_string(local_minima(landscape.space, landscape_times).size()), measured,
         seconds_text(found.took_s)});
  }
  return table;
}

}  // namespace clweave
