// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace clweave::claims {

const Family* family_named(const std::vector<Family>& families, const std::string& name) {
  const auto it = std::ranges::find(families, name, &Family::name);
  return it != families.end() ? &*it : nullptr;
}

bool is_same(const Value& one, const Value& other) {
  return one.index() == other.index() ? one == other : text_of(one) == text_of(other);
}

bool is_word(const Value& value) { return std::holds_alternative<std::string>(value); }

double number_in(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return static_cast<double>(*n);
  if (const auto* x = std::get_if<double>(&value)) return *x;
  return 0;
}

Value value_in(const TimedCase& timed, const std::string& axis) {
  const Value* value = timed.axis(axis);
  return value != nullptr ? *value : Value(std::string());
}

namespace {

// Matches case names against a query; what it asks of each axis is looked up once for all cases.
class CaseMatcher {
 public:
  CaseMatcher(const RowQuery& query, const Family& family) : is_baseline_(!query.api.empty()) {
    for (const auto& axes : query.alternatives()) {
      auto& asked = any_of_.emplace_back();
      for (const auto& axis : family.axes) {
        const auto of_axis = axes.find(axis.name);
        asked.emplace_back(&axis, of_axis != axes.end() ? std::optional(of_axis->second) : std::nullopt);
      }
    }
  }

  // Accepts a row that lacks an axis: the axis came later, and what the row did is its default. The axes that
  // a native baseline lacks say nothing of its work.
  bool matches(const CaseName& name, bool any_tuning = false) const {
    return std::ranges::any_of(any_of_, [&](const auto& axes) {
      return std::ranges::all_of(axes, [&](const auto& asked) {
        const auto& [axis, query] = asked;
        const Value* cell = name.axis(axis->name);
        if (!query)
          return cell == nullptr || is_same(*cell, axis->values.front()) || (axis->tunable && any_tuning);
        if (cell == nullptr) return is_baseline_;
        return std::ranges::any_of(query->values, [&](const Value& value) { return is_same(value, *cell); });
      });
    });
  }

 private:
  bool is_baseline_;
  std::vector<std::vector<std::pair<const Axis*, std::optional<RowQuery::AxisQuery>>>> any_of_;
};

// Returns whether all rows have the same value of each tunable axis that the query does not name.
bool is_tuned_alike(const RowSelection& rows, const RowQuery& query, const Family& family) {
  return std::ranges::all_of(family.axes, [&](const Axis& axis) {
    return !axis.tunable || !query.values(axis.name).empty() ||
           std::ranges::all_of(rows, [&](const TimedCase* timed) {
             const Value *a = timed->axis(axis.name), *b = rows.front()->axis(axis.name);
             return a == nullptr || b == nullptr || *a == *b;
           });
  });
}

}  // namespace

SelectedRows rows_of(const RowQuery& query, const DeviceRows& device, const std::vector<Family>& families) {
  const Family* family = family_named(families, query.family);
  if (family == nullptr) return {};
  const CaseMatcher matcher(query, *family);
  RowSelection out;
  if (!query.api.empty()) {
    std::ranges::copy_if(device.baselines, std::back_inserter(out), [&](const TimedCase* timed) {
      return timed->api == query.api && timed->family() == query.family && matcher.matches(*timed->name);
    });
    return {out};
  }
  for (const bool any_tuning : {false, true}) {
    std::ranges::copy_if(device.of(query.family), std::back_inserter(out),
                         [&](const TimedCase* timed) { return matcher.matches(*timed->name, any_tuning); });
    if (!out.empty())
      return any_tuning && !is_tuned_alike(out, query, *family) ? SelectedRows()
                                                                : SelectedRows{out, any_tuning};
  }
  return {{}, true};
}

std::vector<const FailedCase*> failed_of(const RowQuery& query, const DeviceRows& device,
                                         const std::vector<Family>& families) {
  std::vector<const FailedCase*> out;
  const Family* family = family_named(families, query.family);
  if (family == nullptr || !query.api.empty()) return out;
  const CaseMatcher matcher(query, *family);
  for (const auto& failed : device.results->untimed) {
    if (failed.name->family == query.family && matcher.matches(*failed.name)) out.push_back(&failed);
  }
  return out;
}

bool has_cuda(const std::string& platform) { return platform.find("NVIDIA") != std::string::npos; }

// ---- Configurations --------------------------------------------------------------------------------------

