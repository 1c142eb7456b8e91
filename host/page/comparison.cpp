// SPDX-License-Identifier: Apache-2.0
// comparison: the sections of several devices, and of one device before and after a change.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/quantity.hpp"
#include "base/terminal.hpp"
#include "charts/vega.hpp"
#include "page/sections.hpp"

namespace clweave::page {

namespace {

const char* text_of_state(State state) {
  switch (state) {
    case State::absent: return "-";
    case State::wrong: return "wrong";
    case State::unsupported: return "unsupported";
    case State::timeout: return "timeout";
    case State::other: return "failed";
    default: return "";
  }
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

// The measured devices of a comparison, which has published ones too.
struct Shown {
  std::vector<std::size_t> devices;  // in the comparison
  Texts labels;

  // Null where a device is not shown.
  const std::string* label_of(std::size_t device) const {
    const auto it = std::ranges::find(devices, device);
    return it != devices.end() ? &labels[static_cast<std::size_t>(it - devices.begin())] : nullptr;
  }
};

std::string best_on(const FamilyComparison& family, std::size_t device) {
  return family.best[device] >= 0 ? family.variants[static_cast<std::size_t>(family.best[device])].name : "";
}

std::string bests_text(const FamilyComparison& family, const Shown& shown) {
  std::vector<std::string> bests;
  bool undecided = false;
  for (const std::size_t d : shown.devices) {
    if (const std::string best = best_on(family, d); !best.empty()) bests.push_back(best);
    undecided = undecided || family.best_undecided[d];
  }
  if (undecided) return std::string("the best variants are undecided: ") + machine_was_busy;
  const std::set<std::string> different(bests.begin(), bests.end());
  return different.size() == 1 ? *different.begin() + " is best on every device"
                               : fmt::format("{} devices, {} different best variants: {}", bests.size(),
                                             different.size(), fmt::join(different, ", "));
}

// A cell of the heat map: a variant's speed over that of the best, or why it has none.
GraphPoint cell_of(const VariantOnDevice& on) {
  GraphPoint point;
  point.y = point.low = point.high = on.efficiency ? 100 * *on.efficiency : NAN;
  point.label = on.efficiency ? fmt::format("{:.0f}", 100 * *on.efficiency) : text_of_state(on.state);
  if (on.efficiency && on.fraction) point.note = percent_text(*on.fraction, 0) + " of its peak";
  if (on.efficiency && on.efficiency_slowed) {
    point.label += "*";
    point.note += point.note.empty() ? while_not_quiet : std::string("; ") + while_not_quiet;
  }
  return point;
}

// Returns a panel of the heat map; without points where too few efficiencies are known.
GraphPanel variants_panel(const FamilyComparison& family, const Shown& shown,
                          const std::vector<std::string>& series) {
  GraphPanel panel{.at = family.name};
  std::size_t known = 0;
  for (const auto& variant : family.variants) {
    for (std::size_t column = 0; column < shown.devices.size(); ++column) {
      const VariantOnDevice& on = variant.on[shown.devices[column]];
      if (on.state == State::absent) continue;
      known += on.efficiency ? 1 : 0;
      GraphPoint& point = panel.points.emplace_back(cell_of(on));
      point.series = index_of(series, variant.name);
      point.column = column;
    }
  }
  if (known < 3) return {};
  panel.finding = family.name + ": " + bests_text(family, shown);
  panel.note =
      "100 is the best variant of that device; geometric means over the conditions that devices share";
  return panel;
}

DrawnGraph variants_graph(const std::vector<const FamilyComparison*>& families, const Shown& shown) {
  DrawnGraph graph{.kind = DrawnGraph::Kind::heat,
                   .name = "comparison: variant by device",
                   .series_title = "variant",
                   .x_title = "device",
                   .y_title = "% of the device's best variant",
                   .note_title = "note"};
  graph.columns = shown.labels;
  graph.intervals = false;
  std::set<std::string> variants;
  for (const auto* family : families) {
    for (const auto& variant : family->variants) variants.insert(variant.name);
  }
  graph.series = {variants.begin(), variants.end()};
  for (const auto* family : families) {
    if (GraphPanel panel = variants_panel(*family, shown, graph.series); !panel.points.empty())
      graph.panels.push_back(std::move(panel));
  }
  return graph;
}

// Adds a line from the device where the winner wins to the one where it loses. The first is the title.
void add_inversion(DrawnGraph& graph, GraphPanel& panel, const Inversion& one,
                   const std::array<std::string, 2>& devices) {
  const std::array factors = {one.factor, 1 / one.loss};
  for (std::size_t column = 0; column < 2; ++column) {
    GraphPoint& point = panel.points.emplace_back();
    point.series = graph.series.size();
    point.column = column;
    point.y = point.low = point.high = factors.at(column);
    point.label = number_text(point.y, "x");
    point.note = devices.at(column) + ", " + one.condition;
  }
  graph.series.push_back(fmt::format("{} over {} ({})", one.winner, one.loser, one.family));
  if (panel.finding.empty())
    panel.finding =
        fmt::format("{} reaches {} on {}, {} on {}", graph.series.back(), number_text(factors[0], "x"),
                    devices[0], number_text(factors[1], "x"), devices[1]);
}

// Returns the two strongest rank inversions of each family: how much the winner gains on one device, and
// loses on another.
DrawnGraph inversions_graph(const std::vector<const FamilyComparison*>& families, const Shown& shown) {
  DrawnGraph graph{.kind = DrawnGraph::Kind::slopes,
                   .name = "comparison: rank inversions",
                   .series_title = "pair",
                   .x_title = "device where",
                   .y_title = "times as fast as the other",
                   .note_title = "device and condition",
                   .unit = "x"};
  graph.columns = {"it wins", "it loses"};
  graph.log_y = true;
  graph.intervals = false;
  graph.rule = 1;
  GraphPanel panel{.note = "the two strongest of each family"};
  std::size_t undecided = 0;
  for (const auto* family : families) {
    std::size_t drawn = 0;
    for (const auto& one : family->inversions) {
      const std::string *where = shown.label_of(one.where), *elsewhere = shown.label_of(one.elsewhere);
      if (where == nullptr || elsewhere == nullptr) continue;
      if (one.undecided) {
        ++undecided;
        continue;
      }
      if (drawn == 2) continue;
      ++drawn;
      add_inversion(graph, panel, one, {*where, *elsewhere});
    }
  }
  if (undecided > 0) panel.note += fmt::format("; {} more are undecided: {}", undecided, machine_was_busy);
  if (!panel.points.empty()) graph.panels.push_back(std::move(panel));
  return graph;
}

// Returns the cost of one variant for all devices, on each of them.
Json cost_row(const FamilyComparison& family, const Shown& shown) {
  const auto& one = family.variants[static_cast<std::size_t>(family.one_for_all)];
  Json row = Json::array({family.name, one.name});
  for (const std::size_t d : shown.devices) {
    const VariantOnDevice& on = one.on[d];
    row.push_back(on.efficiency && *on.efficiency > 0
                      ? number_text(1 / *on.efficiency, "x") + (on.efficiency_slowed ? "*" : "")
                      : text_of_state(on.state));
  }
  return row;
}

}  // namespace

Json comparison(const Input& input) {
  if (!input.comparison) return absent("Comparison", "a report of several devices");
  Shown shown{.devices = {}, .labels = input.labels()};
  for (std::size_t d = 0; d < input.comparison->devices.size(); ++d) {
    if (!input.comparison->devices[d]->published) shown.devices.push_back(d);
  }
  std::vector<const FamilyComparison*> ranked;
  for (const auto& family : input.comparison->families) {
    if (family.of_variants) ranked.push_back(&family);
  }
  const DrawnGraph variants = variants_graph(ranked, shown);
  if (variants.panels.empty()) return absent("Comparison", "the same families on each device");
  std::erase_if(ranked, [&](const FamilyComparison* family) {
    return std::ranges::find(variants.panels, family->name, &GraphPanel::at) == variants.panels.end();
  });
  const DrawnGraph inversions = inversions_graph(ranked, shown);
  Json parts = Json::array({chart_of(variants)}), costs = Json::array();
  if (!inversions.panels.empty()) parts.push_back(chart_of(inversions));
  for (const auto* family : ranked) {
    if (family->one_for_all >= 0) costs.push_back(cost_row(*family, shown));
  }
  Texts columns = {"family", "one for all"};
  columns.insert(columns.end(), shown.labels.begin(), shown.labels.end());
  parts.push_back(table("Cost of one variant for all devices: its time over that of the device's best",
                        columns, std::move(costs)));
  return section("Comparison",
                 "The best variants of each device. Speeds are relative to the device's own best.",
                 std::move(parts));
}

namespace {

constexpr std::size_t most_drawn = 60, most_changes = 3000, most_uncompared = 500;

// Returns the ratios of the cases, worst first; the two ends of them where there are too many.
DrawnGraph changes_graph(const RunComparison& all, const std::vector<const ComparedCase*>& compared) {
  DrawnGraph graph{.kind = DrawnGraph::Kind::bars,
                   .name = "changes: ratios",
                   .series_title = "case",
                   .y_title = "time after over time before",
                   .note_title = "case id",
                   .unit = "x"};
  graph.log_y = graph.wide = true;
  graph.rule = 1;
  GraphPanel panel;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    if (i >= most_drawn / 2 && i + most_drawn / 2 < compared.size()) continue;
    const ComparedCase& one = *compared[i];
    GraphPoint& point = panel.points.emplace_back();
    point.series = graph.series.size();
    point.y = one.ratio;
    point.low = one.low;
    point.high = one.high;
    point.label =
        fmt::format("{:.3g}x{}", one.ratio,
                    one.verdict == Change::undecided ? "" : std::string(" ") + word_of(one.verdict));
    point.note = one.id;
    graph.series.push_back(fmt::format("{} {}", i + 1, one.name));
  }
  if (panel.points.empty()) return graph;
  const std::size_t slower = all.count(Change::slower), faster = all.count(Change::faster);
  panel.finding = slower == 0
                      ? fmt::format("Nothing is called slower; {} faster, of {} compared",
                                    plural(faster, "case"), compared.size())
                      : fmt::format("{} slower, {} faster, of {}; the worst takes {}", plural(slower, "case"),
                                    faster, compared.size(), number_text(compared.front()->ratio, "x"));
  panel.note = compared.size() > most_drawn
                   ? fmt::format("both ends of {} cases, {} in all, worst first; the table has more",
                                 compared.size(), most_drawn)
                   : "worst first";
  graph.panels.push_back(std::move(panel));
  return graph;
}

Json changes_table(const std::vector<const ComparedCase*>& compared) {
  const auto seconds = [](const Number& value) { return value ? seconds_text(*value) : ""; };
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(compared.size(), most_changes); ++i) {
    const ComparedCase& one = *compared[i];
    rows.push_back(Json::array({one.family, one.name, word_of(one.verdict), number_text(one.ratio, "x"),
                                number_text(one.low, "x"), number_text(one.high, "x"), seconds(one.old_s),
                                seconds(one.new_s)}));
  }
  Json out = table("Compared cases, worst first",
                   {"family", "case", "verdict", "ratio", "low", "high", "before", "after"}, std::move(rows));
  out["filters"] = Json::array({"family", "verdict"});
  out["folded"] = true;
  return out;
}

}  // namespace

Json changes(const RunComparison& all) {
  std::vector<const ComparedCase*> compared;
  Json others = Json::array();
  for (const auto& one : all.cases) {
    if (one.transition != Transition::compared) {
      if (others.size() < most_uncompared)
        others.push_back(
            Json::array({word_of(one.transition), one.family, one.name, without_colour(one.reason)}));
    } else if (one.ratio > 0) {
      compared.push_back(&one);
    }
  }
  std::ranges::stable_sort(compared, std::ranges::greater(),
                           [](const ComparedCase* one) { return one->ratio; });
  const DrawnGraph graph = changes_graph(all, compared);
  Json parts = Json::array();
  if (!graph.panels.empty()) parts.push_back(chart_of(graph));
  parts.push_back(changes_table(compared));
  if (!others.empty())
    parts.push_back(table("Not compared", {"what", "family", "case", "reason"}, std::move(others)));
  return section(
      "Changes",
      fmt::format("Before: {}. After: {}.", fmt::join(all.old_files, ", "), fmt::join(all.new_files, ", ")),
      std::move(parts));
}

}  // namespace clweave::page
