// SPDX-License-Identifier: Apache-2.0
// roofline: the section of kernels below the measured peaks.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/quantity.hpp"
#include "charts/vega.hpp"
#include "page/sections.hpp"

namespace clweave::page {

namespace {

void add_panel(DrawnGraph& graph, const Roofline& data) {
  GraphPanel panel{.device = data.index};
  std::size_t near = 0, undecided = 0;
  for (const auto& kernel : data.kernels) {
    if (!kernel.is_bounded()) continue;
    const bool moves = kernel.intensity == 0;
    GraphPoint& point = panel.points.emplace_back();
    point.series =
        static_cast<std::size_t>(std::ranges::lower_bound(graph.series, kernel.name) - graph.series.begin());
    point.y = point.low = point.high = 100 * kernel.fraction;
    point.label = percent_text(kernel.fraction, 0) + (kernel.is_undecided() ? "*" : "");
    point.note = fmt::format(
        "{} below {}", number_text(moves ? kernel.gb_per_s : kernel.gflop_per_s, moves ? "GB/s" : "Gop/s"),
        kernel.bound_by);
    if (kernel.is_undecided()) {
      point.note += std::string("; ") + while_not_quiet;
      ++undecided;
    } else if (kernel.fraction >= 0.8) {
      ++near;
    }
  }
  panel.finding = fmt::format("{} of {} kernels reach 80 % of their roof", near, panel.points.size());
  if (undecided > 0) panel.finding += fmt::format(", {} are undecided", undecided);
  if (!panel.points.empty()) graph.panels.push_back(std::move(panel));
}

// Returns the fractions of all kernels, those that only move data among them.
DrawnGraph fractions_of(const std::vector<Roofline>& all) {
  DrawnGraph graph{.kind = DrawnGraph::Kind::bars,
                   .name = "roofline: fractions",
                   .series_title = "kernel",
                   .y_title = "% of its roof",
                   .note_title = "reached"};
  graph.wide = true;
  graph.intervals = false;
  graph.rule = 100;
  std::set<std::string> kernels;
  for (const auto& data : all) {
    for (const auto& kernel : data.kernels) {
      if (kernel.bound > 0) kernels.insert(kernel.name);
    }
  }
  graph.series = {kernels.begin(), kernels.end()};
  for (const auto& data : all) add_panel(graph, data);
  return graph;
}

}  // namespace

Json roofline(const Input& input) {
  const DrawnGraph chart = graph_of(input.rooflines), fractions = fractions_of(input.rooflines);
  const bool busy =
      std::ranges::any_of(input.rooflines, [](const Roofline& one) { return one.busy_peaks > 0; });
  if (fractions.panels.empty() && busy)
    return absent(roofline_title,
                  "clweave run --wait-quiet 5m: the machine was busy while the peaks were measured");
  if (fractions.panels.empty())
    return absent(roofline_title, "clweave run, without --no-peak and with another preset than smoke");
  Json parts = Json::array();
  if (!chart.panels.empty()) parts.push_back(chart_of(chart));
  parts.push_back(chart_of(fractions));
  return section(
      roofline_title,
      "The fastest row of each kernel whose data does not fit a cache, below the peaks measured in "
      "the same run.",
      std::move(parts));
}

}  // namespace clweave::page
