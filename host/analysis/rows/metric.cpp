// SPDX-License-Identifier: Apache-2.0
#include "analysis/rows/metric.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/near_word.hpp"

namespace clweave::rows {

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = {
      {"rate", "GB/s, of arithmetic Gop/s", [](const RunTime& run, double, double) { return run.rate(); }, "",
       "", false},
      {"ms", "ms", [](const RunTime& run, double, double) { return Number(1e3 * run.time_s); }, "", "ms",
       true},
      {"ns", "ns per item",
       [](const RunTime& run, double, double) {
         return run.gitems_per_s && *run.gitems_per_s > 0 ? Number(1 / *run.gitems_per_s) : Number();
       },
       "", "ns", true},
      {"gb", "GB/s", [](const RunTime& run, double, double) { return run.gb_per_s; }, "", "GB/s", false},
      {"gop", "Gop/s", [](const RunTime& run, double, double) { return run.gflop_per_s; }, "", "Gop/s",
       false},
      {"items", "G items/s", [](const RunTime& run, double, double) { return run.gitems_per_s; }, "",
       "G items/s", false},
      {"fraction_of_peak", "% of the peak",
       [](const RunTime& run, double, double) {
         return run.fraction_of_peak ? Number(100 * *run.fraction_of_peak) : Number();
       },
       "", "%", false},
      {"speedup", "times as fast as the first row of the column",
       [](const RunTime& run, double reference_s, double) {
         return reference_s > 0 ? Number(reference_s / run.time_s) : Number();
       },
       "x", "x", false},
      {"slowdown", "time over the best of the table",
       [](const RunTime& run, double, double best_s) {
         return best_s > 0 ? Number(run.time_s / best_s) : Number();
       },
       "x", "x", true},
      {"energy", "pJ per byte, of arithmetic per operation",
       [](const RunTime& run, double, double) {
         const Number joules = run.joules_of_unit(run.energy_j);
         return joules ? Number(1e12 * *joules) : Number();
       },
       "", "pJ", true},
      {"nj", "nJ per item",
       [](const RunTime& run, double, double) {
         return run.energy_j && run.items.value_or(0) > 0
                    ? Number(1e9 * *run.energy_j / static_cast<double>(*run.items))
                    : Number();
       },
       "", "nJ", true}};
  return all;
}

const Metric& metric_named(const std::string& name) {
  const auto& all = metrics();
  const auto it = std::ranges::find_if(all, [&](const Metric& q) { return name == q.name; });
  if (it != all.end()) return *it;
  std::vector<std::string> names;
  for (const auto& q : all) names.emplace_back(q.name);
  throw Error(ErrorCode::usage, fmt::format("there is no quantity {}{}", name, suggestion(name, names)));
}

}  // namespace clweave::rows
