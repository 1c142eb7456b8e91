// SPDX-License-Identifier: Apache-2.0
#include "description/described_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/stats.hpp"

namespace clweave::description {

namespace {

using suite::Finding;
using suite::Number;
using suite::Outcome;

constexpr double normal_95 = 1.96;  // half width of a 95 % interval, in standard errors

// A quantity of a case, and its interval.
struct Quantity {
  double value = 0;
  Number low = {}, high = {};
  const Outcome* from = nullptr;
};

// Returns a rate of a case with the interval that its time has.
Quantity with_interval(double rate, const Outcome& outcome) {
  Quantity out{rate, {}, {}, &outcome};
  if (outcome.low_s && outcome.high_s && *outcome.low_s > 0) {
    out.low = rate * outcome.time_s / *outcome.high_s;
    out.high = rate * outcome.time_s / *outcome.low_s;
  }
  return out;
}

// Returns rate, items or time of a case; std::nullopt if it has none.
std::optional<Quantity> quantity_of(const Outcome& outcome, const std::string& name) {
  if (name == "time") return Quantity{outcome.time_s, outcome.low_s, outcome.high_s, &outcome};
  const Number rate = name == "items" ? outcome.gitems_per_s : outcome.rate();
  if (!rate || *rate <= 0) return {};
  return with_interval(*rate, outcome);
}

bool is_better(const Quantity& one, const Quantity& other, const std::string& name) {
  return name == "time" ? one.value < other.value : one.value > other.value;
}

std::string unit_of(const FindingOf& said, const Outcome& outcome) {
  if (!said.unit.empty()) return said.unit;
  if (said.quantity == "time") return "s";
  if (said.quantity == "items") return "G elements/s";
  return outcome.of_operations() ? "Gop/s" : "GB/s";
}

class Conclusion {
 public:
  Conclusion(const Description& description, const FindingOf& said, const std::vector<Outcome>& outcomes)
      : description_(description), said_(said), outcomes_(outcomes) {}

  std::optional<Finding> make() const {
    switch (said_.kind) {
      case FindingOf::Kind::ratio: return ratio();
      case FindingOf::Kind::slope: return slope();
      default: return best();
    }
  }

 private:
  using Side = std::map<std::string, Quantity>;  // the best of each task

  const suite::Axis& axis(const std::string& name) const {
    return *std::ranges::find(description_.axes, name, &suite::Axis::name);
  }

  bool is_among(const suite::Case& at, const suite::Sweep& cases) const {
    return std::ranges::all_of(cases, [&](const auto& named) {
      const suite::Axis& swept = axis(named.first);
      const std::string is = suite::text_of(at.at(named.first));
      return std::ranges::any_of(named.second, [&](const suite::Value& value) {
        return suite::text_of(swept.taken(value).value_or(value)) == is;
      });
    });
  }

  std::string quantity_text() const {
    return said_.quantity == "items" ? "elements per second" : said_.quantity;
  }

  // Begins the sentence with what the description says of the finding.
  std::string sentence(const std::string& found) const {
    return said_.meaning.empty() ? found : fmt::format("{}: {}", said_.meaning, found);
  }

  // Names the case by the axes that differ among all.
  std::string case_text(const suite::Case& at) const {
    std::string text;
    for (const auto& [name, value] : at.axes) {
      const std::string is = suite::text_of(value);
      const bool differs = std::ranges::any_of(
          outcomes_, [&, &name = name](const Outcome& o) { return suite::text_of(o.at.at(name)) != is; });
      if (differs) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, is);
    }
    return text;
  }

  std::optional<Finding> best() const {
    const suite::Sweep cases(said_.of);
    std::optional<Quantity> best;
    for (const auto& outcome : outcomes_) {
      if (!is_among(outcome.at, cases)) continue;
      const auto here = quantity_of(outcome, said_.quantity);
      if (here && (!best || is_better(*here, *best, said_.quantity))) best = here;
    }
    if (!best) return {};
    const std::string unit = unit_of(said_, *best->from), where = case_text(best->from->at);
    Finding out{said_.name, best->value, unit,
                sentence(fmt::format("the best {} is {:.4g} {}{}{}", quantity_text(), best->value, unit,
                                     where.empty() ? "" : ", of ", where))};
    out.low = best->low;
    out.high = best->high;
    out.note = where;
    out.from = {best->from};
    return out;
  }

  // Returns the best case of each task among these: of cases that differ in launch parameters or in the axes
  // that the two sides name.
  Side best_by_task(const suite::Sweep& cases, const suite::Sweep& others) const {
    Side out;
    for (const auto& outcome : outcomes_) {
      if (!is_among(outcome.at, cases)) continue;
      auto here = quantity_of(outcome, said_.quantity);
      // Without a cost both sides of a ratio do the same work.
      if (!here && said_.quantity != "time" && outcome.time_s > 0)
        here = with_interval(1 / outcome.time_s, outcome);
      if (!here) continue;
      std::string task;
      for (const auto& [name, value] : outcome.at.axes) {
        if (!cases.contains(name) && !others.contains(name) && !axis(name).tunable)
          task += name + "=" + suite::text_of(value) + " ";
      }
      const auto [known, is_new] = out.emplace(task, *here);
      if (!is_new && is_better(*here, known->second, said_.quantity)) known->second = *here;
    }
    return out;
  }

  // Returns the sizes of a task that the two sides do not name, for the largest that both have.
  static std::vector<double> sizes_of(const Outcome& outcome, const suite::Sweep& of,
                                      const suite::Sweep& to) {
    std::vector<double> out;
    for (const auto& [name, value] : outcome.at.axes) {
      if (!suite::is_size(name) || of.contains(name) || to.contains(name)) continue;
      if (const auto* number = std::get_if<std::int64_t>(&value)) out.push_back(static_cast<double>(*number));
    }
    return out;
  }

