// SPDX-License-Identifier: Apache-2.0
#include "charts/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/rows/metric.hpp"
#include "base/curve_fit.hpp"
#include "base/quantity.hpp"
#include "charts/cases.hpp"
#include "charts/pairs.hpp"
#include "charts/references.hpp"
#include "charts/titles.hpp"

namespace clweave::charts {

namespace {

using Kind = DrawnGraph::Kind;
using Place = std::pair<std::size_t, std::size_t>;  // series, column
using PanelKey = std::pair<std::size_t, Key>;       // device, and a value of each axis that splits the chart
using Fastest = std::map<Place, const GraphCase*>;

constexpr std::size_t most_panels = 8, most_points = 1500;

Kind kind_of(const Graph& graph) {
  switch (graph.kind) {
    case Graph::Kind::lines: return Kind::lines;
    case Graph::Kind::pairs:
    case Graph::Kind::heat: return Kind::heat;
    case Graph::Kind::bars: return Kind::bars;
    case Graph::Kind::launches: return Kind::launches;
  }
  return Kind::lines;
}

void add_note(GraphPanel& panel, const std::string& note) {
  panel.note += (panel.note.empty() ? "" : "; ") + note;
}

// Samples the least-squares parabola from the first to the last x.
std::vector<GraphPoint> parabola(const std::vector<GraphPoint>& points) {
  std::vector<std::pair<double, double>> measured;
  for (const auto& point : points) measured.emplace_back(point.x, point.y);
  const auto curve = fit_parabola(measured);
  if (!curve) return {};
  const auto [first, last] = std::ranges::minmax(measured);
  const double low = std::log2(first.first), high = std::log2(last.first);
  std::vector<GraphPoint> out;
  for (int i = 0; i <= 24; ++i) {
    const double x = std::exp2(low + (high - low) * i / 24), y = curve->at(x);
    if (y > 0) out.push_back({.series = points.front().series, .x = x, .y = y});
  }
  return out;
}

void add_parabolas(GraphPanel& panel) {
  std::map<std::size_t, std::vector<GraphPoint>> by_series;
  for (const auto& point : panel.points) by_series[point.series].push_back(point);
  for (const auto& [unused, points] : by_series) {
    for (auto& point : parabola(points)) panel.fits.push_back(std::move(point));
  }
}

// Keeps every k-th point, the highest and the lowest: a picture shows no more, and a page holds no more.
void keep_fewer(GraphPanel& panel) {
  const std::size_t all = panel.points.size();
  if (all <= most_points) return;
  const std::size_t step = (all + most_points - 3) / (most_points - 2);
  const auto [least, most] = std::ranges::minmax_element(panel.points, {}, &GraphPoint::y);
  std::vector<GraphPoint> kept;
  for (auto at = panel.points.begin(); at != panel.points.end(); ++at) {
    if ((at - panel.points.begin()) % static_cast<std::ptrdiff_t>(step) == 0 || at == least || at == most)
      kept.push_back(*at);
  }
  panel.points = std::move(kept);
  add_note(panel,
           fmt::format("drawn: one in {} of {} points, with the highest and the lowest; clweave show has all",
                       step, all));
}

// Sorts the panels of one device by their number of points, then by size; drops those beyond the limit.
void keep_largest(std::vector<GraphPanel>& panels) {
  std::ranges::reverse(panels);
  std::ranges::stable_sort(panels, std::ranges::greater(),
                           [](const GraphPanel& panel) { return panel.points.size(); });
  if (panels.size() <= most_panels) return;
  add_note(panels[0], fmt::format("{} more settings with fewer points are not drawn: clweave show has them",
                                  panels.size() - most_panels));
  panels.resize(most_panels);
}

// Builds a chart step by step: places its cases, then makes a panel of each device and setting.
class GraphBuilder {
 public:
  GraphBuilder(const Graph& graph, const Family& family, const ResultsSet& set)
      : set_(&set),
        family_(&family),
        graph_(&graph),
        metric_(&metric_named(graph.quantity.empty() ? "rate" : graph.quantity)),
        devices_(measured(set)),
        labels_(device_labels(devices_)),
        order_(family),
        cases_(cases_of(graph, family, devices_)) {
    place_cases();
    describe();
    if (graph.kind == Graph::Kind::lines) {
      for (const auto* device : devices_) programs_.push_back(programs_on(set, *device));
    }
  }

