// SPDX-License-Identifier: Apache-2.0
#include "answers/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "answers/rivals.hpp"
#include "answers/short_names.hpp"
#include "base/quantity.hpp"

namespace clweave {

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
  const RunTime* run;
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

// Least squares over log2 of x. Its points from the first to the last x; none for fewer than four.
std::vector<GraphPoint> parabola(const std::vector<GraphPoint>& points) {
  if (points.size() < 4) return {};
  double s[5] = {}, t[3] = {}, low = HUGE_VAL, high = -HUGE_VAL;
  double middle = 0;
  for (const auto& point : points) middle += std::log2(point.x) / static_cast<double>(points.size());
  for (const auto& point : points) {
    const double x = std::log2(point.x) - middle;
    double power = 1;
    for (int k = 0; k < 5; ++k, power *= x) {
      s[k] += power;
      if (k < 3) t[k] += power * point.y;
    }
    low = std::min(low, x);
    high = std::max(high, x);
  }
  // Cramer's rule of the normal equations.
  const auto det = [](double a, double b, double c, double d, double e, double f, double g, double h,
                      double i) { return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g); };
  const double whole = det(s[0], s[1], s[2], s[1], s[2], s[3], s[2], s[3], s[4]);
  if (std::abs(whole) < 1e-12) return {};
  const double c0 = det(t[0], s[1], s[2], t[1], s[2], s[3], t[2], s[3], s[4]) / whole;
  const double c1 = det(s[0], t[0], s[2], s[1], t[1], s[3], s[2], t[2], s[4]) / whole;
  const double c2 = det(s[0], s[1], t[0], s[1], s[2], t[1], s[2], s[3], t[2]) / whole;
  std::vector<GraphPoint> out;
  for (int i = 0; i <= 24; ++i) {
    const double x = low + (high - low) * i / 24;
    GraphPoint& point = out.emplace_back();
    point.series = points.front().series;
    point.x = std::exp2(x + middle);
    point.y = c0 + c1 * x + c2 * x * x;
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
    return is_for_comparison(graph.family->name, graph.series[point.series]);
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

std::string program_of(const NativeTime& native) {
  const Value *kernel = native.of->axis("kernel"), *threads = native.of->axis("threads");
  std::string out = kernel != nullptr ? text_of(*kernel) : native.api;
  if (threads != nullptr && *threads != Value(std::int64_t{1}))
    out += " on " + text_of(*threads) + " threads";
  return out;
}

// A copy of as many bytes stands beside whatever it bounds.
bool stands_beside(const NativeTime& native, const std::string& family, const RunTime& run) {
  return native.of->family == family || (native.of->family == "copy" && run.ceiling == Ceiling::copy);
}

// Other programs' curves; of two rows of one place the faster.
std::vector<GraphReference> programs_of(const DrawnGraph& graph,
                                        const std::vector<const NativeTime*>& natives, const Case1& panel,
                                        const std::set<double>& xs) {
  std::map<std::string, std::map<double, double>> curves;
  const ShownQuantity& quantity = shown_quantity(graph.graph.quantity);
  for (const auto* native : natives) {
    const Value* x = graph.graph.x.size() == 1 ? native->of->axis(graph.graph.x.front()) : nullptr;
    const bool same = std::ranges::all_of(graph.family->axes, [&](const Axis& axis) {
      const Value* here = panel.of->name->axis(axis.name);
      const Value* there = native->of->axis(axis.name);
      const bool shown = axis.name == graph.graph.x.front() ||
                         std::ranges::find(graph.graph.series, axis.name) != graph.graph.series.end();
      return shown || here == nullptr || there == nullptr || *here == *there;
    });
    const Number y = quantity.of(native->run, 0, 0);
    if (!same || !y || !stands_beside(*native, graph.family->name, *panel.run)) continue;
    // A copy does the same whatever is kept, or however often is scanned.
    std::vector<double> at(xs.begin(), xs.end());
    if (x != nullptr) at = {number_at({text_of(*x)}).value_or(0)};
    for (const double place : at) {
      if (place < *xs.begin() || place > *xs.rbegin()) continue;
      auto [it, is_new] = curves[program_of(*native)].try_emplace(place, *y);
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
GraphReference copy_of(const std::map<double, const RunTime*>& runs, const ShownQuantity& quantity) {
  GraphReference out{"a copy's rate", {}};
  for (const auto& [x, run] : runs) {
    const Number y = quantity.of(*run, 0, 0);
    if (!y || run->ceiling != Ceiling::copy) return {};
    if (run->of_ceiling && *run->of_ceiling > 0) out.points.emplace_back(x, *y / *run->of_ceiling);
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
  DrawnGraph out;
  out.family = &family;
  out.graph = graph;
  const ShownQuantity& quantity = shown_quantity(graph.quantity.empty() ? "rate" : graph.quantity);
  out.low_is_good = quantity.of_time;
  std::vector<std::pair<std::string, Values>> where;
  for (const auto& text : graph.where) where.push_back(setting_of(text));
  const auto devices = measured(set);
  std::vector<Case1> cases;
  std::size_t of_operations = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (const auto& at : devices[d]->cases) {
      if (at.family() != family.name || at.exhibit || !chosen(*at.name, where)) continue;
      const RunTime* run = at.typical();
      if (run == nullptr) continue;
      of_operations += run->of_operations() ? 1 : 0;
      cases.push_back({&at, run, d, key_of(at, graph.series), key_of(at, graph.x), {}});
    }
  }
  out.unit = quantity.unit;
  if (out.unit.empty()) out.unit = of_operations == 0 || of_operations < cases.size() ? "GB/s" : "Gop/s";
  out.y_title = *quantity.unit == 0 ? out.unit : quantity.meaning;
  const bool numbered = graph.kind == Graph::Kind::launches;
  const Names axes = splitting(family, graph, cases);
  const Order before{&family};

  std::set<Key> keys, places;
  for (auto& one : cases) {
    one.apart = key_of(*one.of, axes);
    keys.insert(one.series);
    places.insert(one.x);
  }
  const auto sorted = [&](const std::set<Key>& all, const Names& names) {
    std::vector<Key> list(all.begin(), all.end());
    std::ranges::stable_sort(list, [&](const Key& a, const Key& b) { return before(names, a, b); });
    return list;
  };
  const auto series = sorted(keys, graph.series), columns = sorted(places, graph.x);
  std::map<Key, std::size_t> series_at, column_at;
  for (const auto& key : series) {
    series_at[key] = out.series.size();
    out.series.push_back(named(graph.series, key, false));
  }
  for (const auto& key : columns) {
    column_at[key] = out.columns.size();
    out.columns.push_back(graph.x.size() == 1 ? key.front() : named(graph.x, key, false));
  }
  const bool numbers = graph.kind == Graph::Kind::lines;
  out.x_title = numbered ? "number of the launch, by " +
                               fmt::format("{}, {}", fmt::join(graph.series, ", "), fmt::join(graph.x, ", "))
                         : title_of(graph.x, family);

  // By device and panel, then of each place the fastest.
  using Place = std::pair<std::size_t, std::size_t>;
  std::map<std::pair<std::size_t, Key>, std::map<Place, const Case1*>> panels;
  std::map<std::size_t, std::map<std::size_t, std::set<std::string>>> varies;
  for (const auto& one : cases) {
    auto& panel = panels[{one.device, one.apart}];
    const auto [at, is_new] = panel.try_emplace({series_at[one.series], column_at[one.x]}, &one);
    if (!is_new && one.run->time_s < at->second->run->time_s) at->second = &one;
  }
  std::vector<std::set<std::string>> values(axes.size());
  for (const auto& [key, unused] : panels) {
    for (std::size_t i = 0; i < axes.size(); ++i) values[i].insert(key.second[i]);
  }
  std::vector<double> xs, ys;
  std::vector<std::vector<const NativeTime*>> natives;
  for (const auto* device : devices)
    natives.push_back(numbers ? natives_of(set, *device) : std::vector<const NativeTime*>());
  const auto add_references = [&](GraphPanel& panel, std::size_t d, const std::map<Place, const Case1*>& of) {
    std::map<double, const RunTime*> runs;
    std::set<double> places;
    double most = 0;
    for (const auto& point : panel.points) {
      places.insert(point.x);
      most = std::max(most, point.y);
    }
    const CaseName& name = *of.begin()->second->of->name;
    for (const auto& [place, one] : of) {
      if (const auto x = number_at(one->x); x && places.contains(*x)) runs.try_emplace(*x, one->run);
    }
    panel.references = programs_of(out, natives[d], *of.begin()->second, places);
    if (!quantity.of_time && quantity.name != std::string_view("of_ceiling")) {
      if (auto copy = copy_of(runs, quantity); copy.points.size() > 1) panel.references.push_back(copy);
    }
    const Finding* needed =
        graph.little.empty() ? nullptr : finding_of(*panel.device, family, filled(graph.little, name));
    if (needed != nullptr && *places.begin() > 0 && *needed->value > 0)
      panel.references.push_back(little_of(*needed->value, most, *places.begin(), *places.rbegin()));
    std::set<std::string> files;
    for (auto& reference : panel.references) {
      thin(reference.points);
      for (const auto& [x, y] : reference.points) ys.push_back(y);
      for (const auto* native : natives[d]) {
        const std::string file = native->run.file < set.files.size() ? set.files[native->run.file] : "";
        if (program_of(*native) == reference.name) files.insert(file.substr(file.find_last_of('/') + 1));
      }
    }
    if (!files.empty())
      panel.note = fmt::format("dashed: other programs on the same device, of {}", fmt::join(files, ", "));
  };
  std::vector<std::vector<GraphPanel>> by_device(devices.size());
  std::vector<std::pair<std::size_t, Key>> panel_keys;
  for (const auto& [key, unused] : panels) panel_keys.push_back(key);
  std::ranges::stable_sort(panel_keys,
                           [&](const auto& a, const auto& b) { return before(axes, a.second, b.second); });
  for (const auto& key : panel_keys) {
    const auto& places_of = panels[key];
    GraphPanel panel;
    panel.device = devices[key.first];
    Names shown_axes;
    Key shown_key;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (values[i].size() < 2) continue;
      shown_axes.push_back(axes[i]);
      shown_key.push_back(key.second[i]);
    }
    panel.at = named(shown_axes, shown_key);
    double best_s = HUGE_VAL;
    std::map<std::size_t, double> first_s;
    for (const auto& [place, one] : places_of) {
      best_s = std::min(best_s, one->run->time_s);
      first_s.try_emplace(place.second, one->run->time_s);
    }
    std::set<double> different;
    std::set<std::size_t> rows;
    for (const auto& [place, one] : places_of) {
      const auto x = numbered  ? std::optional<double>(static_cast<double>(panel.points.size()))
                     : numbers ? number_at(one->x)
                               : std::optional<double>(0);
      const Number y = quantity.of(*one->run, first_s[place.second], best_s);
      if (!x || !y) continue;
      if (numbers && graph.x.size() > 1) {  // several products may be the same: the better stands for them
        const auto same = std::ranges::find_if(panel.points, [&, row = place.first](const GraphPoint& other) {
          return other.series == row && other.x == *x;
        });
        if (same != panel.points.end() && (quantity.of_time ? same->y <= *y : same->y >= *y)) continue;
        if (same != panel.points.end()) panel.points.erase(same);
      }
      GraphPoint& point = panel.points.emplace_back();
      point.series = place.first;
      point.column = place.second;
      point.x = *x;
      point.y = *y;
      const double shorter = one->run->low_s / one->run->time_s, longer = one->run->high_s / one->run->time_s;
      point.low = quantity.of_time ? *y * shorter : *y / longer;
      point.high = quantity.of_time ? *y * longer : shorter > 0 ? *y / shorter : *y;
      point.doubtful = one->run->doubtful();
      Names launch;
      Key launch_key;
      for (const auto& axis : family.axes) {
        if (!axis.tunable || std::ranges::find(graph.series, axis.name) != graph.series.end() ||
            (!numbered && std::ranges::find(graph.x, axis.name) != graph.x.end()))
          continue;
        const Value* value = one->of->name->axis(axis.name);
        if (value == nullptr || (axis.when && *value == axis.values.front() && !numbered)) continue;
        if (numbered && std::ranges::find(graph.x, axis.name) == graph.x.end()) continue;
        launch.push_back(axis.name);
        launch_key.push_back(text_of(*value));
      }
      point.launch = named(launch, launch_key);
      if (one->of->tuned) point.launch += " (tuned)";
      different.insert(numbers ? *x : static_cast<double>(place.second));
      rows.insert(place.first);
    }
    const bool enough = graph.kind == Graph::Kind::bars       ? rows.size() > 1
                        : graph.kind == Graph::Kind::launches ? panel.points.size() >= 20
                        : graph.kind == Graph::Kind::heat     ? different.size() + rows.size() > 3
                                                              : different.size() > 2;
    if (!enough) continue;
    const CaseName& name = *places_of.begin()->second->of->name;
    for (const auto& wanted : graph.marks) {
      const Finding* found = finding_of(*panel.device, family, filled(wanted, name));
      if (found == nullptr) continue;
      panel.marks.push_back({*found->value, number_text(*found->value, found->unit)});
    }
    if (graph.parabola) {
      for (const std::size_t row : rows) {
        std::vector<GraphPoint> of_row;
        for (const auto& point : panel.points) {
          if (point.series == row) of_row.push_back(point);
        }
        for (auto& point : parabola(of_row)) panel.fits.push_back(point);
      }
    }
    panel.finding = sentence(out, panel, name);
    if (numbers) add_references(panel, key.first, places_of);
    // Every k-th, and the ends: a picture shows no more, and a page holds no more.
    if (const std::size_t all = panel.points.size(); all > most_points) {
      const std::size_t step = (all + most_points - 3) / (most_points - 2);
      const auto [least, most] = std::ranges::minmax_element(panel.points, {}, &GraphPoint::y);
      std::vector<GraphPoint> kept;
      for (auto at = panel.points.begin(); at != panel.points.end(); ++at) {
        if ((at - panel.points.begin()) % static_cast<std::ptrdiff_t>(step) == 0 || at == least || at == most)
          kept.push_back(*at);
      }
      panel.points = std::move(kept);
      panel.note += fmt::format(
          "{}drawn: one in {} of {} points, with the highest and the lowest; clweave show has all",
          panel.note.empty() ? "" : "; ", step, all);
    }
    for (const auto& point : panel.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
    by_device[key.first].push_back(std::move(panel));
  }
  out.log_x = !numbered && spans_a_decade(xs);
  out.log_y = spans_a_decade(ys) && graph.kind != Graph::Kind::launches;
  for (auto& all : by_device) {
    std::ranges::reverse(all);  // of as many points the larger sizes first
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const GraphPanel& panel) { return panel.points.size(); });
    if (all.size() > most_panels) {
      all[0].note += fmt::format("{}{} more settings with fewer points are not drawn: clweave show has them",
                                 all[0].note.empty() ? "" : "; ", all.size() - most_panels);
      all.resize(most_panels);
    }
    for (auto& panel : all) out.panels.push_back(std::move(panel));
  }
  return out;
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

}  // namespace clweave
