// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace clweave::claims {

namespace {

// ---- Values of rows --------------------------------------------------------------------------------------

std::optional<double> rate_of(const RunTime& run, const std::string& quantity) {
  if (quantity == "gb_per_s") return run.gb_per_s;
  if (quantity == "gflop_per_s") return run.gflop_per_s;
  if (quantity == "gitems_per_s") return run.gitems_per_s;
  return {};
}

// Returns a quantity that does not depend on the time.
std::optional<double> time_independent_quantity(const TimedCase& timed, const std::string& quantity,
                                                Resample sample) {
  if (quantity == "value" || quantity == registers_quantity) return sample.counted(timed);
  const Value* cell = timed.at != nullptr ? timed.at->cell(quantity) : nullptr;
  return cell != nullptr && !is_word(*cell) ? std::optional(number_in(*cell)) : std::nullopt;
}

// Returns seconds, a rate that is higher when they are fewer, or a count.
std::optional<double> value_at(const TimedCase& timed, const std::string& quantity, Resample sample) {
  const double seconds = sample[timed.index];
  if (quantity == "time") return seconds;
  if (quantity == "fraction_of_peak") return sample.fraction_of_peak(timed);
  const std::optional<double> rate = rate_of(*timed.representative, quantity);
  if (!rate) return time_independent_quantity(timed, quantity, sample);
  return *rate * timed.representative->time_s / seconds;
}

bool depends_on_time(const std::string& quantity) {
  constexpr std::array quantities = {"time", "gb_per_s", "gflop_per_s", "gitems_per_s", "fraction_of_peak"};
  return std::ranges::find(quantities, quantity) != quantities.end();
}

using UsedRows = std::set<const TimedCase*>;

// Returns the least time, or the highest value of any other quantity, and adds its row to `used`.
std::optional<double> best(const RowSelection& rows, const std::string& quantity, Resample sample,
                           UsedRows* used) {
  std::optional<double> out;
  const TimedCase* from = nullptr;
  for (const auto* timed : rows) {
    const auto value = value_at(*timed, quantity, sample);
    if (!value) continue;
    const bool is_better = !out || (quantity == "time" ? *value < *out : *value >= *out);
    if (!is_better) continue;
    out = value;
    from = timed;
  }
  if (used != nullptr && from != nullptr) used->insert(from);
  return out;
}

// ---- Point estimates of each kind ------------------------------------------------------------------------

using RowsByCoordinate = std::map<double, RowSelection>;

// The rows of each side and, for the kinds that need it, their division by the varied axes: made once, not
// for every sample.
struct DividedRows {
  // The rows at one combination of the varied axes.
  struct Combination {
    AxisValues axis_values;
    RowSelection numerator, denominator;
  };