  DrawnGraph built() {
    std::vector<std::vector<GraphPanel>> by_device(devices_.size());
    std::vector<double> xs, ys;
    for (const auto& key : panel_keys()) {
      GraphPanel panel = panel_of(key);
      if (panel.points.empty()) continue;
      for (const auto& reference : panel.references) {
        for (const auto& [unused, y] : reference.points) ys.push_back(y);
      }
      keep_fewer(panel);
      for (const auto& point : panel.points) {
        xs.push_back(point.x);
        ys.push_back(point.y);
      }
      by_device[key.first].push_back(std::move(panel));
    }
    const bool numbered = graph_->kind == Graph::Kind::launches;
    out_.log_x = !numbered && spans_a_decade(xs);
    out_.log_y = !numbered && spans_a_decade(ys);
    for (auto& panels : by_device) {
      keep_largest(panels);
      for (auto& panel : panels) out_.panels.push_back(std::move(panel));
    }
    return std::move(out_);
  }

 private:
  std::vector<Key> sorted(const std::set<Key>& keys, const Names& names) const {
    std::vector<Key> out(keys.begin(), keys.end());
    std::ranges::stable_sort(out, [&](const Key& a, const Key& b) { return order_(names, a, b); });
    return out;
  }

  // Puts each case into its panel; of the cases of one place only the fastest.
  void place_cases() {
    std::set<Key> series, columns;
    for (const auto& one : cases_.cases) {
      series.insert(one.series);
      columns.insert(one.x);
    }
    std::map<Key, std::size_t> series_at, column_at;
    for (const auto& key : sorted(series, graph_->series)) {
      series_at[key] = out_.series.size();
      out_.series.push_back(key_text(graph_->series, key, false));
    }
    for (const auto& key : sorted(columns, graph_->x)) {
      column_at[key] = out_.columns.size();
      if (!graph_->x.empty())
        out_.columns.push_back(graph_->x.size() == 1 ? key.front() : key_text(graph_->x, key, false));
    }
    for (const auto& one : cases_.cases) {
      auto& panel = panels_[{one.device, one.apart}];
      const auto [at, is_new] = panel.try_emplace({series_at[one.series], column_at[one.x]}, &one);
      if (!is_new && one.run.time_s < at->second->run.time_s) at->second = &one;
    }
  }

  void describe() {
    out_.kind = kind_of(*graph_);
    out_.name = family_->name + ": " + graph_->name;
    out_.family = family_->name;
    out_.where = fmt::format("{}", fmt::join(graph_->where, " "));
    out_.series_title = fmt::format("{}", fmt::join(graph_->series, " "));
    out_.low_is_good = metric_->of_time;
    out_.x_title = graph_->kind == Graph::Kind::launches
                       ? fmt::format("launch configurations, by {}, {}", fmt::join(graph_->series, ", "),
                                     fmt::join(graph_->x, ", "))
                       : axis_title(graph_->x, *family_);
    out_.x_in_bytes = out_.x_title.find("bytes") != std::string::npos;
    const auto operations =
        std::ranges::count_if(cases_.cases, [](const GraphCase& one) { return one.run.of_operations(); });
    out_.unit = metric_->unit;
    if (out_.unit.empty())
      out_.unit = operations == 0 || operations < std::ssize(cases_.cases) ? "GB/s" : "Gop/s";
    out_.y_title = *metric_->unit == 0 ? out_.unit : metric_->meaning;
    std::vector<std::set<std::string>> values(cases_.apart.size());
    for (const auto& [key, unused] : panels_) {
      for (std::size_t i = 0; i < cases_.apart.size(); ++i) values[i].insert(key.second[i]);
    }
    for (const auto& of_axis : values) varies_.push_back(of_axis.size() > 1);
  }

  std::vector<PanelKey> panel_keys() const {
    std::vector<PanelKey> out;
    for (const auto& [key, unused] : panels_) out.push_back(key);
    std::ranges::stable_sort(
        out, [&](const auto& a, const auto& b) { return order_(cases_.apart, a.second, b.second); });
    return out;
  }

