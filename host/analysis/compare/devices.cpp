// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/rows/best.hpp"
#include "base/error.hpp"
#include "base/stats.hpp"
#include "report/table.hpp"
#include "suite/family.hpp"

namespace clweave::compare {

namespace {

constexpr double slow_below = 0.5;       // of the best variant
constexpr double least_factor = 1.25;    // of an inversion: less may be the luck of one process
constexpr std::size_t most_labels = 24;  // characters

State state_of(Status status) {
  if (status == Status::ok) return State::ok;
  if (status == Status::wrong_result) return State::wrong;
  if (status == Status::unsupported) return State::unsupported;
  if (status == Status::timeout) return State::timeout;
  return State::other;
}

std::string value_on(const CaseTimes& at, const std::string& axis) {
  const Value* value = at.name->axis(axis);
  return value != nullptr ? text_of(*value) : "";
}

// The best of a variant's launch shapes on a device under one condition.
struct Best {
  State state = State::absent;
  Status status = Status::none;
  std::string clock, items;
  double time_s = 0;
  Number of_ceiling;
};

struct Condition {
  CaseName name;                        // without an id
  std::vector<std::map<int, Best>> on;  // per device: by variant
};

class FamilyBuilder {
 public:
  FamilyBuilder(std::string name, const Family* family, std::size_t devices,
                std::vector<std::size_t> measured)
      : devices_(devices), measured_(std::move(measured)), family_(family), cases_(devices) {
    out_.name = std::move(name);
    if (family == nullptr) return;
    if (!family->view.rows.empty()) axis_ = family->axis(family->view.rows.front());
    ranks_ = family->view.quantity != "slowdown" && family->name != ceiling_family;
    for (const auto& axis : family->axes) {
      if (axis.tunable) tunable_.insert(axis.name);
    }
  }

  void add(std::size_t device, const CaseTimes& at) {
    cases_[device].push_back(&at);
    if (axis_name_.empty()) choose_axis(at);
    out_.of_variants = ranks_ && (out_.of_variants || at.bounded);
    const int variant = variant_of(value_on(at, axis_name_));
    CaseName rest;
    rest.family = at.family();
    std::string key;
    for (const auto& axis : at.name->axes) {
      if (*axis.name == axis_name_ || tunable_.contains(*axis.name)) continue;
      key.append(*axis.name).append("=").append(text_of(*axis.value)).append("/");
      rest.axes.push_back(axis);
    }
    const auto [it, is_new] = by_name_.try_emplace(key, conditions_.size());
    if (is_new) {
      short_names_.learn(rest);
      conditions_.push_back({std::move(rest), std::vector<std::map<int, Best>>(devices_)});
    }
    Best& best = conditions_[it->second].on[device][variant];
    if (at.ok()) {
      const double time_s = at.median_s();
      if (best.state == State::ok && best.time_s <= time_s) return;
      best = {State::ok, Status::ok, at.clock, at.items + " by " + at.clock, time_s, at.of_ceiling()};
    } else if (best.state != State::ok) {
      best = {state_of(at.status), at.status, {}, {}, 0, {}};
    }
  }

  FamilyComparison build() {
    order_variants();
    split_by_work();
    for (auto& name : names_) {
      if (needs_name(value_of(name))) name.insert(0, axis_name_ + "=");
    }
    out_.conditions = conditions_.size();
    choose_reference();
    for (std::size_t v = 0; v < names_.size(); ++v) out_.variants.push_back(row_of(static_cast<int>(v)));
    if (out_.of_variants) {
      choose_best();
      rank();
    }
    if (ranks_) find_inversions();
    return std::move(out_);
  }

 private:
  void choose_axis(const CaseTimes& at) {
    if (axis_ != nullptr) {
      axis_name_ = axis_->name;
      return;
    }
    if (!value_on(at, "kernel").empty()) axis_name_ = "kernel";
    if (axis_name_.empty()) axis_name_ = at.name->axes.empty() ? "case" : *at.name->axes.front().name;
  }

  int variant_of(const std::string& name) {
    const auto [it, is_new] = variants_.try_emplace(name, static_cast<int>(names_.size()));
    if (is_new) names_.push_back(name);
    return it->second;
  }

