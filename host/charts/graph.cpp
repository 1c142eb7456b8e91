// SPDX-License-Identifier: Apache-2.0
#include "charts/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/rows/best.hpp"
#include "analysis/rows/case_labels.hpp"
#include "base/curve_fit.hpp"
#include "base/quantity.hpp"

namespace clweave::charts {

namespace {

using Names = std::vector<std::string>;
using Key = std::vector<std::string>;

// In the order that people look for them in: words as the family lists them, numbers by size.
struct Order {
  const Family* family;
  std::pair<std::ptrdiff_t, Value> of(const std::string& axis, const std::string& text) const {
    const Value value = value_of(text);
    const Axis* known = family->axis(axis);
    std::ptrdiff_t place = 0;
    if (known != nullptr && std::holds_alternative<std::string>(value))
      place = std::ranges::find(known->values, value) - known->values.begin();
    return {place, value};
  }
  bool operator()(const Names& axes, const Key& one, const Key& other) const {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto a = of(axes[i], one[i]), b = of(axes[i], other[i]);
      if (a != b) return a < b;
    }
    return false;
  }
};

struct Case1 {
  const CaseTimes* of;
  RunTime run;
  std::size_t device;
  Key series, x, apart;
};

Key key_of(const CaseTimes& at, const Names& axes) {
  Key out;
  for (const auto& axis : axes) {
    const Value* value = at.cell(axis);
    out.push_back(value != nullptr ? text_of(*value) : "");
  }
  return out;
}

bool chosen(const CaseName& name, const std::vector<std::pair<std::string, Values>>& where) {
  return std::ranges::all_of(where, [&](const auto& wanted) {
    const Value* value = name.axis(wanted.first);
    return value != nullptr && std::ranges::find(wanted.second, *value) != wanted.second.end();
  });
}

// The axes that tell two cases of one place apart: launch parameters do not, of them the fastest is shown.
Names splitting(const Family& family, const Graph& graph, const std::vector<Case1>& cases) {
  Names out = graph.apart;
  for (const auto& axis : family.axes) {
    if (axis.tunable || std::ranges::find(graph.x, axis.name) != graph.x.end() ||
        std::ranges::find(graph.series, axis.name) != graph.series.end() ||
        std::ranges::find(out, axis.name) != out.end())
      continue;
    std::map<std::tuple<std::size_t, Key, Key>, std::string> met;
    for (const auto& one : cases) {
      const std::string value = key_of(*one.of, {axis.name}).front();
      const auto [at, is_new] = met.try_emplace({one.device, one.series, one.x}, value);
      if (is_new || at->second == value) continue;
      out.push_back(axis.name);
      break;
    }
  }
  return out;
}

std::string named(const Names& axes, const Key& key, bool all_names = true) {
  std::string out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (key[i].empty()) continue;
    const bool name = all_names || needs_name(value_of(key[i]));
    out += (out.empty() ? "" : " ") + (name ? axes[i] + "=" : "") + key[i];
  }
  return out;
}

std::string first_clause(const std::string& text) {
  const std::string out = text.substr(0, text.find_first_of(";:,"));
  return out.size() > 60 ? "" : out;
}

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string title_of(const Names& axes, const Family& family) {
  if (axes.size() == 1) {
    const Axis* axis = family.axis(axes.front());
    const std::string meaning = axis != nullptr ? first_clause(axis->meaning) : "";
    // Where the meaning lists the values its first clause is the first value's.
    const bool lists = axis != nullptr && !axis->values.empty() && meaning == text_of(axis->values.front());
    return meaning.empty() || lists ? axes.front() : axes.front() + ": " + meaning;
  }
  return words_of(fmt::format("{}", fmt::join(axes, " x ")));
}

