// SPDX-License-Identifier: Apache-2.0
#include "answers/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/stats.hpp"

namespace clweave {

namespace {

using Picked = std::vector<const Timed*>;

const Family* family_of(const std::vector<Family>& families, const std::string& name) {
  const auto it = std::ranges::find(families, name, &Family::name);
  return it != families.end() ? &*it : nullptr;
}

// ---- Which rows ------------------------------------------------------------------------------------------

bool is_among(const std::string& cell, const Values& values) {
  return std::ranges::any_of(values, [&](const Value& value) { return text_of(value) == cell; });
}

// An axis that a row lacks came later than the row; what the row did is its default.
bool matches(const Rows& rows, const Family& family, const std::map<std::string, std::string>& axes,
             bool however_tuned = false) {
  return std::ranges::all_of(family.axes, [&](const Axis& axis) {
    const auto cell = axes.find(axis.name);
    const auto want = rows.axes.find(axis.name);
    if (want == rows.axes.end()) {
      return cell == axes.end() || cell->second == text_of(axis.values.front()) ||
             (axis.tunable && however_tuned);
    }
    if (cell == axes.end()) return false;
    return want->second.how == Rows::Want::How::tried || want->second.how == Rows::Want::How::largest ||
           is_among(cell->second, want->second.values);
  });
}

Picked rows_of(const Rows& rows, const DeviceRows& device, const std::vector<Family>& families) {
  Picked out;
  const Family* family = family_of(families, rows.family);
  if (family == nullptr) return out;
  const auto pick = [&](bool however_tuned) {
    for (const auto& timed : device.timed) {
      if (timed.record->family == rows.family && matches(rows, *family, timed.axes, however_tuned))
        out.push_back(&timed);
    }
  };
  pick(false);
  if (!out.empty()) return out;
  // Another version had other defaults: what it knows is a single value.
  pick(true);
  const bool one_value = std::ranges::all_of(family->axes, [&](const Axis& axis) {
    return !axis.tunable || rows.axes.contains(axis.name) ||
           std::ranges::all_of(out, [&](const Timed* timed) {
             const auto a = timed->axes.find(axis.name), b = out.front()->axes.find(axis.name);
             return a == timed->axes.end() || b == out.front()->axes.end() || a->second == b->second;
           });
  });
  return one_value ? out : Picked();
}

std::vector<const Record*> untimed_of(const Rows& rows, const DeviceRows& device,
                                      const std::vector<Family>& families) {
  std::vector<const Record*> out;
  const Family* family = family_of(families, rows.family);
  for (const auto* record : device.untimed) {
    if (family == nullptr || record->family != rows.family) continue;
    std::map<std::string, std::string> axes;
    for (const auto& [axis, value] : record->axes) {
      if (!value.empty()) axes.emplace(axis, value);
    }
    if (matches(rows, *family, axes)) out.push_back(record);
  }
  return out;
}

std::string cell_of(const Timed& timed, const std::string& axis) {
  const auto it = timed.axes.find(axis);
  return it != timed.axes.end() ? it->second : "";
}

double number_in(const Timed& timed, const std::string& axis) {
  const Value value = value_of(cell_of(timed, axis));
  if (const auto* n = std::get_if<std::int64_t>(&value)) return static_cast<double>(*n);
  if (const auto* x = std::get_if<double>(&value)) return *x;
  return 0;
}

using Cells = std::vector<std::pair<std::string, std::string>>;  // axis, its cell

Cells cells_of(const Timed& timed, const std::vector<std::string>& axes) {
  Cells out;
  for (const auto& axis : axes) out.emplace_back(axis, cell_of(timed, axis));
  return out;
}

// Those with these cells; an axis that a family does not have asks nothing of it.
Picked with_cells(const Picked& all, const Cells& cells) {
  Picked out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const Timed* timed) {
    return std::ranges::all_of(cells, [&](const auto& cell) {
      const auto it = timed->axes.find(cell.first);
      return it == timed->axes.end() || it->second == cell.second;
    });
  });
  return out;
}

