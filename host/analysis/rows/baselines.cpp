// SPDX-License-Identifier: Apache-2.0
#include "analysis/rows/baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/rows/case_labels.hpp"
#include "base/quantity.hpp"
#include "base/stats.hpp"
#include "suite/family.hpp"

namespace clweave::rows {

namespace {

// Returns whether an axis of a baseline's id says which program did the work, not which work.
bool says_how(const std::string& axis) { return axis == "kernel" || axis == threads_axis; }

// Returns an id that all programs share that compute the same.
CaseName work_of(const CaseName& native) {
  CaseName out{native.family, native.family, {}};
  for (const auto& axis : native.axes) {
    if (says_how(*axis.name)) continue;
    out.id += fmt::format("/{}={}", *axis.name, text_of(*axis.value));
    out.axes.push_back(axis);
  }
  return out;
}

// Returns whether a case does the work of a baseline: a kernel that loses the order, or copies where others
// scan, does not.
bool does(const CaseTimes& at, const RunTime& run, const BaselineTime& native) {
  if (at.family() != native.of->family || !at.ranks()) return false;
  if (run.bytes != native.run.bytes || run.flops != native.run.flops || run.items != native.run.items)
    return false;
  if (const Value* stable = at.cell("stable"); stable != nullptr && *stable == Value("no")) return false;
  return std::ranges::all_of(native.of->axes, [&](const CaseAxis& axis) {
    const Value* ours = says_how(*axis.name) ? nullptr : at.name->axis(*axis.name);
    return says_how(*axis.name) || (ours != nullptr && *ours == *axis.value);
  });
}

struct Interval {
  double median, low, high;
};

// Returns the time by the clock that the baseline was timed by.
Interval time_of(const RunTime& run, Timer timer) {
  const bool by_host = timer == Timer::host && run.timer != Timer::host && run.wall_s && run.time_s > 0;
  const double factor = by_host ? *run.wall_s / run.time_s : 1;
  return {factor * run.time_s, factor * run.low_s, factor * run.high_s};
}

// Returns the median of the logarithms: of two values their geometric mean, so that the ratio of two medians
// is the median of two ratios.
double middle(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return std::exp(median(values));
}

// Returns the runs without those with emptied caches.
std::vector<const RunTime*> warm_runs(const CaseTimes& at) {
  std::vector<const RunTime*> out;
  for (const auto& run : at.runs) {
    if (!run.cold) out.push_back(&run);
  }
  return out;
}

bool is_half_slowed(const std::vector<const RunTime*>& runs) {
  return 2 * std::ranges::count_if(runs, [](const RunTime* run) { return run->slowed; }) >= std::ssize(runs);
}

// Returns the median time of one side, by the clock of the other.
double time_of(const std::vector<const RunTime*>& runs, Timer timer) {
  std::vector<double> times;
  for (const auto* run : runs) times.push_back(time_of(*run, timer).median);
  return middle(std::move(times));
}

// Compares round by round, or the typical runs where no round has both sides.
void hold_against(Baselines& one, const std::vector<const RunTime*>& natives, const RunTime& typical) {
  const Timer timer = one.native.run.timer;
  std::vector<std::pair<const RunTime*, const RunTime*>> pairs;
  for (const auto* ours : warm_runs(*one.ours)) {
    const auto same = std::ranges::find(natives, ours->run, &RunTime::run);
    if (same != natives.end()) pairs.emplace_back(ours, *same);
  }
  one.rounds = pairs.size();
  if (pairs.empty()) pairs.emplace_back(&typical, &one.native.run);
  std::vector<double> ours_s, natives_s, ratios;
  one.low = HUGE_VAL;
  one.high = 0;
  for (const auto& [our_run, native_run] : pairs) {
    const Interval ours = time_of(*our_run, timer), native = time_of(*native_run, timer);
    ours_s.push_back(ours.median);
    natives_s.push_back(native.median);
    ratios.push_back(native.median / ours.median);
    one.low = std::min(one.low, native.low / ours.high);
    one.high = std::max(one.high, native.high / ours.low);
  }
  one.ours_s = middle(std::move(ours_s));
  one.native_s = middle(std::move(natives_s));
  one.ratio = middle(std::move(ratios));
}

// Sorts numbers by value, before words.
using Rank = std::pair<double, std::string>;
Rank rank_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return {static_cast<double>(*whole), ""};
  if (const auto* part = std::get_if<double>(&value)) return {*part, ""};
  return {HUGE_VAL, text_of(value)};
}

std::string rounds_text(std::size_t rounds) {
  return rounds == 0 ? "not in turns" : fmt::format("{} round{}", rounds, rounds == 1 ? "" : "s");
}

std::string threads_text(const Value& threads) {
  return threads == Value(std::int64_t{1}) ? " on 1 thread" : fmt::format(" on {} threads", text_of(threads));
}

}  // namespace