std::optional<double> number_at(const Key& key) {
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

// Where one value is longer than a decade of the others.
bool spans_a_decade(const std::vector<double>& values) {
  double low = HUGE_VAL, high = 0;
  for (const double value : values) {
    if (!(value > 0)) return false;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > 10 * low;
}

// {type} by the panel's value of that axis.
std::string filled(std::string text, const CaseName& name) {
  for (auto open = text.find('{'); open != std::string::npos; open = text.find('{')) {
    const auto close = text.find('}', open);
    const Value* value = name.axis(text.substr(open + 1, close - open - 1));
    text.replace(open, close - open + 1, value != nullptr ? text_of(*value) : "");
  }
  return text;
}

const Finding* finding_of(const DeviceResults& device, const Family& family, const std::string& name) {
  for (const auto& one : device.findings) {
    if (one.family != family.name || one.runs.empty()) continue;
    const Finding& typical = one.typical();
    if (typical.name == name && typical.value) return &typical;
  }
  return nullptr;
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// Samples the least-squares parabola from the first to the last x.
std::vector<GraphPoint> parabola(const std::vector<GraphPoint>& points) {
  std::vector<std::pair<double, double>> measured;
  for (const auto& point : points) measured.emplace_back(point.x, point.y);
  const auto curve = fit_parabola(measured);
  if (!curve) return {};
  const auto [first, last] = std::ranges::minmax(measured);
  const double low = std::log2(first.first), high = std::log2(last.first);
  std::vector<GraphPoint> out;
  for (int i = 0; i <= 24; ++i) {
    GraphPoint& point = out.emplace_back();
    point.series = points.front().series;
    point.x = std::exp2(low + (high - low) * i / 24);
    point.y = curve->at(point.x);
    if (point.y <= 0) out.pop_back();
  }
  return out;
}

std::string text_at(const DrawnGraph& graph, const GraphPoint& point) {
  if (graph.graph.kind == Graph::Kind::heat) return graph.columns[point.column];
  if (graph.graph.x.size() != 1) return fmt::format("{:.6g}", point.x);
  const double power = std::log2(point.x);
  return graph.graph.x.front() + "=" +
         (point.x >= 65536 && power == std::floor(power) ? fmt::format("2^{:.0f}", power)
                                                         : graph.columns[point.column]);
}

// The strongest statement that the points make by themselves.
std::string statement(const DrawnGraph& graph, const GraphPanel& panel) {
  std::vector<GraphPoint> points;
  std::ranges::remove_copy_if(panel.points, std::back_inserter(points), [&](const GraphPoint& point) {
    return is_for_comparison(*graph.family, graph.series[point.series]);
  });
  if (points.empty()) points = panel.points;
  const auto value = [&](const GraphPoint& point) { return number_text(point.y, graph.unit); };
  const auto better = [&](const GraphPoint* one, const GraphPoint* other) {
    return graph.low_is_good ? one->y < other->y : one->y > other->y;
  };
  const auto series = [&](const GraphPoint& point) {
    std::string text = graph.series[point.series];
    if (text.empty()) text = graph.family->name;
    return text;
  };
  if (graph.graph.kind == Graph::Kind::launches) {
    const auto best = std::ranges::max_element(points, {}, &GraphPoint::y);
    const auto worst = std::ranges::min_element(points, {}, &GraphPoint::y);
    return fmt::format("Of {} launches {} {} is the fastest, {}; the slowest, {}, reaches {}", points.size(),
                       series(*best), best->launch, value(*best), series(*worst) + " " + worst->launch,
                       percent_text(worst->y / best->y));
  }
  if (graph.graph.kind == Graph::Kind::bars) {
    const auto best =
        std::ranges::min_element(points, [&](const auto& a, const auto& b) { return better(&a, &b); });
    const auto worst =
        std::ranges::max_element(points, [&](const auto& a, const auto& b) { return better(&a, &b); });
    if (graph.graph.quantity == "speedup")
      return fmt::format("{} is {} as fast as {}", series(*best), value(*best),
                         graph.series[points.front().series]);
    return fmt::format("{} {} {}, {} {}", series(*best), graph.low_is_good ? "takes" : "reaches",
                       value(*best), series(*worst), value(*worst));
  }
  // By place: the last where half as many series meet as anywhere; of a heat map the one of the largest
  // factor.
  std::map<std::pair<double, std::size_t>, std::pair<const GraphPoint*, const GraphPoint*>> ends;
  std::map<std::pair<double, std::size_t>, std::size_t> met;
  for (const auto& point : points) {
    const std::pair<double, std::size_t> at{point.x, point.column};
    auto [it, is_new] = ends.try_emplace(at, &point, &point);
    ++met[at];
    if (better(&point, it->second.first)) it->second.first = &point;
    if (better(it->second.second, &point)) it->second.second = &point;
  }
  const auto factor = [](const auto& of) {
    const double ratio = of.second->y / of.first->y;
    return ratio > 0 ? std::max(ratio, 1 / ratio) : 1;
  };
  std::size_t most = 0;
  for (const auto& [at, count] : met) most = std::max(most, count);
  auto where = ends.begin();
  for (auto it = ends.begin(); it != ends.end(); ++it) {
    const bool heat = graph.graph.kind == Graph::Kind::heat;
    if (heat ? factor(it->second) > factor(where->second) : 2 * met[it->first] >= most) where = it;
  }
  const auto [best, worst] = where->second;
  const std::string at = text_at(graph, *best);
  if (best == worst) {
    const auto low = std::ranges::min_element(points, {}, &GraphPoint::y);
    const auto high = std::ranges::max_element(points, {}, &GraphPoint::y);
    return fmt::format("{}: {} at {}, {} at {}", series(*low), value(*low), text_at(graph, *low),
                       value(*high), text_at(graph, *high));
  }
  if (factor(where->second) < 1.05)
    return fmt::format("No more than {} lies between {} and {} at {}",
                       percent_text(factor(where->second) - 1), series(*best), series(*worst), at);
  const double most_times = factor(where->second);
  const std::string times =
      most_times < 1000 ? fmt::format("{:.3g}", most_times) : fmt::format("{:.0f}", most_times);
  return graph.graph.kind == Graph::Kind::heat
             ? fmt::format("{} loses {}x to {} at {}", series(*worst), times, series(*best), at)
         : graph.low_is_good ? fmt::format("{} takes {} at {}, {} {} times as long", series(*best),
                                           value(*best), at, series(*worst), times)
                             : fmt::format("{} reaches {} at {}, {} times {}", series(*best), value(*best),
                                           at, times, series(*worst));
}

std::string sentence(const DrawnGraph& graph, const GraphPanel& panel, const CaseName& name) {
  std::vector<std::string> texts;
  for (const auto& wanted : graph.graph.findings) {
    const Finding* found = finding_of(*panel.device, *graph.family, filled(wanted, name));
    if (found != nullptr)
      texts.push_back(
          capital(found->unit == "ratio"
                      ? words_of(found->name) + " " + number_text(*found->value, "x") + ": " + found->text
                      : found->text));
  }
  if (texts.size() > 2) texts.erase(texts.begin() + 2, texts.end() - 1);
  if (!texts.empty()) return fmt::format("{}", fmt::join(texts, ". "));
  return statement(graph, panel);
}

std::string program_of(const BaselineTime& native) {
  const Value *kernel = native.of->axis("kernel"), *threads = native.of->axis("threads");
  std::string out = kernel != nullptr ? text_of(*kernel) : native.api;
  if (threads != nullptr && *threads != Value(std::int64_t{1}))
    out += " on " + text_of(*threads) + " threads";
  return out;
}

// A copy of as many bytes stands beside whatever it bounds.
bool stands_beside(const BaselineTime& native, const std::string& family, const RunTime& run) {
  return native.of->family == family || (native.of->family == "copy" && run.peak == Peak::copy);
}

// Other programs' curves; of two rows of one place the faster.
std::vector<GraphReference> programs_of(const DrawnGraph& graph, const std::vector<BaselineTime>& natives,
                                        const Case1& panel, const std::set<double>& xs) {
  std::map<std::string, std::map<double, double>> curves;
  const Metric& quantity = metric_named(graph.graph.quantity);
  for (const auto& native : natives) {
    const Value* x = graph.graph.x.size() == 1 ? native.of->axis(graph.graph.x.front()) : nullptr;
    const bool same = std::ranges::all_of(graph.family->axes, [&](const Axis& axis) {
      const Value* here = panel.of->name->axis(axis.name);
      const Value* there = native.of->axis(axis.name);
      const bool shown = axis.name == graph.graph.x.front() ||
                         std::ranges::find(graph.graph.series, axis.name) != graph.graph.series.end();
      return shown || here == nullptr || there == nullptr || *here == *there;
    });
    const Number y = quantity.of(native.run, 0, 0);
    if (!same || !y || !stands_beside(native, graph.family->name, panel.run)) continue;
    // A copy does the same whatever is kept, or however often is scanned.
    std::vector<double> at(xs.begin(), xs.end());
    if (x != nullptr) at = {number_at({text_of(*x)}).value_or(0)};
    for (const double place : at) {
      if (place < *xs.begin() || place > *xs.rbegin()) continue;
      auto [it, is_new] = curves[program_of(native)].try_emplace(place, *y);
      if (!is_new) it->second = quantity.of_time ? std::min(it->second, *y) : std::max(it->second, *y);
    }
  }
  std::vector<GraphReference> out;
  for (const auto& [program, points] : curves) {
    if (points.size() > 1) out.push_back({program, {points.begin(), points.end()}});
  }
  return out;
}

// What a copy of as many bytes reaches, from rows that know their fraction of it.
GraphReference copy_of(const std::map<double, const RunTime*>& runs, const Metric& quantity) {
  GraphReference out{"a copy's rate", {}};
  for (const auto& [x, run] : runs) {
    const Number y = quantity.of(*run, 0, 0);
    if (!y || run->peak != Peak::copy) return {};
    if (run->fraction_of_peak && *run->fraction_of_peak > 0)
      out.points.emplace_back(x, *y / *run->fraction_of_peak);
  }
  return out;
}

// As many as a line needs.
void thin(std::vector<std::pair<double, double>>& points) {
  const std::size_t step = points.size() / 200 + 1;
  std::vector<std::pair<double, double>> kept;
  for (std::size_t i = 0; i < points.size(); i += step) kept.push_back(points[i]);
  if (step > 1 && kept.back() != points.back()) kept.push_back(points.back());
  points = std::move(kept);
}

// In proportion to what is under way, up to the most.
GraphReference little_of(double needed, double most, double low, double high) {
  GraphReference out{"Little's law", {}};
  const auto add = [&](double x) { out.points.emplace_back(x, most * std::min(1.0, x / needed)); };
  for (int i = 0; i <= 24; ++i) {
    const double x = low * std::pow(high / low, i / 24.0),
                 before = low * std::pow(high / low, (i - 1) / 24.0);
    if (i > 0 && before < needed && needed < x) add(needed);
    add(x);
  }
  return out;
}

constexpr std::size_t most_panels = 8, most_points = 1500;

// Every k-th, and the ends: a picture shows no more, and a page holds no more.
void keep_fewer(GraphPanel& panel) {
  const std::size_t all = panel.points.size();
  if (all <= most_points) return;
  const std::size_t step = (all + most_points - 3) / (most_points - 2);
  const auto [least, most] = std::ranges::minmax_element(panel.points, {}, &GraphPoint::y);
  std::vector<GraphPoint> kept;
  for (auto at = panel.points.begin(); at != panel.points.end(); ++at) {
    if ((at - panel.points.begin()) % static_cast<std::ptrdiff_t>(step) == 0 || at == least || at == most)
      kept.push_back(*at);
  }
  panel.points = std::move(kept);
  panel.note +=
      fmt::format("{}drawn: one in {} of {} points, with the highest and the lowest; clweave show has all",
                  panel.note.empty() ? "" : "; ", step, all);
}

std::vector<GraphPoint> parabolas(const GraphPanel& panel, const std::set<std::size_t>& rows) {
  std::vector<GraphPoint> out;
  for (const std::size_t row : rows) {
    std::vector<GraphPoint> of_row;
    std::ranges::copy_if(panel.points, std::back_inserter(of_row),
                         [&](const GraphPoint& point) { return point.series == row; });
    for (auto& point : parabola(of_row)) out.push_back(point);
  }
  return out;
}

// Panels of one device: those of most points, of as many the larger sizes.
void keep_largest(std::vector<GraphPanel>& panels) {
  std::ranges::reverse(panels);
  std::ranges::stable_sort(panels, std::ranges::greater(),
                           [](const GraphPanel& panel) { return panel.points.size(); });
  if (panels.size() <= most_panels) return;
  panels[0].note += fmt::format("{}{} more settings with fewer points are not drawn: clweave show has them",
                                panels[0].note.empty() ? "" : "; ", panels.size() - most_panels);
  panels.resize(most_panels);
}

// A graph while it is drawn: its cases, and where each of them stands.
class Drawing {
 public:
  Drawing(const Graph& graph, const Family& family, const ResultsSet& set)
      : set_(&set),
        family_(&family),
        graph_(&graph),
        quantity_(&metric_named(graph.quantity.empty() ? "rate" : graph.quantity)),
        devices_(measured(set)),
        before_{&family},
        numbered_(graph.kind == Graph::Kind::launches),
        numbers_(graph.kind == Graph::Kind::lines) {
    out_.family = &family;
    out_.graph = graph;
    out_.low_is_good = quantity_->of_time;
    take_cases();
    place_cases();
    name_axes();
  }

  DrawnGraph drawn() {
    std::vector<std::vector<GraphPanel>> by_device(devices_.size());
    std::vector<double> xs, ys;
    for (const auto& key : panel_keys()) {
      GraphPanel panel = panel_of(key);
      if (panel.points.empty()) continue;
      for (const auto& reference : panel.references) {
        for (const auto& [x, y] : reference.points) ys.push_back(y);
      }
      keep_fewer(panel);
      for (const auto& point : panel.points) {
        xs.push_back(point.x);
        ys.push_back(point.y);
      }
      by_device[key.first].push_back(std::move(panel));
    }
    out_.log_x = !numbered_ && spans_a_decade(xs);
    out_.log_y = !numbered_ && spans_a_decade(ys);
    for (auto& panels : by_device) {
      keep_largest(panels);
      for (auto& panel : panels) out_.panels.push_back(std::move(panel));
    }
    return std::move(out_);
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;  // series, column
  using PanelKey = std::pair<std::size_t, Key>;  // device, and a value of each axis that splits the graph
  using Fastest = std::map<Place, const Case1*>;

  void take_cases() {
    std::vector<std::pair<std::string, Values>> where;
    for (const auto& text : graph_->where) where.push_back(setting_of(text));
    std::size_t of_operations = 0;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      for (const auto& at : devices_[d]->cases) {
        if (at.family() != family_->name || at.known_incorrect || !chosen(*at.name, where)) continue;
        const auto run = at.typical();
        if (!run) continue;
        of_operations += run->of_operations() ? 1 : 0;
        cases_.push_back({&at, *run, d, key_of(at, graph_->series), key_of(at, graph_->x), {}});
      }
    }
    axes_ = splitting(*family_, *graph_, cases_);
    for (auto& one : cases_) one.apart = key_of(*one.of, axes_);
    out_.unit = quantity_->unit;
    if (out_.unit.empty()) out_.unit = of_operations == 0 || of_operations < cases_.size() ? "GB/s" : "Gop/s";
    out_.y_title = *quantity_->unit == 0 ? out_.unit : quantity_->meaning;
    for (const auto* device : devices_) {
      auto& natives = natives_.emplace_back();
      if (!numbers_) continue;
      for (const auto& looks : baseline_times(*set_, *device)) natives.push_back(typical(looks));
    }
  }

  std::vector<Key> sorted(const std::set<Key>& keys, const Names& names) const {
    std::vector<Key> out(keys.begin(), keys.end());
    std::ranges::stable_sort(out, [&](const Key& a, const Key& b) { return before_(names, a, b); });
    return out;
  }

  // Each case in its panel; of each place the fastest.
  void place_cases() {
    std::set<Key> series, columns;
    for (const auto& one : cases_) {
      series.insert(one.series);
      columns.insert(one.x);
    }
    std::map<Key, std::size_t> series_at, column_at;
    for (const auto& key : sorted(series, graph_->series)) {
      series_at[key] = out_.series.size();
      out_.series.push_back(named(graph_->series, key, false));
    }
    for (const auto& key : sorted(columns, graph_->x)) {
      column_at[key] = out_.columns.size();
      out_.columns.push_back(graph_->x.size() == 1 ? key.front() : named(graph_->x, key, false));
    }
    for (const auto& one : cases_) {
      auto& panel = panels_[{one.device, one.apart}];
      const auto [at, is_new] = panel.try_emplace({series_at[one.series], column_at[one.x]}, &one);
      if (!is_new && one.run.time_s < at->second->run.time_s) at->second = &one;
    }
  }

  void name_axes() {
    out_.x_title = numbered_ ? fmt::format("number of the launch, by {}, {}", fmt::join(graph_->series, ", "),
                                           fmt::join(graph_->x, ", "))
                             : title_of(graph_->x, *family_);
    std::vector<std::set<std::string>> values(axes_.size());
    for (const auto& [key, unused] : panels_) {
      for (std::size_t i = 0; i < axes_.size(); ++i) values[i].insert(key.second[i]);
    }
    for (const auto& of_axis : values) varies_.push_back(of_axis.size() > 1);
  }

  std::vector<PanelKey> panel_keys() const {
    std::vector<PanelKey> out;
    for (const auto& [key, unused] : panels_) out.push_back(key);
    std::ranges::stable_sort(
        out, [&](const auto& a, const auto& b) { return before_(axes_, a.second, b.second); });
    return out;
  }

  // The settings that tell a panel from the others.
  std::string setting_of_panel(const Key& apart) const {
    Names shown_axes;
    Key shown_key;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (!varies_[i]) continue;
      shown_axes.push_back(axes_[i]);
      shown_key.push_back(apart[i]);
    }
    return named(shown_axes, shown_key);
  }

  // How a case was launched, of what the graph's own axes do not say.
  std::string launch_of(const Case1& one) const {
    Names launch;
    Key key;
    for (const auto& axis : family_->axes) {
      const bool is_x = std::ranges::find(graph_->x, axis.name) != graph_->x.end();
      if (!axis.tunable || is_x != numbered_ ||
          std::ranges::find(graph_->series, axis.name) != graph_->series.end())
        continue;
      const Value* value = one.of->name->axis(axis.name);
      if (value == nullptr || (axis.when && *value == axis.values.front() && !numbered_)) continue;
      launch.push_back(axis.name);
      key.push_back(text_of(*value));
    }
    return named(launch, key) + (one.of->tuned ? " (tuned)" : "");
  }

  std::optional<double> x_of(const Case1& one, const GraphPanel& panel) const {
    if (numbered_) return static_cast<double>(panel.points.size());
    return numbers_ ? number_at(one.x) : std::optional<double>(0);
  }

  // Several products of two axes may be the same: whether the point met there is at least as good; a worse
  // one goes.
  bool is_beaten(GraphPanel& panel, std::size_t row, double x, double y) const {
    if (!numbers_ || graph_->x.size() < 2) return false;
    const auto same = std::ranges::find_if(
        panel.points, [&](const GraphPoint& other) { return other.series == row && other.x == x; });
    if (same == panel.points.end()) return false;
    if (quantity_->of_time ? same->y <= y : same->y >= y) return true;
    panel.points.erase(same);
    return false;
  }

  void add_points(GraphPanel& panel, const Fastest& fastest) const {
    double best_s = HUGE_VAL;
    std::map<std::size_t, double> first_s;  // by column
    for (const auto& [place, one] : fastest) {
      best_s = std::min(best_s, one->run.time_s);
      first_s.try_emplace(place.second, one->run.time_s);
    }
    for (const auto& [place, one] : fastest) {
      const auto x = x_of(*one, panel);
      const Number y = quantity_->of(one->run, first_s[place.second], best_s);
      if (!x || !y || is_beaten(panel, place.first, *x, *y)) continue;
      const double shorter = one->run.low_s / one->run.time_s, longer = one->run.high_s / one->run.time_s;
      GraphPoint& point = panel.points.emplace_back();
      point.series = place.first;
      point.column = place.second;
      point.x = *x;
      point.y = *y;
      point.low = quantity_->of_time ? *y * shorter : *y / longer;
      point.high = quantity_->of_time ? *y * longer : shorter > 0 ? *y / shorter : *y;
      point.doubtful = one->run.doubtful();
      point.launch = launch_of(*one);
    }
  }

  bool is_enough(const GraphPanel& panel, const std::set<std::size_t>& rows) const {
    std::set<double> different;
    for (const auto& point : panel.points)
      different.insert(numbers_ ? point.x : static_cast<double>(point.column));
    switch (graph_->kind) {
      case Graph::Kind::bars: return rows.size() > 1;
      case Graph::Kind::launches: return panel.points.size() >= 20;
      case Graph::Kind::heat: return different.size() + rows.size() > 3;
      case Graph::Kind::lines: return different.size() > 2;
    }
    return false;
  }

  // Without points where there are too few for a picture.
  GraphPanel panel_of(const PanelKey& key) const {
    const Fastest& fastest = panels_.at(key);
    GraphPanel panel;
    panel.device = devices_[key.first];
    panel.at = setting_of_panel(key.second);
    add_points(panel, fastest);
    std::set<std::size_t> rows;
    for (const auto& point : panel.points) rows.insert(point.series);
    if (!is_enough(panel, rows)) return {};
    const CaseName& name = *fastest.begin()->second->of->name;
    for (const auto& wanted : graph_->marks) {
      const Finding* found = finding_of(*panel.device, *family_, filled(wanted, name));
      if (found != nullptr) panel.marks.push_back({*found->value, number_text(*found->value, found->unit)});
    }
    if (graph_->parabola) panel.fits = parabolas(panel, rows);
    panel.finding = sentence(out_, panel, name);
    if (numbers_) add_references(panel, natives_[key.first], fastest);
    return panel;
  }

  void add_references(GraphPanel& panel, const std::vector<BaselineTime>& natives,
                      const Fastest& fastest) const {
    std::map<double, const RunTime*> runs;
    std::set<double> xs;
    double most = 0;
    for (const auto& point : panel.points) {
      xs.insert(point.x);
      most = std::max(most, point.y);
    }
    for (const auto& [place, one] : fastest) {
      if (const auto x = number_at(one->x); x && xs.contains(*x)) runs.try_emplace(*x, &one->run);
    }
    const Case1& first = *fastest.begin()->second;
    panel.references = programs_of(out_, natives, first, xs);
    if (!quantity_->of_time && quantity_->name != std::string_view("fraction_of_peak")) {
      if (auto copy = copy_of(runs, *quantity_); copy.points.size() > 1) panel.references.push_back(copy);
    }
    const Finding* needed =
        graph_->little.empty() ? nullptr
                               : finding_of(*panel.device, *family_, filled(graph_->little, *first.of->name));
    if (needed != nullptr && *xs.begin() > 0 && *needed->value > 0)
      panel.references.push_back(little_of(*needed->value, most, *xs.begin(), *xs.rbegin()));
    std::set<std::string> files;
    for (auto& reference : panel.references) {
      thin(reference.points);
      for (const auto& native : natives) {
        const std::string file = native.run.file < set_->files.size() ? set_->files[native.run.file] : "";
        if (program_of(native) == reference.name) files.insert(file.substr(file.find_last_of('/') + 1));
      }
    }
    if (!files.empty())
      panel.note = fmt::format("dashed: other programs on the same device, of {}", fmt::join(files, ", "));
  }

  const ResultsSet* set_;
  const Family* family_;
  const Graph* graph_;
  const Metric* quantity_;
  std::vector<const DeviceResults*> devices_;
  Order before_;
  bool numbered_, numbers_;  // along x: numbers of launches; numbers
  DrawnGraph out_;
  std::vector<Case1> cases_;
  Names axes_;                // that split the graph into panels
  std::vector<bool> varies_;  // of each of them: it has several values
  std::map<PanelKey, Fastest> panels_;
  std::vector<std::vector<BaselineTime>> natives_;  // by device
};

}  // namespace

std::vector<std::string> device_labels(const std::vector<const DeviceResults*>& devices) {
  std::vector<std::string> out;
  const auto platform = [](const DeviceResults& device) {
    return device.platform.starts_with("Portable Computing Language")
               ? "PoCL " + device.driver.substr(0, device.driver.find_first_of("+ "))
               : device.platform.substr(0, device.platform.find(", "));
  };
  for (const auto* device : devices) out.push_back(device->label());
  const auto again = [&](std::size_t i) { return std::ranges::count(out, out[i]) > 1; };
  for (const auto& more :
       {std::function<std::string(const DeviceResults&)>(platform),
        std::function<std::string(const DeviceResults&)>([](const auto& device) {
          return device.compute_units > 0 ? std::to_string(device.compute_units) + " units" : "";
        }),
        std::function<std::string(const DeviceResults&)>(
            [](const auto& device) { return device.user_label; }),
        std::function<std::string(const DeviceResults&)>([](const auto& device) { return device.id; })}) {
    std::vector<std::string> longer = out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string word = more(*devices[i]);
      if (again(i) && !word.empty()) longer[i] += ", " + word;
    }
    out = std::move(longer);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (again(i)) out[i] += " " + letter_of(i);
  }
  return out;
}