  // As the family lists them; others behind, in the order met.
  void order_variants() {
    std::vector<int> order(names_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::ranges::stable_sort(order, {}, [&](int v) {
      if (axis_ == nullptr) return std::ptrdiff_t{0};
      return std::ranges::find(axis_->values, value_of(names_[static_cast<std::size_t>(v)])) -
             axis_->values.begin();
    });
    std::vector<int> place(order.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
      names.push_back(names_[static_cast<std::size_t>(order[i])]);
    }
    names_ = std::move(names);
    for (auto& condition : conditions_) {
      for (auto& by_variant : condition.on) {
        std::map<int, Best> moved;
        for (auto& [v, best] : by_variant) moved[place[static_cast<std::size_t>(v)]] = std::move(best);
        by_variant = std::move(moved);
      }
    }
  }

  // Variants that process other numbers of items, or were timed by another clock, do not meet. The first
  // variant of each kind names its part, as the numbers themselves may depend on the device.
  void split_by_work() {
    std::vector<Condition> parts;
    for (auto& condition : conditions_) {
      std::map<int, Condition> by_first;
      for (std::size_t d = 0; d < devices_; ++d) {
        std::map<std::string, int> first;
        for (auto& [v, best] : condition.on[d]) {
          if (best.state != State::ok) continue;
          const int key = first.try_emplace(best.items, v).first->second;
          auto& part = by_first[key];
          part.name = condition.name;
          part.on.resize(devices_);
          part.on[d][v] = best;
        }
      }
      // Those without a time belong to every part that has the variant, or to the first.
      for (std::size_t d = 0; d < devices_; ++d) {
        for (auto& one : condition.on[d]) {
          const int v = one.first;
          const Best& best = one.second;
          if (best.state == State::ok) continue;
          bool placed = false;
          for (auto& [key, part] : by_first) {
            const bool has = std::ranges::any_of(part.on, [&](const auto& on) { return on.contains(v); });
            if (!has) continue;
            part.on[d].try_emplace(v, best);
            placed = true;
          }
          if (placed) continue;
          auto& part = by_first[by_first.empty() ? v : by_first.begin()->first];
          part.name = condition.name;
          part.on.resize(devices_);
          part.on[d].try_emplace(v, best);
        }
      }
      for (auto& [key, part] : by_first) parts.push_back(std::move(part));
    }
    conditions_ = std::move(parts);
  }

  static const Best* at(const Condition& condition, std::size_t device, int variant) {
    const auto it = condition.on[device].find(variant);
    return it != condition.on[device].end() ? &it->second : nullptr;
  }
  static bool ok(const Condition& condition, std::size_t device, int variant) {
    const Best* best = at(condition, device, variant);
    return best != nullptr && best->state == State::ok;
  }

  // The first variant that is nearly as often there as any.
  void choose_reference() {
    std::vector<std::size_t> times(names_.size());
    for (const auto& condition : conditions_) {
      for (const auto& on : condition.on) {
        for (const auto& [v, best] : on)
          times[static_cast<std::size_t>(v)] += best.state == State::ok ? 1 : 0;
      }
    }
    const std::size_t most = times.empty() ? 0 : *std::ranges::max_element(times);
    for (std::size_t v = 0; v < times.size(); ++v) {
      if (2 * times[v] < most || times[v] == 0) continue;
      reference_ = static_cast<int>(v);
      out_.reference = names_[v];
      return;
    }
  }

  std::string condition_text(const Condition& condition) const {
    const std::string text = short_names_.of(condition.name);  // begins with the family
    return text.substr(std::min(text.size(), out_.name.size() + 1));
  }

  static double best_time(const Condition& condition, std::size_t device) {
    double best = HUGE_VAL;
    for (const auto& [v, one] : condition.on[device]) {
      if (one.state == State::ok) best = std::min(best, one.time_s);
    }
    return best;
  }

  // What fails somewhere is shown, whatever works elsewhere; but not a size that a device has no room for.
  // Returns the measured devices where it works at all.
  std::vector<std::size_t> note_states(VariantRow& row, int v) const {
    std::vector<std::size_t> working;
    for (std::size_t d = 0; d < devices_; ++d) {
      bool works = false;
      for (const auto& condition : conditions_) {
        const Best* best = at(condition, d, v);
        if (best == nullptr) continue;
        works = works || best->state == State::ok;
        VariantOnDevice& on = row.on[d];
        const bool told = on.state != State::absent && on.state != State::ok;
        if (told && (on.state != State::unsupported || best->state == State::ok)) continue;
        on.state = best->state;
        on.status = best->status;
      }
      if (works && row.on[d].state == State::unsupported) {
        row.on[d].state = State::ok;
        row.on[d].status = Status::none;
      }
      if (works && is_measured(d)) working.push_back(d);
    }
    return working;
  }

  void judge_portability(VariantRow& row) const {
    bool all_fractions = true;
    std::vector<double> of_ceilings, of_best;
    for (std::size_t d = 0; d < devices_; ++d) {
      const VariantOnDevice& on = row.on[d];
      if (!is_measured(d) || !has_family(d)) continue;
      const bool works = on.state == State::ok || on.state == State::slow;
      all_fractions = all_fractions && (on.fraction || !works);
      of_ceilings.push_back(std::min(1.0, on.fraction.value_or(0)));  // more is the caches
      of_best.push_back(on.efficiency.value_or(0));
    }
    const auto harmonic = [](const std::vector<double>& values) {
      const bool none = std::ranges::any_of(values, [](double value) { return !(value > 0); });
      return none || values.empty() ? 0.0 : harmonic_mean(values);
    };
    const bool any_fraction = std::ranges::any_of(of_ceilings, [](double f) { return f > 0; });
    row.portability = harmonic(any_fraction && all_fractions ? of_ceilings : of_best);
    if (!of_best.empty() && harmonic(of_best) > 0) row.worst = *std::ranges::min_element(of_best);
  }

  static bool contested(const Condition& condition, std::size_t device) {
    return std::ranges::count_if(condition.on[device],
                                 [](const auto& one) { return one.second.state == State::ok; }) > 1;
  }

  // A measured device counts a condition that the variant has on all of them; a published one has its own.
  bool counts(std::size_t device, bool everywhere) const { return everywhere || !is_measured(device); }

  VariantRow row_of(int v) const {
    VariantRow row;
    row.name = names_[static_cast<std::size_t>(v)];
    row.on.resize(devices_);
    const std::vector<std::size_t> working = note_states(row, v);
    std::vector<std::vector<double>> fractions(devices_), speedups(devices_), efficiencies(devices_),
        relatives(devices_);
    for (const auto& condition : conditions_) {
      const auto there = [&](int variant) {
        return std::ranges::all_of(working, [&](std::size_t d) { return ok(condition, d, variant); });
      };
      const bool everywhere = there(v), reference = reference_ >= 0 && there(reference_);
      for (std::size_t d = 0; d < devices_; ++d) {
        const Best* best = at(condition, d, v);
        if (best == nullptr || best->state != State::ok) continue;
        if (!counts(d, everywhere)) continue;
        const Best* first = measured_.empty() ? nullptr : at(condition, measured_.front(), v);
        if (first != nullptr && first->state == State::ok && first->clock == best->clock)
          relatives[d].push_back(first->time_s / best->time_s);
        if (best->of_ceiling) fractions[d].push_back(*best->of_ceiling);
        if (counts(d, reference) && reference_ >= 0 && ok(condition, d, reference_))
          speedups[d].push_back(at(condition, d, reference_)->time_s / best->time_s);
        if (contested(condition, d)) efficiencies[d].push_back(best_time(condition, d) / best->time_s);
      }
    }
    for (std::size_t d = 0; d < devices_; ++d) {
      VariantOnDevice& on = row.on[d];
      if (!relatives[d].empty()) on.relative = geometric_mean(relatives[d]);
      if (!fractions[d].empty()) on.fraction = geometric_mean(fractions[d]);
      if (!speedups[d].empty()) on.speedup = geometric_mean(speedups[d]);
      if (!efficiencies[d].empty()) on.efficiency = geometric_mean(efficiencies[d]);
      on.conditions = efficiencies[d].size();
      if (on.state == State::ok && on.efficiency && *on.efficiency < slow_below) on.state = State::slow;
    }
    judge_portability(row);
    return row;
  }

  bool is_measured(std::size_t device) const {
    return std::ranges::find(measured_, device) != measured_.end();
  }
  bool has_family(std::size_t device) const {
    return std::ranges::any_of(conditions_, [&](const Condition& c) { return !c.on[device].empty(); });
  }

  // Takes the variant of the device's best row. Returns false where rows have no rates to rank them by, such
  // as published times: there the variant that is nearest to the best under most conditions counts.
  bool take_best_row(std::size_t device) {
    if (family_ == nullptr) return false;
    const auto all = contenders(*family_, cases_[device]);
    const Contender* best = best_row(*family_, all);
    if (best == nullptr || !best->speed(*family_)) return false;
    std::string name = value_on(*best->at, axis_name_);
    if (needs_name(value_of(name))) name.insert(0, axis_name_ + "=");
    out_.best[device] = static_cast<int>(std::ranges::find(names_, name) - names_.begin());
    if (!best->run.cached) out_.best_fraction[device] = best->run.of_ceiling;
    return true;
  }

  void choose_best() {
    out_.best.assign(devices_, -1);
    out_.best_fraction.assign(devices_, {});
    std::vector<bool> by_merit(devices_);
    for (const std::size_t d : measured_) by_merit[d] = take_best_row(d);
    std::size_t most = 0;
    for (const auto& row : out_.variants) {
      for (const auto& on : row.on) most = std::max(most, on.conditions);
    }
    double best_mean = 0;
    for (std::size_t v = 0; v < out_.variants.size(); ++v) {
      const auto& row = out_.variants[v];
      std::vector<double> all;
      for (std::size_t d = 0; d < devices_; ++d) {
        const auto& on = row.on[d];
        if (is_measured(d) && has_family(d)) all.push_back(on.efficiency.value_or(0));
        // One that was there only once is no answer for the others.
        if (!on.efficiency || (is_measured(d) && 2 * on.conditions < most)) {
          if (is_measured(d) && has_family(d)) all.back() = 0;
          continue;
        }
        int& best = out_.best[d];
        if (by_merit[d]) continue;
        if (best < 0 || *on.efficiency > *out_.variants[static_cast<std::size_t>(best)].on[d].efficiency)
          best = static_cast<int>(v);
      }
      const bool everywhere =
          all.size() > 1 && std::ranges::all_of(all, [](double efficiency) { return efficiency > 0; });
      if (!everywhere) continue;
      if (const double mean = harmonic_mean(all); mean > best_mean) {
        best_mean = mean;
        out_.one_for_all = static_cast<int>(v);
      }
    }
    for (std::size_t d = 0; d < devices_; ++d) {
      if (!by_merit[d] && out_.best[d] >= 0)
        out_.best_fraction[d] = out_.variants[static_cast<std::size_t>(out_.best[d])].on[d].fraction;
    }
    out_.by_ceiling = std::ranges::any_of(out_.variants, [](const VariantRow& row) {
      return std::ranges::any_of(row.on, [](const VariantOnDevice& on) { return on.fraction.has_value(); });
    });
  }

  void rank() {
    std::vector<std::size_t> judges;
    for (std::size_t d = 0; d < devices_; ++d) {
      const auto ranked = std::ranges::count_if(
          out_.variants, [&](const VariantRow& row) { return row.on[d].speedup.has_value(); });
      // Published figures take part where they rank enough variants.
      if (ranked >= 3) judges.push_back(d);
    }
    std::vector<std::vector<double>> scores(judges.size());
    for (const auto& row : out_.variants) {
      if (!std::ranges::all_of(judges, [&](std::size_t d) { return row.on[d].speedup.has_value(); }))
        continue;
      for (std::size_t j = 0; j < judges.size(); ++j) scores[j].push_back(*row.on[judges[j]].speedup);
      ++out_.ranked;
    }
    if (judges.size() < 2 || out_.ranked < 3) {
      out_.ranked = 0;
      return;
    }
    out_.agreement = judges.size() == 2 ? kendall(scores[0], scores[1]) : concordance(scores);
  }

  // Whether two variants change places between devices under this condition, by at least least_factor on
  // both.
  std::optional<Inversion> inversion_of(const Condition& condition, int v, int w) const {
    double most = 0, least = HUGE_VAL;  // speed of v over w
    std::size_t most_at = 0, least_at = 0;
    for (std::size_t d = 0; d < devices_; ++d) {
      if (!ok(condition, d, v) || !ok(condition, d, w)) continue;
      const double ratio = at(condition, d, w)->time_s / at(condition, d, v)->time_s;
      if (ratio > most) most = ratio, most_at = d;
      if (ratio < least) least = ratio, least_at = d;
    }
    if (most < least_factor || least > 1 / least_factor) return {};
    Inversion out{out_.name,
                  names_[static_cast<std::size_t>(v)],
                  names_[static_cast<std::size_t>(w)],
                  condition_text(condition),
                  most_at,
                  least_at,
                  most,
                  1 / least};
    // The larger factor is the one to tell first.
    if (out.loss > out.factor) {
      std::swap(out.winner, out.loser);
      std::swap(out.where, out.elsewhere);
      std::swap(out.factor, out.loss);
    }
    return out;
  }

  void find_inversions() {
    std::map<std::pair<int, int>, Inversion> strongest;  // per pair of variants
    const auto strength = [](const Inversion& one) { return std::min(one.factor, one.loss); };
    for (const auto& condition : conditions_) {
      std::set<int> present;
      for (const auto& on : condition.on) {
        for (const auto& [v, best] : on) {
          if (best.state == State::ok) present.insert(v);
        }
      }
      for (auto v = present.begin(); v != present.end(); ++v) {
        for (auto w = std::next(v); w != present.end(); ++w) {
          auto one = inversion_of(condition, *v, *w);
          if (!one) continue;
          auto& kept = strongest[{*v, *w}];
          if (strength(*one) > strength(kept)) kept = *std::move(one);
        }
      }
    }
    for (auto& [pair, one] : strongest) out_.inversions.push_back(std::move(one));
    std::ranges::stable_sort(out_.inversions, std::greater{}, strength);
  }

  std::size_t devices_;
  std::vector<std::size_t> measured_;
  const Family* family_;
  std::vector<std::vector<const CaseTimes*>> cases_;  // by device
  const Axis* axis_ = nullptr;
  std::string axis_name_;
  std::set<std::string> tunable_;
  std::map<std::string, int> variants_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<Condition> conditions_;
  int reference_ = -1;
  bool ranks_ = true;
  CaseLabels short_names_;  // of conditions
  FamilyComparison out_;
};

void count_cases(DeviceComparison& out, const std::vector<std::size_t>& measured) {
  out.totals.resize(out.devices.size());
  std::map<std::pair<std::string_view, bool>, std::vector<const CaseTimes*>> by_id;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    auto& totals = out.totals[measured[i]];
    for (const auto& at : out.devices[measured[i]]->cases) {
      if (at.exhibit) {
        ++totals.exhibits;
        continue;
      }
      ++totals.cases[state_of(at.status)];
      auto& on = by_id[{at.id(), at.tuned}];
      on.resize(measured.size());
      on[i] = &at;
    }
  }
  out.cases = by_id.size();
  std::vector<std::vector<double>> speeds(measured.size());
  for (const auto& one : by_id) {
    const auto& on = one.second;
    for (std::size_t i = 0; i < measured.size(); ++i)
      out.totals[measured[i]].elsewhere += on[i] == nullptr ? 1 : 0;
    if (!std::ranges::all_of(on, [](const CaseTimes* at) { return at != nullptr && at->ok(); })) continue;
    const auto alike = [&](std::string CaseTimes::*what) {
      return std::ranges::all_of(on, [&](const CaseTimes* at) { return at->*what == on[0]->*what; }) &&
             on[0]->*what != several_clocks;
    };
    const bool one_clock = alike(&CaseTimes::clock);
    std::vector<double> times;
    for (const auto* at : on) times.push_back(one_clock ? at->median_s() : at->host_median_s().value_or(0));
    if (!alike(&CaseTimes::cache) || !(std::ranges::min(times) > 0)) {
      ++out.clocks;
      continue;
    }
    ++out.common;
    out.by_host += one_clock ? 0 : 1;
    for (std::size_t i = 0; i < times.size(); ++i) speeds[i].push_back(times[0] / times[i]);
    ++out.totals[measured[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())]].wins;
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (!speeds[i].empty()) out.totals[measured[i]].speed = geometric_mean(speeds[i]);
  }
}

}  // namespace

