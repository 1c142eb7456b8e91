// SPDX-License-Identifier: Apache-2.0
#include "suite/outcome.hpp"

#include <cmath>
#include <utility>

namespace clweave::suite {

namespace {

// A number and its interval.
struct Known {
  double value = 0;
  std::optional<double> low = {}, high = {};
};

Finding ratio(std::string name, const Known& of, const Known& to, std::string text) {
  Finding out{std::move(name), of.value / to.value, "ratio", std::move(text)};
  if (!of.low || !of.high || !to.low || !to.high) return out;
  // The errors are independent, so their logarithms add in quadrature.
  const auto reach = [](double one, double other) {
    return std::exp(std::sqrt(std::log(one) * std::log(one) + std::log(other) * std::log(other)));
  };
  out.low = *out.value / reach(of.value / *of.low, *to.high / to.value);
  out.high = *out.value * reach(*of.high / of.value, to.value / *to.low);
  return out;
}

}  // namespace

Finding ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text) {
  return ratio(std::move(name), {of.time_s, of.low_s, of.high_s}, {to.time_s, to.low_s, to.high_s},
               std::move(text));
}

Finding throughput_of(std::string name, double amount, const Outcome& of, std::string unit,
                      std::string text) {
  Finding out{std::move(name), amount / of.time_s, std::move(unit), std::move(text)};
  if (of.low_s && of.high_s) {
    out.low = amount / *of.high_s;
    out.high = amount / *of.low_s;
  }
  return out;
}

Finding throughput_ratio_of(std::string name, const Outcome& of, const Outcome& to, double amounts,
                            std::string text) {
  Finding out = ratio_of(std::move(name), to, of, std::move(text));
  for (auto* number : {&out.value, &out.low, &out.high}) {
    if (*number) **number *= amounts;
  }
  return out;
}

Finding energy_ratio_of(std::string name, const Outcome& of, const Outcome& to, std::string text) {
  return ratio(std::move(name), {of.energy_j.value(), of.energy_low_j, of.energy_high_j},
               {to.energy_j.value(), to.energy_low_j, to.energy_high_j}, std::move(text));
}

}  // namespace clweave::suite
