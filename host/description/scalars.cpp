// SPDX-License-Identifier: Apache-2.0
#include "description/scalars.hpp"

namespace clweave::description {

namespace {

constexpr int mantissa_bits = 10, bias = 15, largest_exponent = 15;
constexpr std::uint16_t infinity = 0x7C00, not_a_number = 0x7E00, sign_bit = 0x8000;

}  // namespace

double double_of(Half half) {
  const int exponent = (half.bits & infinity) >> mantissa_bits, mantissa = half.bits & 0x3FF;
  double size = 0;
  if (exponent == largest_exponent + bias + 1)
    size = mantissa == 0 ? HUGE_VAL : NAN;
  else if (exponent == 0)
    size = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    size = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return (half.bits & sign_bit) != 0 ? -size : size;
}

Half half_of(double value) {
  if (std::isnan(value)) return {not_a_number};
  const std::uint16_t sign = std::signbit(value) ? sign_bit : 0;
  const double size = std::abs(value);
  constexpr double rounds_to_infinity = 65520, least_normal = 0x1p-14;
  std::uint32_t bits = 0;
  if (size >= rounds_to_infinity) {
    bits = infinity;
  } else if (size < least_normal) {
    bits = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, bias - 1 + mantissa_bits)));
  } else {
    const int exponent = std::ilogb(size);
    // A mantissa that rounds up to the next power of two carries into the exponent.
    const auto mantissa =
        static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, mantissa_bits - exponent)));
    bits = (static_cast<std::uint32_t>(exponent + bias) << mantissa_bits) + mantissa - (1U << mantissa_bits);
  }
  return {static_cast<std::uint16_t>(bits | sign)};
}

}  // namespace clweave::description
