// SPDX-License-Identifier: Apache-2.0
#include "charts/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/terminal.hpp"

namespace clweave::charts {

namespace {

constexpr double left = 64, top = 58, height = 300, gap = 24;
// Letters of proportional fonts differ: most texts are narrower than so much a letter.
constexpr double letter = 7.4;
constexpr double least_tall = 14;  // of a row with a text
// Distinguishable with any colour vision: after Okabe and Ito, darker, as they stand on white.
constexpr std::array colours = {"#0072b2", "#b45309", "#00805f", "#b0438a",
                                "#56606b", "#c2410c", "#5b4bc4", "#7a6a00"};

// Escapes attributes and text alike; drops characters that XML cannot contain.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : shown(on_one_line(text), Screen{.ascii = false})) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

double wide_as(const std::string& text) { return letter * static_cast<double>(width_of(text)); }

// Cuts a text to the room that it has.
std::string fitted(const std::string& text, double room) {
  return wide_as(text) <= room ? text
                               : cut(text, static_cast<std::size_t>(std::max(1.0, room / letter)), "…");
}

// A scale along one side of the picture.
struct Side {
  Scale scale;
  double from, to;

  double at(double value) const { return from + scale.place(value) * (to - from); }
  // Returns powers of two or of ten, or whole steps.
  std::vector<double> ticks(bool powers_of_two) const {
    const auto& [low, high, log] = scale;
    std::vector<double> out;
    if (log) {
      const double base = powers_of_two || high / low < 200 ? 2 : 10;
      double first = std::pow(base, std::ceil(std::log(low) / std::log(base) - 1e-9));
      double factor = base;
      while (std::log(high / low) / std::log(factor) > 10) factor *= base;
      for (; first <= high * 1.0001; first *= factor) out.push_back(first);
      return out;
    }
    double step = std::pow(10, std::floor(std::log10((high - low) / 4)));
    for (const double k : {5.0, 2.0}) {
      if (step * k <= (high - low) / 4) {
        step *= k;
        break;
      }
    }
    for (double value = std::ceil(low / step) * step; value <= high * 1.0001; value += step)
      out.push_back(value);
    return out;
  }
};

std::string tick_text(double value, bool bytes) {
  if (bytes) return bytes_text(value);
  if (value >= 65536 && std::log2(value) == std::floor(std::log2(value)))
    return fmt::format("2^{:.0f}", std::log2(value));
  return value >= 1e5 ? si_text(value) : fmt::format("{:.4g}", value);
}

std::string text(double x, double y, const std::string& what, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, escaped(what));
}

std::string line(double x1, double y1, double x2, double y2, const char* stroke, const char* more = "") {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n", x1,
                     y1, x2, y2, stroke, more);
}

constexpr const char* grey = R"( fill="#555")";
constexpr const char* end = R"( text-anchor="end")";
constexpr const char* grey_end = R"( text-anchor="end" fill="#555")";
constexpr const char* middle = R"( text-anchor="middle")";
constexpr const char* grey_middle = R"( text-anchor="middle" fill="#555")";
constexpr const char* white_middle = R"( text-anchor="middle" fill="#fff")";
constexpr const char* dashed = R"( stroke-dasharray="6 4" stroke-width="1.5")";

struct Sides {
  Side x, y;
};

// Returns the same scales for all panels of a setting, so that devices can be compared.
Sides sides_of(const DrawnGraph& graph, const GraphPanel& panel, double x0, double width) {
  const bool numbered = graph.kind == DrawnGraph::Kind::launches;
  std::vector<double> xs, ys;
  const auto add_points = [&](const GraphPanel& of) {
    for (const auto& point : of.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  };
  add_points(panel);
  for (const auto& other : graph.panels) {
    if (other.at != panel.at || numbered) continue;
    add_points(other);
    for (const auto& reference : other.references) {
      for (const auto& [unused, y] : reference.points) ys.push_back(y);
    }
  }
  return {{{xs, graph.log_x}, x0, x0 + width}, {{ys, graph.log_y}, top + height, top}};
}

std::string polyline(const std::string& path, const char* stroke, const char* more) {
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", path, stroke, more);
}

void add_place(std::string& path, double x, double y) {
  path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x, y);
}

std::string drawn(const GraphReference& reference, const Sides& sides) {
  std::string path;
  for (const auto& [at, value] : reference.points) add_place(path, sides.x.at(at), sides.y.at(value));
  const auto& [last, value] = reference.points.back();
  const double x = sides.x.at(last), y = sides.y.at(value);
  return (reference.points.size() > 1 ? polyline(path, "#555", dashed)
                                      : line(x - 6, y, x + 6, y, "#555", dashed)) +
         text(x - 4, y - 5, fitted(reference.name, x - 4), grey_end);
}

