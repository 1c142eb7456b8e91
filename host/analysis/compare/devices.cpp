// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "analysis/rows/best.hpp"
#include "base/stats.hpp"
#include "suite/family.hpp"

namespace clweave::compare {

namespace {

constexpr double slow_below = 0.5;       // of the best variant
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

// The best launch configuration of a variant on a device under one condition.
struct Best {
  State state = State::absent;
  Status status = Status::none;
  std::string clock, items;
  double time_s = 0;
  Number of_peak = {};         // fraction of the device's measured peak
  double slowed_s = HUGE_VAL;  // least time that a slowed one of its configurations may have in truth

  // Returns whether it is not known how long the best configuration takes.
  bool is_slowed() const { return slowed_s < time_s; }
};

struct Condition {
  CaseName name;                        // without an id
  std::vector<std::map<int, Best>> on;  // per device: by variant
};

// The cases of one family, or of a part of one, sorted into conditions.
struct FamilyCases {
  const Family* family = nullptr;                  // null if this program does not have it
  std::vector<std::vector<const CaseTimes*>> all;  // per device
  const Axis* axis = nullptr;                      // of the variants
  std::string axis_name;
  std::set<std::string> tunable;  // axes: the launch configuration
  bool ranks = true;              // false: a result of less time is not the better one
  bool of_variants = false;       // see FamilyComparison
  std::vector<std::string> variants;
  std::vector<Condition> conditions;
  std::map<std::string, std::size_t> by_name;  // into conditions
  CaseLabels labels;                           // of conditions
};

// The devices' indices: all that have results, and of these the measured ones, which are not published
// figures.
struct Devices {
  std::size_t count = 0;
  std::vector<std::size_t> measured;

