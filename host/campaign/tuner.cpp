// SPDX-License-Identifier: Apache-2.0
#include "campaign/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "base/quantity.hpp"
#include "base/terminal.hpp"
#include "base/version.hpp"
#include "campaign/quiet_wait.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::campaign {

namespace {

bool has_tunable(const Family& family) { return std::ranges::any_of(family.axes, &Axis::tunable); }

// Returns the values to search on an axis in a case like this one.
Values values_to_search(const Axis& axis, const Selection& selection, const Case& at,
                        const DeviceInfo& device) {
  if (axis.when && !axis.when(at)) return Values(axis.values.front());
  Values values =
      values_set(selection, axis).value_or(axis.search_values ? axis.search_values(at, device) : axis.values);
  std::erase_if(values, [&](const Value& value) { return !axis.taken(value); });
  return values;
}

// Builds the error that names the families with something to search.
Error nothing_tunable(bool compete, const std::string& what) {
  std::vector<std::string> competing, all;
  for (const auto& family : all_families()) {
    if (has_tunable(family)) all.push_back(family.name);
    if (has_tunable(family) && !family.presets.tune.empty()) competing.push_back(family.name);
  }
  std::string text = what + ": ";
  if (compete)
    text += fmt::format(
        "tune chooses among designs of --family {}; with --preset quick it searches what else "
        "has a tunable axis, ",
        fmt::join(competing, ","));
  else
    text += "families that have a tunable axis: ";
  return {ErrorCode::usage, text + fmt::format("--family {}", fmt::join(all, ","))};
}

bool runs_on(const Family& family, const Case& at, const DeviceInfo& device) {
  try {
    plan_of(family, at, device);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Maps each value of a tunable axis to its coordinate in the search space: numbers in order, so that
// neighbours have close values; words as listed.
class Places {
 public:
  void learn(const Axis& axis, const Values& values) {
    Values& known = by_axis_[axis.name];
    for (const auto& value : values) {
      if (std::ranges::find(known, value) == known.end()) known.push_back(value);
    }
    if (std::ranges::none_of(known, [](const Value& v) { return std::holds_alternative<std::string>(v); }))
      std::ranges::sort(known);
  }
  std::size_t of(const std::string& axis, const Value& value) const {
    const Values& known = by_axis_.at(axis);
    return static_cast<std::size_t>(std::ranges::find(known, value) - known.begin());
  }

 private:
  std::map<std::string, Values> by_axis_;
};

// A design and the launch configurations that the search may try.
struct Design {
  Case start;                                            // axes without effect on the design keep this value
  std::vector<std::pair<std::size_t, Values>> searched;  // number of an axis, its values
};

// Returns the designs in the order of the jobs, whose own configurations are searched, too.
std::vector<Design> designs_of(const std::vector<const Job*>& jobs, const Selection& selection,
                               const DeviceInfo& device) {
  const Family& family = *jobs.front()->family;
  std::vector<Design> designs;
  std::map<std::string, std::size_t> known;
  for (const auto* job : jobs) {
    const auto [place, is_new] = known.try_emplace(variant_of(family, job->at), designs.size());
    if (is_new) {
      Design& design = designs.emplace_back(Design{job->at, {}});
      for (std::size_t a = 0; a < family.axes.size(); ++a) {
        const Axis& axis = family.axes[a];
        if (!axis.tunable) continue;
        Values values = values_to_search(axis, selection, job->at, device);
        if (values.size() > 1 || values_set(selection, axis))
          design.searched.emplace_back(a, std::move(values));
      }
    }
    for (auto& [a, values] : designs[place->second].searched) {
      const Value& its = job->at.axes[a].second;
      if (!values_set(selection, family.axes[a]) && std::ranges::find(values, its) == values.end())
        values.push_back(its);
    }
  }
  return designs;
}

std::vector<Case> configurations_of(const Design& design) {
  std::vector<Case> grown = {design.start};
  for (const auto& [a, values] : design.searched) {
    std::vector<Case> wider;
    for (const auto& at : grown) {
      for (const auto& value : values) {
        wider.push_back(at);
        wider.back().axes[a].second = value;
      }
    }
    grown = std::move(wider);
  }
  return grown;
}

// Returns the ids at which a search begins. Where designs compete: the jobs, at the first of the values that
// the user set; else the default, which has the first value of each axis.
std::vector<std::string> starts_of(const std::vector<const Job*>& jobs, const std::vector<Design>& designs,
                                   bool compete, const Selection& selection) {
  const Family& family = *jobs.front()->family;
  std::vector<std::string> ids;
  if (compete) {
    for (const auto* job : jobs) {
      const bool first = std::ranges::all_of(family.axes, [&](const Axis& axis) {
        const auto set = axis.tunable ? values_set(selection, axis) : std::nullopt;
        return !set || text_of(job->at.at(axis.name)) == text_of(set->front());
      });
      if (first) ids.push_back(job->at.id());
    }
    return ids;
  }
  Case usual = designs.front().start;
  for (const auto& [a, values] : designs.front().searched)
    usual.axes[a].second = family.axes[a].values.front();
  return {usual.id()};
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns whether the user left out configurations or competing designs. --where and --filter leave out
// designs, but no configuration of a design that stays.
bool is_narrowed(const Family& family, const std::vector<std::string>& among, const Selection& selection) {
  if (!among.empty() && !selection.filter.empty()) return true;
  return std::ranges::any_of(family.axes, [&](const Axis& axis) {
    const bool says_design = is_among(among, axis.name);
    if (!axis.tunable && !says_design) return false;
    return values_set(selection, axis) ||
           (says_design && std::ranges::any_of(selection.where, [&](const std::string& text) {
              return axis.has_name(setting_of(text).first);
            }));
  });
}

// Builds the space of all valid configurations of all designs that the device can run.
SearchSpace search_space_of(const std::vector<const Job*>& jobs, std::string work,
                            std::vector<std::string> among, const Selection& selection,
                            const DeviceInfo& device) {
  const Family& family = *jobs.front()->family;
  const auto designs = designs_of(jobs, selection, device);
  Places places;
  for (const auto& design : designs) {
    for (std::size_t a = 0; a < family.axes.size(); ++a) {
      if (family.axes[a].tunable) places.learn(family.axes[a], Values(design.start.axes[a].second));
    }
    for (const auto& [a, values] : design.searched) places.learn(family.axes[a], values);
  }
  std::vector<std::pair<Point, Case>> all;
  for (std::size_t d = 0; d < designs.size(); ++d) {
    for (auto& at : configurations_of(designs[d])) {
      if ((family.is_valid && !family.is_valid(at)) || !runs_on(family, at, device)) continue;
      Point point = {d};
      for (const auto& axis : family.axes) {
        if (axis.tunable) point.push_back(places.of(axis.name, at.at(axis.name)));
      }
      all.emplace_back(std::move(point), std::move(at));
    }
  }
  auto rest = all.begin();
  for (const auto& id : starts_of(jobs, designs, !among.empty(), selection)) {
    const auto it = std::find_if(rest, all.end(), [&](const auto& one) { return one.second.id() == id; });
    if (it != all.end()) std::rotate(rest++, it, it + 1);
  }
  const auto begun = static_cast<std::size_t>(rest - all.begin());
  std::vector<Point> points;
  std::vector<Case> cases;
  for (auto& [point, at] : all) {
    points.push_back(std::move(point));
    cases.push_back(std::move(at));
  }
  std::map<std::string, std::vector<std::string>> searched;
  for (const auto& design : designs) {
    auto& axes = searched[variant_of(family, design.start)];
    for (const auto& [a, values] : design.searched) {
      if (values.size() > 1) axes.push_back(family.axes[a].name);
    }
  }
  const bool whole = !is_narrowed(family, among, selection);
  return {&family,
          std::move(work),
          std::move(among),
          std::move(searched),
          std::move(cases),
          Space(std::move(points), std::max<std::size_t>(begun, 1)),
          whole};
}

// Returns the jobs at the size that suits the device, where they have a size and the user names none.
std::vector<Job> at_tuning_size(const std::vector<Job>& jobs, const Selection& selection,
                                const DeviceInfo& device) {
  std::map<const Family*, std::vector<Case>> cases;
  for (const auto& job : jobs) cases[job.family].push_back(job.at);
  std::map<const Family*, std::int64_t> sizes;
  for (const auto& [family, its] : cases) {
    const Axis* n = family->axis(elements_axis);
    if (n != nullptr && !values_set(selection, *n)) sizes[family] = tuning_size(*family, its, device);
  }
  std::vector<Job> out = jobs;
  for (auto& job : out) {
    if (job.is_peak || sizes[job.family] == 0) continue;
    job.at = job.at.with(elements_axis, sizes[job.family]);
  }
  return out;
}

// Returns the fastest of the rows that were measured most often: each round of a search samples longer than
// the one before, and `run` counts the rounds. `rows` are the fastest first. Null: there is none.
const Record* best_of(const std::vector<const Record*>& rows) {
  std::int64_t last_round = 0;
  for (const auto* row : rows) last_round = std::max(last_round, row->run.value_or(1));
  const auto it =
      std::ranges::find_if(rows, [&](const Record* row) { return row->run.value_or(1) == last_round; });
  return it != rows.end() ? *it : nullptr;
}

// Divides the budget of seconds and measurements evenly among the spaces still to be searched. Each gets at
// least half of an even share, because a case that takes minutes, which only its end tells, must not leave
// nothing to the spaces after it.
class Budget {
 public:
  Budget(const TuningRules& rules, std::size_t spaces)
      : seconds_(rules.budget_s),
        cases_(rules.budget_cases),
        environment_(rules.environment),
        spaces_(spaces),
        least_share_s_(rules.budget_s.value_or(0) /
                       static_cast<double>(2 * std::max<std::size_t>(1, spaces))),
        began_s_(environment_.now()),
        search_began_s_(began_s_) {}

  void begin_space() {
    const auto share = static_cast<double>(std::max<std::size_t>(1, spaces_--));
    search_began_s_ = environment_.now();
    share_s_ =
        seconds_ ? std::max(least_share_s_, (*seconds_ - (search_began_s_ - began_s_)) / share) : HUGE_VAL;
    used_ = 0;
    share_cases_ =
        cases_ ? std::ceil(static_cast<double>(*cases_ - std::min(*cases_, all_used_)) / share) : HUGE_VAL;
  }
  // Returns how much of its share the space has left, from 1 to 0.
  double left() const {
    if (environment_.interrupts() != 0 || share_s_ <= 0 || share_cases_ <= 0) return 0;
    return std::max(0.0, 1 - std::max(took_s() / share_s_, used_ / share_cases_));
  }
  void count() {
    ++used_;
    ++all_used_;
  }
  double took_s() const { return environment_.now() - search_began_s_; }

 private:
  std::optional<double> seconds_;
  std::optional<std::size_t> cases_;
  const Environment& environment_;
  std::size_t spaces_, all_used_ = 0;
  double least_share_s_, began_s_, search_began_s_;
  double share_s_ = HUGE_VAL, share_cases_ = HUGE_VAL, used_ = 0;
};

constexpr double share_of_recheck = 0.1;  // of a space's share, to measure an implausible case again

// Returns options for shorter and less precise sampling, by `effort` in (0, 1].
SamplingOptions with_effort(SamplingOptions sampling, double effort) {
  if (effort >= 1) return sampling;
  sampling.stop.max_seconds *= effort;
  sampling.stop.precision = std::min(0.1, sampling.stop.precision / effort);
  sampling.stop.min_samples = std::min<std::size_t>(sampling.stop.min_samples, 5);
  sampling.verify_afterwards = false;  // before one is kept, the best are measured in full
  sampling.warm_up_s *= effort;
  return sampling;
}

}  // namespace

Tuner::Tuner(TuningRules rules, Runner& runner, const DeviceInfo& device, ResultsFile& file, Record common)
    : rules_(std::move(rules)), runner_(runner), device_(device), file_(file), common_(std::move(common)) {}

double TuningForecast::peaks_s() const { return std::accumulate(peaks.begin(), peaks.end(), 0.0); }

double TuningForecast::searches_s() const {
  double out = 0;
  for (const auto& trials : searches) out = std::accumulate(trials.begin(), trials.end(), out);
  return out;
}

TuningForecast forecast(const TuningRules& rules, const std::vector<Job>& peaks,
                        const std::vector<SearchSpace>& spaces, const DeviceInfo& device) {
  TuningForecast out;
  for (const auto& job : peaks) out.peaks.push_back(predicted_seconds(job, device));
  for (const auto& space : spaces) {
    std::size_t trials = expected_trials(space.configurations, rules.strategy);
    if (rules.budget_cases)
      trials = std::min(trials, std::max<std::size_t>(1, *rules.budget_cases / spaces.size()));
    double most_s = HUGE_VAL;
    if (rules.budget_s) most_s = *rules.budget_s / static_cast<double>(spaces.size() * trials);
    auto& each = out.searches.emplace_back();
    for (std::size_t i = 0; i < trials; ++i)
      each.push_back(
          std::min(most_s, predicted_seconds({space.family, space.cases[i % space.cases.size()]}, device)));
  }
  return out;
}

void Tuner::execute(const std::vector<Job>& peaks, const std::vector<SearchSpace>& spaces) {
  const TuningForecast predictions = forecast(rules_, peaks, spaces, device_);
  std::vector<double> predicted = predictions.peaks;
  std::vector<std::size_t> first_step;
  const Strategy strategy = rules_.strategy;
  for (const auto& trials : predictions.searches) {
    first_step.push_back(predicted.size());
    predicted.insert(predicted.end(), trials.begin(), trials.end());
  }
  first_step.push_back(predicted.size());
  progress_ =
      std::make_unique<Progress>(stderr, std::move(predicted), screen_of(stderr), rules_.environment.now);
  std::vector<bool> are_peaks(first_step.back(), false);
  std::fill_n(are_peaks.begin(), peaks.size(), true);
  progress_->count_apart(peak_family, std::move(are_peaks));
  case_runner_.emplace(runner_, file_, device_, peaks, common_, rules_.environment);
  QuietWait quiet_wait(rules_.wait_quiet_s, rules_.environment, [this] { tick(); });
  const auto wait_quiet = [&] {
    return quiet_wait.wait([&](const std::string& line) { progress_->note(line); },
                           [&] { return rules_.heat ? rules_.heat(device_) : std::string(); });
  };
  case_runner_->set_wait_quiet(wait_quiet);
  runner_.begin(device_);
  for (std::size_t i = 0; i < peaks.size() && rules_.environment.interrupts() == 0; ++i) {
    progress_->start(i, peaks[i].at.id());
    run(peaks[i], rules_.peak_sampling.value_or(rules_.sampling), 1, [] { return true; });
  }
  Budget budget(rules_, spaces.size());
  for (std::size_t l = 0; l < spaces.size() && rules_.environment.interrupts() == 0; ++l) {
    const SearchSpace& space = spaces[l];
    wait_quiet();
    runner_.begin(device_);
    searches_.push_back({&space, {}, 0});
    Search& found = searches_.back();
    std::map<std::size_t, int> times_measured;
    std::size_t step = first_step[l];
    std::string incumbent = space.work;
    double best_s = HUGE_VAL;
    budget.begin_space();
    search(
        space.configurations, strategy, rules_.seed,
        [&](std::size_t point, double effort) -> std::optional<double> {
          if (rules_.environment.interrupts() != 0) return {};
          budget.count();
          progress_->start(std::min(step++, std::max(first_step[l + 1], first_step[l] + 1) - 1), incumbent);
          std::optional<double> enough;  // leaves a share for the other points
          const auto in_time = [&] {
            if (!enough) enough = std::max(0.0, budget.left() - share_of_recheck);
            return budget.left() > *enough;
          };
          const auto row = run({space.family, space.cases[point]}, with_effort(rules_.sampling, effort),
                               ++times_measured[point], in_time);
          if (!row) return {};
          found.rows.push_back(*row);
          if (!row->ok() || !row->time_s) return {};
          if (*row->time_s < best_s) {
            best_s = *row->time_s;
            incumbent = fmt::format("{}: best {} {}", space.family->name, seconds_text(best_s),
                                    launch_text(space, space.cases[point]));
          }
          return row->time_s;
        },
        [&] { return budget.left(); });
    found.whole = budget.left() > 0;
    found.took_s = budget.took_s();
    if (found.rows.empty() && rules_.environment.interrupts() != 0) searches_.pop_back();
  }
  case_runner_->set_wait_quiet({});  // which refers to this call
  progress_.reset();
}

void Tuner::tick() {
  if (progress_ != nullptr) progress_->tick();
}

std::optional<Record> Tuner::run(const Job& job, const SamplingOptions& sampling, int round,
                                 const std::function<bool()>& in_time) {
  auto row = case_runner_->run(job, sampling, in_time);
  if (!row) return {};
  case_runner_->write(*row, round, ++order_, [&](const std::string& line) { progress_->note(line); });
  // A search tries configurations that are too large for the device on purpose.
  const Status status = row->record.status;
  failed_ =
      failed_ || (row->record.failed() && status != Status::launch_failed && status != Status::out_of_memory);
  return row->record;
}

Kept keep(TunedStore& store, const DeviceInfo& device, const Search& found) {
  const SearchSpace& space = *found.space;
  auto rows = found.fastest_first();
  const Record* usual = found.row_of(space.cases.front());
  std::erase_if(rows, [](const Record* row) { return row->verified != Verified::yes; });
  const Record* best = best_of(rows);
  if (best == nullptr) return Kept::no;
  // The time of a disturbed row may be any multiple of its true one.
  const auto was_disturbed = [](const Record* row) { return !row->disturbed.empty(); };
  if (was_disturbed(best) || (usual != nullptr && was_disturbed(usual))) return Kept::disturbed;
  const bool whole = found.whole && space.whole && std::ranges::none_of(rows, was_disturbed);
  const Tuned tuned{.best = space.case_of(*best),
                    .among = space.among,
                    .time_s = *best->time_s,
                    .default_s = usual != nullptr ? *usual->time_s : *best->time_s,
                    .time_utc = best->time_utc,
                    .version = version};
  return store.put(device, *space.family, tuned, whole) ? Kept::yes : Kept::no;
}

void need_something_tunable(const Selection& selection) {
  const bool compete = selection.preset == "tune";
  for (const auto* family : chosen_families(all_families(), selection.families)) {
    if (!selection.families.empty() && family->name != peak_family && compete && family->presets.tune.empty())
      throw nothing_tunable(compete, "--family " + family->name);
  }
}

std::vector<SearchSpace> search_spaces_of(const std::vector<Job>& jobs, const Selection& selection,
                                          const DeviceInfo& device) {
  const bool compete = selection.preset == "tune";
  const auto sized = compete ? at_tuning_size(jobs, selection, device) : jobs;
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Job*>> works;
  for (const auto& job : sized) {
    if (job.known_incorrect || job.is_peak || !has_tunable(*job.family)) continue;
    const std::string work =
        work_of(*job.family, job.at, compete ? design_axes(*job.family) : std::vector<std::string>());
    auto& here = works[work];
    if (here.empty()) order.push_back(work);
    here.push_back(&job);
  }
  if (order.empty()) throw nothing_tunable(compete, "nothing here has a tunable axis");
  std::vector<SearchSpace> out;
  for (const auto& work : order) {
    const Family& family = *works[work].front()->family;
    auto space = search_space_of(
        works[work], work, compete ? design_axes(family) : std::vector<std::string>(), selection, device);
    if (space.configurations.size() > 0) out.push_back(std::move(space));
  }
  return out;
}

const Case& SearchSpace::case_of(const Record& row) const {
  return *std::ranges::find_if(cases, [&](const Case& at) { return at.id() == row.case_id; });
}

std::vector<const Record*> Search::fastest_first() const {
  std::map<std::string, const Record*> last;
  for (const auto& row : rows) {
    if (row.ok() && row.time_s) last[row.case_id] = &row;
  }
  std::vector<const Record*> out;
  for (const auto& [id, row] : last) out.push_back(row);
  std::ranges::stable_sort(out, {}, [](const Record* row) { return *row->time_s; });
  return out;
}

const Record* Search::row_of(const Case& at) const {
  const auto has_time = [id = at.id()](const Record& row) {
    return row.case_id == id && row.ok() && row.time_s;
  };
  const auto last = std::find_if(rows.rbegin(), rows.rend(), has_time);
  return last != rows.rend() ? &*last : nullptr;
}

const Record* Search::best() const { return best_of(fastest_first()); }

std::vector<const Record*> Search::best_of_designs() const {
  std::map<std::string, std::vector<const Record*>> designs;
  for (const auto* row : fastest_first())
    designs[variant_of(*space->family, space->case_of(*row))].push_back(row);
  std::vector<const Record*> out;
  for (const auto& [design, rows] : designs) out.push_back(best_of(rows));
  std::ranges::stable_sort(out, {}, [](const Record* row) { return *row->time_s; });
  return out;
}

std::string launch_text(const SearchSpace& space, const Case& at) {
  const Family& family = *space.family;
  std::vector<std::string> parts;
  for (const auto& axis : space.among) {
    if (std::holds_alternative<std::string>(at.at(axis))) parts.push_back(text_of(at.at(axis)));
  }
  for (const auto& axis : space.searched.at(variant_of(family, at)))
    parts.push_back(axis + "=" + text_of(at.at(axis)));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace clweave::campaign
