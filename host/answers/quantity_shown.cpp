// SPDX-License-Identifier: Apache-2.0
#include "answers/quantity_shown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace clweave {

const std::vector<ShownQuantity>& shown_quantities() {
  static const std::vector<ShownQuantity> all = {
      {"rate", "GB/s, of arithmetic Gop/s", [](const Look& look, double, double) { return look.rate(); }, ""},
      {"ms", "ms",
       [](const Look& look, double, double) { return look.time_s ? Number(1e3 * *look.time_s) : Number(); },
       ""},
      {"gb", "GB/s", [](const Look& look, double, double) { return look.gb_per_s; }, ""},
      {"gop", "Gop/s", [](const Look& look, double, double) { return look.gop_per_s; }, ""},
      {"items", "G items/s", [](const Look& look, double, double) { return look.gitems_per_s; }, ""},
      {"of_ceiling", "% of the ceiling",
       [](const Look& look, double, double) {
         return look.of_ceiling ? Number(100 * *look.of_ceiling) : Number();
       },
       ""},
      {"speedup", "times as fast as the first row of the column",
       [](const Look& look, double reference_s, double) {
         return look.time_s && reference_s > 0 ? Number(reference_s / *look.time_s) : Number();
       },
       "x"},
      {"slowdown", "time over the best of the table",
       [](const Look& look, double, double best_s) {
         return look.time_s && best_s > 0 ? Number(*look.time_s / best_s) : Number();
       },
       "x"}};
  return all;
}

const ShownQuantity& shown_quantity(const std::string& name) {
  const auto& all = shown_quantities();
  const auto it = std::ranges::find_if(all, [&](const ShownQuantity& q) { return name == q.name; });
  if (it != all.end()) return *it;
  std::vector<std::string> names;
  for (const auto& q : all) names.emplace_back(q.name);
  throw Error(Kind::usage,
              fmt::format("there is no quantity {}; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace clweave
