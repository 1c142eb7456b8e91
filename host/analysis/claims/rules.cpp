// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace clweave::claims {

namespace {

// ---- Values of rows --------------------------------------------------------------------------------------

Number rate_of(const RunTime& run, const std::string& quantity) {
  if (quantity == "gb_per_s") return run.gb_per_s;
  if (quantity == "gflop_per_s") return run.gflop_per_s;
  if (quantity == "gitems_per_s") return run.gitems_per_s;
  return {};
}

// Returns a quantity that does not depend on the time.
Number counted_of(const Timed& timed, const std::string& quantity, Resample draw) {
  if (quantity == "value") return draw.counted(timed);
  const Value* cell = timed.at != nullptr ? timed.at->cell(quantity) : nullptr;
  return cell != nullptr && !is_word(*cell) ? Number(number_in(*cell)) : Number();
}

// Returns seconds, a rate that is higher when they are fewer, or a count.
Number value_at(const Timed& timed, const std::string& quantity, Resample draw) {
  const double seconds = draw[timed.index];
  if (quantity == "time") return seconds;
  if (quantity == "fraction_of_peak") return draw.fraction_of_peak(timed);
  const Number rate = rate_of(*timed.any, quantity);
  if (!rate) return counted_of(timed, quantity, draw);
  return *rate * timed.any->time_s / seconds;
}

bool depends_on_time(const std::string& quantity) {
  constexpr std::array quantities = {"time", "gb_per_s", "gflop_per_s", "gitems_per_s", "fraction_of_peak"};
  return std::ranges::find(quantities, quantity) != quantities.end();
}

using UsedRows = std::set<const Timed*>;

// Returns the least time, or the highest of any other quantity, and adds its row to `used`.
Number best(const RowSelection& rows, const std::string& quantity, Resample draw, UsedRows* used) {
  Number out;
  const Timed* from = nullptr;
  for (const auto* timed : rows) {
    const auto value = value_at(*timed, quantity, draw);
    if (!value || (out && (quantity == "time") != (*value < *out))) continue;
    out = value;
    from = timed;
  }
  if (used != nullptr && from != nullptr) used->insert(from);
  return out;
}

// ---- Numbers of each kind --------------------------------------------------------------------------------

using ByPlace = std::map<double, RowSelection>;  // by place along the axes

// The rows of both sides and, of the kinds that need it, their division by the axes in `along`: made once,
// not for every draw.
struct Divided {
  // The rows at one combination of these axes.
  struct There {
    Cells where;
    RowSelection of, to;
  };