// Draws the points of one series: with a curve and intervals, or by their number.
std::string drawn(std::vector<GraphPoint> points, bool numbered, const Sides& sides, const char* colour) {
  const auto& [x, y] = sides;
  std::ranges::stable_sort(points, {}, &GraphPoint::x);
  std::string out, path;
  for (const auto& point : points) {
    add_place(path, x.at(point.x), y.at(point.y));
    if (!numbered && point.low > y.scale.low && point.high < y.scale.high * 1.5)
      out += line(x.at(point.x), y.at(point.low), x.at(point.x), y.at(std::min(point.high, y.scale.high)),
                  colour, R"( stroke-opacity="0.5")");
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x.at(point.x),
                       y.at(point.y), numbered ? "1.8" : "3", colour);
  }
  return numbered ? out : out + polyline(path, colour, R"( stroke-width="2")");
}

// Draws curves, or points by their number.
std::string curves(const DrawnGraph& graph, const GraphPanel& panel, double x0, double width) {
  const bool numbered = graph.kind == DrawnGraph::Kind::launches;
  const Sides sides = sides_of(graph, panel, x0, width);
  const auto& [x, y] = sides;
  std::string out;
  for (const double tick : y.ticks(false)) {
    out += line(x0, y.at(tick), x0 + width, y.at(tick), "#ddd");
    out += text(x0 - 8, y.at(tick) + 4, tick_text(tick, false), grey_end);
  }
  for (const double tick : numbered ? std::vector<double>() : x.ticks(true))
    out += text(x.at(tick), top + height + 18, tick_text(tick, graph.x_in_bytes), grey_middle);
  for (const auto& mark : panel.marks) {
    if (mark.x < x.scale.low || mark.x > x.scale.high) continue;
    out += line(x.at(mark.x), top, x.at(mark.x), top + height, "#555", R"( stroke-dasharray="5 4")");
    const double at = x.at(mark.x);
    if (const bool is_left = at < x0 + width / 2; is_left)
      out += text(at + 4, top + 12, fitted(mark.text, x0 + width - at), grey);
    else
      out += text(at - 4, top + 12, fitted(mark.text, at - x0), grey_end);
  }
  for (const auto& reference : numbered ? std::vector<GraphReference>() : panel.references)
    out += drawn(reference, sides);
  std::map<std::size_t, std::vector<GraphPoint>> by_series;
  for (const auto& point : panel.points) by_series[point.series].push_back(point);
  for (const auto& [series, points] : by_series)
    out += drawn(points, numbered, sides, colours.at(series % colours.size()));
  return out + text(x0 + width / 2, top + height + 40, fitted(graph.x_title, width), middle);
}

// Draws a row for each series: points with intervals, or the cells of a heat map.
std::string rows(const DrawnGraph& graph, const GraphPanel& panel, double x0, double width) {
  const bool cells = graph.kind == DrawnGraph::Kind::heat;
  std::vector<std::size_t> series, columns;
  std::vector<double> ys;
  for (const auto& point : panel.points) {
    if (std::ranges::find(series, point.series) == series.end()) series.push_back(point.series);
    if (std::ranges::find(columns, point.column) == columns.end()) columns.push_back(point.column);
    ys.push_back(point.y);
  }
  std::ranges::sort(series);
  std::ranges::sort(columns);
  const double inner = x0 + 90, tall = std::min(28.0, height / static_cast<double>(series.size()));
  const Side scale{{ys, graph.log_y}, cells ? 0 : inner, cells ? 1 : x0 + width - 60};
  std::string out;
  const double wide = (x0 + width - inner) / static_cast<double>(columns.size());
  for (const auto& point : panel.points) {
    const auto row = static_cast<double>(std::ranges::find(series, point.series) - series.begin());
    const auto column = static_cast<double>(std::ranges::find(columns, point.column) - columns.begin());
    const double y = top + row * tall;
    const std::string value = number_text(point.y, cells ? "" : graph.unit);
    if (cells) {
      const double shade = std::clamp(scale.at(point.y), 0.0, 1.0);
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "fill=\"hsl(205,70%,{:.0f}%)\"/>\n",
          inner + column * wide, y, wide - 1, tall - 1, 92 - 55 * shade);
      if (tall >= least_tall && wide_as(value) <= wide)
        out +=
            text(inner + (column + 0.5) * wide, y + tall / 2 + 4, value, shade > 0.6 ? white_middle : middle);
    } else {
      out += line(scale.at(std::max(point.low, scale.scale.low)), y + tall / 2, scale.at(point.high),
                  y + tall / 2, colours[0]);
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", scale.at(point.y),
                         y + tall / 2, colours[0]);
      out += text(scale.at(point.y) + 8, y + tall / 2 + 4, value);
    }
  }
  // Leaves out names that would cover each other.
  const auto every = static_cast<std::size_t>(std::ceil(least_tall / tall));
  for (std::size_t i = 0; i < series.size(); i += every)
    out += text(inner - 8, top + (static_cast<double>(i) + 0.5) * tall + 4,
                fitted(graph.series[series[i]], inner - 8 - (x0 - left)), end);
  const double bottom = top + static_cast<double>(series.size()) * tall;
  for (std::size_t i = 0; cells && i < columns.size(); ++i)
    out += text(inner + (static_cast<double>(i) + 0.5) * wide, bottom + 16,
                fitted(graph.columns[columns[i]], wide), grey_middle);
  return out +
         text(x0 + width / 2, bottom + 38, fitted(cells ? graph.x_title : graph.y_title, width), middle);
}

