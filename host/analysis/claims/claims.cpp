// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "base/curve_fit.hpp"
#include "base/stats.hpp"

namespace clweave::claims {

namespace {

const Family* family_of(const std::vector<Family>& families, const std::string& name) {
  const auto it = std::ranges::find(families, name, &Family::name);
  return it != families.end() ? &*it : nullptr;
}

// ---- Which rows ------------------------------------------------------------------------------------------

// 4 and 4.0 are the same number, and a group of 256 is one whether its axis takes numbers or shapes.
bool same(const Value& one, const Value& other) {
  return one.index() == other.index() ? one == other : text_of(one) == text_of(other);
}

bool is_among(const Value& cell, const Values& values) {
  return std::ranges::any_of(values, [&](const Value& value) { return same(value, cell); });
}

// What rows ask of each axis of their family, looked up once for all cases.
class Asked {
 public:
  Asked(const Rows& rows, const Family& family) : native_(!rows.api.empty()) {
    for (const auto& axes : rows.whole()) {
      auto& asked = any_of_.emplace_back();
      for (const auto& axis : family.axes) {
        const auto want = axes.find(axis.name);
        asked.emplace_back(&axis, want != axes.end() ? std::optional(want->second) : std::nullopt);
      }
    }
  }

  // An axis that a row lacks came later than the row; what the row did is its default. That of a native
  // baseline says nothing of its work.
  bool matches(const CaseName& name, bool however_tuned = false) const {
    return std::ranges::any_of(any_of_, [&](const auto& axes) {
      return std::ranges::all_of(axes, [&](const auto& asked) {
        const auto& [axis, want] = asked;
        const Value* cell = name.axis(axis->name);
        if (!want)
          return cell == nullptr || same(*cell, axis->values.front()) || (axis->tunable && however_tuned);
        return cell == nullptr ? native_ : is_among(*cell, want->values);
      });
    });
  }

 private:
  bool native_;
  std::vector<std::vector<std::pair<const Axis*, std::optional<Rows::Want>>>> any_of_;
};

struct Found {
  RowSelection rows;
  bool however_tuned = false;  // of a version with other defaults
};

Found rows_of(const Rows& rows, const DeviceRows& device, const std::vector<Family>& families) {
  RowSelection out;
  const Family* family = family_of(families, rows.family);
  if (family == nullptr) return {};
  const Asked asked(rows, *family);
  if (!rows.api.empty()) {
    std::ranges::copy_if(device.natives, std::back_inserter(out), [&](const Timed* timed) {
      return timed->api == rows.api && timed->family() == rows.family && asked.matches(*timed->name);
    });
    return {out};
  }
  const auto pick = [&](bool however_tuned) {
    for (const auto* timed : device.of(rows.family)) {
      if (asked.matches(*timed->name, however_tuned)) out.push_back(timed);
    }
  };
  pick(false);
  if (!out.empty()) return {out};
  // Another version had other defaults: what it knows is a single value.
  pick(true);
  const bool one_value = std::ranges::all_of(family->axes, [&](const Axis& axis) {
    return !axis.tunable || !rows.values(axis.name).empty() ||
           std::ranges::all_of(out, [&](const Timed* timed) {
             const Value *a = timed->axis(axis.name), *b = out.front()->axis(axis.name);
             return a == nullptr || b == nullptr || *a == *b;
           });
  });
  return one_value ? Found{out, true} : Found();
}

std::vector<const FailedCase*> untimed_of(const Rows& rows, const DeviceRows& device,
                                          const std::vector<Family>& families) {
  std::vector<const FailedCase*> out;
  const Family* family = family_of(families, rows.family);
  if (family == nullptr || !rows.api.empty()) return out;
  const Asked asked(rows, *family);
  for (const auto& untimed : device.results->untimed) {
    if (untimed.name->family == rows.family && asked.matches(*untimed.name)) out.push_back(&untimed);
  }
  return out;
}

Value value_in(const Timed& timed, const std::string& axis) {
  const Value* value = timed.axis(axis);
  return value != nullptr ? *value : Value(std::string());
}

bool is_word(const Value& value) { return std::holds_alternative<std::string>(value); }

// 0 for a word.
double number_in(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return static_cast<double>(*n);
  if (const auto* x = std::get_if<double>(&value)) return *x;
  return 0;
}

using Cells = std::vector<std::pair<std::string, Value>>;  // axis, its cell

// Rows by their cells along some axes. A row that lacks one of these is met by every value of it: an axis
// that a family does not have asks nothing of it.
class ByCells {
 public:
  ByCells(const RowSelection& all, const std::vector<std::string>& axes) {
    for (const auto* timed : all) {
      std::vector<Value> key;
      Cells cells;
      bool whole = true;
      for (const auto& axis : axes) {
        const Value* value = timed->axis(axis);
        whole = whole && value != nullptr;
        cells.emplace_back(axis, value != nullptr ? *value : Value(std::string()));
        key.push_back(cells.back().second);
      }
      if (whole) {
        if (auto& here = whole_[key]; here.push_back(timed), here.size() > 1) continue;
      } else {
        partial_.push_back(timed);
      }
      if (met_.insert(std::move(key)).second) different_.push_back(std::move(cells));
    }
  }

  const std::vector<Cells>& different() const { return different_; }  // in the order met

  // In their order.
  RowSelection at(const Cells& cells) const {
    std::vector<Value> key;
    for (const auto& [axis, value] : cells) key.push_back(value);
    const auto it = whole_.find(key);
    RowSelection out = it != whole_.end() ? it->second : RowSelection();
    for (const auto* timed : partial_) {
      if (std::ranges::all_of(cells, [&](const auto& cell) {
            const Value* value = timed->axis(cell.first);
            return value == nullptr || *value == cell.second;
          }))
        out.push_back(timed);
    }
    if (!partial_.empty()) std::ranges::sort(out, {}, &Timed::index);
    return out;
  }

