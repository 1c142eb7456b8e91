// SPDX-License-Identifier: Apache-2.0
#include "families/scan/reference.hpp"

#include <cstdlib>

namespace clweave::families {

Weights product(const Weights& a, const Weights& b) {
  Weights out(a.size());
  for (std::size_t e = 0; e < out.size(); ++e) {
    for (std::size_t i = 0; i <= e; ++i) out[e] += a[i] * b[e - i];
  }
  return out;
}

Weights weights(std::int64_t m, std::uint64_t order) {
  Weights result(order), power(order, m < 0 ? 0 : 1);  // of 0, and of 1 or -1
  result[0] = power[0] = 1;
  if (m < 0 && order > 1) power[1] = ~std::uint64_t{0};
  for (m = std::abs(m); m > 0; m /= 2) {
    if (m % 2 == 1) result = product(result, power);
    power = product(power, power);
  }
  return result;
}

}  // namespace clweave::families
