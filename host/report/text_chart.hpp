// SPDX-License-Identifier: Apache-2.0
// curve: numbers drawn with letters and dots of a terminal.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/terminal.hpp"

namespace clweave::report {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string x_name, y_name;
  std::vector<Curve> curves;
};

// Curves over x, each with its letter at its points and dots between them. An axis whose positive values span
// more than a decade is logarithmic.
std::string curves_text(const Plot&, const Screen&);

// A bar for the first point of each curve.
std::string bars_text(const Plot&, const Screen&);

}  // namespace clweave::report