  // Returns the values that tell a panel from the others.
  std::string setting_of_panel(const Key& apart) const {
    Names axes;
    Key key;
    for (std::size_t i = 0; i < cases_.apart.size(); ++i) {
      if (!varies_[i]) continue;
      axes.push_back(cases_.apart[i]);
      key.push_back(apart[i]);
    }
    return key_text(axes, key);
  }

  // Returns the tunable values of a case that neither series nor x show.
  std::string configuration_of(const GraphCase& one) const {
    const bool numbered = graph_->kind == Graph::Kind::launches;
    Names axes;
    Key key;
    for (const auto& axis : family_->axes) {
      if (!axis.tunable || contains(graph_->x, axis.name) != numbered || contains(graph_->series, axis.name))
        continue;
      const Value* value = one.of->name->axis(axis.name);
      if (value == nullptr || (axis.when && *value == axis.values.front() && !numbered)) continue;
      axes.push_back(axis.name);
      key.push_back(text_of(*value));
    }
    return key_text(axes, key) + (one.of->tuned ? " (tuned)" : "");
  }

  std::optional<double> x_of(const GraphCase& one, const GraphPanel& panel) const {
    switch (graph_->kind) {
      case Graph::Kind::launches: return static_cast<double>(panel.points.size());
      case Graph::Kind::lines: return number_of(one.x);
      default: return 0;
    }
  }

  // Products of several axes may coincide: returns whether the point already there is at least as good, and
  // removes it otherwise.
  bool is_beaten(GraphPanel& panel, std::size_t series, double x, double y) const {
    if (graph_->kind != Graph::Kind::lines || graph_->x.size() < 2) return false;
    const auto same = std::ranges::find_if(
        panel.points, [&](const GraphPoint& other) { return other.series == series && other.x == x; });
    if (same == panel.points.end()) return false;
    if (metric_->of_time ? same->y <= y : same->y >= y) return true;
    panel.points.erase(same);
    return false;
  }

  void add_points(GraphPanel& panel, const Fastest& fastest) const {
    double best_s = HUGE_VAL;
    std::map<std::size_t, double> first_s;  // by column
    for (const auto& [place, one] : fastest) {
      best_s = std::min(best_s, one->run.time_s);
      first_s.try_emplace(place.second, one->run.time_s);
    }
    for (const auto& [place, one] : fastest) {
      const auto x = x_of(*one, panel);
      const Number y = metric_->of(one->run, first_s[place.second], best_s);
      if (!x || !y || is_beaten(panel, place.first, *x, *y)) continue;
      const double shorter = one->run.low_s / one->run.time_s, longer = one->run.high_s / one->run.time_s;
      GraphPoint& point = panel.points.emplace_back();
      point.series = place.first;
      point.column = place.second;
      point.x = *x;
      point.y = *y;
      point.low = metric_->of_time ? *y * shorter : *y / longer;
      point.high = metric_->of_time ? *y * longer : shorter > 0 ? *y / shorter : *y;
      point.doubtful = one->run.doubtful();
      point.note = configuration_of(*one);
    }
  }

  bool is_enough(const GraphPanel& panel) const {
    std::set<double> places;
    std::set<std::size_t> series;
    for (const auto& point : panel.points) {
      places.insert(graph_->kind == Graph::Kind::lines ? point.x : static_cast<double>(point.column));
      series.insert(point.series);
    }
    switch (graph_->kind) {
      case Graph::Kind::bars: return series.size() > 1;
      case Graph::Kind::launches: return panel.points.size() >= 20;
      case Graph::Kind::pairs:
      case Graph::Kind::heat: return places.size() + series.size() > 3;
      case Graph::Kind::lines: return places.size() > 2;
    }
    return false;
  }

