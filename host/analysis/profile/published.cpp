// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/rows/case_labels.hpp"
#include "base/quantity.hpp"
#include "suite/family.hpp"

namespace clweave::profile {

namespace {

constexpr const char* any_value = "*";

// Axes of the family's tables whose published values differ: what texts compare is part of the variant, not a
// launch parameter to choose, such as the vector width of copies.
using Compared = std::set<std::string>;
Compared compared_of(const ResultsSet& set, const Family& family) {
  std::map<std::string, std::set<std::string>> told;
  for (const auto* axes : {&family.view.rows, &family.view.columns}) {
    for (const auto& axis : *axes) {
      for (const auto& figure : set.figures) {
        if (figure.of->family != family.name) continue;
        if (const Value* value = figure.of->axis(axis)) told[axis].insert(text_of(*value));
      }
    }
  }
  Compared out;
  for (const auto& [axis, values] : told) {
    if (values.size() > 1) out.insert(axis);
  }
  return out;
}

// Returns whether a case is that of a figure: axes that the figure leaves out are at their defaults. With
// `any_launch` only these axes of a launch must agree, without it all that the figure names.
bool is_case_of(const CaseName& figure, const CaseName& here, const Family& family,
                const Compared* any_launch) {
  return std::ranges::all_of(family.axes, [&](const Axis& axis) {
    const Value* wanted = figure.axis(axis.name);
    if (axis.tunable && (wanted == nullptr || (any_launch != nullptr && !any_launch->contains(axis.name))))
      return true;
    const std::string text = text_of(wanted != nullptr ? *wanted : axis.values.front());
    const Value* cell = here.axis(axis.name);
    return text == any_value || text == text_of(cell != nullptr ? *cell : axis.values.front());
  });
}

// The least time, or the greatest fraction, by size, largest first: figures that name no size are compared
// there. And by sub-group implementation, since a vendor's own on one side does not compare with the portable
// one on the other; "" where there is no choice.
using BySize = std::map<std::int64_t, std::map<std::string, double>, std::greater<>>;

void take(BySize& out, const CaseName& name, const std::string& lanes, double value, bool greatest) {
  const Value* n = name.axis("n");
  const auto* size = n != nullptr ? std::get_if<std::int64_t>(n) : nullptr;
  const auto [it, is_new] = out[size != nullptr ? *size : 0].try_emplace(lanes, value);
  if (!is_new) it->second = greatest ? std::max(it->second, value) : std::min(it->second, value);
}

enum class Taken { time, host_time, fraction_of_peak };

Number taken_of(const RunTime& run, Taken what) {
  if (what == Taken::fraction_of_peak) return run.fraction_of_peak;
  return what == Taken::host_time && run.timer != Timer::host ? run.wall_s : Number(run.time_s);
}

BySize best_of(const DeviceResults& device, const CaseName& figure, const Family& family,
               const Compared* any_launch, Taken what) {
  BySize out;
  for (const auto& at : device.cases) {
    if (at.family() != family.name || !at.ranks() || !is_case_of(figure, *at.name, family, any_launch))
      continue;
    const auto run = at.typical();
    const Number value = run ? taken_of(*run, what) : Number();
    const Value* lanes = at.name->axis("subgroup_impl");
    if (value)
      take(out, *at.name, lanes != nullptr ? text_of(*lanes) : "", *value, what == Taken::fraction_of_peak);
  }
  return out;
}

// Takes the times of other programs, which have no launch parameters.
BySize natives_of(const ResultsSet& set, const DeviceResults& device, const CaseName& figure,
                  const Family& family, Timer timer) {
  BySize out;
  for (const auto& looks : baseline_times(set, device)) {
    const BaselineTime native = typical(looks);
    if (native.of->family == family.name && native.run.timer == timer &&
        is_case_of(figure, *native.of, family, nullptr))
      take(out, *native.of, "", native.run.time_s, false);
  }
  return out;
}

Number over_at_largest(const BySize& of, const BySize& over) {
  for (const auto& [size, by_lanes] : of) {
    const auto there = over.find(size);
    if (there == over.end()) continue;
    // A side without a choice compares with all of the other.
    const bool choice = !by_lanes.contains("") && !there->second.contains("");
    const auto least = [&](const auto& side, const auto& other) {
      Number out;
      for (const auto& [lanes, time_s] : side) {
        if (!choice || other.contains(lanes)) out = std::min(out.value_or(time_s), time_s);
      }
      return out;
    };
    const Number ours = least(by_lanes, there->second), theirs = least(there->second, by_lanes);
    if (ours && theirs) return *theirs / *ours;
  }
  return {};
}

Number value_here(const ResultsSet& set, const DeviceResults& device, const PublishedFigure& figure,
                  const Family& family, const Compared* any_launch) {
  const auto best = [&](const CaseName& name, Taken what) {
    return best_of(device, name, family, any_launch, what);
  };
  if (figure.over == nullptr) {
    const bool fraction = figure.quantity == PublishedFigure::Quantity::fraction_of_peak;
    const BySize of = best(*figure.of, fraction ? Taken::fraction_of_peak : Taken::time);
    if (of.empty()) return {};
    double best_of_all = of.begin()->second.begin()->second;
    for (const auto& [lanes, value] : of.begin()->second)
      best_of_all = fraction ? std::max(best_of_all, value) : std::min(best_of_all, value);
    return best_of_all;
  }
  if (const auto ours = over_at_largest(best(*figure.of, Taken::time), best(*figure.over, Taken::time)))
    return ours;
  // Takes both sides by one clock.
  for (const auto& [timer, what] :
       {std::pair{Timer::event, Taken::time}, std::pair{Timer::host, Taken::host_time}}) {
    const BySize natives = natives_of(set, device, *figure.over, family, timer);
    if (const auto value = over_at_largest(best(*figure.of, what), natives)) return value;
  }
  return {};
}

std::string text_of_figure(const PublishedFigure& figure, double value) {
  switch (figure.quantity) {
    case PublishedFigure::Quantity::time: return seconds_text(value);
    case PublishedFigure::Quantity::fraction_of_peak: return percent_text(value, 0);
    case PublishedFigure::Quantity::speedup: return fmt::format("{:.3g}x", value);
  }
  return "";
}

std::string published_text(const PublishedFigure& figure) {
  std::string text = text_of_figure(figure, figure.value);
  if (!figure.fraction_of.empty()) text += " of " + figure.fraction_of;
  if (!figure.evidence.empty()) text += " (" + figure.evidence + ")";
  return text;
}

std::string key_of(const PublishedFigure& figure) {
  return figure.of->id + " " + (figure.over != nullptr ? figure.over->id : "") + " " +
         std::to_string(static_cast<int>(figure.quantity));
}

// Returns the label without the family and axes at any value, which all rows of the table have.
std::string short_text(const CaseName& name, const CaseLabels& names) {
  std::string text = names.of(name);
  if (text.starts_with(name.family)) text.erase(0, std::min(text.size(), name.family.size() + 1));
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!word.ends_with("=*") && word != any_value) out += (out.empty() ? "" : " ") + word;
    at = end + 1;
  }
  return out;
}