  RowSelection numerator, denominator, numerator_before_change, denominator_before_change;
  std::vector<Combination> combinations;                                // of a spread or the most
  RowsByCoordinate numerator_by_coordinate, denominator_by_coordinate;  // of a trend or step
};

// Returns the number that an axis has in a row, or the position of its word among those of the query.
double axis_coordinate(const TimedCase& timed, const Values& words, const std::string& axis) {
  const Value value = value_in(timed, axis);
  if (!is_word(value)) return number_in(value);
  return 1 + static_cast<double>(std::ranges::find(words, value) - words.begin());
}

// Divides rows by the product of their coordinates on the axes.
RowsByCoordinate by_coordinate(const RowSelection& rows, const RowQuery& query,
                               const std::vector<std::string>& axes) {
  std::vector<Values> words;
  for (const auto& axis : axes) words.push_back(query.values(axis));
  RowsByCoordinate out;
  for (const auto* timed : rows) {
    double coordinate = 1;
    for (std::size_t a = 0; a < axes.size(); ++a) coordinate *= axis_coordinate(*timed, words[a], axes[a]);
    out[coordinate].push_back(timed);
  }
  return out;
}

DividedRows divide_rows(const Rule& rule, const Sides& sides) {
  DividedRows out{sides.numerator,
                  sides.denominator,
                  sides.numerator_before_change,
                  sides.denominator_before_change,
                  {},
                  {},
                  {}};
  if (rule.kind == Rule::Kind::spread || rule.kind == Rule::Kind::most) {
    const RowsByAxisValues numerator(sides.numerator, rule.varied_axes),
        denominator(sides.denominator, rule.varied_axes);
    for (const auto& key : numerator.distinct_keys())
      out.combinations.push_back({key, numerator.at(key), denominator.at(key)});
  } else if (rule.kind == Rule::Kind::trend || rule.kind == Rule::Kind::step) {
    out.numerator_by_coordinate = by_coordinate(sides.numerator, rule.numerator, rule.varied_axes);
    out.denominator_by_coordinate = by_coordinate(sides.denominator, rule.denominator, rule.varied_axes);
  }
  return out;
}

std::optional<double> ratio(const Rule& rule, const DividedRows& rows, Resample sample, UsedRows* used) {
  const auto numerator = best(rows.numerator, rule.quantity, sample, used);
  if (!numerator || rule.denominator.empty()) return numerator;
  const auto denominator = best(rows.denominator, rule.denominator_quantity, sample, used);
  if (!denominator) return {};
  return rule.factor * *numerator / *denominator;
}

// Returns the speed-up of the numerator over what it improves on, over that of the denominator.
std::optional<double> ratio_of_ratios(const Rule& rule, const DividedRows& rows, Resample sample,
                                      UsedRows* used) {
  const auto rate = [&](const RowSelection& side) -> std::optional<double> {
    const auto value = best(side, rule.quantity, sample, used);
    return value && rule.quantity == "time" ? 1 / *value : value;
  };
  const auto numerator = rate(rows.numerator), denominator = rate(rows.denominator),
             numerator_before_change = rate(rows.numerator_before_change),
             denominator_before_change = rate(rows.denominator_before_change);
  if (!numerator || !denominator || !numerator_before_change || !denominator_before_change) return {};
  return *numerator / *numerator_before_change / (*denominator / *denominator_before_change);
}

// Returns the best of the numerator at one combination, over the best of the denominator.
std::optional<double> best_at(const DividedRows::Combination& combination, const Rule& rule, Resample sample,
                              UsedRows* used) {
  const auto numerator = best(combination.numerator, rule.quantity, sample, used);
  if (!numerator || rule.denominator.empty()) return numerator;
  const auto denominator = best(combination.denominator, rule.denominator_quantity, sample, used);
  return denominator ? std::optional(*numerator / *denominator) : std::nullopt;
}

struct BestAtCombination {
  double value;
  const DividedRows::Combination* combination;
};

// Returns the best at each combination of the varied axes.
std::vector<BestAtCombination> bests_along(const Rule& rule, const DividedRows& rows, Resample sample) {
  std::vector<BestAtCombination> out;
  for (const auto& combination : rows.combinations) {
    if (const auto value = best_at(combination, rule, sample, nullptr)) out.push_back({*value, &combination});
  }
  return out;
}

std::optional<double> max_over_min(const Rule& rule, const DividedRows& rows, Resample sample,
                                   UsedRows* used) {
  const auto bests = bests_along(rule, rows, sample);
  if (bests.size() < 2) return {};
  if (used != nullptr) {
    for (const auto& each : bests) best_at(*each.combination, rule, sample, used);
  }
  const auto [min, max] = std::ranges::minmax_element(bests, {}, &BestAtCombination::value);
  return max->value / min->value;
}

std::optional<BestAtCombination> largest_along(const Rule& rule, const DividedRows& rows, Resample sample) {
  const auto bests = bests_along(rule, rows, sample);
  if (bests.empty()) return {};
  return *std::ranges::max_element(bests, {}, &BestAtCombination::value);
}

std::optional<double> max_along(const Rule& rule, const DividedRows& rows, Resample sample, UsedRows* used) {
  const auto largest = largest_along(rule, rows, sample);
  if (!largest) return {};
  if (used != nullptr) best_at(*largest->combination, rule, sample, used);
  return largest->value;
}

using Series = std::vector<std::pair<double, double>>;  // coordinate and best value there, by coordinate

Series series_of(const RowsByCoordinate& rows, const std::string& quantity, Resample sample, UsedRows* used) {
  Series out;
  for (const auto& [coordinate, rows_there] : rows) {
    if (const auto value = best(rows_there, quantity, sample, used)) out.emplace_back(coordinate, *value);
  }
  return out;
}

// Returns the series of the numerator, over that of the denominator at the coordinates that both have.
Series series_of(const Rule& rule, const DividedRows& rows, Resample sample, UsedRows* used) {
  Series numerator = series_of(rows.numerator_by_coordinate, rule.quantity, sample, used);
  if (rule.denominator.empty()) return numerator;
  const Series denominator =
      series_of(rows.denominator_by_coordinate, rule.denominator_quantity, sample, used);
  Series out;
  for (const auto& [coordinate, value] : numerator) {
    const auto it = std::ranges::find(denominator, coordinate, &Series::value_type::first);
    if (it != denominator.end()) out.emplace_back(coordinate, value / it->second);
  }
  return out;
}

// Returns how many points a series needs: all that the rule names for steps, as each is claimed to be one;
// three for a trend, or fewer if the rule names fewer.
std::size_t points_needed(const Rule& rule) {
  const std::size_t named = rule.numerator.values(rule.varied_axes.front()).size();
  if (named == 0) return 3;
  return rule.kind == Rule::Kind::step ? named : std::min<std::size_t>(3, named);
}

// Returns the step that goes most against the direction, as a factor in that direction: below 1 it turns
// back.
double worst_step_factor(const Series& points, bool rising) {
  double worst = HUGE_VAL;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const double factor = points[i + 1].second / points[i].second;
    worst = std::min(worst, rising ? factor : 1 / factor);
  }
  return worst;
}

