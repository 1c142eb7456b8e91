// SPDX-License-Identifier: Apache-2.0
#include "results/case_names.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "suite/family.hpp"

namespace clweave::results {

const Value* CaseName::axis(std::string_view wanted) const {
  for (const auto& at : axes) {
    if (*at.name == wanted) return at.value;
  }
  return nullptr;
}

CaseAxis CaseNames::axis_of(const std::string& name, const std::string& cell) {
  const auto axis = axis_names_.try_emplace(name, name).first;
  auto value = values_.find(cell);
  if (value == values_.end()) value = values_.emplace(cell, value_of(cell)).first;
  return {&axis->second, &value->second};
}

const CaseName& CaseNames::of(const Record& row, const std::vector<Family>& families) {
  // All rows with an id have the same axes, so only the first is examined.
  if (const auto known = known_.find(row.case_id); known != known_.end()) return *known->second;
  if (lacks_axes(row, families)) {
    Record full;
    full.family = row.family;
    full.case_id = row.case_id;
    full.axes = row.axes;
    add_later_axes(full, families);
    if (full.case_id != row.case_id) return know(former_.emplace_back(row.case_id), of(full, families));
  }
  const CaseName& name = named(row, families);
  return know(name.id, name);
}

const CaseName& CaseNames::know(std::string_view id, const CaseName& name) {
  return *known_.try_emplace(id, &name).first->second;
}

const CaseName& CaseNames::named(const Record& row, const std::vector<Family>& families) {
  CaseName& name = names_.emplace_back();
  name.id = row.case_id;
  name.family = row.family;
  name.axes.reserve(row.axes.size());
  const auto family = std::ranges::find(families, row.family, &Family::name);
  std::vector<bool> taken(row.axes.size());
  if (family != families.end()) {
    for (const auto& axis : family->axes) {
      for (std::size_t i = 0; i < row.axes.size(); ++i) {
        const auto& [title, cell] = row.axes[i];
        if (taken[i] || cell.empty() || title != axis.name) continue;
        taken[i] = true;
        name.axes.push_back(axis_of(title, cell));
        break;
      }
    }
  }
  // Axes that the family no longer has, or of an unknown family, but not cells that follow from the axes.
  for (std::size_t i = 0; i < row.axes.size(); ++i) {
    const auto& [title, cell] = row.axes[i];
    const bool derived = family != families.end() &&
                         std::ranges::find(family->derived, title, &Derived::name) != family->derived.end();
    if (!taken[i] && !cell.empty() && !derived && name.axis(title) == nullptr)
      name.axes.push_back(axis_of(title, cell));
  }
  return name;
}

std::vector<CaseAxis> CaseNames::derived_of(const Record& row, const std::vector<Family>& families) {
  std::vector<CaseAxis> out;
  const auto family = std::ranges::find(families, row.family, &Family::name);
  if (family == families.end()) return out;
  for (const auto& [title, cell] : row.axes) {
    if (!cell.empty() && std::ranges::find(family->derived, title, &Derived::name) != family->derived.end())
      out.push_back(axis_of(title, cell));
  }
  return out;
}

const CaseName& CaseNames::of_id(const std::string& id) {
  if (const auto known = known_.find(id); known != known_.end()) return *known->second;
  CaseName& name = names_.emplace_back();
  name.id = id;
  const auto parts = split(id, '/');
  name.family = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto equals = std::min(parts[i].find('='), parts[i].size());
    name.axes.push_back(
        axis_of(parts[i].substr(0, equals), equals < parts[i].size() ? parts[i].substr(equals + 1) : "yes"));
  }
  return know(name.id, name);
}

}  // namespace clweave::results
