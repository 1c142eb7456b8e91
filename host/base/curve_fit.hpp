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

using Rates = std::map<double, double>;  // of anything a second, by what is in flight: items, chains, bytes

// From where on a rate is reached: between two measured points, by linear interpolation.
struct Reached {
  double at;
  // Earliest place if more in flight never makes each faster: such a concave curve lies above the
  // interpolated line, and below the line from the origin through `below`.
  double at_least;
  std::pair<double, double> below, from;  // the most that do not reach it, the first that do

  // Formats, for people, ", between 14 with 39 % and 16 with 100 %" of `best`, with what is in flight counted
  // in `unit`; empty if the first measured point reaches it.
  std::string between(double best, double unit = 1) const;
};

// Empty if no measured point reaches the rate.
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

// Fits y over log2 x by least squares. Empty for fewer than four points, for fewer than three different x,
// and if all y are equal.
std::optional<Parabola> fit_parabola(std::span<const std::pair<double, double>> points);

}  // namespace clweave::base