RowsByAxisValues::RowsByAxisValues(const RowSelection& all, const std::vector<std::string>& axes) {
  for (const auto* timed : all) {
    std::vector<Value> key;
    AxisValues axis_values;
    bool complete = true;
    for (const auto& axis : axes) {
      complete = complete && timed->axis(axis) != nullptr;
      axis_values.emplace_back(axis, value_in(*timed, axis));
      key.push_back(axis_values.back().second);
    }
    if (complete) {
      auto& same = complete_[key];
      same.push_back(timed);
      if (same.size() > 1) continue;
    } else {
      partial_.push_back(timed);
    }
    if (met_.insert(std::move(key)).second) distinct_keys_.push_back(std::move(axis_values));
  }
}

RowSelection RowsByAxisValues::at(const AxisValues& axis_values) const {
  std::vector<Value> key;
  for (const auto& [axis, value] : axis_values) key.push_back(value);
  const auto it = complete_.find(key);
  RowSelection out = it != complete_.end() ? it->second : RowSelection();
  for (const auto* timed : partial_) {
    if (std::ranges::all_of(axis_values, [&](const auto& wanted) {
          const Value* value = timed->axis(wanted.first);
          return value == nullptr || *value == wanted.second;
        }))
      out.push_back(timed);
  }
  if (!partial_.empty()) std::ranges::sort(out, {}, &TimedCase::index);
  return out;
}

