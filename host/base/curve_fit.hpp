// SPDX-License-Identifier: Apache-2.0
// curve_fit: where a measured curve reaches a rate, and the least-squares parabola through it.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

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

}  // namespace clweave::base
