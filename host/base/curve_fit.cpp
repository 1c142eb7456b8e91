// SPDX-License-Identifier: Apache-2.0
#include "base/curve_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stats.hpp"

namespace clweave::base {

std::string Reached::between(double best, double unit) const {
  if (below.first == 0) return "";
  return fmt::format(", between {:.4g} with {:.0f} % and {:.4g} with {:.0f} %", below.first / unit,
                     100 * below.second / best, from.first / unit, 100 * from.second / best);
}

std::optional<Reached> where_reached(const Rates& rates, double rate) {
  std::pair<double, double> below = {0, 0};  // running maximum, so that noise cannot make the curve fall
  for (const auto& point : rates) {
    if (point.second >= rate) {
      if (below.first == 0) return Reached{point.first, 0, below, point};
      const double share = (rate - below.second) / (point.second - below.second);
      const double at = below.first + share * (point.first - below.first);
      return Reached{at, std::min(at, rate * below.first / below.second), below, point};
    }
    if (point.second > below.second) below = point;
  }
  return {};
}

double Parabola::at(double x) const {
  const double d = std::log2(x) - center;
  return level + slope * d + curvature * d * d;
}

double Parabola::vertex() const { return std::exp2(center - slope / (2 * curvature)); }

// Solves the normal equations about the means, where they are well conditioned, by Cramer's rule.
std::optional<Parabola> fit_parabola(std::span<const std::pair<double, double>> points) {
  if (points.size() < 4) return {};
  const auto n = static_cast<double>(points.size());
  double mean_x = 0, mean_y = 0;
  for (const auto& [x, y] : points) {
    mean_x += std::log2(x) / n;
    mean_y += y / n;
  }
  double s2 = 0, s3 = 0, s4 = 0, ty = 0, txy = 0, txxy = 0;
  for (const auto& point : points) {
    const double x = std::log2(point.first) - mean_x, y = point.second - mean_y;
    s2 += x * x;
    s3 += x * x * x;
    s4 += x * x * x * x;
    ty += y * y;
    txy += x * y;
    txxy += x * x * y;
  }
  // The sums of x and y are 0, hence the constant term is -curvature s2 / n.
  const double q = s4 - s2 * s2 / n, determinant = s2 * q - s3 * s3;
  if (determinant <= 0 || ty <= 0) return {};
  const double slope = (txy * q - txxy * s3) / determinant, curvature = (txxy * s2 - txy * s3) / determinant;
  Parabola out{mean_x, mean_y - curvature * s2 / n, slope, curvature, mean_y, 0, 0};
  double left = 0;
  for (const auto& [x, y] : points) left += (y - out.at(x)) * (y - out.at(x));
  out.r_squared = 1 - left / ty;
  out.residual = std::sqrt(left / n);
  return out;
}

std::optional<double> interpolate_log(std::span<const std::pair<double, double>> points, double x) {
  const auto above = std::ranges::find_if(points, [&](const auto& point) { return point.first > x; });
  if (above == points.begin() || above == points.end()) return {};
  const auto below = std::prev(above);
  const double part = std::log(x / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, part);
}

std::vector<double> without_lone_peaks(std::span<const double> values) {
  std::vector<double> out(values.begin(), values.end());
  for (std::size_t i = 1; i + 1 < values.size(); ++i)
    out[i] = std::min(values[i], std::max(values[i - 1], values[i + 1]));
  return out;
}

std::size_t count_valleys(std::span<const double> values, double depth) {
  std::size_t count = 0;
  bool down = false;
  double most = 0, least = 0;  // on the way up, and down
  for (const double value : values) {
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

double roughness(const std::vector<std::vector<double>>& curves) {
  constexpr double of_median = 0.6745;            // median absolute value of the normal distribution
  constexpr double of_second_difference = 2.449;  // sqrt(1 + 4 + 1)
  std::vector<double> bends;
  for (const auto& y : curves) {
    for (std::size_t i = 1; i + 1 < y.size(); ++i)
      bends.push_back(std::abs(std::log(y[i - 1] * y[i + 1] / (y[i] * y[i]))));
  }
  return bends.empty() ? 0 : median(bends) / (of_median * of_second_difference);
}

}  // namespace clweave::base