std::vector<Baselines> baselines_of(const ResultsSet& set, const DeviceResults& device) {
  std::vector<Baselines> out;
  std::vector<std::vector<const RunTime*>> runs;  // of each one's native
  std::map<std::string, std::size_t> by_work;
  for (const auto& looks : baseline_times(set, device)) {
    Baselines one{.native = typical(looks), .work = work_of(*looks.front()->of)};
    std::vector<const RunTime*> of_native;
    for (const auto* look : looks) of_native.push_back(&look->run);
    one.native_s = time_of(of_native, Timer::host);
    const auto [place, is_new] = by_work.try_emplace(one.work.id, out.size());
    if (is_new) {
      out.push_back(std::move(one));
      runs.push_back(std::move(of_native));
    } else if (one.native_s < out[place->second].native_s) {
      out[place->second] = std::move(one);
      runs[place->second] = std::move(of_native);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    Baselines& one = out[i];
    std::optional<RunTime> ours;
    for (const auto& at : device.cases) {
      const auto run = at.typical();
      if (!run || !does(at, *run, one.native)) continue;
      const double ours_s = time_of(warm_runs(at), one.native.run.timer);
      if (one.ours != nullptr && ours_s >= one.ours_s) continue;
      one.ours_s = ours_s;
      one.ours = &at;
      ours = run;
    }
    if (!ours) continue;
    hold_against(one, runs[i], *ours);
    one.slowed = is_half_slowed(warm_runs(*one.ours)) || is_half_slowed(runs[i]);
  }
  std::erase_if(out, [](const Baselines& one) { return one.ours == nullptr; });
  std::ranges::stable_sort(out, {}, [](const Baselines& one) {
    std::vector<std::pair<std::string_view, Rank>> axes;
    for (const auto& axis : one.work.axes) axes.emplace_back(*axis.name, rank_of(*axis.value));
    return std::pair(one.work.family, std::move(axes));
  });
  return out;
}

std::vector<BaselineRow> baseline_rows(const ResultsSet& set, const DeviceResults& device,
                                       const std::vector<Family>& families) {
  const auto all = baselines_of(set, device);
  CaseLabels works, ours;
  for (const auto& one : all) {
    works.learn(one.work);
    ours.learn(*one.ours->name);
  }
  const auto speed = [&](const RunTime& run, double seconds, const std::string& name) {
    const auto family = std::ranges::find(families, name, &Family::name);
    const bool items = family != families.end() && family->view.quantity == "items";
    const auto [work, unit] = items                 ? std::pair(run.items, "G items/s")
                              : run.of_operations() ? std::pair(run.flops, "Gop/s")
                                                    : std::pair(run.bytes, "GB/s");
    return number_text(1e-9 * static_cast<double>(work.value_or(0)) / seconds, unit);
  };
  std::vector<BaselineRow> out;
  for (const auto& one : all) {
    const Value* kernel = one.ours->name->axis("kernel");
    const Value *name = one.native.of->axis("kernel"), *threads = one.native.of->axis(threads_axis);
    const std::string& family = one.ours->family();
    out.push_back(
        {family,
         {works.of(one.work),
          (kernel != nullptr ? text_of(*kernel) : ours.of(*one.ours->name)) +
              (one.ours->tuned ? " (tuned)" : ""),
          speed(*one.ours->typical(), one.ours_s, family),
          fmt::format("{} {}{}", one.native.api, name != nullptr ? text_of(*name) : "",
                      threads != nullptr ? threads_text(*threads) : ""),
          speed(one.native.run, one.native_s, family),
          fmt::format("{:.2f}x{}{}, {}", one.ratio, one.slowed ? "*" : "",
                      one.low < one.high ? fmt::format(" ({:.2f} to {:.2f})", one.low, one.high) : "",
                      rounds_text(one.rounds))},
         one.slowed});
  }
  return out;
}

void add_baselines(Report& out, const ResultsSet& set, const DeviceResults& device,
                   const std::vector<Family>& families) {
  const auto rows = baseline_rows(set, device, families);
  if (rows.empty()) return;
  std::vector<Table::Column> heads;
  for (std::size_t c = 0; c < rival_columns.size(); ++c)
    heads.push_back({rival_columns[c], c == 2 || c > 3 ? Align::right : Align::left,
                     c == 1 || c == 3 ? Overflow::cut : Overflow::keep});
  Table table(heads);
  for (const auto& row : rows) table.add(row.cells);
  out.line();
  out.line(
      fmt::format("{} beside what people would use instead, by the host's clock where theirs has no other:",
                  device.label()));
  out.table(std::move(table));
  if (std::ranges::any_of(rows, &BaselineRow::slowed))
    out.line(fmt::format("* undecided: {}", machine_was_busy));
}

}  // namespace clweave::rows