std::optional<double> last_over_first(const Rule& rule, const DividedRows& rows, Resample sample,
                                      UsedRows* used) {
  const Series points = series_of(rule, rows, sample, used);
  if (points.size() < points_needed(rule)) return {};
  return points.back().second / points.front().second;
}

std::optional<double> worst_step(const Rule& rule, const DividedRows& rows, Resample sample, UsedRows* used) {
  const Series points = series_of(rule, rows, sample, used);
  if (points.size() < points_needed(rule)) return {};
  const bool rising = rule.direction != Bound::Direction::below;
  const double factor = worst_step_factor(points, rising);
  return rising ? factor : 1 / factor;
}

// Returns what the rule compares by the times of one sample, and adds the rows it follows from to `used`.
std::optional<double> point_estimate(const Rule& rule, const DividedRows& rows, Resample sample,
                                     UsedRows* used) {
  switch (rule.kind) {
    case Rule::Kind::ratio: return ratio(rule, rows, sample, used);
    case Rule::Kind::gain: return ratio_of_ratios(rule, rows, sample, used);
    case Rule::Kind::spread: return max_over_min(rule, rows, sample, used);
    case Rule::Kind::most: return max_along(rule, rows, sample, used);
    case Rule::Kind::trend: return last_over_first(rule, rows, sample, used);
    case Rule::Kind::step: return worst_step(rule, rows, sample, used);
    case Rule::Kind::finding: break;
  }
  return {};
}

// ---- Selection bias --------------------------------------------------------------------------------------

// Returns the values among which the estimate is an extreme; none for kinds without one.
std::vector<double> candidates_of(const Rule& rule, const DividedRows& rows, Resample sample) {
  std::vector<double> out;
  if (rule.kind == Rule::Kind::spread || rule.kind == Rule::Kind::most) {
    for (const auto& each : bests_along(rule, rows, sample)) out.push_back(each.value);
  } else if (rule.kind == Rule::Kind::step) {
    const Series points = series_of(rule, rows, sample, nullptr);
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      out.push_back(points[i + 1].second / points[i].second);
  }
  return out;
}

// Returns the factor, at least 1, by which noise alone makes an extreme of several values more extreme.
// Bootstrap: resampled/measured behaves like measured/true. If all true values were equal, the extreme of
// these ratios is the bias that choosing an extreme adds.
double bias_of_extreme(const Rule& rule, const std::vector<double>& measured,
                       const std::vector<double>& resampled) {
  double min = 1, max = 1;
  for (std::size_t i = 0; i < std::min(measured.size(), resampled.size()); ++i) {
    min = std::min(min, resampled[i] / measured[i]);
    max = std::max(max, resampled[i] / measured[i]);
  }
  if (rule.kind == Rule::Kind::spread) return max / min;
  return rule.kind == Rule::Kind::most || rule.direction == Bound::Direction::below ? max : 1 / min;
}