std::string text_of_cells(const Cells& cells) {
  std::vector<std::string> parts;
  for (const auto& [axis, cell] : cells) {
    if (axis != timer_axis || cell != "event") parts.push_back(fmt::format("{}={}", axis, cell));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::vector<Cells> different_cells(const Picked& rows, const std::vector<std::string>& axes) {
  std::vector<Cells> out;
  for (const auto* timed : rows) {
    if (Cells cells = cells_of(*timed, axes); std::ranges::find(out, cells) == out.end())
      out.push_back(std::move(cells));
  }
  return out;
}

std::vector<std::string> axes_wanted(const Rows& rows, Rows::Want::How how) {
  std::vector<std::string> out;
  for (const auto& [axis, want] : rows.axes) {
    if (want.how == how) out.push_back(axis);
  }
  return out;
}

// How many of them are what `clweave run --claims` would measure.
double asked_for(const Rows& wanted, const Picked& rows) {
  return static_cast<double>(std::ranges::count_if(rows, [&](const Timed* timed) {
    return std::ranges::all_of(wanted.axes, [&](const auto& axis) {
      return axis.second.how != Rows::Want::How::tried ||
             is_among(cell_of(*timed, axis.first), axis.second.values);
    });
  }));
}

// What both sides have to agree in, best first: the types preferred, of each the sizes and the clock of which
// most rows are there, and of those the largest.
std::vector<Cells> places_of(const Rule& rule, const Picked& of, const Picked& to) {
  const auto preferred = axes_wanted(rule.of, Rows::Want::How::first);
  const auto sized = axes_wanted(rule.of, Rows::Want::How::largest);
  std::vector<std::string> axes = preferred;
  axes.insert(axes.end(), sized.begin(), sized.end());
  axes.emplace_back(timer_axis);
  std::vector<Cells> places = different_cells(of, axes);
  const auto rank = [&](const Cells& cells) {
    std::vector<double> out;
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      const Values& values = rule.of.axes.at(cells[i].first).values;
      const auto it = std::ranges::find(values, cells[i].second, [](const Value& v) { return text_of(v); });
      out.push_back(static_cast<double>(it - values.begin()));
    }
    out.push_back(-asked_for(rule.of, with_cells(of, cells)) - asked_for(rule.to, with_cells(to, cells)));
    for (std::size_t i = preferred.size(); i < cells.size(); ++i) {
      const Value value = value_of(cells[i].second);
      const auto* n = std::get_if<std::int64_t>(&value);
      out.push_back(n != nullptr ? -static_cast<double>(*n) : 0);
    }
    return out;
  };
  std::ranges::stable_sort(places, {}, rank);
  return places;
}

// ---- Numbers ---------------------------------------------------------------------------------------------

Number field_of(const Record& record, const std::string& quantity) {
  for (const auto& column : columns()) {
    const auto* member = std::get_if<Number Record::*>(&column.member);
    if (member != nullptr && column.name == quantity) return record.**member;
  }
  return {};
}

// Seconds, or a rate that is higher when they are fewer.
std::optional<double> value_at(const Timed& timed, const std::string& quantity, Clock clock) {
  const double seconds = clock[timed.index];
  if (quantity == "time") return seconds;
  const Number rate = field_of(*timed.record, quantity);
  if (!rate) return {};
  return *rate * *timed.record->time_s / seconds;
}

// Remembers which rows a number came from.
struct Used {
  std::set<const Timed*> rows;
};

std::optional<double> best(const Picked& rows, const std::string& quantity, Clock clock, Used* used) {
  std::optional<double> out;
  const Timed* from = nullptr;
  for (const auto* timed : rows) {
    const auto value = value_at(*timed, quantity, clock);
    if (!value || (out && (quantity == "time") != (*value < *out))) continue;
    out = value;
    from = timed;
  }
  if (used != nullptr && from != nullptr) used->rows.insert(from);
  return out;
}

// The best at each place along axes: numbers at their product, words at their place in the selection.
using Series = std::vector<std::pair<double, double>>;

double place_along(const Timed& timed, const Rows& wanted, const std::vector<std::string>& along) {
  double place = 1;
  for (const auto& axis : along) {
    const std::string cell = cell_of(timed, axis);
    if (!std::holds_alternative<std::string>(value_of(cell))) {
      place *= number_in(timed, axis);
      continue;
    }
    const auto want = wanted.axes.find(axis);
    if (want == wanted.axes.end()) continue;
    const auto& values = want->second.values;
    place *=
        1 + static_cast<double>(std::ranges::find(values, cell, [](const Value& v) { return text_of(v); }) -
                                values.begin());
  }
  return place;
}

Series series(const Picked& rows, const Rows& wanted, const std::vector<std::string>& along,
              const std::string& quantity, Clock clock, Used* used) {
  std::map<double, Picked> at;
  for (const auto* timed : rows) at[place_along(*timed, wanted, along)].push_back(timed);
  Series out;
  for (const auto& [place, here] : at) {
    if (const auto value = best(here, quantity, clock, used)) out.emplace_back(place, *value);
  }
  return out;
}

// Of the values at places that both have.
Series over(const Series& one, const Series& other) {
  Series out;
  for (const auto& [place, value] : one) {
    const auto it = std::ranges::find(other, place, [](const auto& point) { return point.first; });
    if (it != other.end()) out.emplace_back(place, value / it->second);
  }
  return out;
}

// The rows that decide, at one place and for one value of the axes that are the same on both sides.
struct Sides {
  Picked of, to;
};

// Of how few places a shape can be told: three, or those that the rule names when they are fewer.
std::size_t enough(const Rule& rule) {
  const auto want = rule.of.axes.find(rule.along.front());
  return want == rule.of.axes.end() ? 3 : std::min<std::size_t>(3, want->second.values.size());
}

Series series_of(const Rule& rule, const Sides& sides, Clock clock, Used* used) {
  Series out = series(sides.of, rule.of, rule.along, rule.quantity, clock, used);
  if (rule.to.empty()) return out;
  return over(out, series(sides.to, rule.to, rule.along, rule.quantity_to, clock, used));
}

std::optional<double> reach(const Series& points, double fraction, const std::string& quantity) {
  if (points.size() < 3) return {};
  const bool time = quantity == "time";
  double most = 0;
  for (const auto& [place, value] : points) most = std::max(most, time ? 1 / value : value);
  for (const auto& [place, value] : points) {
    if ((time ? 1 / value : value) >= fraction * most) return place;
  }
  return {};
}

// R^2 of the parabola through time over log2 of the place that leaves the least squares: the normal equations
// of three unknowns by Cramer's rule, about the mean so that they are well conditioned.
std::optional<double> parabola(const Series& points) {
  if (points.size() < 4) return {};
  const auto n = static_cast<double>(points.size());
  double mean_x = 0, mean_y = 0;
  for (const auto& [place, value] : points) mean_x += std::log2(place) / n, mean_y += value / n;
  double s2 = 0, s3 = 0, s4 = 0, ty = 0, txy = 0, txxy = 0;
  for (const auto& [place, value] : points) {
    const double x = std::log2(place) - mean_x, y = value - mean_y;
    s2 += x * x, s3 += x * x * x, s4 += x * x * x * x;
    ty += y * y, txy += x * y, txxy += x * x * y;
  }
  // a + b x + c x^2 with sum x = 0 and sum y = 0, hence a = -c s2 / n.
  const double q = s4 - s2 * s2 / n, determinant = s2 * q - s3 * s3;
  if (determinant <= 0 || ty <= 0) return {};
  const double b = (txy * q - txxy * s3) / determinant, c = (txxy * s2 - txy * s3) / determinant;
  return (b * txy + c * txxy) / ty;
}

// From which place on all values are above 1.
double crossover(const Series& points) {
  double from = HUGE_VAL;
  for (auto it = points.rbegin(); it != points.rend() && it->second > 1; ++it) from = it->first;
  return from;
}

double minima(const Series& points, double depth) {
  double count = 0;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double limit = (1 + depth) * points[i].second;
    count += points[i - 1].second > limit && points[i + 1].second > limit ? 1 : 0;
  }
  return count;
}

