// SPDX-License-Identifier: Apache-2.0
#include "report/text_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/quantity.hpp"

namespace clweave::report {

namespace {

int width_on(const Screen& screen) { return std::clamp(screen.width > 0 ? screen.width : 80, 40, 120); }

const char* ellipsis(const Screen& screen) { return screen.ascii ? "~" : "…"; }

// Cells of 2 by 4 dots; a sign in a cell hides its dots.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows), dots_(columns * rows), signs_(columns * rows) {}

  void dot(double x, double y) {
    const auto at = [](double place, std::size_t n) {
      return static_cast<std::size_t>(
          std::clamp(std::lround(place * static_cast<double>(n - 1)), 0L, static_cast<long>(n - 1)));
    };
    const std::size_t dx = at(x, 2 * columns_), dy = at(1 - y, 4 * rows_);
    // Source: Unicode 15, Braille Patterns: dots 1 2 3 7 on the left, 4 5 6 8 on the right.
    constexpr std::array<std::array<std::uint8_t, 4>, 2> bits = {
        {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
    dots_[dy / 4 * columns_ + dx / 2] |= bits.at(dx % 2).at(dy % 4);
  }
  void sign(double x, double y, const std::string& text) {
    const auto column = static_cast<std::size_t>(std::lround(x * static_cast<double>(columns_ - 1)));
    const auto row = static_cast<std::size_t>(std::lround((1 - y) * static_cast<double>(rows_ - 1)));
    signs_[row * columns_ + column] = text;
  }
  std::string row(std::size_t r, bool ascii) const {
    std::string out;
    for (std::size_t c = 0; c < columns_; ++c) {
      const std::uint8_t dots = dots_[r * columns_ + c];
      const std::string& sign = signs_[r * columns_ + c];
      if (!sign.empty())
        out += sign;
      else if (dots == 0)
        out += ' ';
      else if (ascii)
        out += '.';
      else  // U+2800 and the dots, as UTF-8
        out += {'\xE2', static_cast<char>(0xA0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3F))};
    }
    return out.erase(out.find_last_not_of(' ') + 1);
  }

 private:
  std::size_t columns_, rows_;
  std::vector<std::uint8_t> dots_;
  std::vector<std::string> signs_;
};

// Draws points of a chart, whose x and y have scales, into a canvas.
struct Plane {
  Plane(const Scale& across, const Scale& up, Canvas empty) : x(across), y(up), canvas(std::move(empty)) {}