// Returns the bias that choosing the fastest of several launches adds to its time, as a factor: the least
// resampled/measured of the launches that may be the fastest. A launch cannot be if it is slower than the
// fastest by more than the ratios of all launches differ.
double bias_of_fastest(const RowSelection& rows, const std::string& quantity, Resample measured,
                       Resample sample) {
  struct Launch {
    double seconds, change;  // as measured, or in proportion to it; resampled/measured
  };
  std::vector<Launch> launches;
  for (const auto* timed : rows) {
    const auto before = value_at(*timed, quantity, measured), now = value_at(*timed, quantity, sample);
    if (!before || !now) continue;
    launches.push_back(quantity == "time" ? Launch{*before, *now / *before}
                                          : Launch{1 / *before, *before / *now});
  }
  if (launches.empty()) return 1;
  const double fastest = std::ranges::min(launches, {}, &Launch::seconds).seconds;
  const auto [min, max] = std::ranges::minmax(launches, {}, &Launch::change);
  const double indistinguishable = fastest * (max.change / min.change);
  double out = HUGE_VAL;
  for (const auto& launch : launches) {
    if (launch.seconds <= indistinguishable) out = std::min(out, launch.change);
  }
  return out;
}

// Returns the bias of a ratio of the fastest of two rows. The side with more launches has the larger bias,
// as more of them may be fast by chance.
double bias_of_ratio(const Rule& rule, const DividedRows& rows, Resample measured, Resample sample) {
  const double slower = bias_of_fastest(rows.numerator, rule.quantity, measured, sample) /
                        bias_of_fastest(rows.denominator, rule.denominator_quantity, measured, sample);
  return rule.quantity == "time" ? slower : 1 / slower;
}

// Widens an interval by selection bias: a measured maximum tends to lie above the true one, and a measured
// minimum below it, as noise decides which value is chosen. Only the end on the side of the true value moves
// for an extreme; both ends move for a ratio, of which either side may be chosen.
Estimate with_selection_bias(const Rule& rule, const DividedRows& rows, const DeviceRows& device,
                             Estimate extreme) {
  if (const auto measured = candidates_of(rule, rows, device.measured()); !measured.empty()) {
    const double bias = estimate_of_claim(device, [&](Resample sample) -> std::optional<double> {
                          return bias_of_extreme(rule, measured, candidates_of(rule, rows, sample));
                        })->high;
    if (rule.kind == Rule::Kind::step && rule.direction != Bound::Direction::below) {
      extreme.high = std::max(extreme.high, extreme.value * bias);
    } else {
      extreme.low = std::min(extreme.low, extreme.value / bias);
    }
  }
  const bool chooses = rows.numerator.size() > 1 || rows.denominator.size() > 1;
  if (rule.kind == Rule::Kind::ratio && chooses && depends_on_time(rule.quantity) &&
      depends_on_time(rule.denominator_quantity)) {
    const auto bias = estimate_of_claim(device, [&](Resample sample) -> std::optional<double> {
      return bias_of_ratio(rule, rows, device.measured(), sample);
    });
    extreme.low = std::min(extreme.low, extreme.value / bias->high);
    extreme.high = std::max(extreme.high, extreme.value / bias->low);
  }
  return extreme;
}

// Writes a series relative to its first value: "1, 1.38, 2.04".
std::string series_text(const Series& points) {
  std::vector<std::string> values;
  for (const auto& [coordinate, value] : points)
    values.push_back(fmt::format("{:.3g}", value / points.front().second));
  return fmt::format("{}", fmt::join(values, ", "));
}

// Returns the condition that no step of a trend turns back by more than the margin. Of several level steps
// the worst as measured goes back by chance: in truth it may go back by as much less as the worst of
// resampled over measured steps.
Condition monotonicity_condition(const Rule& rule, const DividedRows& rows, const DeviceRows& device) {
  const bool rising = rule.direction == Bound::Direction::above;
  const Series measured = series_of(rule, rows, device.measured(), nullptr);
  auto worst = *estimate_of_claim(device, [&](Resample sample) -> std::optional<double> {
    return worst_step_factor(series_of(rule, rows, sample, nullptr), rising);
  });
  const auto luck = estimate_of_claim(device, [&](Resample sample) -> std::optional<double> {
    Series changes = series_of(rule, rows, sample, nullptr);
    for (std::size_t i = 0; i < changes.size(); ++i) changes[i].second /= measured[i].second;
    return worst_step_factor(changes, rising);
  });
  worst.high = std::max(worst.high, worst.value / luck->low);
  return {worst, {Bound::Direction::above, 1 / (1 + rule.margin), 0}};
}

}  // namespace