std::optional<double> found(const Family& family, const Picked& rows, const DeviceInfo& device, Clock clock,
                            const std::string& name) {
  if (!family.findings) return {};
  for (const auto& finding : family.findings(outcomes_of(family, rows, clock), device)) {
    if (finding.name == name) return finding.value;
  }
  return {};
}

std::optional<double> number_of(const Rule& rule, const Sides& sides, Clock clock, Used* used) {
  const auto points = [&] { return series_of(rule, sides, clock, used); };
  switch (rule.kind) {
    case Rule::Kind::ratio: {
      const auto of = best(sides.of, rule.quantity, clock, used);
      if (!of || rule.to.empty()) return of;
      const auto to = best(sides.to, rule.quantity_to, clock, used);
      if (!to) return {};
      return *of / *to;
    }
    case Rule::Kind::spread: {
      const Series all = points();
      if (all.size() < 2) return {};
      const auto [least, most] =
          std::ranges::minmax_element(all, {}, [](const auto& point) { return point.second; });
      return most->second / least->second;
    }
    case Rule::Kind::trend: {
      const Series all = points();
      if (all.size() < enough(rule)) return {};
      return all.back().second / all.front().second;
    }
    case Rule::Kind::interior: {
      const Series all = points();
      if (all.size() < 3) return {};
      double inside = all[1].second;
      for (std::size_t i = 1; i + 1 < all.size(); ++i) inside = std::min(inside, all[i].second);
      return std::min(all.front().second, all.back().second) / inside;
    }
    case Rule::Kind::parabola: return parabola(points());
    case Rule::Kind::minima: {
      const Series all = points();
      if (all.size() < 8) return {};
      return minima(all, rule.margin);
    }
    case Rule::Kind::reach: {
      const auto of = reach(series(sides.of, rule.of, rule.along, rule.quantity, clock, used), rule.fraction,
                            rule.quantity);
      if (!of || rule.to.empty()) return of;
      const auto to = reach(series(sides.to, rule.to, rule.along, rule.quantity_to, clock, used),
                            rule.fraction, rule.quantity_to);
      if (!to) return {};
      return *of / *to;
    }
    case Rule::Kind::crossover: {
      const Series all = points();  // time of `to` over that of `of`
      if (all.size() < 3) return {};
      Series gain = all;
      for (auto& [place, value] : gain) value = 1 / value;
      return crossover(gain);
    }
    case Rule::Kind::finding: return {};  // needs the family, see judged
  }
  return {};
}