// The names of the series beside their colours, in lines no wider than the picture.
class Legend {
 public:
  Legend(const DrawnGraph& graph, const std::vector<std::size_t>& series, double width) {
    double x = left;
    for (const auto one : series) {
      const std::string name = graph.series[one].empty() ? graph.family : graph.series[one];
      const std::string axis = name.find_first_not_of("0123456789") == std::string::npos
                                   ? graph.series_title.substr(0, graph.series_title.find(' ')) + " "
                                   : "";
      const std::string words = fitted(axis + name, width - left - after_mark);
      if (x > left && x + after_mark + wide_as(words) > width) {
        x = left;
        ++lines_;
      }
      entries_.push_back({one, words, x, lines_});
      x += after_mark + wide_as(words) + between;
    }
    if (!entries_.empty()) ++lines_;
  }

  double height() const { return line_height * static_cast<double>(lines_); }

  std::string drawn_below(double y) const {
    std::string out;
    for (const auto& entry : entries_) {
      const double base = y + line_height * static_cast<double>(entry.line + 1) - 6;
      out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", entry.x, base - 4,
                         colours.at(entry.series % colours.size()));
      out += text(entry.x + after_mark, base, entry.words);
    }
    return out;
  }

 private:
  static constexpr double after_mark = 10, between = 24, line_height = 20;
  struct Entry {
    std::size_t series;
    std::string words;
    double x;
    std::size_t line;
  };
  std::vector<Entry> entries_;
  std::size_t lines_ = 0;
};

}  // namespace

std::string svg_of(const DrawnGraph& graph) {
  std::vector<const GraphPanel*> panels;
  for (const auto& panel : graph.panels) {
    if (std::ranges::none_of(panels, [&](const GraphPanel* one) { return one->device == panel.device; }))
      panels.push_back(&panel);
  }
  if (panels.empty())
    throw Error(ErrorCode::usage, fmt::format("{}: too few cases for this chart", graph.name));
  const bool named = graph.kind == DrawnGraph::Kind::lines || graph.kind == DrawnGraph::Kind::launches;
  const double width = panels.size() == 1 ? 900 : 460, each = left + width + gap;
  const double total = each * static_cast<double>(panels.size());
  std::vector<std::size_t> series;
  for (const auto* panel : panels) {
    for (const auto& point : panel->points) {
      if (std::ranges::find(series, point.series) == series.end()) series.push_back(point.series);
    }
  }
  std::ranges::sort(series);
  const Legend legend(graph, named ? series : std::vector<std::size_t>(), total);
  const double plots = top + height + (named ? 64 : 60), whole = plots + legend.height() + (named ? 8 : 0);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n"
      "<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"white\"/>\n",
      total, whole, total, whole);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const GraphPanel& panel = *panels[i];
    const double x0 = left + each * static_cast<double>(i);
    out += text(x0, 20, fitted(panel.device_label + (panel.at.empty() ? "" : ", " + panel.at), width),
                R"( font-weight="bold")");
    out += text(x0, 38, fitted(panel.finding, width + gap), grey);
    if (named) out += text(x0 - 40, 53, fitted(graph.y_title, width), grey);
    out += named ? curves(graph, panel, x0, width) : rows(graph, panel, x0, width);
  }
  return out + legend.drawn_below(plots) + "</svg>\n";
}

}  // namespace clweave::charts
