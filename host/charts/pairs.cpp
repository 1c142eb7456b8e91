// SPDX-License-Identifier: Apache-2.0
#include "charts/pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/pair_matrix.hpp"
#include "base/quantity.hpp"
#include "charts/cases.hpp"
#include "charts/titles.hpp"
#include "suite/axis.hpp"

namespace clweave::charts {

namespace {

constexpr std::size_t most_cells = 36;  // in a row

struct Matrix {
  const GraphCase* of;
  PairMatrix ns;
};

// Returns nanoseconds per item for each step; empty where they are no pairs or there are too few.
std::optional<PairMatrix> matrix_of(const RunTime& run) {
  constexpr std::size_t least_units = 3;
  if (!run.steps_s || run.items.value_or(0) <= 0) return {};
  const double items = static_cast<double>(*run.items) / static_cast<double>(run.steps_s->size());
  std::vector<double> ns;
  for (const double seconds : *run.steps_s) ns.push_back(1e9 * seconds / items);
  auto out = PairMatrix::of(ns);
  if (out && out->units() < least_units) out.reset();
  return out;
}

// A cell's first unit, by which cells are sorted and named.
struct CellName {
  std::size_t cluster, unit;
  bool more, clustered;  // it stands for several units; there are several clusters

  bool operator<(const CellName& other) const {
    return std::tie(cluster, unit, more, clustered) <
           std::tie(other.cluster, other.unit, other.more, other.clustered);
  }
  std::string text() const {
    return (clustered ? std::string(1, static_cast<char>('A' + cluster % 26)) + " " : "") +
           std::to_string(unit) + (more ? ".." : "");
  }
};

// Draws the units in the order of their clusters, `each` of them side by side as one.
class Panel {
 public:
  explicit Panel(const PairMatrix& ns)
      : ns_(ns),
        clusters_(clusters_of(ns)),
        order_(ns.units()),
        each_((ns.units() + most_cells - 1) / most_cells),
        cells_((ns.units() + each_ - 1) / each_) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t unit) { return clusters_[unit]; });
  }

  std::size_t cells() const { return cells_; }
  std::size_t each() const { return each_; }

  CellName name(std::size_t cell) const {
    const std::size_t unit = order_[cell * each_];
    return {clusters_[unit], unit, each_ > 1, *std::ranges::max_element(clusters_) > 0};
  }

  // The mean of the pairs in a cell; none on the diagonal of single units.
  std::optional<double> value(std::size_t row, std::size_t column) const {
    double sum = 0, pairs = 0;
    for (std::size_t i = row * each_; i < std::min((row + 1) * each_, order_.size()); ++i) {
      for (std::size_t k = column * each_; k < std::min((column + 1) * each_, order_.size()); ++k) {
        if (i == k) continue;
        sum += ns_.at(order_[i], order_[k]);
        pairs += 1;
      }
    }
    if (pairs == 0) return {};
    return sum / pairs;
  }

 private:
  const PairMatrix& ns_;
  std::vector<std::size_t> clusters_, order_;
  std::size_t each_, cells_;
};

GraphPanel panel_of(const Panel& drawn, const std::set<CellName>& names) {
  GraphPanel out;
  const auto place = [&](std::size_t cell) {
    return static_cast<std::size_t>(std::distance(names.begin(), names.find(drawn.name(cell))));
  };
  for (std::size_t row = 0; row < drawn.cells(); ++row) {
    for (std::size_t column = 0; column < drawn.cells(); ++column) {
      const auto value = drawn.value(row, column);
      if (!value) continue;
      GraphPoint& point = out.points.emplace_back();
      point.series = place(row);
      point.column = place(column);
      point.y = point.low = point.high = *value;
    }
  }
  if (drawn.each() > 1)
    out.note =
        fmt::format("a cell is the mean of {0}x{0} pairs; column steps_s has all of them", drawn.each());
  return out;
}