// ---- Verdicts --------------------------------------------------------------------------------------------

// A step against the trend, as a change in its direction: 1 where there is none.
double worst_step(const Series& points, bool rising) {
  double worst = HUGE_VAL;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const double step = points[i + 1].second / points[i].second;
    worst = std::min(worst, rising ? step : 1 / step);
  }
  return worst;
}

// Relative to the first: 1, 1.38, 2.04.
std::string series_text(const Series& points) {
  std::vector<std::string> values;
  for (const auto& [place, value] : points)
    values.push_back(fmt::format("{:.3g}", value / points.front().second));
  return fmt::format("{}", fmt::join(values, ", "));
}

struct Judged {
  Verdict verdict;
  Figure number;
  std::string note;
  Used used;
};

Verdict trend_verdict(const Rule& rule, const Sides& sides, const DeviceRows& device, const Figure& change) {
  const bool rising = rule.is == Rule::Is::above;
  const auto step = figure(device, [&](Clock clock) -> std::optional<double> {
    return worst_step(series_of(rule, sides, clock, nullptr), rising);
  });
  const double least = 1 / (1 + rule.margin);
  const Verdict whole = verdict_of(change, rule);
  if (step->high < least || whole == Verdict::fails) return Verdict::fails;
  return step->low > least ? whole : Verdict::within_noise;
}