DeviceComparison compare_devices(const ResultsSet& set, const std::vector<Family>& families) {
  DeviceComparison out;
  out.notes = set.notes;
  std::vector<std::size_t> measured;
  for (const auto& device : set.devices) {
    if (!device.published) measured.push_back(out.devices.size());
    out.devices.push_back(&device);
    std::string label = device.label();
    if (!device.published) {
      if (width_of(label) > most_labels) label = label.substr(0, label.find(" ("));
      label = cut(label, most_labels, "~");
    }
    // Two drivers of one product.
    if (std::ranges::find(out.labels, label) != out.labels.end()) label += " " + device.driver;
    if (std::ranges::find(out.labels, label) != out.labels.end()) label += " " + device.id;
    out.labels.push_back(std::move(label));
  }
  count_cases(out, measured);
  std::map<std::string, FamilyBuilder> builders;  // by what a table is headed with
  for (std::size_t d = 0; d < out.devices.size(); ++d) {
    for (const auto& at : out.devices[d]->cases) {
      if (at.exhibit) continue;
      const auto known = std::ranges::find(families, at.family(), &Family::name);
      const Family* family = known != families.end() ? &*known : nullptr;
      std::string title = at.family();
      if (family != nullptr) {
        for (const auto& axis : family->view.apart) title += " " + value_on(at, axis);
      }
      const auto it = builders.try_emplace(title, title, family, out.devices.size(), measured).first;
      it->second.add(d, at);
    }
  }
  for (auto& [title, builder] : builders) out.families.push_back(builder.build());
  return out;
}

