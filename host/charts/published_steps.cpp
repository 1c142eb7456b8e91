// SPDX-License-Identifier: Apache-2.0
#include "charts/published_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/quantity.hpp"

namespace clweave::charts {

namespace {

constexpr const char* published_note = "published";

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::ranges::find(names, name);
  const auto index = static_cast<std::size_t>(at - names.begin());
  if (at == names.end()) names.push_back(name);
  return index;
}

void add(DrawnGraph& graph, const std::string& step, const std::string& owner, double speedup,
         const std::string& note) {
  const auto at = std::ranges::find(graph.series, step);
  if (at == graph.series.end()) return;
  GraphPoint& point = graph.panels.front().points.emplace_back();
  point.series = static_cast<std::size_t>(at - graph.series.begin());
  point.column = index_of(graph.columns, owner);
  point.y = point.low = point.high = speedup;
  point.label = number_text(speedup, "x");
  point.note = note;
}

// Adds published times of valid evidence, over that of the first step on the same device at the same size.
void add_published(DrawnGraph& graph, const Family& family, const std::string& axis, const ResultsSet& set) {
  const auto place = [](const PublishedFigure& figure) {
    const Value* n = figure.of->axis(elements_axis);
    return figure.device + "/" + (n != nullptr ? text_of(*n) : "");
  };
  std::vector<std::pair<std::string, const PublishedFigure*>> steps;
  std::map<std::string, double> first_s;
  for (const auto& figure : set.figures) {
    const Value* step = figure.of->axis(axis);
    if (figure.quantity != PublishedFigure::Quantity::time || figure.of->family != family.name ||
        !figure.evidence.empty() || step == nullptr)
      continue;
    steps.emplace_back(text_of(*step), &figure);
    if (steps.back().first == graph.series.front()) first_s[place(figure)] = figure.value;
  }
  for (const auto& [step, figure] : steps) {
    const auto first = first_s.find(place(*figure));
    if (first != first_s.end() && figure->value > 0)
      add(graph, step, figure->device, first->second / figure->value, published_note);
  }
}

void add_measured(DrawnGraph& graph, const Family& family, const std::string& prefix,
                  const DeviceResults& device, const std::string& label) {
  for (const auto& found : device.findings) {
    const Finding& one = found.typical();
    if (found.family == family.name && one.name.starts_with(prefix) && one.value)
      add(graph, one.name.substr(prefix.size()), label, *one.value, one.text);
  }
}

std::string title_of(const DrawnGraph& graph) {
  const GraphPoint* best = nullptr;
  double published = 0;
  for (const auto& point : graph.panels.front().points) {
    if (point.note == published_note)
      published = std::max(published, point.y);
    else if (best == nullptr || point.y > best->y)
      best = &point;
  }
  const std::string most = number_text(published, "x");
  if (best == nullptr) return fmt::format("The most that was published is {} over the first step", most);
  return fmt::format("{} is {} as fast as the first step on {}; the most that was published is {}",
                     graph.series[best->series], number_text(best->y, "x"), graph.columns[best->column],
                     most);
}

// Drops the steps that neither was published nor is measured.
void keep_met(DrawnGraph& graph) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < graph.series.size(); ++i) {
    auto& points = graph.panels.front().points;
    if (std::ranges::find(points, i, &GraphPoint::series) == points.end()) continue;
    for (auto& point : points) {
      if (point.series == i) point.series = kept.size();
    }
    kept.push_back(graph.series[i]);
  }
  graph.series = std::move(kept);
}

}  // namespace

std::optional<DrawnGraph> published_steps(const Family& family, const ResultsSet& set,
                                          const std::vector<std::string>& labels) {
  const auto& graphs = family.view.graphs;
  const auto asked = std::ranges::find_if(graphs, [](const Graph& graph) { return !graph.steps.empty(); });
  const Axis* axis = asked != graphs.end() ? family.axis(asked->series.front()) : nullptr;
  if (axis == nullptr) return {};
  DrawnGraph graph{.kind = DrawnGraph::Kind::bars,
                   .name = family.name + ": beside the published",
                   .series_title = axis->name,
                   .x_title = "device",
                   .y_title = "times as fast as the first step",
                   .note_title = "note"};
  graph.log_y = true;
  graph.intervals = false;
  for (const auto& value : axis->values) graph.series.push_back(text_of(value));
  graph.panels.push_back({.note =
                              "each over its own first step; published times whose evidence is discarded or "
                              "inconsistent are left out"});
  add_published(graph, family, axis->name, set);
  if (graph.panels.front().points.empty()) return {};
  const auto devices = measured(set);
  for (std::size_t d = 0; d < devices.size(); ++d)
    add_measured(graph, family, asked->steps, *devices[d], labels[d]);
  graph.panels.front().finding = title_of(graph);
  keep_met(graph);
  return graph;
}

}  // namespace clweave::charts