// Where the best lies, when a claim says where it should.
Verdict place_verdict(const Rule& rule, const Sides& sides, const DeviceRows& device, Verdict shape) {
  if (text_of(rule.at).empty()) return shape;
  const auto excess = figure(device, [&](Clock clock) -> std::optional<double> {
    std::optional<double> there, least;
    for (const auto* timed : sides.of) {
      const double seconds = clock[timed->index];
      if (!least || seconds < *least) least = seconds;
      if (cell_of(*timed, rule.along.front()) == text_of(rule.at) && (!there || seconds < *there))
        there = seconds;
    }
    if (!there) return {};
    return *there / *least;
  });
  if (!excess || excess->low > 1 + rule.margin) return Verdict::fails;
  return excess->high <= 1 + rule.margin || shape == Verdict::fails ? shape : Verdict::within_noise;
}

std::optional<Judged> judged(const Rule& rule, const Sides& sides, const DeviceRows& device,
                             const std::vector<Family>& families) {
  if (sides.of.empty() || (!rule.to.empty() && sides.to.empty())) return {};
  Judged out{Verdict::not_testable, {}, "", {}};
  const auto number = [&](Clock clock, Used* used) -> std::optional<double> {
    if (rule.kind != Rule::Kind::finding) return number_of(rule, sides, clock, used);
    const Family& family = *family_of(families, rule.of.family);
    const DeviceInfo info = device_of(device);
    const auto of = found(family, sides.of, info, clock, rule.along.front());
    if (used != nullptr) used->rows.insert(sides.of.begin(), sides.of.end());
    if (!of || rule.along.size() < 2) return of;
    const auto to = found(family, sides.of, info, clock, rule.along.back());
    if (!to) return {};
    return *of / *to;
  };
  if (!number(device.clocks.front(), &out.used)) return {};
  out.number = *figure(device, [&](Clock clock) { return number(clock, nullptr); });
  out.verdict = verdict_of(out.number, rule);
  const Series points = series_of(rule, sides, device.clocks.front(), nullptr);
  if (rule.kind == Rule::Kind::trend) {
    out.verdict = trend_verdict(rule, sides, device, out.number);
    out.note = series_text(points);
  }
  if (rule.kind == Rule::Kind::interior) {
    out.verdict = place_verdict(rule, sides, device, out.verdict);
    const auto least = std::ranges::min_element(points, {}, [](const auto& point) { return point.second; });
    out.note = fmt::format("best at {:.0f}", least->first);
  }
  return out;
}

// The side that speaks most against the claim: it must hold on each.
bool is_worse(const Judged& one, const Judged& other, const Rule& rule) {
  const auto rank = [](Verdict v) { return v == Verdict::fails ? 0 : v == Verdict::within_noise ? 1 : 2; };
  if (rank(one.verdict) != rank(other.verdict)) return rank(one.verdict) < rank(other.verdict);
  const auto distance = [&](const Judged& j) {
    const double log = std::log(j.number.value / rule.bound);
    return rule.is == Rule::Is::above ? log : rule.is == Rule::Is::below ? -log : -std::abs(log);
  };
  return distance(one) < distance(other);
}

// Over the axes that are the same on both sides, and over each opponent.
std::optional<Judged> judged_at(const Rule& rule, const Sides& at, const DeviceRows& device,
                                const std::vector<Family>& families) {
  std::optional<Judged> worst;
  for (const auto& cells : different_cells(at.of, rule.same)) {
    const Sides same{with_cells(at.of, cells), with_cells(at.to, cells)};
    const std::vector<std::string> axes =
        rule.each.empty() ? std::vector<std::string>() : std::vector{rule.each};
    const auto opponents = axes.empty() ? std::vector<Cells>(1) : different_cells(same.to, axes);
    for (const auto& opponent : opponents) {
      auto one = judged(rule, {same.of, with_cells(same.to, opponent)}, device, families);
      if (!one) continue;
      Cells named = cells;
      named.insert(named.end(), opponent.begin(), opponent.end());
      if (!named.empty()) one->note = text_of_cells(named) + (one->note.empty() ? "" : ": ") + one->note;
      if (worst) one->used.rows.insert(worst->used.rows.begin(), worst->used.rows.end());
      if (!worst || is_worse(*one, *worst, rule)) {
        worst = std::move(one);
      } else {
        worst->used = one->used;
      }
    }
  }
  return worst;
}