namespace {

std::string factor_text(double factor) {
  return factor < 10 ? fmt::format("{:.1f}x", factor) : fmt::format("{:.0f}x", factor);
}

// The columns of a table: those measured, and of the published those that a family has figures of.
std::vector<std::size_t> shown(const DeviceComparison& all, const FamilyComparison* family) {
  std::vector<std::size_t> out;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    const bool there = family != nullptr && std::ranges::any_of(family->variants, [&](const VariantRow& row) {
                         return row.on[d].state != State::absent;
                       });
    if (!all.devices[d]->published || there) out.push_back(d);
  }
  return out;
}

std::string percent(const Number& fraction) {
  return fraction ? fmt::format("{:.0f}%", 100 * *fraction) : "";
}

std::size_t first_measured(const DeviceComparison& all) {
  return static_cast<std::size_t>(std::ranges::find(all.devices, false, &DeviceResults::published) -
                                  all.devices.begin());
}

struct Look {
  const char* mark;
  Style style;
  const char* name;
};

Look look_of(State state) {
  switch (state) {
    case State::ok: return {"●", Style::green, "ok"};
    case State::slow: return {"○", Style::yellow, "slow"};
    case State::wrong: return {"✗", Style::red, "wrong"};
    case State::unsupported: return {"–", Style::dim, "unsupported"};
    case State::timeout: return {"T", Style::red, "timeout"};
    case State::other: return {"!", Style::red, "failed"};
    case State::absent: return {"·", Style::dim, "not run"};
  }
  return {};
}

