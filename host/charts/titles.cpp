// SPDX-License-Identifier: Apache-2.0
#include "charts/titles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/rows/best.hpp"
#include "analysis/rows/case_labels.hpp"
#include "base/quantity.hpp"

namespace clweave::charts {

namespace {

std::string first_clause(const std::string& text) {
  const std::string out = text.substr(0, text.find_first_of(";:,"));
  return out.size() > 60 ? "" : out;
}

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// Replaces {type} by the panel's value of that axis.
std::string filled(std::string text, const CaseName& panel) {
  for (auto open = text.find('{'); open != std::string::npos; open = text.find('{')) {
    const auto close = text.find('}', open);
    const Value* value = panel.axis(text.substr(open + 1, close - open - 1));
    text.replace(open, close - open + 1, value != nullptr ? text_of(*value) : "");
  }
  return text;
}

// The points that a sentence is about, and how to call and compare them.
class Statement {
 public:
  Statement(const Graph& asked, const Family& family, const DrawnGraph& graph, const GraphPanel& panel)
      : asked_(&asked), graph_(&graph) {
    std::ranges::remove_copy_if(panel.points, std::back_inserter(points_), [&](const GraphPoint& point) {
      return is_for_comparison(family, graph.series[point.series]);
    });
    if (points_.empty()) points_ = panel.points;
  }

  std::string text() const {
    switch (asked_->kind) {
      case Graph::Kind::launches: return of_launches();
      case Graph::Kind::bars: return of_bars();
      default: return of_places();
    }
  }

 private:
  // The best and the worst point of a place.
  struct Ends {
    const GraphPoint *best, *worst;
    std::size_t points = 0;
    double factor() const {
      const double ratio = worst->y / best->y;
      return ratio > 0 ? std::max(ratio, 1 / ratio) : 1;
    }
  };

  std::string value(const GraphPoint& point) const { return number_text(point.y, graph_->unit); }
  std::string series(const GraphPoint& point) const {
    const std::string& text = graph_->series[point.series];
    return text.empty() ? graph_->family : text;
  }
  bool is_better(const GraphPoint& one, const GraphPoint& other) const {
    return graph_->low_is_good ? one.y < other.y : one.y > other.y;
  }

  std::string place(const GraphPoint& point) const {
    if (asked_->kind == Graph::Kind::heat) return graph_->columns[point.column];
    if (asked_->x.size() != 1) return fmt::format("{:.6g}", point.x);
    const double power = std::log2(point.x);
    return asked_->x.front() + "=" +
           (point.x >= 65536 && power == std::floor(power) ? fmt::format("2^{:.0f}", power)
                                                           : graph_->columns[point.column]);
  }

  std::string of_launches() const {
    const auto best = std::ranges::max_element(points_, {}, &GraphPoint::y);
    const auto worst = std::ranges::min_element(points_, {}, &GraphPoint::y);
    return fmt::format("{} {} is the fastest of {} launch configurations, {}; the slowest, {} {}, reaches {}",
                       series(*best), best->note, points_.size(), value(*best), series(*worst), worst->note,
                       percent_text(worst->y / best->y));
  }

  std::string of_bars() const {
    const auto better = [&](const auto& a, const auto& b) { return is_better(a, b); };
    const auto best = std::ranges::min_element(points_, better);
    const auto worst = std::ranges::max_element(points_, better);
    if (asked_->quantity == "speedup")
      return fmt::format("{} is {} as fast as {}", series(*best), value(*best),
                         graph_->series[points_.front().series]);
    return fmt::format("{} {} {}, {} {}", series(*best), graph_->low_is_good ? "takes" : "reaches",
                       value(*best), series(*worst), value(*worst));
  }

  // Returns the place to speak about: the last at which at least half as many series meet as anywhere; on a
  // heat map the one with the largest factor.
  Ends ends() const {
    std::map<std::pair<double, std::size_t>, Ends> places;
    for (const auto& point : points_) {
      Ends& at = places.try_emplace({point.x, point.column}, Ends{&point, &point}).first->second;
      ++at.points;
      if (is_better(point, *at.best)) at.best = &point;
      if (is_better(*at.worst, point)) at.worst = &point;
    }
    std::size_t most = 0;
    for (const auto& [unused, at] : places) most = std::max(most, at.points);
    const bool heat = asked_->kind == Graph::Kind::heat;
    Ends out = places.begin()->second;
    for (const auto& [unused, at] : places) {
      if (heat ? at.factor() > out.factor() : 2 * at.points >= most) out = at;
    }
    return out;
  }

