// SPDX-License-Identifier: Apache-2.0
// scalars: the scalars of element types as values of C++, and their distances.
#pragma once
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/namespaces.hpp"
#include "description/description.hpp"

namespace clweave::description {

// IEEE 754's binary16: C++20 has no such type.
struct Half {
  std::uint16_t bits = 0;
};
double double_of(Half);
Half half_of(double);  // rounds to nearest, ties to even

template <class T>
inline constexpr bool is_whole_type = std::is_integral_v<T>;

// Calls f.operator()<T>() with the scalar's type.
template <class F>
auto with_scalar(ElementType::Of of, F&& f) {
  using Of = ElementType::Of;
  switch (of) {
    case Of::char_: return f.template operator()<std::int8_t>();
    case Of::uchar: return f.template operator()<std::uint8_t>();
    case Of::short_: return f.template operator()<std::int16_t>();
    case Of::ushort: return f.template operator()<std::uint16_t>();
    case Of::int_: return f.template operator()<std::int32_t>();
    case Of::uint: return f.template operator()<std::uint32_t>();
    case Of::long_: return f.template operator()<std::int64_t>();
    case Of::ulong: return f.template operator()<std::uint64_t>();
    case Of::half: return f.template operator()<Half>();
    case Of::double_: return f.template operator()<double>();
    default: return f.template operator()<float>();
  }
}

template <class T>
T scalar_at(std::span<const std::byte> bytes, std::uint64_t index) {
  T value;
  std::memcpy(&value, &bytes[index * sizeof(T)], sizeof(T));
  return value;
}

template <class T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return double_of(value);
  else
    return static_cast<double>(value);
}

// Rounds to a floating-point type; std::nullopt for an integer type that does not hold the value.
template <class T>
std::optional<T> scalar_of(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_of(value);
  } else if constexpr (is_whole_type<T>) {
    // The largest of 64 bits is no double; the power of two above it is.
    const double least = static_cast<double>(std::numeric_limits<T>::min()),
                 beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (!(value >= least && value < beyond) || value != std::floor(value)) return {};
    return static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
std::string scalar_text(T value) {
  if constexpr (is_whole_type<T>)
    return std::to_string(value);
  else if constexpr (std::is_same_v<T, double>)
    return fmt::format("{}", value);
  else
    return fmt::format("{}", static_cast<float>(as_double(value)));
}

// Returns how many values of a floating-point type lie between two, one of them counted; both are numbers.
template <class T>
std::uint64_t ulp_between(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  // Steps from zero, and to which side.
  const auto steps = [](T value) {
    const auto bits = std::bit_cast<Bits>(value);
    return std::pair((bits & sign) != 0, static_cast<std::uint64_t>(bits & static_cast<Bits>(~sign)));
  };
  const auto [negative_a, from_a] = steps(a);
  const auto [negative_b, from_b] = steps(b);
  if (negative_a != negative_b) return from_a + from_b;
  return from_a > from_b ? from_a - from_b : from_b - from_a;
}

// Returns whether a floating-point value is so small that a device may take it for zero.
template <class T>
bool is_denormal(T value) {
  const double size = std::abs(as_double(value));
  constexpr double least_half = 0x1p-14;
  if constexpr (std::is_same_v<T, Half>)
    return size < least_half;
  else
    return size < static_cast<double>(std::numeric_limits<T>::min());
}

}  // namespace clweave::description
