// SPDX-License-Identifier: Apache-2.0
// curve_fit: shapes of measured curves: where a rate is reached, parabolas, valleys, and noise between
// neighbouring points.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

using Rates = std::map<double, double>;  // any rate, by the work in flight: work-items, chains, bytes

// Least work in flight that reaches a rate, by linear interpolation between two measurements.
struct Reached {
  double at;
  // Lower bound of `at`, if throughput is concave in the work in flight: such a curve lies above the chord,
  // and below the line from the origin through `below`.
  double at_least;
  std::pair<double, double> below, from;  // last measurement under the rate, first one that reaches it

  // Formats ", between 14 with 39 % and 16 with 100 %" of `best`, work in flight in multiples of `unit`;
  // empty if the first measurement reaches the rate.
  std::string between(double best, double unit = 1) const;
};

// Returns std::nullopt if no measurement reaches the rate.
std::optional<Reached> where_reached(const Rates&, double rate);

// y = level + slope d + curvature d^2, where d = log2(x) - center.
struct Parabola {
  double center, level, slope, curvature;
  double mean;       // of the fitted y
  double r_squared;  // part of the variance of y that the parabola explains
  double residual;   // root mean square of the difference between y and the parabola

  double at(double x) const;
  double vertex() const;  // x of its least or, with a negative curvature, its greatest value
};

// Fits y over log2 x by least squares. Returns std::nullopt for fewer than four points, for fewer than three
// different x, and if all y are equal.
std::optional<Parabola> fit_parabola(std::span<const std::pair<double, double>> points);

// Returns y at x between two points, on a line in both logarithms; std::nullopt if no two points enclose x.
std::optional<double> interpolate_log(std::span<const std::pair<double, double>>, double x);

// Lowers each value that is above both of its neighbours to the higher of these, as one disturbed time may
// stand out; a value below both stays.
std::vector<double> without_lone_peaks(std::span<const double>);

// Counts the valleys: places from which values rise by the factor `depth` to both sides before they fall
// lower.
std::size_t count_valleys(std::span<const double>, double depth);

// Returns the standard deviation of the noise between neighbours, of the logarithm, in curves: from the
// median absolute second difference, which a smooth curve has hardly any of. 0 for curves of fewer than three
// values.
double roughness(const std::vector<std::vector<double>>& curves);

}  // namespace clweave::base
