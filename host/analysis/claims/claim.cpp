// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/claim.hpp"

#include <algorithm>

namespace clweave::claims {

std::vector<RowQuery::Axes> RowQuery::alternatives() const {
  if (any_of.empty()) return {axes};
  std::vector<Axes> out = any_of;
  for (auto& each : out) each.insert(axes.begin(), axes.end());
  return out;
}

Values RowQuery::values(const std::string& axis) const {
  Values out;
  const auto add = [&](const AxisQuery& query) {
    for (const auto& value : query.values) {
      if (std::ranges::find(out, value) == out.end()) out.push_back(value);
    }
  };
  // An alternative's own query of an axis replaces the common one.
  const auto common = axes.find(axis);
  if (any_of.empty() && common != axes.end()) add(common->second);
  for (const auto& each : any_of) {
    if (const auto own = each.find(axis); own != each.end())
      add(own->second);
    else if (common != axes.end())
      add(common->second);
  }
  return out;
}

std::size_t tries_of(const RowQuery::Axes& axes) {
  std::size_t product = 1;
  for (const auto& [axis, query] : axes)
    product *= query.how == RowQuery::AxisQuery::How::tried ? query.values.size() : 1;
  return product;
}

bool needs_baselines(const Rule& rule, const std::string& api) {
  return std::ranges::any_of(rule_sides, [&](const auto& side) {
    const std::string& its = (rule.*side.second).api;
    return api.empty() ? !its.empty() : its == api;
  });
}

std::vector<std::vector<const RowQuery*>> Claim::queries(bool cuda) const {
  std::vector<std::vector<const RowQuery*>> out;
  for (const auto& criterion : criteria) {
    std::vector<const Rule*> rules = {&criterion.rule};
    for (const auto& rule : criterion.preconditions) rules.push_back(&rule);
    for (const auto* rule : rules) {
      if (rule->is_of_compilers() || (!cuda && needs_baselines(*rule, "cuda"))) continue;
      auto& sides = out.emplace_back();
      for (const auto& [name, side] : rule_sides) {
        const RowQuery& query = rule->*side;
        if (!query.empty() && query.api.empty()) sides.push_back(&query);
      }
    }
  }
  if (!known_incorrect.empty()) out.push_back({&known_incorrect});
  return out;
}

}  // namespace clweave::claims