void devices_block(const DeviceComparison& all, Report& out) {
  std::set<State> states;
  for (const auto& totals : all.totals) {
    for (const auto& [state, count] : totals.cases) states.insert(state);
  }
  std::vector<Table::Column> heads = {{"device"}, {"driver"}};
  for (const auto state : states) heads.push_back({look_of(state).name, Align::right});
  heads.push_back({"not run", Align::right});
  heads.push_back({"exhibits", Align::right});
  heads.push_back({"wins", Align::right});
  heads.push_back({"speed", Align::right});
  Table table(heads);
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    const auto& device = *all.devices[d];
    const auto& totals = all.totals[d];
    if (device.published) continue;
    std::vector<std::string> cells = {paint(all.labels[d], Style::bold), device.driver};
    const auto number = [](std::size_t n) { return n > 0 ? std::to_string(n) : ""; };
    for (const auto state : states) {
      const auto it = totals.cases.find(state);
      cells.push_back(it != totals.cases.end() ? paint(number(it->second), look_of(state).style) : "");
    }
    cells.push_back(number(totals.elsewhere));
    cells.push_back(number(totals.exhibits));
    cells.push_back(all.common > 0 ? std::to_string(totals.wins) : "");
    cells.push_back(totals.speed ? fmt::format("{:.3g}x", *totals.speed) : "-");
    table.add(cells);
  }
  out.table(std::move(table));
  std::string published;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    if (!all.devices[d]->published) continue;
    published += (published.empty() ? "published: " : ", ") + all.labels[d];
  }
  if (!published.empty()) out.line(published);
  out.line(fmt::format("wins, speed (geometric mean): over the {} of {} cases that are ok on all{}{}",
                       all.common, all.cases,
                       all.by_host > 0 ? fmt::format(", {} of them by the host's clock", all.by_host) : "",
                       all.clocks > 0 ? fmt::format("; {} by clocks that do not compare", all.clocks) : ""));
}

