// SPDX-License-Identifier: Apache-2.0
// family_of: the Family of a description, with presets and tables where it says none.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "description/case_plan.hpp"
#include "description/contents.hpp"
#include "description/described_findings.hpp"
#include "description/description.hpp"
#include "suite/mock_devices.hpp"

namespace clweave::description {

namespace {

using suite::Axis;
using suite::Case;
using suite::Family;
using suite::Sweep;
using suite::Sweeps;
using suite::Values;

constexpr double most_combinations = 200'000;  // of a preset
// Planned before anything runs; what is beyond is planned when it runs.
constexpr std::size_t most_planned = 20'000, most_planned_steps = 1'000'000;

bool is_word_axis(const Axis& axis) { return std::holds_alternative<std::string>(axis.values.front()); }

double number_of(const suite::Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

Values least_of(const Axis& axis) { return Values(*std::ranges::min_element(axis.values, {}, number_of)); }

// Makes a sweep of what `values` returns for each axis; an axis without values has its default.
template <class F>
Sweep sweep_of(const std::vector<Axis>& axes, F values) {
  Sweep out;
  for (const auto& axis : axes) {
    if (Values chosen = values(axis); !chosen.empty()) out[axis.name] = std::move(chosen);
  }
  return out;
}

double combinations_of(const Sweeps& sweeps) {
  double sum = 0;
  for (const auto& sweep : sweeps) {
    double product = 1;
    for (const auto& [axis, values] : sweep) product *= static_cast<double>(values.size());
    sum += product;
  }
  return sum;
}

Sweep smallest(const std::vector<Axis>& axes) {
  return sweep_of(axes, [](const Axis& axis) { return is_word_axis(axis) ? axis.values : least_of(axis); });
}

Sweep tasks(const std::vector<Axis>& axes) {
  return sweep_of(axes, [](const Axis& axis) { return axis.tunable ? Values() : axis.values; });
}

Sweep everything(const std::vector<Axis>& axes) {
  return sweep_of(axes, [](const Axis& axis) { return axis.values; });
}

// Designs that do the same task: the values of axis kernel.
Sweep designs(const std::vector<Axis>& axes) {
  return sweep_of(axes, [](const Axis& axis) {
    return axis.name == suite::kernel_axis && !axis.tunable ? axis.values : Values();
  });
}

// Returns the first case that exists for each combination of words.
Sweeps first_of_each_word(const Family& family) {
  const Sweep all = tasks(family.axes);
  if (combinations_of({all}) > most_combinations) return {};
  std::map<std::string, Sweep> found;
  for (const auto& at : cases_of(family, {all}, 1)) {
    std::string words;
    Sweep sweep;
    for (const auto& [axis, value] : at.axes) {
      if (const auto* word = std::get_if<std::string>(&value)) words += *word + " ";
      sweep[axis] = Values(value);
    }
    found.emplace(words, sweep);
  }
  Sweeps out;
  for (auto& [words, sweep] : found) out.push_back(std::move(sweep));
  return out;
}

// Fills in the presets that a description leaves out.
void complete_presets(Family& family) {
  auto& presets = family.presets;
  const auto& axes = family.axes;
  if (presets.smoke.empty()) {
    presets.smoke = {smallest(axes)};
    // The smallest values may not go together.
    if (cases_of(family, presets.smoke, 1).empty()) presets.smoke = first_of_each_word(family);
  }
  if (presets.quick.empty()) presets.quick = {tasks(axes)};
  if (presets.full.empty())
    presets.full =
        combinations_of({everything(axes)}) <= most_combinations ? Sweeps{everything(axes)} : presets.quick;
  const bool can_choose = std::ranges::any_of(axes, &Axis::tunable) || !designs(axes).empty();
  if (presets.tune.empty() && can_choose) presets.tune = {designs(axes)};
}

std::string quantity_of(const Description& description) {
  if (description.read || description.written || description.operations) return "rate";
  return description.items ? "items" : "slowdown";
}

// Chooses the axes of the table: kernels, or what else has words, in rows; the size, or what else has the
// most numbers, in columns.
void complete_view(Family& family, const Description& description) {
  auto& view = family.view;
  if (view.quantity.empty()) view.quantity = quantity_of(description);
  if (view.chapter.empty()) view.chapter = description.chapter;
  if (!view.rows.empty() || !view.columns.empty()) return;
  const Axis *row = nullptr, *column = nullptr;
  for (const auto& axis : family.axes) {
    const bool is_kernel = axis.name == suite::kernel_axis, is_n = axis.name == suite::elements_axis;
    if (is_word_axis(axis)) {
      if (row == nullptr || is_kernel) row = &axis;
      continue;
    }
    const bool is_longer = column == nullptr || (axis.values.size() > column->values.size() && !axis.tunable);
    if ((is_longer && (column == nullptr || column->name != suite::elements_axis)) || is_n) column = &axis;
  }
  for (const auto& axis : family.axes) {
    if (row == nullptr && &axis != column) row = &axis;
    if (column == nullptr && &axis != row) column = &axis;
  }
  if (row != nullptr) view.rows = {row->name};
  if (column != nullptr) view.columns = {column->name};
}

void check_size(const Family& family) {
  for (const char* preset : suite::preset_names) {
    const double count = combinations_of(family.presets.at(preset));
    if (count > most_combinations)
      throw Error(
          ErrorCode::usage,
          fmt::format("family {}: preset {} has {:.4g} combinations of values, and may have {}: write "
                      "fewer of them under [presets]",
                      family.name, preset, count, most_combinations));
  }
}

// Plans the cases of all presets for a device without limits, up to so many. Throws `usage` for what is wrong
// with one.
void plan_every_case(const Family& family, const std::shared_ptr<const Model>& model) {
  const suite::DeviceInfo device = suite::roomy();
  std::size_t planned = 0, steps = 0;
  for (const char* preset : suite::preset_names) {
    for (const auto& at : cases_of(family, family.presets.at(preset), 1)) {
      if (++planned > most_planned || steps > most_planned_steps) return;
      try {
        steps += plan_of_case(model, at, device, true).steps.size();
      } catch (const Error& error) {
        if (error.code != ErrorCode::unsupported) throw;
      }
    }
  }
}

Family made(const std::shared_ptr<const Model>& model) {
  const Description& said = model->description;
  Family family{.name = said.name,
                .question = said.question,
                .axes = said.axes,
                .presets = said.presets,
                .view = said.view,
                .plan = [model](const Case& at, const suite::DeviceInfo& device) {
                  return plan_of_case(model, at, device);
                }};
  if (!said.valid.empty())
    family.is_valid = [model](const Case& at) {
      return std::ranges::all_of(model->description.valid,
                                 [&](const Expression& valid) { return valid.is_true(at); });
    };
  if (!said.findings.empty())
    family.findings = [model](const std::vector<suite::Outcome>& outcomes, const suite::DeviceInfo&) {
      return findings_of(model->description, outcomes);
    };
  complete_presets(family);
  complete_view(family, said);
  return family;
}

}  // namespace

Family family_of(Description description) {
  const auto model = std::make_shared<const Model>(std::move(description));
  Family family = checked(model->description.name, [&] { return made(model); });
  check_size(family);
  if (cases_of(family, family.presets.quick, 1).empty())
    throw Error(ErrorCode::usage,
                fmt::format("{}: no combination of the values of preset quick exists: see 'valid'",
                            model->description.file.filename().string()));
  plan_every_case(family, model);
  return family;
}

}  // namespace clweave::description
