// SPDX-License-Identifier: Apache-2.0
#include "report/text_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/quantity.hpp"

namespace clweave::report {

namespace {

int width_on(const Screen& screen) { return std::clamp(screen.width > 0 ? screen.width : 80, 40, 120); }

// Places values on a line from 0 to 1.
struct Scale {
  explicit Scale(const std::vector<double>& values)
      : low(*std::ranges::min_element(values)),
        high(*std::ranges::max_element(values)),
        logarithmic(low > 0 && high > 10 * low) {
    if (!logarithmic && low > 0) low = 0;
    if (low == high) high = low + 1;
  }
  double place(double value) const {
    return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  double value(double place) const {
    return logarithmic ? low * std::pow(high / low, place) : low + place * (high - low);
  }
  double low, high;
  bool logarithmic;
};

std::string letter(std::size_t i) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return i < letters.size() ? std::string(1, letters[i]) : "+";
}

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

}  // namespace

std::string curves_text(const Plot& plot, const Screen& screen) {
  std::vector<double> xs, ys;
  for (const auto& curve : plot.curves) {
    for (const auto& [x, y] : curve.points) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  if (xs.empty()) return "";
  const Scale across(xs), up(ys);
  constexpr std::size_t rows = 16, margin = 10;
  const auto columns = static_cast<std::size_t>(width_on(screen)) - margin - 1;
  Canvas canvas(columns, rows);
  for (const auto& curve : plot.curves) {
    auto points = curve.points;
    std::ranges::sort(points);
    for (std::size_t i = 1; i < points.size(); ++i) {
      const double x0 = across.place(points[i - 1].first), y0 = up.place(points[i - 1].second);
      const double x1 = across.place(points[i].first), y1 = up.place(points[i].second);
      const auto steps = static_cast<int>(2 * static_cast<double>(columns) * std::abs(x1 - x0) +
                                          4.0 * rows * std::abs(y1 - y0)) +
                         1;
      for (int s = 0; s <= steps; ++s) {
        const double t = static_cast<double>(s) / steps;
        canvas.dot(x0 + t * (x1 - x0), y0 + t * (y1 - y0));
      }
    }
  }
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    for (const auto& [x, y] : plot.curves[i].points)
      canvas.sign(across.place(x), up.place(y), paint(letter(i), Style::cyan));
  }
  std::string out;
  for (std::size_t r = 0; r < rows; ++r) {
    const double y = up.value(1 - static_cast<double>(r) / (rows - 1));
    out += fmt::format("{:>{}} {}", r % 5 == 0 ? si_text(y) : "", margin - 1, screen.ascii ? "|" : "│");
    out += canvas.row(r, screen.ascii) + "\n";
  }
  out += std::string(margin, ' ') + (screen.ascii ? "+" : "└");
  for (std::size_t c = 0; c < columns; ++c) out += screen.ascii ? "-" : "─";
  const std::string left = si_text(across.low), right = si_text(across.high);
  const std::string name = plot.x_name + (across.logarithmic ? ", logarithmic" : "");
  const auto room = static_cast<int>(columns) - static_cast<int>(left.size() + right.size());
  out += fmt::format("\n{:{}}{}{:^{}}{}\n", "", margin + 1, left,
                     cut(name, static_cast<std::size_t>(std::max(room, 1)), "~"), std::max(room, 1), right);
  for (std::size_t i = 0; i < plot.curves.size(); ++i)
    out += cut(fmt::format("  {}  {}", paint(letter(i), Style::cyan), plot.curves[i].name),
               static_cast<std::size_t>(width_on(screen)), screen.ascii ? "~" : "…") +
           "\n";
  return out;
}

std::string bars_text(const Plot& plot, const Screen& screen) {
  double most = 0;
  std::size_t names = 0;
  for (const auto& curve : plot.curves) {
    most = std::max(most, curve.points.front().second);
    names = std::max(names, width_of(curve.name));
  }
  const int whole = width_on(screen);
  names = std::min(names, static_cast<std::size_t>(whole / 2));
  std::string out;
  for (const auto& curve : plot.curves) {
    const std::string name = cut(curve.name, names, screen.ascii ? "~" : "…");
    const double value = curve.points.front().second;
    out += fmt::format("{}{} {} {:.4g}\n", name, std::string(names - width_of(name), ' '),
                       bar(most > 0 ? value / most : 0, whole - static_cast<int>(names) - 11, screen.ascii),
                       value);
  }
  return out;
}

}  // namespace clweave::report