std::string best_cell(const FamilyComparison& family, std::size_t d) {
  const int v = family.best[d];
  if (v < 0) return paint("-", Style::dim);
  const auto& row = family.variants[static_cast<std::size_t>(v)];
  std::string text = row.name;
  if (const Number& fraction = family.best_fraction[d]) text += paint(" " + percent(fraction), Style::dim);
  return text;
}

std::string agreement_text(const FamilyComparison& family) {
  if (!family.agreement) return "-";
  return fmt::format("{:.2f} ({})", *family.agreement, family.ranked);
}

std::string cost_text(const DeviceComparison& all, const FamilyComparison& family) {
  if (family.one_for_all < 0) return "-";
  const auto& row = family.variants[static_cast<std::size_t>(family.one_for_all)];
  std::string costs;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    if (all.devices[d]->published || !row.on[d].efficiency) continue;
    costs += fmt::format("{}{:.0f}", costs.empty() ? "" : ", ", 100 * (1 - *row.on[d].efficiency));
  }
  return fmt::format("{}: {} %", row.name, costs);
}

void overview_block(const DeviceComparison& all, Report& out) {
  std::vector<Table::Column> heads = {{"best variant"}};
  for (const auto d : shown(all, nullptr)) heads.push_back({all.labels[d]});
  const auto measured = std::ranges::count(all.devices, false, &DeviceResults::published);
  heads.push_back({measured == 2 ? "tau" : "W", Align::right, Overflow::keep, 2});
  heads.push_back({"one for all: costs", Align::left, Overflow::cut, 1});
  Table table(heads);
  for (const auto& family : all.families) {
    if (!family.of_variants) continue;
    std::vector<std::string> cells = {paint(family.name, Style::cyan)};
    for (const auto d : shown(all, nullptr)) cells.push_back(best_cell(family, d));
    cells.push_back(agreement_text(family));
    cells.push_back(cost_text(all, family));
    table.add(cells);
  }
  out.table(std::move(table));
}

