// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/times_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/profile/peak_shares.hpp"
#include "analysis/rows/best.hpp"
#include "analysis/rows/case_labels.hpp"
#include "analysis/rows/device_rows.hpp"
#include "base/quantity.hpp"
#include "base/terminal.hpp"
#include "suite/family.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::profile {

namespace {

constexpr std::size_t most_lines = 16;

// Values in the order that people expect: words as the family lists them, numbers by size.
using Ranks = std::vector<std::pair<std::ptrdiff_t, Value>>;

struct Line {
  const CaseTimes* at = nullptr;
  std::optional<RunTime> run;  // the typical one; empty: a row of it was not ok
  const Family* family = nullptr;
  std::pair<std::ptrdiff_t, Ranks> task;  // the family's place, and the axes that say what is done
  std::string variant;                    // what competes by its launch configurations alone
  bool chosen = false;                    // among several of these

  double rank_s() const { return run && at->ranks() ? run->time_s : HUGE_VAL; }
};

Ranks task_of(const Family& family, const Case& at) {
  const auto designs = design_axes(family);
  Ranks out;
  for (const auto& axis : family.axes) {
    if (axis.tunable || std::ranges::find(designs, axis.name) != designs.end()) continue;
    const Value& value = at.at(axis.name);
    const bool word = std::holds_alternative<std::string>(value);
    out.emplace_back(word ? std::ranges::find(axis.values, value) - axis.values.begin() : 0, value);
  }
  return out;
}

Line line_of(const CaseTimes& at, const Family& family, std::ptrdiff_t place) {
  Line out{&at, at.typical(!at.was_run(false)), &family, {place, {}}, at.id()};
  if (const auto known = rows::case_of(family, *at.name)) {
    out.task.second = task_of(family, *known);
    out.variant = variant_of(family, *known);
  }
  return out;
}

// Keeps the fastest launch configuration of each variant.
std::vector<Line> best_of_variants(std::vector<Line> lines) {
  std::map<std::string, Line> best;
  for (auto& line : lines) {
    const auto [it, is_new] = best.try_emplace(line.variant, line);
    if (!is_new && line.rank_s() < it->second.rank_s()) it->second = std::move(line);
    it->second.chosen = it->second.chosen || !is_new;
  }
  std::vector<Line> out;
  for (auto& [variant, line] : best) out.push_back(std::move(line));
  return out;
}

// Returns the lines to show; empty if they are too many.
std::vector<Line> lines_of(const DeviceResults& device, const std::vector<Family>& families) {
  std::vector<Line> out;
  std::set<std::string> variants;
  for (const auto& at : device.cases) {
    const auto family = std::ranges::find(families, at.family(), &Family::name);
    if (family == families.end() || family->name == peak_family) continue;
    out.push_back(line_of(at, *family, family - families.begin()));
    variants.insert(out.back().variant);
    if (variants.size() > most_lines) return {};
  }
  if (out.size() > most_lines) out = best_of_variants(std::move(out));
  std::ranges::stable_sort(out, [](const Line& one, const Line& other) {
    return std::pair(one.task, one.rank_s()) < std::pair(other.task, other.rank_s());
  });
  return out;
}

std::string interval_text(const RunTime& run) {
  if (!(run.low_s < run.high_s)) return "-";
  return fmt::format("{} to {}", seconds_text(run.low_s), seconds_text(run.high_s));
}

std::string speed_of(const Line& line) {
  if (line.at->unverified) return paint("unverified", Style::yellow);
  const Contender one{line.at, *line.run};
  return one.speed(*line.family) ? speed_text(one, *line.family) : "-";
}

}  // namespace

std::optional<Table> times_table(const DeviceResults& device, const std::vector<Family>& families) {
  const auto lines = lines_of(device, families);
  if (lines.empty()) return {};
  CaseLabels labels;
  for (const auto& at : device.cases) labels.learn(*at.name);
  const bool chosen = std::ranges::any_of(lines, &Line::chosen);
  Table table({{chosen ? "variant, launched as is fastest" : "case", Align::left, Overflow::cut},
               {"time", Align::right},
               {"95 % interval", Align::right},
               {"speed", Align::right, Overflow::keep, 2},
               {"of peak", Align::right, Overflow::keep, 1}});
  for (const auto& line : lines) {
    constexpr std::size_t room = 56;
    const std::string label = cut(labels.of(*line.at->name), room, "~") + (line.at->tuned ? " (tuned)" : "");
    if (!line.run) {
      const std::string status = line.at->ok() ? "-" : text_of(line.at->status);
      table.add({label, paint(status, line.at->failed() ? Style::red : Style::dim), "", "", ""});
      continue;
    }
    table.add({label, seconds_text(line.run->time_s) + (line.run->doubtful() ? doubtful_mark : ""),
               interval_text(*line.run), speed_of(line), share_text(*line.run)});
  }
  return table;
}

}  // namespace clweave::profile
