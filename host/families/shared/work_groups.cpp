// SPDX-License-Identifier: Apache-2.0
#include "families/shared/work_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace clweave::families {

void add_group_findings(std::vector<Finding>& out, const std::vector<const Outcome*>& outcomes) {
  std::map<std::int64_t, const Outcome*> fastest;  // by group
  for (const auto* o : outcomes) {
    const Outcome*& entry = fastest[o->at.number("group")];
    if (entry == nullptr || o->time_s < entry->time_s) entry = o;
  }
  if (fastest.size() < 4) return;
  const auto best = std::ranges::min_element(std::as_const(fastest), {},
                                             [](const auto& entry) { return entry.second->time_s; });
  out.push_back({.name = "best_group",
                 .value = static_cast<double>(best->first),
                 .unit = "items",
                 .text = fmt::format("the fastest work-group has {} work-items", best->first),
                 .note = best->second->at.family,
                 .from = {best->second}});
  const double limit = 1.05 * best->second->time_s;
  auto low = best, high = best;
  while (low != fastest.begin() && std::prev(low)->second->time_s <= limit) --low;
  while (std::next(high) != fastest.end() && std::next(high)->second->time_s <= limit) ++high;
  Finding plateau{.name = "group_plateau",
                  .value = static_cast<double>(high->first) / static_cast<double>(low->first),
                  .unit = "ratio",
                  .text = fmt::format("work-groups of {} to {} work-items are within 5 % of the fastest",
                                      low->first, high->first),
                  .note = fmt::format("{} to {} work-items", low->first, high->first)};
  for (auto it = low; it != std::next(high); ++it) plateau.from.push_back(it->second);
  out.push_back(std::move(plateau));
}

}  // namespace clweave::families