void matrix_block(const DeviceComparison& all, Report& out) {
  std::vector<Table::Column> heads = {{"variants"}};
  for (const auto d : shown(all, nullptr)) heads.push_back({all.labels[d]});
  Table table(heads);
  std::set<State> met;
  for (const auto& family : all.families) {
    if (!family.of_variants) continue;
    std::vector<std::string> cells = {paint(family.name, Style::cyan)};
    for (const auto d : shown(all, nullptr)) {
      std::string strip;
      for (const auto& row : family.variants) {
        const Look look = look_of(row.on[d].state);
        met.insert(row.on[d].state);
        strip += paint(look.mark, look.style);
      }
      cells.push_back(strip);
    }
    table.add(cells);
  }
  out.table(std::move(table));
  std::string legend;
  for (const auto state : met) {
    const Look look = look_of(state);
    legend += fmt::format("{}{} {}{}", legend.empty() ? "" : "  ", paint(look.mark, look.style), look.name,
                          state == State::slow ? ": below half of the best" : "");
  }
  out.line(legend);
}

std::string sentence(const DeviceComparison& all, const Inversion& one) {
  return fmt::format("{}: {} beats {} {} on {} and loses {} on {}{}", one.family, one.winner, one.loser,
                     factor_text(one.factor), all.labels[one.where], factor_text(one.loss),
                     all.labels[one.elsewhere], one.condition.empty() ? "" : " (" + one.condition + ")");
}

void inversions_block(const DeviceComparison& all, Report& out, std::size_t per_family) {
  std::vector<std::string> lines;
  std::size_t left = 0;
  for (const auto& family : all.families) {
    for (std::size_t i = 0; i < family.inversions.size(); ++i) {
      if (i < per_family)
        lines.push_back(sentence(all, family.inversions[i]));
      else
        ++left;
    }
  }
  out.line("");
  if (lines.empty()) {
    out.line(
        fmt::format("no two variants change places by {} or more", fmt::format("{:.3g}x", least_factor)));
    return;
  }
  out.line("ranks that turn round:");
  for (const auto& line : lines) out.line("  " + line);
  if (left > 0) out.line(fmt::format("  and {} more pairs of variants: --all", left));
}

std::string variant_cell(const VariantOnDevice& on, bool of_variants) {
  const Look look = look_of(on.state);
  if (!of_variants && on.relative) return fmt::format("{:.3g}x", *on.relative);
  if (!on.fraction && !on.speedup && !on.efficiency) {
    if (on.state == State::absent) return "";
    return paint(on.state == State::ok ? "ok" : look.name, look.style);
  }
  std::string text;
  if (on.fraction) text += fmt::format("{:3.0f}%", 100 * *on.fraction);
  if (on.speedup) text += fmt::format("{}{:>6}", text.empty() ? "" : " ", factor_text(*on.speedup));
  if (text.empty()) text = "ok";
  if (on.state == State::slow) text = paint(text, Style::yellow);
  if (on.state != State::ok && on.state != State::slow) text += " " + paint(look.name, look.style);
  return text;
}

void family_block(const DeviceComparison& all, const FamilyComparison& family, Report& out) {
  std::vector<Table::Column> heads = {{family.name}};
  const auto devices = shown(all, &family);
  for (const auto d : devices) heads.push_back({all.labels[d], Align::right});
  if (family.of_variants) {
    heads.push_back({"portability", Align::right});
    heads.push_back({"worst", Align::right});
  }
  Table table(heads);
  for (const auto& row : family.variants) {
    std::vector<std::string> cells = {row.name};
    for (const auto d : devices) {
      std::string cell = variant_cell(row.on[d], family.of_variants);
      if (family.of_variants && family.best[d] >= 0 &&
          &family.variants[static_cast<std::size_t>(family.best[d])] == &row)
        cell = paint(cell, Style::bold);
      cells.push_back(cell);
    }
    if (family.of_variants) {
      cells.push_back(percent(row.portability));
      cells.push_back(percent(row.worst));
    }
    table.add(cells);
  }
  out.line("");
  out.table(std::move(table));
  std::string what =
      family.of_variants
          ? (family.by_ceiling ? "% of the device's ceiling, speed over " : "speed over ") + family.reference
          : "speed over " + all.labels[first_measured(all)];
  what += fmt::format("; conditions: {}", family.conditions);
  if (family.agreement) what += fmt::format("; rankings agree {}", agreement_text(family));
  out.line(paint(what, Style::dim));
}