  // Returns a panel without points if there are too few for a picture.
  GraphPanel panel_of(const PanelKey& key) const {
    const Fastest& fastest = panels_.at(key);
    const GraphCase& first = *fastest.begin()->second;
    const DeviceResults& device = *devices_[key.first];
    GraphPanel panel;
    panel.device = key.first;
    panel.device_label = labels_[key.first];
    panel.at = setting_of_panel(key.second);
    add_points(panel, fastest);
    if (!is_enough(panel)) return {};
    for (const auto& wanted : graph_->marks) {
      if (const Finding* found = finding_of(device, *family_, wanted, *first.of->name))
        panel.marks.push_back({*found->value, number_text(*found->value, found->unit)});
    }
    if (graph_->parabola) add_parabolas(panel);
    panel.finding = sentence(*graph_, *family_, out_, panel, device, *first.of->name);
    if (graph_->kind == Graph::Kind::lines) add_references(panel, fastest);
    return panel;
  }

  void add_references(GraphPanel& panel, const Fastest& fastest) const {
    std::set<double> xs;
    double most = 0;
    for (const auto& point : panel.points) {
      xs.insert(point.x);
      most = std::max(most, point.y);
    }
    std::map<double, const RunTime*> by_x;
    for (const auto& [unused, one] : fastest) {
      if (const auto x = number_of(one->x); x && xs.contains(*x)) by_x.try_emplace(*x, &one->run);
    }
    const GraphCase& first = *fastest.begin()->second;
    const auto& programs = programs_[*panel.device];
    panel.references = program_curves(*graph_, *family_, *metric_, programs, first, xs);
    const std::string files = files_of(panel.references, programs, *set_);
    if (!files.empty()) panel.note = "dashed: other programs on the same device, from " + files;
    if (!metric_->of_time && metric_->unit != std::string_view("%")) {
      if (auto copy = copy_curve(by_x, *metric_); copy.points.size() > 1) panel.references.push_back(copy);
    }
    const Finding* needed = graph_->little.empty() ? nullptr
                                                   : finding_of(*devices_[*panel.device], *family_,
                                                                graph_->little, *first.of->name);
    if (needed != nullptr && *xs.begin() > 0 && *needed->value > 0)
      panel.references.push_back(little_curve(*needed->value, most, *xs.begin(), *xs.rbegin()));
    for (auto& reference : panel.references) thin(reference.points);
  }

  const ResultsSet* set_;
  const Family* family_;
  const Graph* graph_;
  const Metric* metric_;
  std::vector<const DeviceResults*> devices_;
  std::vector<std::string> labels_;
  KeyOrder order_;
  GraphCases cases_;
  DrawnGraph out_;
  std::vector<bool> varies_;  // by axis that splits the chart: it has several values
  std::map<PanelKey, Fastest> panels_;
  std::vector<std::vector<BaselineTime>> programs_;  // by device
};

// Returns the chart of a family's table, for a family that asks for no charts.
Graph table_graph(const Family& family) {
  Graph graph{.name = "table", .x = family.view.columns, .series = family.view.rows};
  graph.quantity = family.view.quantity.empty() ? "rate" : family.view.quantity;
  const bool numbers = std::ranges::all_of(graph.x, [&](const std::string& name) {
    return !std::holds_alternative<std::string>(family.axis(name)->values.front());
  });
  graph.kind = graph.x.empty()                  ? Graph::Kind::bars
               : graph.x.size() == 1 && numbers ? Graph::Kind::lines
                                                : Graph::Kind::heat;
  return graph;
}

}  // namespace

DrawnGraph drawn(const Graph& graph, const Family& family, const ResultsSet& set) {
  if (graph.kind == Graph::Kind::pairs) return pairs_graph(graph, family, set);
  return GraphBuilder(graph, family, set).built();
}

std::vector<DrawnGraph> graphs_of(const Family& family, const ResultsSet& set) {
  std::vector<Graph> graphs = family.view.graphs;
  const bool of_table = graphs.empty() && !family.view.rows.empty();
  if (of_table) graphs.push_back(table_graph(family));
  std::vector<DrawnGraph> out;
  for (auto& graph : graphs) {
    auto one = drawn(graph, family, set);
    // A bar says more than a shade of one column, and than a curve of one or two points, which is not drawn.
    const bool one_shade = graph.kind == Graph::Kind::heat && one.columns.size() == 1;
    const bool short_curve = of_table && graph.kind == Graph::Kind::lines && one.panels.empty();
    if (one_shade || short_curve) {
      graph.kind = Graph::Kind::bars;
      graph.x.clear();
      one = drawn(graph, family, set);
    }
    if (!one.panels.empty()) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace clweave::charts
