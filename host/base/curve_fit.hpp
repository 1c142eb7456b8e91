// SPDX-License-Identifier: Apache-2.0
// where_reached: how much has to be in flight for a rate.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/namespaces.hpp"

namespace clweave::base {

using Rates = std::map<double, double>;  // of anything a second, by what is in flight: items, chains, bytes

// From where on a rate is reached: between two that were measured, on the line from one to the other.
struct Reached {
  double at;
  // The earliest place, where more in flight never makes each faster: a curve that bends down lies above that
  // line, and below the one from nothing through `below`.
  double at_least;
  std::pair<double, double> below, from;  // the most that do not reach it, the first that do

  // For people: ", between 14 with 39 % and 16 with 100 %" of `best`, in flight counted in `unit`; nothing
  // where the first that was measured reaches it.
  std::string between(double best, double unit = 1) const;
};

// None where nothing that was measured reaches it.
std::optional<Reached> where_reached(const Rates&, double rate);

}  // namespace clweave::base