std::string command_of(const Claim& claim, const DeviceRows& device) {
  return fmt::format("clweave run --device \"{}\" --claim {}", device.device, claim.id);
}

// Why there is nothing to decide with: rows that failed, else rows that are not there.
std::string missing(const Claim& claim, const DeviceRows& device, const std::vector<Family>& families) {
  for (const Rows* rows : {&claim.rule->of, &claim.rule->to}) {
    if (rows->empty() || !rows_of(*rows, device, families).empty()) continue;
    for (const auto* record : untimed_of(*rows, device, families))
      return fmt::format("{}: {}", record->status, record->reason);
  }
  return no_rows;
}

std::string exhibit_text(const Claim& claim, const DeviceRows& device, const std::vector<Family>& families) {
  if (claim.exhibit.empty()) return {};
  std::size_t wrong = 0, all = 0;
  std::string first;
  for (const auto* record : untimed_of(claim.exhibit, device, families)) {
    ++all;
    if (record->status != Status::wrong_result) continue;
    if (wrong++ == 0) first = record->reason.substr(0, record->reason.rfind("; first wrong"));
  }
  return all == 0 ? "" : fmt::format("{} of {} rows wrong{}{}", wrong, all, first.empty() ? "" : ": ", first);
}

}  // namespace

Verdict verdict_of(const Figure& number, const Rule& rule) {
  const double wide = 1 + rule.margin;
  switch (rule.is) {
    case Rule::Is::above:
      return number.low > rule.bound * wide    ? Verdict::holds
             : number.high < rule.bound / wide ? Verdict::fails
                                               : Verdict::within_noise;
    case Rule::Is::below:
      return number.high < rule.bound / wide  ? Verdict::holds
             : number.low > rule.bound * wide ? Verdict::fails
                                              : Verdict::within_noise;
    case Rule::Is::equal: break;
  }
  const double low = rule.bound / wide, high = rule.bound * wide;
  if (number.low >= low && number.high <= high) return Verdict::holds;
  return number.high < low || number.low > high ? Verdict::fails : Verdict::within_noise;
}

Ruling ruling_of(const Claim& claim, const DeviceRows& device, const std::vector<Family>& families) {
  Ruling out;
  out.claim = &claim;
  out.exhibit = exhibit_text(claim, device, families);
  if (!claim.rule) {
    out.verdict = claim.untestable.empty() ? Verdict::no_evidence : Verdict::not_testable;
    out.note = claim.untestable;
    if (!claim.exhibit.empty() && out.exhibit.empty()) out.command = command_of(claim, device);
    return out;
  }
  const Rule& rule = *claim.rule;
  const Picked of = rows_of(rule.of, device, families);
  const Picked to = rule.to.empty() ? Picked() : rows_of(rule.to, device, families);
  for (const auto& place : places_of(rule, of, to)) {
    auto decided = judged_at(rule, {with_cells(of, place), with_cells(to, place)}, device, families);
    if (!decided) continue;
    out.verdict = decided->verdict;
    out.number = decided->number;
    out.note = text_of_cells(place);
    if (!decided->note.empty()) out.note += (out.note.empty() ? "" : " ") + decided->note;
    std::vector<const Timed*> used(decided->used.rows.begin(), decided->used.rows.end());
    std::ranges::sort(used, {}, &Timed::index);
    out.runs = SIZE_MAX;
    for (const auto* timed : used) {
      out.cases.push_back(timed->record->case_id);
      out.runs = std::min(out.runs, timed->runs.size());
    }
    return out;
  }
  out.note = missing(claim, device, families);
  out.command = command_of(claim, device);
  return out;
}