DrawnGraph drawn(const Graph& graph, const Family& family, const ResultsSet& set) {
  return Drawing(graph, family, set).drawn();
}

std::vector<DrawnGraph> graphs_of(const Family& family, const ResultsSet& set) {
  std::vector<Graph> graphs = family.view.graphs;
  if (graphs.empty() && !family.view.rows.empty()) {
    Graph graph{.name = "table", .x = family.view.columns, .series = family.view.rows};
    graph.quantity = family.view.quantity.empty() ? "rate" : family.view.quantity;
    const bool numbers = std::ranges::all_of(graph.x, [&](const std::string& name) {
      return !std::holds_alternative<std::string>(family.axis(name)->values.front());
    });
    graph.kind = graph.x.empty()                  ? Graph::Kind::bars
                 : graph.x.size() == 1 && numbers ? Graph::Kind::lines
                                                  : Graph::Kind::heat;
    graphs.push_back(std::move(graph));
  }
  std::vector<DrawnGraph> out;
  for (auto& graph : graphs) {
    auto one = drawn(graph, family, set);
    if (graph.kind == Graph::Kind::heat && one.columns.size() == 1) {  // a bar says more than a shade
      graph.kind = Graph::Kind::bars;
      graph.x.clear();
      one = drawn(graph, family, set);
    }
    if (!one.panels.empty()) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace clweave::charts