  RowSelection of, to, of_before, to_before;
  std::vector<There> combinations;  // of a spread or the most
  ByPlace of_at, to_at;             // of a trend or step
};

// Returns a number's own value, and the position of a word in the query.
double place_along(const Timed& timed, const Values& named, const std::string& axis) {
  const Value cell = value_in(timed, axis);
  if (!is_word(cell)) return number_in(cell);
  return 1 + static_cast<double>(std::ranges::find(named, cell) - named.begin());
}

ByPlace by_place(const RowSelection& rows, const RowQuery& query, const std::vector<std::string>& along) {
  std::vector<Values> named;
  for (const auto& axis : along) named.push_back(query.values(axis));
  ByPlace out;
  for (const auto* timed : rows) {
    double place = 1;
    for (std::size_t a = 0; a < along.size(); ++a) place *= place_along(*timed, named[a], along[a]);
    out[place].push_back(timed);
  }
  return out;
}

Divided divided(const Rule& rule, const Sides& sides) {
  Divided out{sides.of, sides.to, sides.of_before, sides.to_before, {}, {}, {}};
  if (rule.kind == Rule::Kind::spread || rule.kind == Rule::Kind::most) {
    const RowsByCells of(sides.of, rule.along), to(sides.to, rule.along);
    for (const auto& cells : of.different()) out.combinations.push_back({cells, of.at(cells), to.at(cells)});
  } else if (rule.kind == Rule::Kind::trend || rule.kind == Rule::Kind::step) {
    out.of_at = by_place(sides.of, rule.of, rule.along);
    out.to_at = by_place(sides.to, rule.to, rule.along);
  }
  return out;
}

Number ratio(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  const auto of = best(rows.of, rule.quantity, draw, used);
  if (!of || rule.to.empty()) return of;
  const auto to = best(rows.to, rule.quantity_to, draw, used);
  if (!to) return {};
  return rule.times * *of / *to;
}

Number gain(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  const auto rate = [&](const RowSelection& side) -> Number {
    const auto value = best(side, rule.quantity, draw, used);
    return value && rule.quantity == "time" ? 1 / *value : value;
  };
  const auto of = rate(rows.of), to = rate(rows.to), of_before = rate(rows.of_before),
             to_before = rate(rows.to_before);
  if (!of || !to || !of_before || !to_before) return {};
  return *of / *of_before / (*to / *to_before);
}

// The best at one combination of the axes in `along`.
struct BestThere {
  double value;
  const Divided::There* there;
};

// Returns the best of `of` at one combination, over the best of `to`.
Number best_there(const Rule& rule, const Divided::There& there, Resample draw, UsedRows* used) {
  const auto value = best(there.of, rule.quantity, draw, used);
  if (!value || rule.to.empty()) return value;
  const auto other = best(there.to, rule.quantity_to, draw, used);
  return other ? Number(*value / *other) : Number();
}

std::vector<BestThere> bests_along(const Rule& rule, const Divided& rows, Resample draw) {
  std::vector<BestThere> out;
  for (const auto& there : rows.combinations) {
    if (const auto value = best_there(rule, there, draw, nullptr)) out.push_back({*value, &there});
  }
  return out;
}

Number spread(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  const auto all = bests_along(rule, rows, draw);
  if (all.size() < 2) return {};
  if (used != nullptr) {
    for (const auto& each : all) best_there(rule, *each.there, draw, used);
  }
  const auto [least, most] = std::ranges::minmax_element(all, {}, &BestThere::value);
  return most->value / least->value;
}

std::optional<BestThere> largest_along(const Rule& rule, const Divided& rows, Resample draw) {
  const auto all = bests_along(rule, rows, draw);
  if (all.empty()) return {};
  return *std::ranges::max_element(all, {}, &BestThere::value);
}

Number most(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  const auto largest = largest_along(rule, rows, draw);
  if (!largest) return {};
  if (used != nullptr) best_there(rule, *largest->there, draw, used);
  return largest->value;
}

using Series = std::vector<std::pair<double, double>>;  // place along the axes and best value there, by place

Series series_of(const ByPlace& rows, const std::string& quantity, Resample draw, UsedRows* used) {
  Series out;
  for (const auto& [place, here] : rows) {
    if (const auto value = best(here, quantity, draw, used)) out.emplace_back(place, *value);
  }
  return out;
}

// Returns the series of `of`, over that of `to` at the places that both have.
Series series_of(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  const Series of = series_of(rows.of_at, rule.quantity, draw, used);
  if (rule.to.empty()) return of;
  const Series to = series_of(rows.to_at, rule.quantity_to, draw, used);
  Series out;
  for (const auto& [place, value] : of) {
    const auto it = std::ranges::find(to, place, &Series::value_type::first);
    if (it != to.end()) out.emplace_back(place, value / it->second);
  }
  return out;
}

// Returns how many places a series needs: all that the rule names for steps, as each is claimed to be one;
// three for a trend, or fewer if the rule names fewer.
std::size_t places_needed(const Rule& rule) {
  const std::size_t named = rule.of.values(rule.along.front()).size();
  if (named == 0) return 3;
  return rule.kind == Rule::Kind::step ? named : std::min<std::size_t>(3, named);
}

// Returns the step that goes most against the direction, as a factor in that direction: below 1 it turns
// back.
double worst_step(const Series& points, bool rising) {
  double worst = HUGE_VAL;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const double step = points[i + 1].second / points[i].second;
    worst = std::min(worst, rising ? step : 1 / step);
  }
  return worst;
}

Number trend(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  const Series points = series_of(rule, rows, draw, used);
  if (points.size() < places_needed(rule)) return {};
  return points.back().second / points.front().second;
}

Number step(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  const Series points = series_of(rule, rows, draw, used);
  if (points.size() < places_needed(rule)) return {};
  const bool rising = rule.is != Bound::Is::below;
  const double worst = worst_step(points, rising);
  return rising ? worst : 1 / worst;
}