 private:
  std::map<std::vector<Value>, RowSelection> whole_;
  std::set<std::vector<Value>> met_;
  std::vector<Cells> different_;
  RowSelection partial_;
};

std::string text_of_cells(const Cells& cells) {
  std::vector<std::string> parts;
  for (const auto& [axis, value] : cells) {
    if (axis != timer_axis || value != Value("event"))
      parts.push_back(fmt::format("{}={}", axis, text_of(value)));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::vector<std::string> axes_wanted(const Rows& rows, Rows::Want::How how) {
  std::vector<std::string> out;
  for (const auto& [axis, want] : rows.axes) {
    if (want.how == how) out.push_back(axis);
  }
  return out;
}

// The rows that decide, at one place and for one value of the axes that are the same on both sides.
struct Sides {
  RowSelection of, to, of_before, to_before;
  Cells place = {};
};

using Choice = std::map<std::string, Value>;  // of the axes that depend on the device

std::vector<Sweep> sweeps_of(const Rows& rows, const Choice& choice) {
  std::vector<Sweep> out;
  for (const auto& axes : rows.whole()) {
    Sweep& sweep = out.emplace_back();
    for (const auto& [axis, want] : axes) {
      const auto chosen = choice.find(axis);
      const bool depends = want.how == Rows::Want::How::largest || want.how == Rows::Want::How::first;
      sweep[axis] = depends && chosen != choice.end() ? Values(chosen->second) : want.values;
    }
  }
  return out;
}

// The cases that a side asks for at a place, and which of them have rows.
class Wanted {
 public:
  Wanted(const Rows& rows, const RowSelection& there, bool however_tuned, const Choice& place,
         const DeviceRows& device, const std::vector<Family>& families)
      : rows_(&rows),
        there_(&there),
        however_tuned_(however_tuned),
        family_(family_of(families, rows.family)),
        sweeps_(sweeps_of(rows, place)),
        failed_(untimed_of(rows, device, families)) {}

  // Whether all were run, well or not: a kernel of which some launches are missing was searched less than its
  // rival.
  bool is_whole() const {
    return std::ranges::all_of(cases_of(*family_, sweeps_, 0),
                               [&](const Case& at) { return ran(at) || failed(at); });
  }

  // The first that ran nowhere but too fast to be believed; none. The fastest may be among those.
  const FailedCase* doubted() const {
    for (const auto& at : cases_of(*family_, sweeps_, 0)) {
      if (ran(at)) continue;
      const auto row = std::ranges::find_if(failed_, [&](const FailedCase* one) {
        return one->status == Status::implausible && is_row_of(at, *one->name);
      });
      if (row != failed_.end()) return *row;
    }
    return nullptr;
  }

  // What of the side, by its cells along these axes, has no row however it may be launched. Lanes of other
  // vendors run nowhere else, so what has no others is not missed.
  std::set<std::string> left_out(const std::set<std::string>& along) const {
    std::map<std::string, bool> any;
    const auto whole = rows_->whole();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const auto& at : cases_of(*family_, {sweeps_[i]}, 0)) {
        const bool is_there = ran(at);
        if (is_there || !is_of_a_vendor(at)) any[named(at, whole[i], along)] |= is_there;
      }
    }
    std::set<std::string> out;
    for (const auto& [name, is_there] : any) {
      if (!is_there) out.insert(name);
    }
    return out;
  }

 private:
  bool is_row_of(const Case& at, const CaseName& name) const {
    return std::ranges::all_of(at.axes, [&](const auto& axis) {
      const Value* cell = name.axis(axis.first);
      return cell == nullptr || same(*cell, axis.second) ||
             (however_tuned_ && family_->axis(axis.first)->tunable && rows_->values(axis.first).empty());
    });
  }
  bool ran(const Case& at) const {
    return std::ranges::any_of(*there_, [&](const Timed* timed) { return is_row_of(at, *timed->name); });
  }
  bool failed(const Case& at) const {
    return std::ranges::any_of(failed_, [&](const FailedCase* row) { return is_row_of(at, *row->name); });
  }
  bool is_of_a_vendor(const Case& at) const {
    return family_->uses(at, "subgroup_impl") &&
           (at.is("subgroup_impl", "ptx") || at.is("subgroup_impl", "amd") ||
            at.is("subgroup_impl", "opencl"));
  }
  std::string named(const Case& at, const Rows::Axes& axes, const std::set<std::string>& along) const {
    Cells cells;
    for (const auto& [axis, want] : axes) {
      if (along.contains(axis) && rows_->values(axis).size() > 1) cells.emplace_back(axis, at.at(axis));
    }
    return text_of_cells(cells);
  }

  const Rows* rows_;
  const RowSelection* there_;
  bool however_tuned_;
  const Family* family_;
  std::vector<Sweep> sweeps_;
  std::vector<const FailedCase*> failed_;
};

// What both sides have to agree in, best first: the types preferred, of each the clock of which most rows are
// there, and of those the largest.
std::vector<Sides> places_of(const Rule& rule, const Sides& all) {
  const auto preferred = axes_wanted(rule.of, Rows::Want::How::first);
  const auto sized = axes_wanted(rule.of, Rows::Want::How::largest);
  std::vector<std::string> axes = preferred;
  axes.insert(axes.end(), sized.begin(), sized.end());
  axes.emplace_back(timer_axis);
  const ByCells of(all.of, axes), to(all.to, axes), of_before(all.of_before, axes),
      to_before(all.to_before, axes);
  std::vector<std::pair<std::vector<double>, Sides>> places;
  for (const auto& cells : of.different()) {
    Sides sides{of.at(cells), to.at(cells), of_before.at(cells), to_before.at(cells), cells};
    std::vector<double> rank;
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      const Values& values = rule.of.axes.at(cells[i].first).values;
      const auto it = std::ranges::find_if(values, [&](const Value& v) { return same(v, cells[i].second); });
      rank.push_back(static_cast<double>(it - values.begin()));
    }
    rank.push_back(-static_cast<double>(sides.of.size() + sides.to.size()));
    for (std::size_t i = preferred.size(); i < cells.size(); ++i) {
      const auto* n = std::get_if<std::int64_t>(&cells[i].second);
      rank.push_back(n != nullptr ? -static_cast<double>(*n) : 0);
    }
    places.emplace_back(std::move(rank), std::move(sides));
  }
  std::ranges::stable_sort(
      places, {}, [](const auto& place) -> const auto& { return place.first; });
  std::vector<Sides> out;
  for (auto& place : places) out.push_back(std::move(place.second));
  return out;
}

// ---- Numbers ---------------------------------------------------------------------------------------------

Number rate_of(const RunTime& run, const std::string& quantity) {
  if (quantity == "gb_per_s") return run.gb_per_s;
  if (quantity == "gflop_per_s") return run.gflop_per_s;
  if (quantity == "gitems_per_s") return run.gitems_per_s;
  return {};
}

// What does not depend on the time.
Number counted_of(const Timed& timed, const std::string& quantity, Resample clock) {
  if (quantity == "value") return clock.counted(timed);
  const Value* cell = timed.at != nullptr ? timed.at->cell(quantity) : nullptr;
  return cell != nullptr && !is_word(*cell) ? Number(number_in(*cell)) : Number();
}

// Seconds, or a rate that is higher when they are fewer, or a count.
std::optional<double> value_at(const Timed& timed, const std::string& quantity, Resample clock) {
  const double seconds = clock[timed.index];
  if (quantity == "time") return seconds;
  if (quantity == "fraction_of_peak") return clock.fraction_of_peak(timed);
  const Number rate = rate_of(*timed.any, quantity);
  if (!rate) return counted_of(timed, quantity, clock);
  return *rate * timed.any->time_s / seconds;
}

// Remembers which rows a number came from.
struct Used {
  std::set<const Timed*> rows;
};

std::optional<double> best(const RowSelection& rows, const std::string& quantity, Resample clock,
                           Used* used) {
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

// The best at each place along axes. Numbers are their own place, words have theirs in the selection.
using Series = std::vector<std::pair<double, double>>;

double place_along(const Timed& timed, const Rows& wanted, const std::string& axis) {
  const Value* cell = timed.axis(axis);
  if (cell != nullptr && !is_word(*cell)) return number_in(*cell);
  const Values values = wanted.values(axis);
  return 1 +
         static_cast<double>(std::ranges::find(values, cell != nullptr ? *cell : Value("")) - values.begin());
}

// Of several axes the product.
double place_along(const Timed& timed, const Rows& wanted, const Rule& rule) {
  double place = 1;
  for (const auto& axis : rule.along) place *= place_along(timed, wanted, axis);
  return place;
}

Series series(const RowSelection& rows, const Rows& wanted, const Rule& rule, const std::string& quantity,
              Resample clock, Used* used) {
  std::map<double, RowSelection> at;
  for (const auto* timed : rows) at[place_along(*timed, wanted, rule)].push_back(timed);
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

// Of how few places a shape can be told: three, or those that the rule names when they are fewer; steps of
// all that it names, as each is said to be one.
std::size_t enough(const Rule& rule) {
  const std::size_t named = rule.of.values(rule.along.front()).size();
  if (named == 0) return 3;
  return rule.kind == Rule::Kind::step ? named : std::min<std::size_t>(3, named);
}

Series series_of(const Rule& rule, const Sides& sides, Resample clock, Used* used) {
  Series out = series(sides.of, rule.of, rule, rule.quantity, clock, used);
  if (rule.to.empty()) return out;
  return over(out, series(sides.to, rule.to, rule, rule.quantity_to, clock, used));
}

// By place; of times what they are inverse to.
Rates rates_of(const Series& points, const std::string& quantity) {
  Rates out;
  for (const auto& [place, value] : points) out[place] = quantity == "time" ? 1 / value : value;
  return out;
}

Rates rates_along(const Rule& rule, const RowSelection& rows, const Rows& wanted, const std::string& quantity,
                  Resample clock, Used* used) {
  return rates_of(series(rows, wanted, rule, quantity, clock, used), quantity);
}

double plateau_of(const Rates& rates) {
  return std::ranges::max_element(rates, {}, &Rates::value_type::second)->second;
}

// The place of a rate, where there are enough for a curve. None where the first place has it: fewer might
// have.
std::optional<double> reach(const Rates& rates, double rate) {
  const auto there = rates.size() < 3 ? std::nullopt : where_reached(rates, rate);
  return there && there->below.first > 0 ? std::optional(there->at) : std::nullopt;
}

// Where the plateau begins. None where the last place alone is on it: what still rises has not reached one.
std::optional<double> plateau_begins(const Rates& rates, double fraction) {
  const double rate = fraction * plateau_of(rates);
  const auto there = where_reached(rates, rate);
  return there && there->from.first < rates.rbegin()->first ? reach(rates, rate) : std::nullopt;
}

// The rate at which two sides are compared is of the lower plateau: what reaches half as much with as few is
// not as good.
double rate_for_both(const Rates& of, const Rates& to, double fraction) {
  return fraction * std::min(plateau_of(of), plateau_of(to));
}

// Of both sides the places of one rate.
std::optional<double> reach_over(const Rates& of, const Rates& to, double fraction) {
  if (of.empty() || to.empty()) return {};
  const double rate = rate_for_both(of, to, fraction);
  const auto place = reach(of, rate), other = reach(to, rate);
  if (!place || !other) return {};
  return *place / *other;
}

// What lies at a place between two others; none where these do not enclose it.
std::optional<double> between(const Series& points, double place) {
  const auto above = std::ranges::find_if(points, [&](const auto& point) { return point.first > place; });
  if (above == points.begin() || above == points.end()) return {};
  const auto below = std::prev(above);
  const double part = std::log(place / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, part);
}

// A step against the trend, as a change in its direction: 1 where there is none.
double worst_step(const Series& points, bool rising) {
  double worst = HUGE_VAL;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const double step = points[i + 1].second / points[i].second;
    worst = std::min(worst, rising ? step : 1 / step);
  }
  return worst;
}

// The parabola through time over log2 of the place that leaves the least squares.
struct Parabola {
  double r_squared = 0;
  std::optional<double> least;  // the place of its least time; none where it has a greatest, or is a line
};

// By the normal equations of three unknowns and Cramer's rule, about the mean so that they are well
// conditioned.
std::optional<Parabola> parabola(const Series& points) {
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
  Parabola out{(b * txy + c * txxy) / ty, {}};
  if (c > 0) out.least = std::exp2(mean_x - b / (2 * c));
  return out;
}

// Time at the better end over the least between the ends.
std::optional<double> dip(const Series& points) {
  if (points.size() < 3) return {};
  double least = points[1].second;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) least = std::min(least, points[i].second);
  return std::min(points.front().second, points.back().second) / least;
}

// ---- Valleys ---------------------------------------------------------------------------------------------

// Along the last axis by which rows differ, a series for each value of the others.
std::vector<Series> slices(const Rule& rule, const Sides& sides, Resample clock, Used* used) {
  std::vector<Series> out;
  Rule along_last = rule;
  while (along_last.along.size() > 1 && std::ranges::all_of(sides.of, [&](const Timed* timed) {
           return value_in(*timed, along_last.along.back()) ==
                  value_in(*sides.of.front(), along_last.along.back());
         }))
    along_last.along.pop_back();
  const ByCells by_others(sides.of, {along_last.along.begin(), along_last.along.end() - 1});
  along_last.along = {along_last.along.back()};
  for (const auto& cells : by_others.different())
    out.push_back(series(by_others.at(cells), rule.of, along_last, rule.quantity, clock, used));
  return out;
}

// The standard deviation of what neighbours differ by at random, of the logarithm: by the median of second
// differences, which a smooth curve has hardly any of.
double roughness(const std::vector<Series>& all) {
  constexpr double of_median = 0.6745, of_second_difference = 2.449;  // of a normal one; root of 1 + 4 + 1
  std::vector<double> bends;
  for (const auto& points : all) {
    for (std::size_t i = 1; i + 1 < points.size(); ++i)
      bends.push_back(std::abs(
          std::log(points[i - 1].second * points[i + 1].second / (points[i].second * points[i].second))));
  }
  return bends.empty() ? 0 : median(bends) / (of_median * of_second_difference);
}

// Without what one neighbour alone does.
Series smoothed(const Series& points) {
  Series out = points;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double a = points[i - 1].second, b = points[i].second, c = points[i + 1].second;
    out[i].second = std::max(std::min(a, b), std::min(std::max(a, b), c));
  }
  return out;
}

