// SPDX-License-Identifier: Apache-2.0
#include "charts/cases.hpp"

#include <algorithm>
#include <map>

namespace clweave::charts {

namespace {

Key key_of(const CaseTimes& at, const Names& axes) {
  Key out;
  for (const auto& axis : axes) {
    const Value* value = at.cell(axis);
    out.push_back(value != nullptr ? text_of(*value) : "");
  }
  return out;
}

bool is_chosen(const CaseName& name, const std::vector<std::pair<std::string, Values>>& where) {
  return std::ranges::all_of(where, [&](const auto& wanted) {
    const Value* value = name.axis(wanted.first);
    return value != nullptr && std::ranges::find(wanted.second, *value) != wanted.second.end();
  });
}

// Tells whether two cases of one device, series and x differ in this axis.
bool splits(const std::string& axis, const std::vector<GraphCase>& cases) {
  std::map<std::tuple<std::size_t, Key, Key>, std::string> met;
  return std::ranges::any_of(cases, [&](const GraphCase& one) {
    const std::string value = key_of(*one.of, {axis}).front();
    const auto [at, is_new] = met.try_emplace({one.device, one.series, one.x}, value);
    return !is_new && at->second != value;
  });
}

}  // namespace

GraphCases cases_of(const Graph& graph, const Family& family,
                    const std::vector<const DeviceResults*>& devices) {
  std::vector<std::pair<std::string, Values>> where;
  for (const auto& text : graph.where) where.push_back(setting_of(text));
  GraphCases out;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto& at : devices[d]->cases) {
      if (at.family() != family.name || !at.ranks() || !is_chosen(*at.name, where)) continue;
      if (const auto run = at.typical())
        out.cases.push_back({&at, *run, d, key_of(at, graph.series), key_of(at, graph.x), {}});
    }
  }
  out.apart = graph.apart;
  for (const auto& axis : family.axes) {
    const bool placed =
        contains(graph.x, axis.name) || contains(graph.series, axis.name) || contains(out.apart, axis.name);
    if (!axis.tunable && !placed && splits(axis.name, out.cases)) out.apart.push_back(axis.name);
  }
  for (auto& one : out.cases) one.apart = key_of(*one.of, out.apart);
  return out;
}

std::pair<std::ptrdiff_t, Value> KeyOrder::rank(const std::string& axis, const std::string& text) const {
  const Value value = value_of(text);
  const Axis* known = family_->axis(axis);
  std::ptrdiff_t place = 0;
  if (known != nullptr && std::holds_alternative<std::string>(value))
    place = std::ranges::find(known->values, value) - known->values.begin();
  return {place, value};
}

bool KeyOrder::operator()(const Names& axes, const Key& one, const Key& other) const {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto a = rank(axes[i], one[i]), b = rank(axes[i], other[i]);
    if (a != b) return a < b;
  }
  return false;
}

std::optional<double> number_of(const Key& key) {
  double product = 1;
  for (const auto& part : key) {
    const Value value = value_of(part);
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      product *= static_cast<double>(*whole);
    else if (const auto* real = std::get_if<double>(&value))
      product *= *real;
    else
      return {};
  }
  return product;
}

bool contains(const Names& names, const std::string& axis) {
  return std::ranges::find(names, axis) != names.end();
}

}  // namespace clweave::charts