Number value_of(const Rule& rule, const Divided& rows, Resample draw, UsedRows* used) {
  switch (rule.kind) {
    case Rule::Kind::ratio: return ratio(rule, rows, draw, used);
    case Rule::Kind::gain: return gain(rule, rows, draw, used);
    case Rule::Kind::spread: return spread(rule, rows, draw, used);
    case Rule::Kind::most: return most(rule, rows, draw, used);
    case Rule::Kind::trend: return trend(rule, rows, draw, used);
    case Rule::Kind::step: return step(rule, rows, draw, used);
    case Rule::Kind::finding: break;
  }
  return {};
}

// ---- Selection bias --------------------------------------------------------------------------------------

// Returns the values among which a number is an extreme; none for kinds without one.
std::vector<double> candidates_of(const Rule& rule, const Divided& rows, Resample draw) {
  std::vector<double> out;
  if (rule.kind == Rule::Kind::spread || rule.kind == Rule::Kind::most) {
    for (const auto& each : bests_along(rule, rows, draw)) out.push_back(each.value);
  } else if (rule.kind == Rule::Kind::step) {
    const Series points = series_of(rule, rows, draw, nullptr);
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      out.push_back(points[i + 1].second / points[i].second);
  }
  return out;
}

// Returns the factor by which noise alone moves an extreme of several values outwards, at least 1. A draw
// differs from what was measured as that differs from the truth, so the extreme of their ratios is what noise
// makes of equal values (the bootstrap under the hypothesis that all are equal).
double bias_of_extreme(const Rule& rule, const std::vector<double>& measured,
                       const std::vector<double>& drawn) {
  double least = 1, most = 1;
  for (std::size_t i = 0; i < std::min(measured.size(), drawn.size()); ++i) {
    least = std::min(least, drawn[i] / measured[i]);
    most = std::max(most, drawn[i] / measured[i]);
  }
  if (rule.kind == Rule::Kind::spread) return most / least;
  return rule.kind == Rule::Kind::most || rule.is == Bound::Is::below ? most : 1 / least;
}

// Returns the factor by which a draw moves the fastest of some launches, among those that noise cannot tell
// from the fastest as measured.
double bias_of_fastest(const RowSelection& rows, const std::string& quantity, Resample measured,
                       Resample drawn) {
  struct Launch {
    double slow, moved;
  };
  std::vector<Launch> launches;
  for (const auto* timed : rows) {
    const auto before = value_at(*timed, quantity, measured), now = value_at(*timed, quantity, drawn);
    if (!before || !now) continue;
    launches.push_back(quantity == "time" ? Launch{*before, *now / *before}
                                          : Launch{1 / *before, *before / *now});
  }
  if (launches.empty()) return 1;
  const double fastest = std::ranges::min(launches, {}, &Launch::slow).slow;
  const auto [least, most] = std::ranges::minmax(launches, {}, &Launch::moved);
  double out = HUGE_VAL;
  for (const auto& launch : launches) {
    if (launch.slow <= fastest * (most.moved / least.moved)) out = std::min(out, launch.moved);
  }
  return out;
}

// Returns the same for the ratio of both sides' fastest: the fastest of many is fast by chance, too, and of
// more by more.
double bias_of_ratio(const Rule& rule, const Divided& rows, Resample measured, Resample drawn) {
  const double slower = bias_of_fastest(rows.of, rule.quantity, measured, drawn) /
                        bias_of_fastest(rows.to, rule.quantity_to, measured, drawn);
  return rule.quantity == "time" ? slower : 1 / slower;
}

// Widens an interval by selection bias: the largest of several values is no larger than it seems, the least
// no smaller.
Figure with_selection_bias(const Rule& rule, const Divided& rows, const DeviceRows& device, Figure number) {
  if (const auto measured = candidates_of(rule, rows, device.measured()); !measured.empty()) {
    const double bias = estimate(device, [&](Resample draw) -> Number {
                          return bias_of_extreme(rule, measured, candidates_of(rule, rows, draw));
                        })->high;
    if (rule.kind == Rule::Kind::step && rule.is != Bound::Is::below) {
      number.high = std::max(number.high, number.value * bias);
    } else {
      number.low = std::min(number.low, number.value / bias);
    }
  }
  const bool chooses = rows.of.size() > 1 || rows.to.size() > 1;
  if (rule.kind == Rule::Kind::ratio && chooses && depends_on_time(rule.quantity) &&
      depends_on_time(rule.quantity_to)) {
    const auto bias = estimate(
        device, [&](Resample draw) -> Number { return bias_of_ratio(rule, rows, device.measured(), draw); });
    number.low = std::min(number.low, number.value / bias->high);
    number.high = std::max(number.high, number.value / bias->low);
  }
  return number;
}