// Places from which it goes up to both sides by the factor `depth`, before it goes lower.
std::size_t valleys(const Series& points, double depth) {
  std::size_t count = 0;
  bool down = false;
  double most = 0, least = 0;  // on the way up, and down
  for (const auto& [place, value] : points) {
    if (!down) {
      most = std::max(most, value);
      if (depth * value >= most) continue;
      down = true;
      least = value;
    } else {
      least = std::min(least, value);
      if (value <= depth * least) continue;
      down = false;
      most = value;
      ++count;
    }
  }
  return count;
}

// Those deeper than the margin; and deeper than what noise makes of a level, whose range over some dozens of
// places is hardly ever six standard deviations.
Number minima(const Rule& rule, const Sides& sides, Resample clock, Used* used, bool beyond_noise) {
  constexpr double range_of_noise = 6;
  const auto all = slices(rule, sides, clock, used);
  double depth = 1 + rule.margin;
  if (beyond_noise) depth = std::max(depth, std::exp(range_of_noise * roughness(all)));
  std::size_t places = 0, count = 0;
  for (const auto& points : all) {
    places += points.size();
    count += valleys(beyond_noise ? smoothed(points) : points, depth);
  }
  if (places < 8) return {};
  return static_cast<double>(count);
}

// How much faster `of` is than `of_before`, over the same of `to`.
std::optional<double> gain(const Rule& rule, const Sides& sides, Resample clock, Used* used) {
  const auto rate = [&](const RowSelection& rows) -> Number {
    const auto value = best(rows, rule.quantity, clock, used);
    return value && rule.quantity == "time" ? 1 / *value : value;
  };
  const auto of = rate(sides.of), to = rate(sides.to), of_before = rate(sides.of_before),
             to_before = rate(sides.to_before);
  if (!of || !to || !of_before || !to_before) return {};
  return *of / *of_before / (*to / *to_before);
}

