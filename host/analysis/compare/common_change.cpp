// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/common_change.hpp"

#include <algorithm>
#include <cmath>

namespace clweave::compare {

namespace {

constexpr double reach_of_biweight = 4.685;  // 95 % efficient for normal noise
constexpr double least_share = 0.25;

double biweight(double distance) {
  const double u = distance / reach_of_biweight;
  return std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
}

struct Point {
  double value, scale;
  double distance(double centre) const { return (value - centre) / scale; }
};

double height(const std::vector<Point>& points, double centre) {
  double sum = 0;
  for (const auto& point : points) sum += biweight(point.distance(centre)) / point.scale;
  return sum;
}

// Returns the highest mode, by iteratively reweighted least squares from the value that is highest.
CommonChange highest(const std::vector<Point>& points) {
  double centre = 0, best = -1;
  for (const auto& point : points) {
    const double here = height(points, point.value);
    if (here > best || (here == best && std::abs(point.value) < std::abs(centre))) {
      best = here;
      centre = point.value;
    }
  }
  CommonChange out{centre, 0, 0};
  for (int i = 0; i < 50; ++i) {
    double weights = 0, sum = 0, squares = 0;
    for (const auto& point : points) {
      const double weight = biweight(point.distance(out.centre)) / (point.scale * point.scale);
      const double off = point.value - out.centre;
      weights += weight;
      sum += weight * off;
      squares += weight * weight * off * off;
    }
    out.centre += sum / weights;
    out.se = std::sqrt(squares) / weights;
    if (std::abs(sum / weights) < 1e-9) break;
  }
  return out;
}

}  // namespace

std::vector<CommonChange> common_changes(std::span<const double> values, std::span<const double> scales) {
  if (values.size() < least_cases) return {};
  std::vector<Point> points, rest;
  for (std::size_t i = 0; i < values.size(); ++i)
    points.push_back({values[i], std::max(scales[i], least_scale)});
  std::vector<CommonChange> out = {highest(points)};
  CommonChange& first = out.front();
  for (const auto& point : points) {
    if (std::abs(point.distance(first.centre)) > near_a_centre) rest.push_back(point);
  }
  first.cases = points.size() - rest.size();
  if (rest.size() < least_cases) return out;
  CommonChange second = highest(rest);
  const auto at_second = [&](const Point& point) {
    return std::abs(point.distance(second.centre)) <= near_a_centre;
  };
  second.cases = static_cast<std::size_t>(std::ranges::count_if(rest, at_second));
  // A case too noisy to tell the two apart is evidence of neither.
  const auto of_both = static_cast<std::size_t>(std::ranges::count_if(points, at_second)) - second.cases;
  const auto distinct = static_cast<double>(points.size() - of_both);
  if (second.cases >= least_cases && static_cast<double>(second.cases) >= least_share * distinct)
    out.push_back(second);
  return out;
}

}  // namespace clweave::compare
