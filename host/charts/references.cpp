// SPDX-License-Identifier: Apache-2.0
#include "charts/references.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace clweave::charts {

namespace {

std::string name_of(const BaselineTime& program) {
  const Value *kernel = program.of->axis("kernel"), *threads = program.of->axis(threads_axis);
  std::string out = kernel != nullptr ? text_of(*kernel) : program.api;
  if (threads != nullptr && *threads != Value(std::int64_t{1}))
    out += " on " + text_of(*threads) + " threads";
  return out;
}

// Tells whether a program does the work of this family, or sets the peak that bounds the run: the copy of
// another library is the reference for whatever copies bound.
bool is_comparable(const BaselineTime& program, const Family& family, const RunTime& run) {
  if (program.of->family == family.name) return true;
  const auto& families = all_families();
  const auto its = std::ranges::find(families, program.of->family, &Family::name);
  return its != families.end() && its->view.reference_of != Peak::none && its->view.reference_of == run.peak;
}

// Tells whether it has the panel's values of all axes that the chart does not show.
bool is_same_work(const Graph& graph, const Family& family, const CaseName& panel, const CaseName& program) {
  return std::ranges::all_of(family.axes, [&](const Axis& axis) {
    const Value *here = panel.axis(axis.name), *there = program.axis(axis.name);
    const bool shown = axis.name == graph.x.front() || contains(graph.series, axis.name);
    return shown || here == nullptr || there == nullptr || *here == *there;
  });
}

}  // namespace

std::vector<BaselineTime> programs_on(const ResultsSet& set, const DeviceResults& device) {
  std::vector<BaselineTime> out;
  for (const auto& looks : baseline_times(set, device)) out.push_back(typical(looks));
  return out;
}

std::vector<GraphReference> program_curves(const Graph& graph, const Family& family, const Metric& metric,
                                           const std::vector<BaselineTime>& programs, const GraphCase& first,
                                           const std::set<double>& xs) {
  std::map<std::string, std::map<double, double>> curves;
  for (const auto& program : programs) {
    const Number y = metric.of(program.run, 0, 0);
    if (!y || !is_same_work(graph, family, *first.of->name, *program.of) ||
        !is_comparable(program, family, first.run))
      continue;
    // A copy has no such axis: it takes the same at every x.
    std::vector<double> places(xs.begin(), xs.end());
    if (const Value* x = graph.x.size() == 1 ? program.of->axis(graph.x.front()) : nullptr)
      places = {number_of({text_of(*x)}).value_or(0)};
    for (const double x : places) {
      if (x < *xs.begin() || x > *xs.rbegin()) continue;
      auto [it, is_new] = curves[name_of(program)].try_emplace(x, *y);
      if (!is_new) it->second = metric.of_time ? std::min(it->second, *y) : std::max(it->second, *y);
    }
  }
  std::vector<GraphReference> out;
  for (const auto& [name, points] : curves) {
    if (points.size() > 1) out.push_back({name, {points.begin(), points.end()}});
  }
  return out;
}

std::string files_of(const std::vector<GraphReference>& references, const std::vector<BaselineTime>& programs,
                     const ResultsSet& set) {
  std::set<std::string> files;
  for (const auto& reference : references) {
    for (const auto& program : programs) {
      if (name_of(program) != reference.name) continue;
      const std::string file = program.run.file < set.files.size() ? set.files[program.run.file] : "";
      files.insert(file.substr(file.find_last_of('/') + 1));
    }
  }
  return fmt::format("{}", fmt::join(files, ", "));
}

GraphReference copy_curve(const std::map<double, const RunTime*>& by_x, const Metric& metric) {
  GraphReference out{"a copy's rate", {}};
  for (const auto& [x, run] : by_x) {
    const Number y = metric.of(*run, 0, 0);
    if (!y || run->peak != Peak::copy) return {};
    if (run->fraction_of_peak && *run->fraction_of_peak > 0)
      out.points.emplace_back(x, *y / *run->fraction_of_peak);
  }
  return out;
}

GraphReference little_curve(double needed, double most, double low_x, double high_x) {
  GraphReference out{"Little's law", {}};
  const auto at = [&](int i) { return low_x * std::pow(high_x / low_x, i / 24.0); };
  const auto add = [&](double x) { out.points.emplace_back(x, most * std::min(1.0, x / needed)); };
  for (int i = 0; i <= 24; ++i) {
    if (i > 0 && at(i - 1) < needed && needed < at(i)) add(needed);
    add(at(i));
  }
  return out;
}

void thin(std::vector<std::pair<double, double>>& points) {
  const std::size_t step = points.size() / 200 + 1;
  std::vector<std::pair<double, double>> kept;
  for (std::size_t i = 0; i < points.size(); i += step) kept.push_back(points[i]);
  if (step > 1 && kept.back() != points.back()) kept.push_back(points.back());
  points = std::move(kept);
}

}  // namespace clweave::charts