Cell cell_of(const Number& number) { return number ? Cell(fmt::format("{:.6g}", *number)) : Cell(); }

void add_rows(const DeviceComparison& all, Report& out) {
  out.columns({"family", "variant", "device", "state", "of_ceiling", "reference", "speedup", "efficiency",
               "conditions", "portability", "worst"});
  for (const auto& family : all.families) {
    for (const auto& row : family.variants) {
      for (std::size_t d = 0; d < all.devices.size(); ++d) {
        const auto& on = row.on[d];
        out.row({family.name, row.name, all.labels[d], look_of(on.state).name, cell_of(on.fraction),
                 family.reference, cell_of(on.speedup), cell_of(on.efficiency),
                 static_cast<std::int64_t>(on.conditions), cell_of(row.portability), cell_of(row.worst)});
      }
    }
  }
}

nlohmann::json document_of(const DeviceComparison& all) {
  using nlohmann::json;
  const auto number = [](const Number& n) { return n ? json(*n) : json(); };
  json out;
  out["mode"] = "architectures";
  out["notes"] = all.notes;
  out["cases"] = all.cases;
  out["common_cases"] = all.common;
  out["common_cases_by_host_clock"] = all.by_host;
  out["cases_by_incomparable_clocks"] = all.clocks;
  for (std::size_t d = 0; d < all.devices.size(); ++d) {
    const auto& device = *all.devices[d];
    const auto& totals = all.totals[d];
    json one = {{"label", all.labels[d]},        {"device", device.name},
                {"platform", device.platform},   {"driver", device.driver},
                {"published", device.published}, {"ceilings", device.ceilings},
                {"exhibits", totals.exhibits},   {"not_run", totals.elsewhere},
                {"wins", totals.wins},           {"speed", number(totals.speed)}};
    for (const auto& [state, count] : totals.cases) one["counts"][look_of(state).name] = count;
    out["devices"].push_back(std::move(one));
  }
  for (const auto& family : all.families) {
    json one = {{"family", family.name},
                {"reference", family.reference},
                {"conditions", family.conditions},
                {"agreement", number(family.agreement)},
                {"ranked", family.ranked}};
    if (family.one_for_all >= 0)
      one["one_for_all"] = family.variants[static_cast<std::size_t>(family.one_for_all)].name;
    for (const auto& row : family.variants) {
      json variant = {
          {"variant", row.name}, {"portability", number(row.portability)}, {"worst", number(row.worst)}};
      for (std::size_t d = 0; d < all.devices.size(); ++d) {
        const auto& on = row.on[d];
        variant["devices"][all.labels[d]] = {{"state", look_of(on.state).name},
                                             {"of_ceiling", number(on.fraction)},
                                             {"speedup", number(on.speedup)},
                                             {"relative", number(on.relative)},
                                             {"efficiency", number(on.efficiency)}};
      }
      one["variants"].push_back(std::move(variant));
    }
    for (const auto& inversion : family.inversions)
      one["inversions"].push_back({{"winner", inversion.winner},
                                   {"loser", inversion.loser},
                                   {"condition", inversion.condition},
                                   {"wins_on", all.labels[inversion.where]},
                                   {"factor", inversion.factor},
                                   {"loses_on", all.labels[inversion.elsewhere]},
                                   {"loss", inversion.loss}});
    out["families"].push_back(std::move(one));
  }
  return out;
}

}  // namespace

Report report_of(const DeviceComparison& all, bool chosen, bool every_table) {
  Report out;
  for (const auto& note : all.notes) out.line(paint("note: " + note, Style::yellow));
  devices_block(all, out);
  if (!chosen) {
    out.line("");
    overview_block(all, out);
    out.line("% of the device's own ceiling, in its best launch shape; above 100 % from the caches.");
    out.line("W, tau: how far rankings (of so many variants) agree, 1 is full.");
    out.line("One for all: what it loses to each device's best.");
    out.line("");
    matrix_block(all, out);
  }
  if (chosen || every_table) {
    for (const auto& family : all.families) family_block(all, family, out);
    out.line(paint(
        "portability: harmonic mean over the devices (Pennycook), 0 where one cannot; worst: speed over the "
        "best variant where it suits least",
        Style::dim));
  }
  inversions_block(all, out, chosen || every_table ? 20 : 1);
  if (!chosen && !every_table) out.line("\n--family NAME or --all shows every variant, --csv every number.");
  add_rows(all, out);
  out.document(document_of(all));
  return out;
}

}  // namespace clweave::compare