struct Along {
  double value;
  Cells where;
  Used used;
};

// The best at each combination of what lies along the axes, over the same of `to`.
std::vector<Along> bests_along(const Rule& rule, const Sides& sides, Resample clock) {
  const ByCells of(sides.of, rule.along), to(sides.to, rule.along);
  std::vector<Along> out;
  for (const auto& cells : of.different()) {
    Used here;
    auto value = best(of.at(cells), rule.quantity, clock, &here);
    if (value && !rule.to.empty()) {
      const auto other = best(to.at(cells), rule.quantity_to, clock, &here);
      value = other ? std::optional(*value / *other) : std::nullopt;
    }
    if (value) out.push_back({*value, cells, std::move(here)});
  }
  return out;
}

std::optional<Along> most(const Rule& rule, const Sides& sides, Resample clock) {
  auto all = bests_along(rule, sides, clock);
  if (all.empty()) return {};
  return std::move(*std::ranges::max_element(all, {}, &Along::value));
}

// What a place taken at random loses to the fastest, on average.
std::optional<double> searched(const Rule& rule, const Sides& sides, Resample clock, Used* used) {
  constexpr std::size_t enough_places = 8;
  const auto all = bests_along(rule, sides, clock);
  if (all.size() < enough_places) return {};
  double sum = 0;
  for (const auto& each : all) {
    sum += each.value;
    if (used != nullptr) used->rows.insert(each.used.rows.begin(), each.used.rows.end());
  }
  return sum / static_cast<double>(all.size()) / std::ranges::min_element(all, {}, &Along::value)->value;
}

std::optional<double> number_of(const Rule& rule, const Sides& sides, Resample clock, Used* used) {
  const auto points = [&] { return series_of(rule, sides, clock, used); };
  switch (rule.kind) {
    case Rule::Kind::ratio: {
      const auto of = best(sides.of, rule.quantity, clock, used);
      if (!of || rule.to.empty()) return of;
      const auto to = best(sides.to, rule.quantity_to, clock, used);
      if (!to) return {};
      return rule.times * *of / *to;
    }
    case Rule::Kind::gain: return gain(rule, sides, clock, used);
    case Rule::Kind::spread: {
      const auto all = bests_along(rule, sides, clock);
      if (all.size() < 2) return {};
      if (used != nullptr) {
        for (const auto& each : all) used->rows.insert(each.used.rows.begin(), each.used.rows.end());
      }
      const auto [least, most] = std::ranges::minmax_element(all, {}, &Along::value);
      return most->value / least->value;
    }
    case Rule::Kind::most: {
      const auto all = most(rule, sides, clock);
      if (all && used != nullptr) *used = all->used;
      return all ? std::optional(all->value) : std::nullopt;
    }
    case Rule::Kind::search: return searched(rule, sides, clock, used);
    case Rule::Kind::trend: {
      const Series all = points();
      if (all.size() < enough(rule)) return {};
      return all.back().second / all.front().second;
    }
    case Rule::Kind::step: {
      const Series all = points();
      if (all.size() < enough(rule)) return {};
      const bool rising = rule.is != Rule::Is::below;
      const double worst = worst_step(all, rising);
      return rising ? worst : 1 / worst;
    }
    case Rule::Kind::between: {
      const Series of = series(sides.of, rule.of, rule, rule.quantity, clock, used);
      if (of.empty()) return {};
      const auto to =
          between(series(sides.to, rule.to, rule, rule.quantity_to, clock, used), of.front().first);
      if (!to) return {};
      return of.front().second / *to;
    }
    case Rule::Kind::little: {
      const Series of = series(sides.of, rule.of, rule, rule.quantity, clock, used);
      if (of.empty()) return {};
      const Rates rates = rates_of(of, rule.quantity);
      const auto reached = plateau_begins(rates, rule.fraction);
      const auto best_of_all = best(sides.to, rule.quantity_to, clock, used);
      if (!reached || !best_of_all) return {};
      return *reached / (of.front().first * *best_of_all / of.front().second);
    }
    case Rule::Kind::interior: return dip(points());
    case Rule::Kind::parabola: {
      const auto curve = parabola(points());
      return curve ? std::optional(curve->r_squared) : std::nullopt;
    }
    case Rule::Kind::minima: return minima(rule, sides, clock, used, true);
    case Rule::Kind::reach: {
      const Rates of = rates_along(rule, sides.of, rule.of, rule.quantity, clock, used);
      if (of.empty()) return {};
      if (rule.to.empty()) return plateau_begins(of, rule.fraction);
      const Rates to = rates_along(rule, sides.to, rule.to, rule.quantity_to, clock, used);
      return reach_over(of, to, rule.fraction);
    }
    case Rule::Kind::finding: return {};  // needs the family, see judged
  }
  return {};
}

// By how much lower and higher a number of `reach` or `little` may be, as the curve between two measured
// places is not known: factors, at most 1 and at least 1.
std::pair<double, double> bend(const Rule& rule, const Sides& sides, Resample clock) {
  const auto share = [](const Rates& rates, double rate) {
    const auto there = where_reached(rates, rate);
    return there ? there->at_least / there->at : 1;
  };
  const Rates of = rates_along(rule, sides.of, rule.of, rule.quantity, clock, nullptr);
  if (rule.kind == Rule::Kind::little || rule.to.empty())
    return {share(of, rule.fraction * plateau_of(of)), 1};
  const Rates to = rates_along(rule, sides.to, rule.to, rule.quantity_to, clock, nullptr);
  const double rate = rate_for_both(of, to, rule.fraction);
  return {share(of, rate), 1 / share(to, rate)};
}

// The values of which a number is the extreme, or the extremes; none of other kinds.
std::vector<double> values_of_extreme(const Rule& rule, const Sides& sides, Resample clock) {
  std::vector<double> out;
  if (rule.kind == Rule::Kind::spread || rule.kind == Rule::Kind::most) {
    for (const auto& each : bests_along(rule, sides, clock)) out.push_back(each.value);
  } else if (rule.kind == Rule::Kind::step) {
    const Series points = series_of(rule, sides, clock, nullptr);
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      out.push_back(points[i + 1].second / points[i].second);
  }
  return out;
}

