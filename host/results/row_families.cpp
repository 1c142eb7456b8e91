// SPDX-License-Identifier: Apache-2.0
#include "results/row_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

namespace clweave::results {

namespace {

constexpr std::size_t most = 100;

bool is_word(const Value& value) { return std::holds_alternative<std::string>(value); }

void add_axes(Family& family, const CaseName& name) {
  for (const auto& [axis_name, value] : name.axes) {
    auto axis = std::ranges::find(family.axes, *axis_name, &Axis::name);
    if (axis == family.axes.end())
      axis = family.axes.insert(axis, Axis{*axis_name, "as its rows have it", {}});
    if (std::ranges::find(axis->values, *value) == axis->values.end()) axis->values.push_back(*value);
  }
}

// Puts words down the table and numbers across, those axes first that vary.
void choose_view(Family& family, const CaseTimes& any) {
  const auto first = [&](bool words, const std::string& but) {
    const Axis* best = nullptr;
    for (const auto& axis : family.axes) {
      if (axis.name == but || is_word(axis.values.front()) != words) continue;
      if (best == nullptr || (best->values.size() == 1 && axis.values.size() > 1)) best = &axis;
    }
    return best;
  };
  const Axis* rows = first(true, "");
  if (rows == nullptr) rows = first(false, "");
  if (rows == nullptr) return;
  family.view.rows = {rows->name};
  if (const Axis* columns = first(false, rows->name)) family.view.columns = {columns->name};
  const bool has_rate = !any.runs.empty() && any.runs.front().rate();
  family.view.quantity = has_rate || any.runs.empty() || !any.runs.front().gitems_per_s ? "rate" : "items";
}

}  // namespace

std::vector<Family> row_families(const ResultsSet& set, const std::vector<Family>& known) {
  std::vector<Family> out;
  std::vector<const CaseTimes*> first;
  for (const auto& device : set.devices) {
    for (const auto& at : device.cases) {
      if (std::ranges::find(known, at.family(), &Family::name) != known.end()) continue;
      auto family = std::ranges::find(out, at.family(), &Family::name);
      if (family == out.end()) {
        if (out.size() == most || at.name->axes.empty()) continue;
        family = out.insert(family, Family());
        family->name = at.family();
        family->question = "Rows of a family that this program does not know.";
        family->plan = [name = at.family()](const Case&, const DeviceInfo&) -> Plan {
          throw Error(ErrorCode::usage,
                      fmt::format("the rows of {} do not tell how to run it: name its FILE.cl, too", name));
        };
        first.push_back(&at);
      }
      add_axes(*family, *at.name);
    }
  }
  for (std::size_t f = 0; f < out.size(); ++f) {
    for (auto& axis : out[f].axes) {
      const bool numbers = std::ranges::none_of(axis.values, is_word);
      if (numbers) std::ranges::sort(axis.values);
    }
    choose_view(out[f], *first[f]);
  }
  return out;
}

}  // namespace clweave::results