std::string text_of_axis_values(const AxisValues& axis_values) {
  std::vector<std::string> parts;
  for (const auto& [axis, value] : axis_values) {
    if (axis != timer_axis || value != Value("event"))
      parts.push_back(fmt::format("{}={}", axis, text_of(value)));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

namespace {

std::vector<std::string> axes_asked(const RowQuery& query, RowQuery::AxisQuery::How how) {
  std::vector<std::string> out;
  for (const auto& [axis, of_axis] : query.axes) {
    if (of_axis.how == how) out.push_back(axis);
  }
  return out;
}

// Returns the rank of a choice, lowest first: positions in the rule's lists of types, then the number
// of rows, then the sizes.
std::vector<double> rank_of(const Rule& rule, const Sides& sides, std::size_t preferred) {
  std::vector<double> rank;
  for (std::size_t i = 0; i < preferred; ++i) {
    const auto& [axis, chosen] = sides.chosen[i];
    const Values& values = rule.numerator.axes.at(axis).values;
    const auto it = std::ranges::find_if(
        values, [&wanted = chosen](const Value& value) { return is_same(value, wanted); });
    rank.push_back(static_cast<double>(it - values.begin()));
  }
  rank.push_back(-static_cast<double>(sides.numerator.size() + sides.denominator.size()));
  for (std::size_t i = preferred; i < sides.chosen.size(); ++i) {
    const auto* n = std::get_if<std::int64_t>(&sides.chosen[i].second);
    rank.push_back(n != nullptr ? -static_cast<double>(*n) : 0);
  }
  return rank;
}

}  // namespace

std::vector<Sides> sides_by_choice(const Rule& rule, const Sides& all) {
  using How = RowQuery::AxisQuery::How;
  std::vector<std::string> axes = axes_asked(rule.numerator, How::first);
  const std::size_t preferred = axes.size();
  for (auto& sized : axes_asked(rule.numerator, How::largest)) axes.push_back(std::move(sized));
  axes.emplace_back(timer_axis);
  const RowsByAxisValues numerator(all.numerator, axes), denominator(all.denominator, axes),
      numerator_before_change(all.numerator_before_change, axes),
      denominator_before_change(all.denominator_before_change, axes);
  std::vector<Sides> out;
  for (const auto& chosen : numerator.distinct_keys())
    out.push_back({numerator.at(chosen), denominator.at(chosen), numerator_before_change.at(chosen),
                   denominator_before_change.at(chosen), chosen});
  std::ranges::stable_sort(out, {}, [&](const Sides& sides) { return rank_of(rule, sides, preferred); });
  return out;
}

// ---- Expected cases --------------------------------------------------------------------------------------

std::vector<Sweep> sweeps_of(const RowQuery& query, const ChosenValues& chosen_values) {
  std::vector<Sweep> out;
  for (const auto& axes : query.alternatives()) {
    Sweep& sweep = out.emplace_back();
    for (const auto& [axis, of_axis] : axes) {
      const auto chosen = chosen_values.find(axis);
      sweep[axis] = of_axis.depends_on_device() && chosen != chosen_values.end() ? Values(chosen->second)
                                                                                 : of_axis.values;
    }
  }
  return out;
}

namespace {

// Returns whether a case takes the compiler of another vendor than this platform's, so that no run of it can
// add anything.
bool is_of_another_vendor(const Case& at, const std::string& platform) {
  return std::ranges::any_of(at.axes, [&](const auto& axis) {
    return axis.first == "subgroup_impl" &&
           ((axis.second == Value(std::string("amd")) && !platform.starts_with("AMD")) ||
            (axis.second == Value(std::string("ptx")) && !has_cuda(platform)));
  });
}

}  // namespace

ExpectedCases::ExpectedCases(const RowQuery& query, const RowSelection& measured, bool has_other_defaults,
                             const ChosenValues& chosen_values, const DeviceRows& device,
                             const std::vector<Family>& families)
    : query_(&query),
      family_(family_named(families, query.family)),
      alternatives_(query.alternatives()),
      failed_(failed_of(query, device, families)) {
  for (const auto& axis : family_->axes)
    any_value_.push_back(has_other_defaults && axis.tunable && query.values(axis.name).empty());
  std::vector<RowValues> ran, failed;
  for (const auto* timed : measured) ran.push_back(values_of(*timed->name));
  for (const auto* row : failed_) failed.push_back(values_of(*row->name));
  const auto is_among = [&](const std::vector<RowValues>& rows, const Case& at) {
    return std::ranges::any_of(rows, [&](const RowValues& row) { return is_row_of(at, row); });
  };
  const auto sweeps = sweeps_of(query, chosen_values);
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    for (auto& at : cases_of(*family_, {sweeps[i]}, 0)) {
      const bool has_run = is_among(ran, at);
      if (!has_run && !is_among(failed, at) && !is_of_another_vendor(at, device.results->platform)) {
        complete_ = false;
        return;
      }
      cases_.push_back({std::move(at), i, has_run});
    }
  }
}

std::vector<const FailedCase*> ExpectedCases::without_time(bool (*reason)(const FailedCase&)) const {
  std::vector<const FailedCase*> out;
  std::ranges::copy_if(failed_, std::back_inserter(out), [&](const FailedCase* one) {
    if (!reason(*one)) return false;
    const auto values = values_of(*one->name);
    return std::ranges::any_of(cases_, [&](const ExpectedCase& expected) {
      return !expected.has_run && is_row_of(expected.at, values);
    });
  });
  return out;
}

std::set<std::string> ExpectedCases::left_out(const std::set<std::string>& grouping_axes) const {
  std::set<std::string> out;
  if (std::ranges::all_of(cases_, &ExpectedCase::has_run)) return out;
  std::map<std::string, bool> has_time;           // by label: whether a case of the group ran
  std::vector<std::set<std::string>> label_axes;  // by alternative
  for (const auto& axes : alternatives_) {
    auto& names = label_axes.emplace_back();
    for (const auto& [axis, of_axis] : axes) {
      if (grouping_axes.contains(axis) && query_->values(axis).size() > 1) names.insert(axis);
    }
  }
  for (const auto& expected : cases_) {
    if (expected.has_run || !is_of_a_vendor(expected.at))
      has_time[label_of(expected.at, label_axes[expected.alternative])] |= expected.has_run;
  }
  for (const auto& [label, any_ran] : has_time) {
    if (!any_ran) out.insert(label);
  }
  return out;
}

ExpectedCases::RowValues ExpectedCases::values_of(const CaseName& name) const {
  RowValues out;
  for (const auto& axis : family_->axes) out.push_back(name.axis(axis.name));
  return out;
}

bool ExpectedCases::is_row_of(const Case& at, const RowValues& row) const {
  for (std::size_t a = 0; a < row.size(); ++a) {
    if (row[a] != nullptr && !any_value_[a] && !is_same(*row[a], at.axes[a].second)) return false;
  }
  return true;
}

bool ExpectedCases::is_of_a_vendor(const Case& at) const {
  return std::ranges::any_of(family_->axes, [&](const Axis& axis) {
    return !axis.vendor_values.empty() && family_->uses(at, axis.name) &&
           std::ranges::find(axis.vendor_values, at.text(axis.name)) != axis.vendor_values.end();
  });
}

std::string ExpectedCases::label_of(const Case& at, const std::set<std::string>& axes) {
  AxisValues out;
  for (const auto& axis : axes) out.emplace_back(axis, at.at(axis));
  return text_of_axis_values(out);
}

}  // namespace clweave::claims