  std::string of_places() const {
    const Ends at = ends();
    const GraphPoint &best = *at.best, &worst = *at.worst;
    const std::string where = place(best);
    if (&best == &worst) {
      const auto low = std::ranges::min_element(points_, {}, &GraphPoint::y);
      const auto high = std::ranges::max_element(points_, {}, &GraphPoint::y);
      return fmt::format("{}: {} at {}, {} at {}", series(*low), value(*low), place(*low), value(*high),
                         place(*high));
    }
    const double factor = at.factor();
    if (factor < 1.05)
      return fmt::format("No more than {} lies between {} and {} at {}", percent_text(factor - 1),
                         series(best), series(worst), where);
    const std::string times = factor < 1000 ? fmt::format("{:.3g}", factor) : fmt::format("{:.0f}", factor);
    if (asked_->kind == Graph::Kind::heat)
      return fmt::format("{} loses {}x to {} at {}", series(worst), times, series(best), where);
    if (graph_->low_is_good)
      return fmt::format("{} takes {} at {}, {} {} times as long", series(best), value(best), where,
                         series(worst), times);
    return fmt::format("{} reaches {} at {}, {} times {}", series(best), value(best), where, times,
                       series(worst));
  }

  const Graph* asked_;
  const DrawnGraph* graph_;
  std::vector<GraphPoint> points_;
};

}  // namespace

std::string key_text(const Names& axes, const Key& key, bool all_names) {
  std::string out;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (key[i].empty()) continue;
    const bool name = all_names || needs_name(value_of(key[i]));
    out += (out.empty() ? "" : " ") + (name ? axes[i] + "=" : "") + key[i];
  }
  return out;
}

std::string axis_title(const Names& axes, const Family& family) {
  if (axes.size() != 1) return spaced(fmt::format("{}", fmt::join(axes, " x ")));
  const Axis* axis = family.axis(axes.front());
  const std::string meaning = axis != nullptr ? first_clause(axis->meaning) : "";
  // The first clause of a meaning that lists the values explains only the first of them.
  const bool lists = axis != nullptr && !axis->values.empty() && meaning == text_of(axis->values.front());
  return meaning.empty() || lists ? axes.front() : axes.front() + ": " + meaning;
}

const Finding* finding_of(const DeviceResults& device, const Family& family, const std::string& name,
                          const CaseName& panel) {
  const std::string wanted = filled(name, panel);
  for (const auto& one : device.findings) {
    if (one.family != family.name || one.runs.empty()) continue;
    const Finding& typical = one.typical();
    if (typical.name == wanted && typical.value) return &typical;
  }
  return nullptr;
}

std::string sentence(const Graph& asked, const Family& family, const DrawnGraph& graph,
                     const GraphPanel& panel, const DeviceResults& device, const CaseName& name) {
  std::vector<std::string> texts;
  for (const auto& wanted : asked.findings) {
    const Finding* found = finding_of(device, family, wanted, name);
    if (found == nullptr) continue;
    texts.push_back(capital(found->unit == "ratio" ? fmt::format("{} {}: {}", spaced(found->name),
                                                                 number_text(*found->value, "x"), found->text)
                                                   : found->text));
  }
  if (texts.size() > 2) texts.erase(texts.begin() + 2, texts.end() - 1);
  if (!texts.empty()) return fmt::format("{}", fmt::join(texts, ". "));
  return Statement(asked, family, graph, panel).text();
}

std::vector<std::string> device_labels(const std::vector<const DeviceResults*>& devices) {
  using Word = std::function<std::string(const DeviceResults&)>;
  static const std::vector<Word> words = {
      [](const DeviceResults& device) {
        return device.platform.starts_with("Portable Computing Language")
                   ? "PoCL " + device.driver.substr(0, device.driver.find_first_of("+ "))
                   : device.platform.substr(0, device.platform.find(", "));
      },
      [](const DeviceResults& device) {
        return device.compute_units > 0 ? std::to_string(device.compute_units) + " CUs" : "";
      },
      [](const DeviceResults& device) { return device.user_label; },
      [](const DeviceResults& device) { return device.id; }};
  std::vector<std::string> out;
  for (const auto* device : devices) out.push_back(device->label());
  const auto is_shared = [&](std::size_t i) { return std::ranges::count(out, out[i]) > 1; };
  for (const auto& word : words) {
    std::vector<std::string> longer = out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string more = word(*devices[i]);
      if (is_shared(i) && !more.empty()) longer[i] += ", " + more;
    }
    out = std::move(longer);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_shared(i)) out[i] += " " + letter_of(i);
  }
  return out;
}

}  // namespace clweave::charts