// Returns the sentences of the findings that the chart asks for; empty if there is none.
std::string found_text(const Graph& graph, const Family& family, const DeviceResults& device,
                       const CaseName& name) {
  std::vector<std::string> texts;
  for (const auto& wanted : graph.findings) {
    if (const Finding* found = finding_of(device, family, wanted, name)) texts.push_back(found->text);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Returns ", in 2 clusters of 66 and 66 units"; empty if there are none.
std::string clusters_text(const PairMatrix& ns) {
  const auto clusters = clusters_of(ns);
  const std::size_t count = std::ranges::max(clusters) + 1;
  if (count == 1) return "";
  std::vector<std::ptrdiff_t> sizes;
  for (std::size_t k = 0; k < count; ++k) sizes.push_back(std::ranges::count(clusters, k));
  return fmt::format(", in {} clusters of {} units", count, fmt::join(sizes, " and "));
}

}  // namespace

DrawnGraph pairs_graph(const Graph& graph, const Family& family, const ResultsSet& set) {
  const auto devices = measured(set);
  const auto labels = device_labels(devices);
  Graph asked = graph;
  for (const auto& axis : family.axes) {
    if (axis.name != steps_axis) asked.apart.push_back(axis.name);
  }
  // Of each choice the case with the most iterations, in whose steps launches count least.
  const GraphCases cases = cases_of(asked, family, devices);
  std::map<std::pair<std::size_t, Key>, Matrix> matrices;
  const auto iterations = [](const GraphCase& one) {
    const Value* value = one.of->cell(steps_axis);
    return value != nullptr && std::holds_alternative<std::int64_t>(*value) ? std::get<std::int64_t>(*value)
                                                                            : 0;
  };
  for (const auto& one : cases.cases) {
    auto ns = matrix_of(one.run);
    if (!ns) continue;
    Key key = one.apart;
    key.resize(asked.apart.size());
    const auto at = matrices.find({one.device, key});
    if (at == matrices.end())
      matrices.emplace(std::pair(one.device, key), Matrix{&one, *std::move(ns)});
    else if (iterations(one) > iterations(*at->second.of))
      at->second = Matrix{&one, *std::move(ns)};
  }
  DrawnGraph out;
  out.kind = DrawnGraph::Kind::heat;
  out.name = family.name + ": " + graph.name;
  out.family = family.name;
  out.where = fmt::format("{}", fmt::join(graph.where, " "));
  out.series_title = "unit";
  out.x_title = "other unit";
  out.unit = "ns";
  out.y_title = "ns per item";
  out.note_title = "";
  out.low_is_good = true;
  out.intervals = false;
  std::set<CellName> names;
  for (const auto& [unused, matrix] : matrices) {
    const Panel drawn(matrix.ns);
    for (std::size_t cell = 0; cell < drawn.cells(); ++cell) names.insert(drawn.name(cell));
  }
  for (const auto& name : names) out.series.push_back(name.text());
  out.columns = out.series;
  std::vector<std::pair<const Matrix*, GraphPanel>> panels;
  for (const auto& [key, matrix] : matrices) {
    GraphPanel panel = panel_of(Panel(matrix.ns), names);
    panel.device = key.first;
    panel.device_label = labels[key.first];
    Names shown;
    Key values;
    for (std::size_t i = 0; i < asked.apart.size(); ++i) {
      const std::string& value = key.second[i];
      const bool varies =
          std::ranges::any_of(matrices, [&, i](const auto& other) { return other.first.second[i] != value; });
      if (!varies) continue;
      shown.push_back(asked.apart[i]);
      values.push_back(value);
    }
    panel.at = key_text(shown, values);
    panels.emplace_back(&matrix, std::move(panel));
  }
  // The one of most units and most clusters first, which the findings are about.
  std::ranges::stable_sort(panels, std::ranges::greater(), [](const auto& panel) {
    return std::pair(panel.first->ns.units(), std::ranges::max(clusters_of(panel.first->ns)));
  });
  for (auto& [matrix, panel] : panels) {
    const bool first_of_device = std::ranges::none_of(
        out.panels, [&, &drawn = panel](const GraphPanel& other) { return other.device == drawn.device; });
    if (first_of_device)
      panel.finding = found_text(graph, family, *devices[*panel.device], *matrix->of->of->name);
    if (panel.finding.empty()) {
      const auto [low, high] = std::ranges::minmax(matrix->ns.values());
      panel.finding = fmt::format("Pairs take {} to {} per item{}", number_text(low, out.unit),
                                  number_text(high, out.unit), clusters_text(matrix->ns));
    }
    out.panels.push_back(std::move(panel));
  }
  return out;
}

}  // namespace clweave::charts