  // The geometric mean over the tasks of the largest size that both sides have.
  std::optional<Finding> ratio() const {
    const suite::Sweep of(said_.of), to(said_.to);
    const Side ofs = best_by_task(of, to), tos = best_by_task(to, of);
    std::vector<double> largest;
    std::vector<std::pair<Quantity, Quantity>> pairs;
    for (const auto& [task, one] : ofs) {
      const auto other = tos.find(task);
      if (other == tos.end()) continue;
      const auto sizes = sizes_of(*one.from, of, to);
      if (!pairs.empty() && sizes < largest) continue;
      if (sizes != largest) pairs.clear();
      largest = sizes;
      pairs.emplace_back(one, other->second);
    }
    if (pairs.empty()) return {};
    return ratio_of_pairs(pairs);
  }

  Finding ratio_of_pairs(const std::vector<std::pair<Quantity, Quantity>>& pairs) const {
    double logs = 0, below = 0, above = 0;
    bool has_interval = true;
    Finding out{said_.name, {}, said_.unit.empty() ? "ratio" : said_.unit, ""};
    // The errors are independent, so their logarithms add in quadrature.
    const auto square = [](double ratio) { return std::log(ratio) * std::log(ratio); };
    for (const auto& [of, to] : pairs) {
      logs += std::log(of.value / to.value);
      has_interval = has_interval && of.low && of.high && to.low && to.high;
      if (has_interval) {
        below += square(of.value / *of.low) + square(*to.high / to.value);
        above += square(*of.high / of.value) + square(to.value / *to.low);
      }
      out.from.insert(out.from.end(), {of.from, to.from});
    }
    const auto count = static_cast<double>(pairs.size());
    out.value = std::exp(logs / count);
    if (has_interval) {
      out.low = *out.value * std::exp(-std::sqrt(below) / count);
      out.high = *out.value * std::exp(std::sqrt(above) / count);
    }
    std::string found = fmt::format("{} of {} / of {}", quantity_text(), said_.of, said_.to);
    if (pairs.size() == 1)
      found +=
          fmt::format(", {} / {}", case_text(pairs[0].first.from->at), case_text(pairs[0].second.from->at));
    else
      found += fmt::format(", geometric mean of {} pairs", pairs.size());
    out.text = sentence(found);
    return out;
  }

  // Fits a line through the best case at each value of the axis, by least squares.
  std::optional<Finding> slope() const {
    const suite::Sweep cases(said_.of);
    std::map<double, Quantity> best;
    for (const auto& outcome : outcomes_) {
      if (!is_among(outcome.at, cases)) continue;
      const auto here = quantity_of(outcome, said_.quantity);
      const suite::Value& value = outcome.at.at(said_.over);
      if (!here || std::holds_alternative<std::string>(value)) continue;
      const auto* whole = std::get_if<std::int64_t>(&value);
      const double x = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
      const auto [known, is_new] = best.emplace(x, *here);
      if (!is_new && is_better(*here, known->second, said_.quantity)) known->second = *here;
    }
    if (best.size() < 2) return {};
    return slope_through(best);
  }

  Finding slope_through(const std::map<double, Quantity>& points) const {
    const auto count = static_cast<double>(points.size());
    double mean_x = 0, mean_y = 0, spread = 0, slope = 0;
    for (const auto& [x, y] : points) {
      mean_x += x / count;
      mean_y += y.value / count;
    }
    for (const auto& [x, y] : points) {
      spread += (x - mean_x) * (x - mean_x);
      slope += (x - mean_x) * (y.value - mean_y);
    }
    slope /= spread;
    double residuals = 0, of_points = 0;
    bool has_intervals = true;
    std::vector<const Outcome*> from;
    for (const auto& [x, y] : points) {
      const double off = y.value - mean_y - slope * (x - mean_x);
      residuals += off * off;
      has_intervals = has_intervals && y.low && y.high;
      const double error = has_intervals ? (*y.high - *y.low) / (2 * normal_95) : 0;
      of_points += (x - mean_x) * (x - mean_x) * error * error;
      from.push_back(y.from);
    }
    const std::string unit =
        said_.unit.empty() ? unit_of(said_, *from.front()) + " per " + said_.over : said_.unit;
    Finding out{said_.name, slope, unit,
                sentence(fmt::format("{} grows by {:.4g} {} over {} = {} to {}, a line through {} cases",
                                     quantity_text(), slope, unit, said_.over, points.begin()->first,
                                     points.rbegin()->first, points.size()))};
    // The larger of the error that the points' own intervals make and that of their distance from the line.
    std::optional<double> reach;
    if (has_intervals) reach = normal_95 * std::sqrt(of_points) / spread;
    if (points.size() > 2) {
      constexpr double level = 0.95;
      const double degrees = count - 2;
      reach =
          std::max(reach.value_or(0), t_quantile(level, degrees) * std::sqrt(residuals / degrees / spread));
    }
    if (reach) {
      out.low = slope - *reach;
      out.high = slope + *reach;
    }
    out.from = std::move(from);
    return out;
  }

  const Description& description_;
  const FindingOf& said_;
  const std::vector<Outcome>& outcomes_;
};

}  // namespace

std::vector<Finding> findings_of(const Description& description, const std::vector<Outcome>& outcomes) {
  std::vector<Finding> out;
  for (const auto& said : description.findings) {
    if (auto finding = Conclusion(description, said, outcomes).make()) out.push_back(*std::move(finding));
  }
  return out;
}

}  // namespace clweave::description