// An extreme of several values is too far out by noise alone: by what factor a draw, which differs from what
// was measured as that differs from the truth, moves it where all are equal. At least 1.
double selection_bias(const Rule& rule, const std::vector<double>& measured,
                      const std::vector<double>& drawn) {
  double least = 1, most = 1;
  for (std::size_t i = 0; i < std::min(measured.size(), drawn.size()); ++i) {
    least = std::min(least, drawn[i] / measured[i]);
    most = std::max(most, drawn[i] / measured[i]);
  }
  if (rule.kind == Rule::Kind::spread) return most / least;
  return rule.kind == Rule::Kind::most || rule.is == Rule::Is::below ? most : 1 / least;
}

// ---- Verdicts --------------------------------------------------------------------------------------------

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
  Cells where;  // along the rule's axes, of a number that lies somewhere
};

Verdict trend_verdict(const Rule& rule, const Sides& sides, const DeviceRows& device, const Figure& change) {
  const bool rising = rule.is == Rule::Is::above;
  const auto step = estimate(device, [&](Resample clock) -> std::optional<double> {
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
  const auto excess = estimate(device, [&](Resample clock) -> std::optional<double> {
    std::optional<double> there, least;
    for (const auto* timed : sides.of) {
      const double seconds = clock[timed->index];
      if (!least || seconds < *least) least = seconds;
      if (same(value_in(*timed, rule.along.front()), rule.at) && (!there || seconds < *there))
        there = seconds;
    }
    if (!there) return {};
    return *there / *least;
  });
  if (!excess || excess->low > 1 + rule.margin) return Verdict::fails;
  return excess->high <= 1 + rule.margin || shape == Verdict::fails ? shape : Verdict::within_noise;
}

// Half a parabola fits a time that only falls: it must rise again before the end.
Verdict parabola_verdict(const Rule& rule, const Sides& sides, const DeviceRows& device, Verdict fit) {
  const auto within =
      estimate(device, [&](Resample clock) -> Number { return dip(series_of(rule, sides, clock, nullptr)); });
  const double least = 1 + rule.margin;
  if (!within || within->high <= least) return Verdict::fails;
  return within->low > least || fit == Verdict::fails ? fit : Verdict::within_noise;
}

// Where places are asked for at which rates are reached, and those that were measured do not tell: why.
std::optional<std::string> unseen(const Rule& rule, const Sides& sides, Resample clock) {
  if (rule.kind != Rule::Kind::little && rule.kind != Rule::Kind::reach) return {};
  const Rates of = rates_along(rule, sides.of, rule.of, rule.quantity, clock, nullptr);
  if (of.size() < 3) return {};
  const std::string& axis = rule.along.front();
  const auto already = [&](const Rates& rates, double rate) -> std::optional<std::string> {
    const auto there = where_reached(rates, rate);
    if (!there || there->below.first > 0) return {};
    return fmt::format("{}={} has the rate already: fewer may have it, too", axis, there->from.first);
  };
  if (rule.kind == Rule::Kind::reach && !rule.to.empty()) {
    const Rates to = rates_along(rule, sides.to, rule.to, rule.quantity_to, clock, nullptr);
    if (to.size() < 3) return {};
    const double rate = rate_for_both(of, to, rule.fraction);
    auto first = already(of, rate);
    return first ? first : already(to, rate);
  }
  for (const double fraction : rule.fractions.empty() ? std::vector{rule.fraction} : rule.fractions) {
    const double rate = fraction * plateau_of(of);
    if (auto first = already(of, rate)) return first;
    if (!plateau_begins(of, fraction))
      return fmt::format("no plateau is seen: at {}={} it may still rise", axis, of.rbegin()->first);
  }
  return {};
}

// The fastest of many launches is fast by luck, too, and of more by more: by what factor a draw moves the
// fastest, or the ratio of both sides' fastest, where a side's launches are equal, as far as those of this
// draw tell them apart.
double luck_of_bests(const Rule& rule, const Sides& sides, Resample measured, Resample drawn) {
  const auto fastest = [&](const RowSelection& rows, const std::string& quantity) {
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
    if (launches.empty()) return 1.0;
    const double best = std::ranges::min(launches, {}, &Launch::slow).slow;
    const auto [least, most] = std::ranges::minmax(launches, {}, &Launch::moved);
    double out = HUGE_VAL;
    for (const auto& launch : launches) {
      if (launch.slow <= best * (most.moved / least.moved)) out = std::min(out, launch.moved);
    }
    return out;
  };
  const double slower = fastest(sides.of, rule.quantity) / fastest(sides.to, rule.quantity_to);
  return rule.quantity == "time" ? slower : 1 / slower;
}

// The interval that the draws of a number have, and what else is not known: between places, and by noise
// alone.
Figure widened(const Rule& rule, const Sides& sides, const DeviceRows& device, Figure number) {
  const bool of_curves = rule.kind == Rule::Kind::reach || rule.kind == Rule::Kind::little;
  const auto bent = [&](const Rule& by, const Figure& figure) {
    const auto [lower, higher] = bend(by, sides, device.measured());
    return Figure{figure.value, figure.low * lower, figure.high * higher};
  };
  if (of_curves) number = bent(rule, number);
  for (const double fraction : rule.fractions) {
    Rule there = rule;
    there.fraction = fraction;
    auto other = estimate(device, [&](Resample clock) { return number_of(there, sides, clock, nullptr); });
    if (!other) continue;
    if (of_curves) other = bent(there, *other);
    number.low = std::min(number.low, other->low);
    number.high = std::max(number.high, other->high);
  }
  // The largest of several is no larger than it seems, the least no smaller.
  if (const auto extremes = values_of_extreme(rule, sides, device.measured()); !extremes.empty()) {
    const double by_luck = estimate(device, [&](Resample clock) -> Number {
                             return selection_bias(rule, extremes, values_of_extreme(rule, sides, clock));
                           })->high;
    if (rule.kind == Rule::Kind::step && rule.is != Rule::Is::below) {
      number.high = std::max(number.high, number.value * by_luck);
    } else {
      number.low = std::min(number.low, number.value / by_luck);
    }
  }
  static const std::set<std::string> of_time = {"time", "gb_per_s", "gflop_per_s", "gitems_per_s",
                                                "fraction_of_peak"};
  const bool chooses = sides.of.size() > 1 || sides.to.size() > 1;
  if (rule.kind == Rule::Kind::ratio && chooses && of_time.contains(rule.quantity) &&
      of_time.contains(rule.quantity_to)) {
    const auto by_luck = estimate(device, [&](Resample clock) -> Number {
      return luck_of_bests(rule, sides, device.measured(), clock);
    });
    number.low = std::min(number.low, number.value / by_luck->high);
    number.high = std::max(number.high, number.value / by_luck->low);
  }
  // Valleys that noise might be are not there, but might be.
  if (rule.kind == Rule::Kind::minima) {
    const auto perhaps =
        estimate(device, [&](Resample clock) { return minima(rule, sides, clock, nullptr, false); });
    number.high = std::max(number.high, perhaps->high);
  }
  // The fastest of some dozens of equal places is hardly ever more than three standard deviations faster by
  // chance.
  if (rule.kind == Rule::Kind::search)
    number.low /= std::exp(3 * roughness(slices(rule, sides, device.measured(), nullptr)));
  return number;
}

std::optional<Judged> judged(const Rule& rule, const Sides& sides, const DeviceRows& device,
                             const std::vector<Family>& families) {
  if (sides.of.empty() || (!rule.to.empty() && sides.to.empty())) return {};
  Judged out{Verdict::not_testable, {}, "", {}, {}};
  if (const auto why = unseen(rule, sides, device.measured())) {
    out.verdict = Verdict::undecided;
    out.note = *why;
    return out;
  }
  std::optional<Conclusions> conclusions;
  if (rule.kind == Rule::Kind::finding)
    conclusions.emplace(*family_of(families, rule.of.family), sides.of, device);
  const auto number = [&](Resample clock, Used* used) -> std::optional<double> {
    if (!conclusions) return number_of(rule, sides, clock, used);
    if (used != nullptr) used->rows.insert(sides.of.begin(), sides.of.end());
    const Finding* of = conclusions->find(rule.along.front(), clock);
    const Finding* to = conclusions->find(rule.along.back(), clock);
    if (of == nullptr || !of->value || rule.along.size() < 2) return of != nullptr ? of->value : Number();
    if (to == nullptr || !to->value) return {};
    return *of->value / *to->value;
  };
  if (!number(device.measured(), &out.used)) {
    const Finding* of = conclusions ? conclusions->find(rule.along.front(), device.measured()) : nullptr;
    if (of == nullptr || of->value) return {};
    out.verdict = Verdict::undecided;  // the family saw its rows, and says why they do not tell
    out.note = of->text;
    return out;
  }
  out.number =
      widened(rule, sides, device, *estimate(device, [&](Resample clock) { return number(clock, nullptr); }));
  out.verdict = verdict_of(out.number, rule);
  const Series points = series_of(rule, sides, device.measured(), nullptr);
  if (rule.kind == Rule::Kind::trend) {
    out.verdict = trend_verdict(rule, sides, device, out.number);
    out.note = series_text(points);
  }
  if (rule.kind == Rule::Kind::step) out.note = series_text(points);
  if (rule.kind == Rule::Kind::most) out.where = most(rule, sides, device.measured())->where;
  if (rule.kind == Rule::Kind::interior) {
    out.verdict = place_verdict(rule, sides, device, out.verdict);
    const auto least = std::ranges::min_element(points, {}, [](const auto& point) { return point.second; });
    out.note = fmt::format("best at {:.0f}", least->first);
  }
  if (rule.kind == Rule::Kind::parabola) {
    out.verdict = parabola_verdict(rule, sides, device, out.verdict);
    const auto curve = parabola(points);
    out.note = curve && curve->least ? fmt::format("least at {:.0f}", *curve->least) : "no least";
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
  const ByCells of(at.of, rule.same), to(at.to, rule.same), of_before(at.of_before, rule.same),
      to_before(at.to_before, rule.same);
  for (const auto& cells : of.different()) {
    const Sides sides{of.at(cells), to.at(cells), of_before.at(cells), to_before.at(cells)};
    const ByCells opposed(sides.to, rule.each), opposed_before(sides.to_before, rule.each);
    const auto opponents = rule.each.empty() ? std::vector<Cells>(1) : opposed.different();
    for (const auto& opponent : opponents) {
      auto one = judged(rule, {sides.of, opposed.at(opponent), sides.of_before, opposed_before.at(opponent)},
                        device, families);
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

std::string command_of(const Claim& claim, const DeviceRows& device, const std::string& more = "") {
  return fmt::format("clweave run --device \"{}\" --claim {}{}", device.results->name, claim.id, more);
}

constexpr std::array<Rows Rule::*, 4> all_sides = {&Rule::of, &Rule::to, &Rule::of_before, &Rule::to_before};

bool has_natives(const Rule& rule, std::string_view api = {}) {
  return std::ranges::any_of(all_sides, [&](const auto side) {
    const std::string& its = (rule.*side).api;
    return api.empty() ? !its.empty() : its == api;
  });
}

bool has_cuda(const std::string& platform) { return platform.find("NVIDIA") != std::string::npos; }

// How many of its axes are not at their defaults.
std::ptrdiff_t chosen_axes(const CaseName& name, const std::vector<Family>& families) {
  const Family* family = family_of(families, name.family);
  if (family == nullptr) return 0;
  return std::ranges::count_if(family->axes, [&](const Axis& axis) {
    const Value* value = name.axis(axis.name);
    return value != nullptr && !same(*value, axis.values.front());
  });
}

// Why there is nothing to decide with: rows that cannot be, else rows that failed, first of a side that has
// no others, or are not there. Of several the plainest: that a device lacks one vendor's lanes says less
// than why the portable ones failed.
std::string missing(const Rule& rule, bool incomplete, const DeviceRows& device,
                    const std::vector<Family>& families) {
  std::vector<const Rows*> empty, some;
  for (const auto side : all_sides) {
    const Rows& rows = rule.*side;
    if (!rows.empty()) (rows_of(rows, device, families).rows.empty() ? empty : some).push_back(&rows);
  }
  if (!has_cuda(device.results->platform) &&
      std::ranges::any_of(empty, [](const Rows* rows) { return rows->api == "cuda"; }))
    return "CUDA runs on devices of NVIDIA alone";
  if (incomplete) return no_rows;
  for (const auto* rows : empty.empty() ? some : empty) {
    const auto failed = untimed_of(*rows, device, families);
    const auto plainest = std::ranges::min_element(
        failed, {}, [&](const FailedCase* row) { return chosen_axes(*row->name, families); });
    if (plainest != failed.end()) return fmt::format("{}: {}", (*plainest)->status, (*plainest)->reason);
  }
  return no_rows;
}

std::string known_incorrect_text(const Claim& claim, const DeviceRows& device,
                                 const std::vector<Family>& families) {
  if (claim.known_incorrect.empty()) return {};
  std::size_t wrong = 0, all = 0;
  std::string first;
  for (const auto* row : untimed_of(claim.known_incorrect, device, families)) {
    ++all;
    if (row->status != Status::wrong_result) continue;
    if (wrong++ == 0) first = row->reason.substr(0, row->reason.rfind("; first wrong"));
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

namespace {

// What all of the rows have in common, of the axes that a rule names and of those that say what is done.
std::string shared_cells(const Rule& rule, const std::vector<const Timed*>& rows, const Cells& place) {
  std::vector<std::string> axes = {"type", "n"};
  for (const auto side : all_sides) {
    for (const auto& each : (rule.*side).whole()) {
      for (const auto& [axis, want] : each) {
        if (std::ranges::find(axes, axis) == axes.end()) axes.push_back(axis);
      }
    }
  }
  Cells shared;
  for (const auto& axis : axes) {
    if (std::ranges::find(place, axis, [](const auto& cell) { return cell.first; }) != place.end()) continue;
    const Value first = value_in(*rows.front(), axis);
    if (text_of(first).empty() ||
        std::ranges::any_of(rows, [&](const Timed* timed) { return value_in(*timed, axis) != first; }))
      continue;
    shared.emplace_back(axis, first);
  }
  return text_of_cells(shared);
}

// A set a little larger than a cache still finds much of itself there.
bool beats_memory(const Timed& timed, const DeviceRows& device) {
  constexpr double markedly = 1.1;
  return of_memory(timed.any->peak) && device.measured().fraction_of_peak(timed).value_or(0) > markedly;
}

std::string joined(std::vector<std::string> parts) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, " "));
}

// The largest size that the rule lists, where the rows are of a smaller one.
std::string larger_than(const Cells& place, const Rule& rule) {
  for (const auto& [axis, cell] : place) {
    const auto want = rule.of.axes.find(axis);
    if (want == rule.of.axes.end() || want->second.how != Rows::Want::How::largest) continue;
    const Value most = std::ranges::max(want->second.values, {}, number_in);
    if (number_in(cell) < number_in(most)) return fmt::format(" --set {}={}", axis, text_of(most));
  }
  return {};
}

// The first of the rows that is faster than memory was found to be; none where the rule is not about memory.
const Timed* beyond_memory_of(const Rule& rule, const std::vector<const Timed*>& used,
                              const DeviceRows& device) {
  if (!rule.memory) return nullptr;
  const auto fast =
      std::ranges::find_if(used, [&](const Timed* timed) { return beats_memory(*timed, device); });
  return fast != used.end() ? *fast : nullptr;
}

// What could not take part in a decision. As published every launch is one of its own, but for how its items
// tell each other; at its best a kernel has several, of which the fastest counts.
std::string without_text(const Decision& decision, const std::vector<Wanted>& wanted) {
  const Rule& rule = decision.rule;
  std::set<std::string> along = {"kernel"};
  for (const auto* axes : {&rule.each, &rule.same, &rule.along}) along.insert(axes->begin(), axes->end());
  if (decision.setting == Setting::as_published) {
    for (const auto side : all_sides) {
      for (const auto& axes : (rule.*side).whole()) {
        for (const auto& [axis, want] : axes) {
          if (want.how == Rows::Want::How::one_of) along.insert(axis);
        }
      }
    }
    for (const char* how : {"subgroup_impl", "registers"}) along.erase(how);
  }
  std::set<std::string> out;
  for (const auto& side : wanted) out.merge(side.left_out(along));
  if (out.empty()) return {};
  return fmt::format("without {}{}, which cannot run here", *out.begin(),
                     out.size() > 1 ? fmt::format(" and {} more", out.size() - 1) : "");
}

// Whether launches were so many groups per compute unit of a GPU that its driver calls one unit. Drivers that
// stand on another interface say so of any GPU, and such launches fill next to nothing of it. None per unit
// are as many as there is work for, but of sam.
bool is_of_one_unit(const Sides& sides, const DeviceRows& device, const std::vector<Family>& families) {
  if (device.results->type != "gpu" || device.results->compute_units != 1) return false;
  return std::ranges::any_of(std::array{&sides.of, &sides.to, &sides.of_before, &sides.to_before},
                             [&](const RowSelection* rows) {
                               return std::ranges::any_of(*rows, [&](const Timed* timed) {
                                 const Family& family = *family_of(families, timed->family());
                                 const auto at = case_of(family, *timed->name);
                                 return at && family.uses(*at, "groups_per_cu") &&
                                        (at->number("groups_per_cu") > 0 || at->is("kernel", "sam"));
                               });
                             });
}

// Why rows that are all there and would decide do not: the fastest may be another, or the launches are not of
// the device's size. Empty: they do.
std::string void_by(const std::vector<Wanted>& wanted, const Sides& sides, const DeviceRows& device,
                    const std::vector<Family>& families) {
  for (const auto& side : wanted) {
    if (const FailedCase* row = side.doubted())
      return fmt::format("the fastest may be a launch that is implausible: {} ({})", row->reason,
                         row->name->id);
  }
  return is_of_one_unit(sides, device, families) ? one_unit : "";
}

// A ruling by the rows used at a place.
void conclude(Ruling& out, const Judged& judged, const Cells& place, const std::vector<const Timed*>& used,
              const std::string& without, const DeviceRows& device) {
  const Rule& rule = out.decision->rule;
  out.verdict = judged.verdict;
  out.number = judged.number;
  Cells at = place;
  at.insert(at.end(), judged.where.begin(), judged.where.end());
  out.place = text_of_cells(at);
  out.note = joined({out.place, shared_cells(rule, used, at)});
  const auto note = [&](const std::string& more) {
    if (!more.empty()) out.note += (out.note.empty() ? "" : ": ") + more;
  };
  note(judged.note);
  out.without = without;
  note(without);
  out.runs = SIZE_MAX;
  for (const auto* timed : used) {
    out.cases.push_back(timed->name->id);
    out.runs = std::min(out.runs, timed->runs.size());
  }
  if (out.runs >= rule.runs) return;
  out.verdict = Verdict::undecided;
  note(fmt::format("{} of {} runs, by which it may vary", out.runs, rule.runs));
  out.command = command_of(*out.claim, device, fmt::format(" --runs {}", rule.runs));
}

Ruling ruling_by_itself(const Claim& claim, const Decision& decision, const DeviceRows& device,
                        const std::vector<Family>& families) {
  Ruling out;
  out.claim = &claim;
  out.decision = &decision;
  const Rule& rule = decision.rule;
  const auto found = [&](const Rows& wanted) {
    return wanted.empty() ? Found() : rows_of(wanted, device, families);
  };
  const Found of = found(rule.of), to = found(rule.to), of_before = found(rule.of_before),
              to_before = found(rule.to_before);
  bool incomplete = false, undecidable = false;  // where rows are missing; where all are there, and do not do
  std::optional<Cells> in_a_cache;
  for (const auto& sides : places_of(rule, {of.rows, to.rows, of_before.rows, to_before.rows})) {
    const Choice place(sides.place.begin(), sides.place.end());
    std::vector<Wanted> wanted;
    const auto want = [&](const Rows& rows, const RowSelection& there, const Found& from) {
      if (!rows.empty()) wanted.emplace_back(rows, there, from.however_tuned, place, device, families);
    };
    want(rule.of, sides.of, of);
    want(rule.to, sides.to, to);
    want(rule.of_before, sides.of_before, of_before);
    want(rule.to_before, sides.to_before, to_before);
    if (!std::ranges::all_of(wanted, &Wanted::is_whole)) {
      incomplete = true;
      continue;
    }
    auto decided = judged_at(rule, sides, device, families);
    if (!decided) {
      undecidable = true;
      continue;
    }
    if (decided->verdict == Verdict::undecided) {
      out.verdict = decided->verdict;
      out.note = decided->note;
      return out;
    }
    if (auto why = void_by(wanted, sides, device, families); !why.empty()) {
      out.verdict = Verdict::undecided;
      out.note = std::move(why);
      return out;
    }
    std::vector<const Timed*> used(decided->used.rows.begin(), decided->used.rows.end());
    std::ranges::sort(used, {}, &Timed::index);
    out.cached = std::ranges::any_of(
        used, [](const Timed* timed) { return std::ranges::any_of(timed->runs, &RunTime::cached); });
    if (out.cached && rule.memory) {
      if (!in_a_cache) in_a_cache = sides.place;
      continue;
    }
    if (const Timed* fast = beyond_memory_of(rule, used, device)) {
      out.verdict = Verdict::undecided;
      out.note = fmt::format("{} ({})", beyond_memory, fast->name->id);
      return out;
    }
    conclude(out, *decided, sides.place, used, without_text(decision, wanted), device);
    return out;
  }
  out.cached = in_a_cache.has_value();
  if (in_a_cache) {
    out.verdict = Verdict::undecided;
    out.note = in_cache;
    out.more = larger_than(*in_a_cache, rule);
    if (!out.more.empty()) out.command = command_of(claim, device, out.more);
    return out;
  }
  out.note = missing(rule, incomplete && !undecidable, device, families);
  out.verdict = out.note == no_rows ? Verdict::not_measured : Verdict::not_testable;
  if (out.note == no_rows && has_natives(rule)) out.more = " --with-baselines";
  out.command = command_of(claim, device, out.more);
  return out;
}

// Whether what a claim takes for granted holds; else the ruling says why nothing follows.
bool is_granted(Ruling& out, const Claim& claim, const Decision& decision, const DeviceRows& device,
                const std::vector<Family>& families) {
  for (const Rule& given : decision.given) {
    const Decision alone{decision.setting, given};
    const Ruling first = ruling_by_itself(claim, alone, device, families);
    if (first.verdict == Verdict::holds) continue;
    if (first.verdict == Verdict::not_measured || first.verdict == Verdict::not_testable) {
      out.verdict = first.verdict;
      out.note = first.note;
      out.command = first.command;
    } else {
      out.verdict = Verdict::undecided;
      out.note = fmt::format("says something only where {} holds", claim.given);
    }
    return false;
  }
  return true;
}

Ruling ruling_by(const Claim& claim, const Decision& decision, const DeviceRows& device,
                 const std::vector<Family>& families) {
  Ruling out;
  out.claim = &claim;
  out.decision = &decision;
  if (is_granted(out, claim, decision, device, families))
    return ruling_by_itself(claim, decision, device, families);
  // Who gains nothing does not gain most; but who gains least does not either, whatever is granted.
  if (decision.rule.kind != Rule::Kind::gain || out.verdict != Verdict::undecided) return out;
  Ruling alone = ruling_by_itself(claim, decision, device, families);
  return alone.verdict == Verdict::fails ? alone : out;
}

}  // namespace

std::vector<Ruling> rulings_of(const Claim& claim, const DeviceRows& device,
                               const std::vector<Family>& families) {
  const std::string known_incorrect = known_incorrect_text(claim, device, families);
  std::vector<Ruling> out;
  for (const auto& decision : claim.decisions) out.push_back(ruling_by(claim, decision, device, families));
  if (out.empty()) {
    Ruling& none = out.emplace_back();
    none.claim = &claim;
    none.verdict = claim.untestable.empty() ? Verdict::no_evidence : Verdict::not_testable;
    none.note = claim.untestable;
    if (!claim.known_incorrect.empty() && known_incorrect.empty()) none.command = command_of(claim, device);
  }
  for (auto& ruling : out) ruling.known_incorrect = known_incorrect;
  return out;
}

std::optional<Verdict> verdict_of(const Published& published, const Claim& claim) {
  if (claim.decisions.empty() || !claim.fault.empty()) return {};
  return verdict_of({published.value, published.value, published.value}, claim.decisions.front().rule);
}

std::size_t tries_of(const Rows::Axes& axes) {
  std::size_t product = 1;
  for (const auto& [axis, want] : axes)
    product *= want.how == Rows::Want::How::tried ? want.values.size() : 1;
  return product;
}

std::vector<Rows::Axes> Rows::whole() const {
  if (any_of.empty()) return {axes};
  std::vector<Axes> out = any_of;
  for (auto& each : out) each.insert(axes.begin(), axes.end());
  return out;
}

Values Rows::values(const std::string& axis) const {
  Values out;
  for (const auto& each : whole()) {
    const auto want = each.find(axis);
    if (want == each.end()) continue;
    for (const auto& value : want->second.values) {
      if (std::ranges::find(out, value) == out.end()) out.push_back(value);
    }
  }
  return out;
}

std::vector<std::vector<const Rows*>> Claim::selections(bool cuda) const {
  std::vector<std::vector<const Rows*>> out;
  for (const auto& decision : decisions) {
    std::vector<const Rule*> rules = {&decision.rule};
    for (const auto& given : decision.given) rules.push_back(&given);
    for (const auto* rule : rules) {
      if (!cuda && has_natives(*rule, "cuda")) continue;
      auto& sides = out.emplace_back();
      for (const auto side : all_sides) {
        const Rows& rows = rule->*side;
        if (!rows.empty() && rows.api.empty()) sides.push_back(&rows);
      }
    }
  }
  if (!known_incorrect.empty()) out.push_back({&known_incorrect});
  return out;
}

// ---- Cases -----------------------------------------------------------------------------------------------

namespace {

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

// What the longest case of a selection takes the device, in seconds; none where it can do none of them.
std::optional<double> longest_of(const Rows& rows, const Choice& choice, const std::vector<Family>& families,
                                 const DeviceInfo& device) {
  std::optional<double> longest;
  const Family& family = *family_of(families, rows.family);
  for (const auto& at : cases_of(family, sweeps_of(rows, choice), 0)) {
    try {
      longest = std::max(longest.value_or(0), estimate(plan_of(family, at, device), device).device_s);
    } catch (const Error&) {
      continue;
    }
  }
  return longest;
}

// Whether each selection has a case that the device can do, and none that takes long.
bool suits(const std::vector<const Rows*>& selections, const Choice& choice,
           const std::vector<Family>& families, const DeviceInfo& device) {
  constexpr double longest_s = 0.3;
  return std::ranges::all_of(selections, [&](const Rows* rows) {
    const auto longest = longest_of(*rows, choice, families, device);
    return longest && *longest <= longest_s;
  });
}

}  // namespace

std::vector<Job> claim_jobs(const std::vector<Claim>& claims, const std::vector<Family>& families,
                            const Selection& wanted, const DeviceInfo& device, double longest_s) {
  std::vector<Family> asked = families;
  for (auto& family : asked) {
    if (family.name != peak_family || !wanted.peaks) family.presets.at(wanted.preset).clear();
  }
  for (const auto& claim : claims) {
    for (auto selections : claim.selections(has_cuda(device.platform))) {
      std::erase_if(selections,
                    [&](const Rows* rows) { return family_of(families, rows->family) == nullptr; });
      // The last choice is of the smallest sizes; a device that cannot do them says so in its rows.
      const auto choices = choices_of(selections);
      auto choice = std::ranges::find_if(
          choices, [&](const Choice& c) { return suits(selections, c, families, device); });
      if (choice == choices.end()) {
        choice = std::prev(choices.end());
        if (std::ranges::any_of(selections, [&](const Rows* rows) {
              return longest_of(*rows, *choice, families, device).value_or(0) > longest_s;
            }))
          continue;
      }
      for (const auto* rows : selections) {
        auto& sweeps = std::ranges::find(asked, rows->family, &Family::name)->presets.at(wanted.preset);
        for (auto& sweep : sweeps_of(*rows, *choice)) sweeps.push_back(std::move(sweep));
      }
    }
  }
  auto jobs = select_jobs(asked, wanted);
  for (auto& job : jobs) job.family = family_of(families, job.family->name);
  return jobs;
}

}  // namespace clweave::claims