  bool is_measured(std::size_t device) const { return std::ranges::find(measured, device) != measured.end(); }
};

FamilyCases cases_of(const Family* family, std::size_t devices) {
  FamilyCases out;
  out.family = family;
  out.all.resize(devices);
  if (family == nullptr) return out;
  if (!family->view.rows.empty()) out.axis = family->axis(family->view.rows.front());
  out.ranks = family->view.quantity != "slowdown" && family->name != peak_family;
  for (const auto& axis : family->axes) {
    if (axis.tunable) out.tunable.insert(axis.name);
  }
  return out;
}

std::string variant_axis(const FamilyCases& cases, const CaseTimes& at) {
  if (cases.axis != nullptr) return cases.axis->name;
  if (!value_on(at, "kernel").empty()) return "kernel";
  return at.name->axes.empty() ? "case" : *at.name->axes.front().name;
}

int variant_of(FamilyCases& cases, const std::string& name) {
  const auto it = std::ranges::find(cases.variants, name);
  if (it != cases.variants.end()) return static_cast<int>(it - cases.variants.begin());
  cases.variants.push_back(name);
  return static_cast<int>(cases.variants.size()) - 1;
}

// Keeps the fastest launch configuration of each variant; a failure only where nothing worked.
void add(FamilyCases& cases, const Devices& devices, std::size_t device, const CaseTimes& at) {
  cases.all[device].push_back(&at);
  if (cases.axis_name.empty()) cases.axis_name = variant_axis(cases, at);
  cases.of_variants = cases.ranks && (cases.of_variants || at.bounded);
  const int variant = variant_of(cases, value_on(at, cases.axis_name));
  CaseName rest;
  rest.family = at.family();
  std::string key;
  for (const auto& axis : at.name->axes) {
    if (*axis.name == cases.axis_name || cases.tunable.contains(*axis.name)) continue;
    key.append(*axis.name).append("=").append(text_of(*axis.value)).append("/");
    rest.axes.push_back(axis);
  }
  const auto [it, is_new] = cases.by_name.try_emplace(key, cases.conditions.size());
  if (is_new) {
    cases.labels.learn(rest);
    cases.conditions.push_back({std::move(rest), std::vector<std::map<int, Best>>(devices.count)});
  }
  Best& best = cases.conditions[it->second].on[device][variant];
  if (at.ok()) {
    const double time_s = at.median_s();
    const double slowed_s = std::min(best.slowed_s, at.is_slowed() ? at.least_s() : HUGE_VAL);
    if (best.state == State::ok && best.time_s <= time_s)
      best.slowed_s = slowed_s;
    else
      best = {State::ok, Status::ok, at.clock, at.items + " by " + at.clock, time_s, at.fraction_of_peak(),
              slowed_s};
  } else if (best.state != State::ok) {
    best = {state_of(at.status), at.status, {}, {}, 0};
  }
}

// Sorts variants into the order of the family's axis; values it does not have follow in the order met.
void order_variants(FamilyCases& cases) {
  std::vector<int> order(cases.variants.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int v) {
    if (cases.axis == nullptr) return std::ptrdiff_t{0};
    return std::ranges::find(cases.axis->values, value_of(cases.variants[static_cast<std::size_t>(v)])) -
           cases.axis->values.begin();
  });
  std::vector<int> place(order.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    names.push_back(cases.variants[static_cast<std::size_t>(order[i])]);
  }
  cases.variants = std::move(names);
  for (auto& condition : cases.conditions) {
    for (auto& by_variant : condition.on) {
      std::map<int, Best> moved;
      for (auto& [v, best] : by_variant) moved[place[static_cast<std::size_t>(v)]] = std::move(best);
      by_variant = std::move(moved);
    }
  }
}

// Splits a condition by the work done and the clock used: variants of different work or clocks do not
// compare. A part is known by the first variant that does its work, as the amount may depend on the device.
std::vector<Condition> parts_of(Condition condition, std::size_t devices) {
  std::map<int, Condition> parts;
  const auto part_of = [&](int first) -> Condition& {
    Condition& part = parts[first];
    part.name = condition.name;
    part.on.resize(devices);
    return part;
  };
  for (std::size_t d = 0; d < devices; ++d) {
    std::map<std::string, int> first;
    for (const auto& [v, best] : condition.on[d]) {
      if (best.state == State::ok) part_of(first.try_emplace(best.items, v).first->second).on[d][v] = best;
    }
  }
  // Cases without a time belong to every part that has the variant, else to the first part.
  for (std::size_t d = 0; d < devices; ++d) {
    for (const auto& one : condition.on[d]) {
      const int v = one.first;
      if (one.second.state == State::ok) continue;
      bool placed = false;
      for (auto& [key, part] : parts) {
        if (std::ranges::none_of(part.on, [&](const auto& on) { return on.contains(v); })) continue;
        part.on[d].try_emplace(v, one.second);
        placed = true;
      }
      if (!placed) part_of(parts.empty() ? v : parts.begin()->first).on[d].try_emplace(v, one.second);
    }
  }
  std::vector<Condition> out;
  for (auto& [key, part] : parts) out.push_back(std::move(part));
  return out;
}

void split_by_work(FamilyCases& cases, std::size_t devices) {
  std::vector<Condition> out;
  for (auto& condition : cases.conditions)
    std::ranges::move(parts_of(std::move(condition), devices), std::back_inserter(out));
  cases.conditions = std::move(out);
}

const Best* find(const Condition& condition, std::size_t device, int variant) {
  const auto it = condition.on[device].find(variant);
  return it != condition.on[device].end() ? &it->second : nullptr;
}

// Returns null unless it is ok.
const Best* find_ok(const Condition& condition, std::size_t device, int variant) {
  const Best* best = find(condition, device, variant);
  return best != nullptr && best->state == State::ok ? best : nullptr;
}

// Returns the first variant that has at least half as many times as the most frequent one; -1 without times.
int reference_of(const FamilyCases& cases) {
  std::vector<std::size_t> times(cases.variants.size());
  for (const auto& condition : cases.conditions) {
    for (const auto& on : condition.on) {
      for (const auto& [v, best] : on) times[static_cast<std::size_t>(v)] += best.state == State::ok ? 1 : 0;
    }
  }
  const std::size_t most = times.empty() ? 0 : std::ranges::max(times);
  const auto it = std::ranges::find_if(times, [&](std::size_t n) { return n > 0 && 2 * n >= most; });
  return it != times.end() ? static_cast<int>(it - times.begin()) : -1;
}

// Returns the time of the fastest variant, and of how many: one alone has no competitor.
std::pair<double, std::size_t> best_time(const Condition& condition, std::size_t device) {
  double best = HUGE_VAL;
  std::size_t count = 0;
  for (const auto& [v, one] : condition.on[device]) {
    if (one.state != State::ok) continue;
    best = std::min(best, one.time_s);
    ++count;
  }
  return {best, count};
}

// Returns whether the fastest variant, which takes so long, or another one may be faster in truth.
bool may_be_faster(const Condition& condition, std::size_t device, double fastest_s) {
  return std::ranges::any_of(condition.on[device],
                             [&](const auto& variant) { return variant.second.slowed_s < fastest_s; });
}

// Sets the states of a variant: a failure under any condition shows, but `unsupported` only where no
// condition works, as it may be a size that a device has no memory for. Returns the measured devices where it
// works.
std::vector<std::size_t> note_states(VariantRow& row, int v, const FamilyCases& cases,
                                     const Devices& devices) {
  std::vector<std::size_t> working;
  for (std::size_t d = 0; d < devices.count; ++d) {
    VariantOnDevice& on = row.on[d];
    bool works = false;
    for (const auto& condition : cases.conditions) {
      const Best* best = find(condition, d, v);
      if (best == nullptr) continue;
      works = works || best->state == State::ok;
      const bool failed = on.state != State::absent && on.state != State::ok;
      if (failed && (on.state != State::unsupported || best->state == State::ok)) continue;
      on.state = best->state;
      on.status = best->status;
    }
    if (works && on.state == State::unsupported) {
      on.state = State::ok;
      on.status = Status::none;
    }
    if (works && devices.is_measured(d)) working.push_back(d);
  }
  return working;
}

bool has_family(const FamilyCases& cases, std::size_t device) {
  return std::ranges::any_of(cases.conditions, [&](const Condition& c) { return !c.on[device].empty(); });
}

// Computes the performance portability of Pennycook, Sewall and Lee (2016).
void judge_portability(VariantRow& row, const FamilyCases& cases, const Devices& devices) {
  bool all_fractions = true;
  std::vector<double> of_peaks, of_best;
  for (const std::size_t d : devices.measured) {
    if (!has_family(cases, d)) continue;
    const VariantOnDevice& on = row.on[d];
    const bool works = on.state == State::ok || on.state == State::slow;
    all_fractions = all_fractions && (on.fraction || !works);
    of_peaks.push_back(std::min(1.0, on.fraction.value_or(0)));  // above 1 the caches help
    of_best.push_back(on.efficiency.value_or(0));
  }
  const auto harmonic = [](const std::vector<double>& values) {
    const bool none = std::ranges::any_of(values, [](double value) { return !(value > 0); });
    return none || values.empty() ? 0.0 : harmonic_mean(values);
  };
  const bool any_fraction = std::ranges::any_of(of_peaks, [](double f) { return f > 0; });
  row.portability = harmonic(any_fraction && all_fractions ? of_peaks : of_best);
  if (!of_best.empty() && harmonic(of_best) > 0) row.worst = std::ranges::min(of_best);
}

// Compares a variant on each device, over the conditions that it has on every measured device where it works;
// a published device counts its own conditions.
VariantRow row_of(int v, int reference, const FamilyCases& cases, const Devices& devices) {
  VariantRow row;
  row.name = cases.variants[static_cast<std::size_t>(v)];
  row.on.resize(devices.count);
  const std::vector<std::size_t> working = note_states(row, v, cases, devices);
  std::vector<std::vector<double>> fractions(devices.count), speedups(devices.count),
      efficiencies(devices.count), at_most(devices.count), relatives(devices.count);
  for (const auto& condition : cases.conditions) {
    const auto on_all = [&](int variant) {
      return std::ranges::all_of(working,
                                 [&](std::size_t d) { return find_ok(condition, d, variant) != nullptr; });
    };
    const bool everywhere = on_all(v), referred = reference >= 0 && on_all(reference);
    const Best* first = devices.measured.empty() ? nullptr : find_ok(condition, devices.measured.front(), v);
    for (std::size_t d = 0; d < devices.count; ++d) {
      const Best* best = find_ok(condition, d, v);
      const bool by_itself = !devices.is_measured(d);
      if (best == nullptr || !(everywhere || by_itself)) continue;
      if (first != nullptr && first->clock == best->clock)
        relatives[d].push_back(first->time_s / best->time_s);
      if (best->of_peak) fractions[d].push_back(*best->of_peak);
      const Best* other =
          referred || (by_itself && reference >= 0) ? find_ok(condition, d, reference) : nullptr;
      if (other != nullptr) speedups[d].push_back(other->time_s / best->time_s);
      row.on[d].slowed = row.on[d].slowed || best->is_slowed() || (other != nullptr && other->is_slowed());
      if (const auto [fastest, count] = best_time(condition, d); count > 1) {
        efficiencies[d].push_back(fastest / best->time_s);
        at_most[d].push_back(fastest / std::min(best->time_s, best->slowed_s));
        row.on[d].efficiency_slowed =
            row.on[d].efficiency_slowed || best->is_slowed() || may_be_faster(condition, d, fastest);
      }
    }
  }
  const auto mean = [](const std::vector<double>& values) {
    return values.empty() ? Number() : geometric_mean(values);
  };
  for (std::size_t d = 0; d < devices.count; ++d) {
    VariantOnDevice& on = row.on[d];
    on.relative = mean(relatives[d]);
    on.fraction = mean(fractions[d]);
    on.speedup = mean(speedups[d]);
    on.efficiency = mean(efficiencies[d]);
    on.conditions = efficiencies[d].size();
    on.slowed = on.slowed || on.efficiency_slowed;
    if (on.state == State::ok && on.efficiency && *mean(at_most[d]) < slow_below) on.state = State::slow;
  }
  judge_portability(row, cases, devices);
  return row;
}

// Takes the variant of the device's best row. Returns false if rows have no rates to rank them by, such as
// published times: then the variant counts that is nearest to the best under most conditions.
bool take_best_row(FamilyComparison& out, const FamilyCases& cases, std::size_t device) {
  if (cases.family == nullptr) return false;
  const auto all = contenders(*cases.family, cases.all[device]);
  const Contender* best = best_row(*cases.family, all);
  if (best == nullptr || !best->speed(*cases.family)) return false;
  std::string name = value_on(*best->at, cases.axis_name);
  if (needs_name(value_of(name))) name.insert(0, cases.axis_name + "=");
  out.best[device] = static_cast<int>(std::ranges::find(cases.variants, name) - cases.variants.begin());
  if (!best->run.cached) out.best_fraction[device] = best->run.fraction_of_peak;
  out.best_undecided[device] = is_undecided(*cases.family, all, *best);
  return true;
}

// Chooses each device's best variant, and the one for all: the highest harmonic mean of efficiencies. A
// variant that a device has under fewer than half of the conditions is no candidate there.
void choose_best(FamilyComparison& out, const FamilyCases& cases, const Devices& devices) {
  out.best.assign(devices.count, -1);
  out.best_fraction.assign(devices.count, {});
  out.best_undecided.assign(devices.count, false);
  std::vector<bool> by_row(devices.count);
  for (const std::size_t d : devices.measured) by_row[d] = take_best_row(out, cases, d);
  std::size_t most = 0;
  for (const auto& row : out.variants) {
    for (const auto& on : row.on) most = std::max(most, on.conditions);
  }
  double best_mean = 0;
  for (std::size_t v = 0; v < out.variants.size(); ++v) {
    const auto& row = out.variants[v];
    std::vector<double> all;
    for (std::size_t d = 0; d < devices.count; ++d) {
      const auto& on = row.on[d];
      const bool measured = devices.is_measured(d);
      const bool counts = on.efficiency && !(measured && 2 * on.conditions < most);
      if (measured && has_family(cases, d)) all.push_back(counts ? *on.efficiency : 0);
      if (!counts || by_row[d]) continue;
      int& best = out.best[d];
      if (best < 0 || *on.efficiency > *out.variants[static_cast<std::size_t>(best)].on[d].efficiency)
        best = static_cast<int>(v);
    }
    if (all.size() < 2 || std::ranges::any_of(all, [](double efficiency) { return !(efficiency > 0); }))
      continue;
    if (const double mean = harmonic_mean(all); mean > best_mean) {
      best_mean = mean;
      out.one_for_all = static_cast<int>(v);
    }
  }
  for (std::size_t d = 0; d < devices.count; ++d) {
    if (by_row[d] || out.best[d] < 0) continue;
    const VariantOnDevice& best = out.variants[static_cast<std::size_t>(out.best[d])].on[d];
    out.best_fraction[d] = best.fraction;
    out.best_undecided[d] = best.efficiency_slowed;
  }
  out.by_peak = std::ranges::any_of(out.variants, [](const VariantRow& row) {
    return std::ranges::any_of(row.on, [](const VariantOnDevice& on) { return on.fraction.has_value(); });
  });
}

// Computes by how far the devices rank the variants alike: Kendall's tau-b of two, his W of more. Published
// figures take part if they rank at least three variants.
void rank(FamilyComparison& out, std::size_t devices) {
  constexpr std::size_t least = 3;
  std::vector<std::size_t> judges;
  for (std::size_t d = 0; d < devices; ++d) {
    const auto ranked = std::ranges::count_if(
        out.variants, [&](const VariantRow& row) { return row.on[d].speedup.has_value(); });
    if (static_cast<std::size_t>(ranked) >= least) judges.push_back(d);
  }
  std::vector<std::vector<double>> scores(judges.size());
  for (const auto& row : out.variants) {
    if (!std::ranges::all_of(judges, [&](std::size_t d) { return row.on[d].speedup.has_value(); })) continue;
    for (std::size_t j = 0; j < judges.size(); ++j) scores[j].push_back(*row.on[judges[j]].speedup);
  }
  if (judges.size() < 2 || scores.front().size() < least) return;
  out.ranked = scores.front().size();
  out.agreement = judges.size() == 2 ? kendall(scores[0], scores[1]) : concordance(scores);
}

// Returns where two variants change places between devices under a condition, if by at least least_factor on
// both. `quiet_alone`: devices whose rows were slowed do not count.
std::optional<Inversion> inversion_of(const Condition& condition, const FamilyCases& cases, int v, int w,
                                      bool quiet_alone) {
  double most = 0, least = HUGE_VAL;  // speed of v over w
  std::size_t most_at = 0, least_at = 0;
  const auto is_slowed = [&](std::size_t d) {
    return find_ok(condition, d, v)->is_slowed() || find_ok(condition, d, w)->is_slowed();
  };
  for (std::size_t d = 0; d < condition.on.size(); ++d) {
    const Best *one = find_ok(condition, d, v), *other = find_ok(condition, d, w);
    if (one == nullptr || other == nullptr || (quiet_alone && is_slowed(d))) continue;
    const double ratio = other->time_s / one->time_s;
    if (ratio > most) most = ratio, most_at = d;
    if (ratio < least) least = ratio, least_at = d;
  }
  if (most < least_factor || least > 1 / least_factor) return {};
  Inversion out{condition.name.family,
                cases.variants[static_cast<std::size_t>(v)],
                cases.variants[static_cast<std::size_t>(w)],
                cases.labels.of(condition.name).erase(0, condition.name.family.size() + 1),
                most_at,
                least_at,
                most,
                1 / least,
                is_slowed(most_at) || is_slowed(least_at)};
  // The sentence begins with the larger factor.
  if (out.loss > out.factor) {
    std::swap(out.winner, out.loser);
    std::swap(out.where, out.elsewhere);
    std::swap(out.factor, out.loss);
  }
  return out;
}

// Returns of each pair of variants its strongest inversion that is decided, or else the strongest; first
// those decided, of these the strongest.
std::vector<Inversion> inversions_of(const FamilyCases& cases) {
  std::map<std::pair<int, int>, Inversion> strongest;
  const auto strength = [](const Inversion& one) {
    return std::pair(!one.undecided, std::min(one.factor, one.loss));
  };
  for (const auto& condition : cases.conditions) {
    std::set<int> present;
    for (const auto& on : condition.on) {
      for (const auto& [v, best] : on) {
        if (best.state == State::ok) present.insert(v);
      }
    }
    for (auto v = present.begin(); v != present.end(); ++v) {
      for (auto w = std::next(v); w != present.end(); ++w) {
        auto one = inversion_of(condition, cases, *v, *w, true);
        if (!one) one = inversion_of(condition, cases, *v, *w, false);
        if (!one) continue;
        const auto [kept, is_new] = strongest.try_emplace({*v, *w}, *one);
        if (!is_new && strength(*one) > strength(kept->second)) kept->second = *std::move(one);
      }
    }
  }
  std::vector<Inversion> out;
  for (auto& [pair, one] : strongest) out.push_back(std::move(one));
  std::ranges::stable_sort(out, std::greater{}, strength);
  return out;
}

FamilyComparison comparison_of(const std::string& title, FamilyCases cases, const Devices& devices) {
  order_variants(cases);
  split_by_work(cases, devices.count);
  for (auto& name : cases.variants) {
    if (needs_name(value_of(name))) name.insert(0, cases.axis_name + "=");
  }
  FamilyComparison out;
  out.name = title;
  out.of_variants = cases.of_variants;
  out.conditions = cases.conditions.size();
  const int reference = reference_of(cases);
  if (reference >= 0) out.reference = cases.variants[static_cast<std::size_t>(reference)];
  for (std::size_t v = 0; v < cases.variants.size(); ++v)
    out.variants.push_back(row_of(static_cast<int>(v), reference, cases, devices));
  if (out.of_variants) {
    choose_best(out, cases, devices);
    rank(out, devices.count);
  }
  if (!cases.ranks) return out;
  out.inversions = inversions_of(cases);
  for (auto& one : out.inversions) one.family = title;
  return out;
}

void count_cases(DeviceComparison& out, const std::vector<std::size_t>& measured) {
  out.totals.resize(out.devices.size());
  std::map<std::pair<std::string_view, bool>, std::vector<const CaseTimes*>> by_id;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    auto& totals = out.totals[measured[i]];
    for (const auto& at : out.devices[measured[i]]->cases) {
      if (at.known_incorrect) {
        ++totals.known_incorrect;
        continue;
      }
      if (!at.ranks()) continue;
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
    if (std::ranges::any_of(on, &CaseTimes::is_slowed)) {
      ++out.slowed;
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
  std::map<std::string, std::size_t> products;
  for (const auto& device : set.devices) ++products[device.label()];
  for (const auto& device : set.devices) {
    if (!device.published) measured.push_back(out.devices.size());
    out.devices.push_back(&device);
    std::string label = device.label();
    if (!device.published) {
      if (width_of(label) > most_labels) label = label.substr(0, label.find(" ("));
      label = cut(label, most_labels, "~");
    }
    // Tells devices of one product apart: by what their users call them, else by their drivers.
    if (products.at(device.label()) > 1) label += device.called();
    if (std::ranges::find(out.labels, label) != out.labels.end()) label += " " + device.driver;
    if (std::ranges::find(out.labels, label) != out.labels.end()) label += " " + device.id;
    out.labels.push_back(std::move(label));
  }
  const Devices devices{out.devices.size(), measured};
  count_cases(out, measured);
  std::map<std::string, FamilyCases> titled;  // by the title of a table
  for (std::size_t d = 0; d < out.devices.size(); ++d) {
    for (const auto& at : out.devices[d]->cases) {
      if (!at.ranks()) continue;
      const auto known = std::ranges::find(families, at.family(), &Family::name);
      const Family* family = known != families.end() ? &*known : nullptr;
      std::string title = at.family();
      if (family != nullptr) {
        for (const auto& axis : family->view.apart) title += " " + value_on(at, axis);
      }
      add(titled.try_emplace(title, cases_of(family, devices.count)).first->second, devices, d, at);
    }
  }
  for (auto& [title, cases] : titled) out.families.push_back(comparison_of(title, std::move(cases), devices));
  out.same_bits = same_bits_of(out.devices);
  return out;
}

}  // namespace clweave::compare