  Scale x, y;
  Canvas canvas;
};

using Position = std::pair<double, double>;

// Calls draw(x, y) at `steps` + 1 places from one end to the other, both between 0 and 1.
template <class Draw>
void walk(const Position& from, const Position& to, int steps, Draw draw) {
  for (int s = 0; s <= steps; ++s) {
    const double t = static_cast<double>(s) / steps;
    draw(from.first + t * (to.first - from.first), from.second + t * (to.second - from.second));
  }
}

// One sign per column, so that a steep reference does not hide the points.
void draw_reference(Plane& plane, const GraphReference& reference, std::size_t columns,
                    const Screen& screen) {
  const std::string sign = paint(screen.ascii ? "." : "·", Style::dim);
  for (std::size_t i = 1; i < reference.points.size(); ++i) {
    const auto& [x0, y0] = reference.points[i - 1];
    const auto& [x1, y1] = reference.points[i];
    const Position from{plane.x.place(x0), plane.y.place(y0)}, to{plane.x.place(x1), plane.y.place(y1)};
    const auto steps = static_cast<int>(std::abs(to.first - from.first) * static_cast<double>(columns)) + 1;
    walk(from, to, steps, [&](double x, double y) { plane.canvas.sign(x, y, sign); });
  }
}

void draw_mark(Plane& plane, const GraphMark& mark, std::size_t rows) {
  const std::string sign = paint(":", Style::dim);
  for (std::size_t r = 0; r < rows; ++r)
    plane.canvas.sign(plane.x.place(mark.x), static_cast<double>(r) / static_cast<double>(rows - 1), sign);
}

// Names marks below the axis, each at its place or as near as the names before it leave room.
std::string mark_names(const std::vector<GraphMark>& marks, const Plane& plane, std::size_t columns) {
  std::string out;
  for (const auto& mark : marks) {
    const auto at =
        static_cast<std::size_t>(std::lround(plane.x.place(mark.x) * static_cast<double>(columns - 1)));
    const std::size_t first = std::min(at, columns - std::min(columns, mark.text.size()));
    if (first > out.size()) out.resize(first, ' ');
    if (!out.empty() && out.back() != ' ') out += ' ';
    out += mark.text;
  }
  return out;
}

void draw_curve(Plane& plane, std::vector<Position> points, std::size_t columns, std::size_t rows) {
  std::ranges::sort(points);
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Position from{plane.x.place(points[i - 1].first), plane.y.place(points[i - 1].second)};
    const Position to{plane.x.place(points[i].first), plane.y.place(points[i].second)};
    const auto steps = static_cast<int>(2 * static_cast<double>(columns) * std::abs(to.first - from.first) +
                                        4 * static_cast<double>(rows) * std::abs(to.second - from.second)) +
                       1;
    walk(from, to, steps, [&](double x, double y) { plane.canvas.dot(x, y); });
  }
}

// The number at a row of the axis. A roofline has no title line that would name its unit.
std::string row_text(const DrawnGraph& graph, double y) {
  if (graph.kind != DrawnGraph::Kind::roofline) return si_text(y);
  return graph.unit.starts_with('G') ? si_text(1e9 * y, 3, graph.unit.substr(1)) : si_text(y, 3, graph.unit);
}

Plane plane_of(const DrawnGraph& graph, const GraphPanel& panel, Canvas canvas) {
  std::vector<double> xs, ys;
  const auto add = [&](double x, double y) {
    xs.push_back(x);
    ys.push_back(y);
  };
  for (const auto& point : panel.points) add(point.x, point.y);
  for (const auto& reference : panel.references) {
    for (const auto& [x, y] : reference.points) add(x, y);
  }
  return {{xs, graph.log_x}, {ys, graph.log_y}, std::move(canvas)};
}

std::string curves_text(const DrawnGraph& graph, const GraphPanel& panel, const Screen& screen) {
  const bool roofline = graph.kind == DrawnGraph::Kind::roofline;
  const std::size_t rows = roofline ? 21 : 16, labelled = roofline ? 4 : 5, margin = roofline ? 12 : 10;
  const auto columns = static_cast<std::size_t>(width_on(screen)) - margin - 1;
  Plane plane = plane_of(graph, panel, Canvas(columns, rows));
  if (roofline) {
    for (const auto& mark : panel.marks) draw_mark(plane, mark, rows);
  }
  for (const auto& reference : panel.references) draw_reference(plane, reference, columns, screen);
  std::vector<std::vector<Position>> curves(graph.series.size());
  for (const auto& point : panel.points) curves[point.series].emplace_back(point.x, point.y);
  for (const auto& points : curves) {
    if (!roofline) draw_curve(plane, points, columns, rows);
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const auto& [x, y] : curves[i])
      plane.canvas.sign(plane.x.place(x), plane.y.place(y), paint(letter_of_series(i), Style::cyan));
  }
  std::string out;
  for (std::size_t r = 0; r < rows; ++r) {
    const double y = plane.y.value(1 - static_cast<double>(r) / static_cast<double>(rows - 1));
    out += fmt::format("{:>{}} {}", r % labelled == 0 ? row_text(graph, y) : "", margin - 1,
                       screen.ascii ? "|" : "│");
    out += plane.canvas.row(r, screen.ascii) + "\n";
  }
  out += std::string(margin, ' ') + (screen.ascii ? "+" : "└");
  for (std::size_t c = 0; c < columns; ++c) out += screen.ascii ? "-" : "─";
  const auto end_text = [&](double x) { return roofline ? number_text(x) : si_text(x); };
  const std::string left = end_text(plane.x.low), right = end_text(plane.x.high);
  const std::string name = graph.x_title + (plane.x.log ? ", logarithmic" : "");
  const auto room = static_cast<int>(columns) - static_cast<int>(left.size() + right.size());
  out += fmt::format("\n{:{}}{}{:^{}}{}\n", "", margin + 1, left,
                     cut(name, static_cast<std::size_t>(std::max(room, 1)), "~"), std::max(room, 1), right);
  if (roofline && !panel.marks.empty())
    out += std::string(margin + 1, ' ') + mark_names(panel.marks, plane, columns) + "\n";
  for (std::size_t i = 0; !roofline && i < curves.size(); ++i)
    out += cut(fmt::format("  {}  {}", paint(letter_of_series(i), Style::cyan), graph.series[i]),
               static_cast<std::size_t>(width_on(screen)), ellipsis(screen)) +
           "\n";
  return out;
}

std::string bars_text(const DrawnGraph& graph, const GraphPanel& panel, const Screen& screen) {
  std::vector<const GraphPoint*> bars(graph.series.size());  // the first point of each series
  double most = 0;
  std::size_t names = 0;
  for (const auto& point : panel.points) {
    if (bars[point.series] != nullptr) continue;
    bars[point.series] = &point;
    most = std::max(most, point.y);
    names = std::max(names, width_of(graph.series[point.series]));
  }
  const int whole = width_on(screen);
  names = std::min(names, static_cast<std::size_t>(whole / 2));
  std::string out;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (bars[i] == nullptr) continue;
    const std::string name = cut(graph.series[i], names, ellipsis(screen));
    const double value = bars[i]->y;
    out += fmt::format("{}{} {} {:.4g}\n", name, std::string(names - width_of(name), ' '),
                       bar(most > 0 ? value / most : 0, whole - static_cast<int>(names) - 11, screen.ascii),
                       value);
  }
  return out;
}

}  // namespace

std::string letter_of_series(std::size_t i) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return i < letters.size() ? std::string(1, letters[i]) : "*";
}

std::string text_of(const DrawnGraph& graph, const Screen& screen) {
  if (graph.panels.empty() || graph.panels.front().points.empty()) return "";
  const GraphPanel& panel = graph.panels.front();
  return graph.kind == DrawnGraph::Kind::bars ? bars_text(graph, panel, screen)
                                              : curves_text(graph, panel, screen);
}

}  // namespace clweave::report