// Explains the words in the cells.
void add_words(Report& out, bool fractions, const std::set<std::string>& evidence) {
  if (fractions) out.line("%: published of what is named; here of what family peak reached in the same run");
  if (evidence.contains("void"))
    out.line("void: what was published is no measurement of what it says; see the claims");
  if (evidence.contains("inconsistent")) out.line("inconsistent: its source says otherwise elsewhere");
  out.line();
}

void add_family(Report& out, const ResultsSet& set, const Family& family,
                const std::vector<const DeviceResults*>& devices) {
  std::vector<std::vector<const PublishedFigure*>> rows;  // of one case each
  std::map<std::string, std::size_t> known;
  std::vector<std::string> texts;  // published devices
  CaseLabels names;
  for (const auto& figure : set.figures) {
    if (figure.of->family != family.name) continue;
    const auto [it, is_new] = known.try_emplace(key_of(figure), rows.size());
    if (is_new) rows.emplace_back();
    rows[it->second].push_back(&figure);
    if (std::ranges::find(texts, figure.device) == texts.end()) texts.push_back(figure.device);
    names.learn(*figure.of);
    if (figure.over != nullptr) names.learn(*figure.over);
  }
  std::vector<Table::Column> heads = {{family.name + ", published", Align::left, Overflow::wrap}};
  for (const auto& text : texts) heads.push_back({text, Align::right, Overflow::wrap});
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::string letter = devices.size() > 1 ? letter_of(d) + " " : "";
    heads.push_back({letter + "launched alike", Align::right, Overflow::wrap});
    heads.push_back({letter + "at its best", Align::right, Overflow::wrap});
  }
  Table table(heads);
  const Compared compared = compared_of(set, family);
  bool any = false, fractions = false;
  std::set<std::string> evidence;
  for (const auto& figures : rows) {
    const PublishedFigure& first = *figures.front();
    std::vector<std::string> cells = {short_text(*first.of, names)};
    std::set<std::string> told;
    if (first.over != nullptr) cells[0] += " over " + short_text(*first.over, names);
    for (const auto& text : texts) {
      const auto it = std::ranges::find(figures, text, &PublishedFigure::device);
      cells.push_back(it == figures.end() ? "" : published_text(**it));
      if (it != figures.end()) told.insert((*it)->evidence);
    }
    bool here = false;
    for (const auto* device : devices) {
      for (const Compared* any_launch : {static_cast<const Compared*>(nullptr), &compared}) {
        const Number value = value_here(set, *device, first, family, any_launch);
        here = here || value;
        cells.push_back(value ? text_of_figure(first, *value) : paint("-", Style::dim));
      }
    }
    if (!here) continue;
    any = true;
    fractions = fractions || first.quantity == PublishedFigure::Quantity::fraction_of_peak;
    evidence.merge(told);
    table.add(std::move(cells));
  }
  if (!any) return;
  out.table(std::move(table));
  add_words(out, fractions, evidence);
}

}  // namespace

void add_published(Report& out, const ResultsSet& set, const std::vector<const Family*>& families) {
  const auto devices = measured(set);
  for (const auto* family : families) {
    const bool figures = std::ranges::any_of(
        set.figures, [&](const PublishedFigure& figure) { return figure.of->family == family->name; });
    if (figures) add_family(out, set, *family, devices);
  }
}

}  // namespace clweave::profile