// Writes a series relative to its first value: "1, 1.38, 2.04".
std::string series_text(const Series& points) {
  std::vector<std::string> values;
  for (const auto& [place, value] : points)
    values.push_back(fmt::format("{:.3g}", value / points.front().second));
  return fmt::format("{}", fmt::join(values, ", "));
}

// Returns the condition that no step of a trend turns back by more than the margin.
Condition monotonic(const Rule& rule, const Divided& rows, const DeviceRows& device) {
  const auto step = estimate(device, [&](Resample draw) -> Number {
    return worst_step(series_of(rule, rows, draw, nullptr), rule.is == Bound::Is::above);
  });
  return {*step, {Bound::Is::above, 1 / (1 + rule.margin), 0}};
}

}  // namespace

std::optional<RuleNumber> number_of(const Rule& rule, const Sides& sides, const DeviceRows& device) {
  if (sides.of.empty() || (!rule.to.empty() && sides.to.empty())) return {};
  const Divided rows = divided(rule, sides);
  RuleNumber out;
  if (!value_of(rule, rows, device.measured(), &out.used)) return {};
  const auto sampled = estimate(device, [&](Resample draw) { return value_of(rule, rows, draw, nullptr); });
  out.number = with_selection_bias(rule, rows, device, *sampled);
  if (rule.kind == Rule::Kind::trend) out.conditions.push_back(monotonic(rule, rows, device));
  if (rule.kind == Rule::Kind::trend || rule.kind == Rule::Kind::step)
    out.note = series_text(series_of(rule, rows, device.measured(), nullptr));
  if (rule.kind == Rule::Kind::most) out.where = largest_along(rule, rows, device.measured())->there->where;
  return out;
}

// ---- Findings --------------------------------------------------------------------------------------------

namespace {

// Returns a finding's value, or the end of its interval, over the value of another.
Number value_of(const Conclusions& conclusions, const std::string& finding, const std::string& over,
                std::optional<double> Finding::*end, Resample draw) {
  const Finding* of = conclusions.find(finding, draw);
  if (of == nullptr || !of->value) return {};
  const double value = (of->*end).value_or(*of->value);
  if (over.empty()) return value;
  const Finding* to = conclusions.find(over, draw);
  if (to == nullptr || !to->value) return {};
  return value / *to->value;
}

// Estimates a finding. Its own interval says what is unknown besides the times of the rows, such as a curve
// between two places: its ends are drawn like the value, and widen the number's interval.
std::optional<Figure> estimate_finding(const Conclusions& conclusions, const std::string& finding,
                                       const std::string& over, const DeviceRows& device) {
  const auto drawn = [&](std::optional<double> Finding::*end) {
    return estimate(device, [&](Resample draw) { return value_of(conclusions, finding, over, end, draw); });
  };
  auto number = drawn(&Finding::value);
  if (!number) return {};
  number->low = std::min(number->low, drawn(&Finding::low)->low);
  number->high = std::max(number->high, drawn(&Finding::high)->high);
  return number;
}

}  // namespace

std::optional<RuleNumber> number_of(const Rule& rule, const std::string& finding,
                                    const Conclusions& conclusions, const RowSelection& rows,
                                    const DeviceRows& device) {
  const Finding* measured = conclusions.find(finding, device.measured());
  if (measured == nullptr) return {};
  RuleNumber out{.number = {}, .conditions = {}, .note = measured->text, .used = {rows.begin(), rows.end()}};
  if (!measured->value) {
    out.is_undecided = true;  // the family saw its rows, and says why they do not tell
    return out;
  }
  const auto number = estimate_finding(conclusions, finding, rule.finding_to, device);
  if (!number) return {};
  out.number = *number;
  for (const auto& also : rule.also) {
    const auto further = estimate_finding(conclusions, also.finding, "", device);
    if (!further) return {};
    out.conditions.push_back({*further, also});
  }
  return out;
}

}  // namespace clweave::claims