std::vector<const Rows*> Claim::selections() const {
  std::vector<const Rows*> out;
  if (rule) {
    out.push_back(&rule->of);
    if (!rule->to.empty()) out.push_back(&rule->to);
  }
  if (!exhibit.empty()) out.push_back(&exhibit);
  return out;
}

// ---- Cases -----------------------------------------------------------------------------------------------

namespace {

using Choice = std::map<std::string, Value>;  // of the axes that depend on the device

Sweep sweep_of(const Rows& rows, const Choice& choice) {
  Sweep out;
  for (const auto& [axis, want] : rows.axes) {
    const auto chosen = choice.find(axis);
    const bool depends = want.how == Rows::Want::How::largest || want.how == Rows::Want::How::first;
    out[axis] = depends && chosen != choice.end() ? Values(chosen->second) : want.values;
  }
  return out;
}

// Every combination, the one to prefer first.
std::vector<Choice> choices_of(const std::vector<const Rows*>& selections) {
  std::map<std::string, Values> preferred, sized;
  for (const auto* rows : selections) {
    for (const auto& [axis, want] : rows->axes) {
      if (want.how == Rows::Want::How::first) preferred[axis] = want.values;
      if (want.how == Rows::Want::How::largest) sized[axis] = want.values;
    }
  }
  for (auto& [axis, values] : sized) {
    std::ranges::sort(values);
    std::ranges::reverse(values);
  }
  std::vector<Choice> out(1);
  for (const auto* axes : {&preferred, &sized}) {
    for (const auto& [axis, values] : *axes) {
      std::vector<Choice> wider;
      for (const auto& choice : out) {
        for (const auto& value : values) {
          wider.push_back(choice);
          wider.back()[axis] = value;
        }
      }
      out = std::move(wider);
    }
  }
  return out;
}

// Whether each selection has a case that the device can do, and none that takes long.
bool suits(const std::vector<const Rows*>& selections, const Choice& choice,
           const std::vector<Family>& families, const DeviceInfo& device) {
  constexpr double longest_s = 1;
  for (const auto* rows : selections) {
    bool any = false;
    for (const auto& at : cases_of(*family_of(families, rows->family), {sweep_of(*rows, choice)}, 0)) {
      try {
        if (estimate(plan_of(*family_of(families, rows->family), at, device), device).seconds > longest_s)
          return false;
        any = true;
      } catch (const Error&) {
        continue;
      }
    }
    if (!any) return false;
  }
  return true;
}

}  // namespace

std::vector<Job> claim_jobs(const std::vector<Claim>& claims, const std::vector<Family>& families,
                            const Selection& wanted, const DeviceInfo& device) {
  std::vector<Family> asked = families;
  for (auto& family : asked) {
    if (family.name != "ceiling" || !wanted.ceilings) family.presets.at(wanted.preset).clear();
  }
  for (const auto& claim : claims) {
    auto selections = claim.selections();
    std::erase_if(selections, [&](const Rows* rows) { return family_of(families, rows->family) == nullptr; });
    // The last choice is of the smallest sizes; a device that cannot do them says so in its rows.
    const auto choices = choices_of(selections);
    auto choice = std::ranges::find_if(
        choices, [&](const Choice& c) { return suits(selections, c, families, device); });
    if (choice == choices.end()) choice = std::prev(choices.end());
    for (const auto* rows : selections) {
      auto& family = *std::ranges::find(asked, rows->family, &Family::name);
      family.presets.at(wanted.preset).push_back(sweep_of(*rows, *choice));
    }
  }
  auto jobs = select_jobs(asked, wanted);
  for (auto& job : jobs) job.family = family_of(families, job.family->name);
  return jobs;
}

}  // namespace clweave
