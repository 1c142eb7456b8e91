// SPDX-License-Identifier: Apache-2.0
#include "suite/outcome.hpp"

#include <cmath>
#include <utility>

namespace clweave {

Finding ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text) {
  Finding out{std::move(name), of.time_s / to.time_s, "ratio", std::move(text)};
  if (!of.low_s || !of.high_s || !to.low_s || !to.high_s) return out;
  // The two err apart from each other: their distances add as squares, as factors do in logarithms.
  const auto reach = [](double one, double other) {
    return std::exp(std::hypot(std::log(one), std::log(other)));
  };
  out.low = *out.value / reach(of.time_s / *of.low_s, *to.high_s / to.time_s);
  out.high = *out.value * reach(*of.high_s / of.time_s, to.time_s / *to.low_s);
  return out;
}

}  // namespace clweave