std::optional<Estimate> estimate_of_claim(const DeviceRows& device,
                                          const std::function<std::optional<double>(Resample)>& number) {
  return estimate(device, number, claim_level);
}

bool depends_on_run(const Rule& rule) {
  const auto is_of_run = [](const std::string& quantity) {
    return depends_on_time(quantity) || quantity == "value";
  };
  return rule.kind == Rule::Kind::finding || is_of_run(rule.quantity) || is_of_run(rule.denominator_quantity);
}

std::optional<RuleEstimate> estimate_rule(const Rule& rule, const Sides& sides, const DeviceRows& device) {
  if (sides.numerator.empty() || (!rule.denominator.empty() && sides.denominator.empty())) return {};
  const auto divided = std::make_shared<const DividedRows>(divide_rows(rule, sides));
  const DividedRows& rows = *divided;
  RuleEstimate out;
  out.number = [&rule, divided](Resample sample) { return point_estimate(rule, *divided, sample, nullptr); };
  if (!point_estimate(rule, rows, device.measured(), &out.used)) return {};
  out.estimate = with_selection_bias(rule, rows, device, *estimate_of_claim(device, out.number));
  if (rule.kind == Rule::Kind::trend) out.conditions.push_back(monotonicity_condition(rule, rows, device));
  if (rule.kind == Rule::Kind::trend || rule.kind == Rule::Kind::step)
    out.note = series_text(series_of(rule, rows, device.measured(), nullptr));
  if (rule.kind == Rule::Kind::most)
    out.varied_values = largest_along(rule, rows, device.measured())->combination->axis_values;
  return out;
}

// ---- Findings --------------------------------------------------------------------------------------------

namespace {

// Returns a finding's value or an end of its interval, over the value of another finding if one is named.
std::optional<double> finding_value(const Conclusions& conclusions, const std::string& finding,
                                    const std::string& denominator, std::optional<double> Finding::*member,
                                    Resample sample) {
  const Finding* numerator = conclusions.find(finding, sample);
  if (numerator == nullptr || !numerator->value) return {};
  const double value = (numerator->*member).value_or(*numerator->value);
  if (denominator.empty()) return value;
  const Finding* over = conclusions.find(denominator, sample);
  if (over == nullptr || !over->value) return {};
  return value / *over->value;
}

// Estimates a finding. Its own interval says what is unknown besides the times of the rows, such as a curve
// between two measured points: both ends are resampled as the value is, and widen the estimate's interval.
std::optional<Estimate> estimate_finding(const Conclusions& conclusions, const std::string& finding,
                                         const std::string& denominator, const DeviceRows& device) {
  const auto estimate_of = [&](std::optional<double> Finding::*member) {
    return estimate_of_claim(device, [&](Resample sample) {
      return finding_value(conclusions, finding, denominator, member, sample);
    });
  };
  auto out = estimate_of(&Finding::value);
  if (!out) return {};
  out->low = std::min(out->low, estimate_of(&Finding::low)->low);
  out->high = std::max(out->high, estimate_of(&Finding::high)->high);
  return out;
}

}  // namespace

std::optional<RuleEstimate> estimate_finding_rule(const Rule& rule, const std::string& finding,
                                                  const std::shared_ptr<const Conclusions>& shared,
                                                  const RowSelection& rows, const DeviceRows& device) {
  const Conclusions& conclusions = *shared;
  const Finding* measured = conclusions.find(finding, device.measured());
  if (measured == nullptr) return {};
  RuleEstimate out{.estimate = {}, .note = measured->text, .used = {rows.begin(), rows.end()}};
  if (!measured->value) {
    out.is_undecided = true;  // the family saw its rows, and says why they do not tell
    return out;
  }
  const auto estimated = estimate_finding(conclusions, finding, rule.denominator_finding, device);
  if (!estimated) return {};
  out.estimate = *estimated;
  out.number = [shared, finding, &rule](Resample sample) {
    return finding_value(*shared, finding, rule.denominator_finding, &Finding::value, sample);
  };
  for (const auto& extra : rule.extra_conditions) {
    const auto condition = estimate_finding(conclusions, extra.finding, "", device);
    if (!condition) return {};
    out.conditions.push_back({*condition, static_cast<const Bound&>(extra)});
  }
  return out;
}

}  // namespace clweave::claims
