// SPDX-License-Identifier: Apache-2.0
// generator: the steps of a linear congruential generator, which keep a device busy in lib/generator.cl.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "suite/device_info.hpp"

namespace clweave::families {

// Returns x after `trips` steps x -> a * x + c modulo 2^32, which the kernel takes one by one.
constexpr std::uint32_t after(std::uint32_t x, std::uint64_t trips) {
  std::uint32_t a = 1664525u, c = 1013904223u;
  for (; trips > 0; trips /= 2) {
    if (trips % 2 == 1) x = a * x + c;
    c = a * c + c;
    a *= a;
  }
  return x;
}

inline std::int64_t most_trips(const suite::DeviceInfo& device) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(1000000000, device.most_turns()));
}

// Returns the steps that take `wanted_s` where `trips` take `took_s`, rounded to two digits.
inline std::int64_t trips_for(double wanted_s, std::int64_t trips, double took_s,
                              const suite::DeviceInfo& device) {
  const double wanted = static_cast<double>(trips) * wanted_s / took_s;
  const double digit = std::pow(10, std::floor(std::log10(std::max(wanted, 1.0))) - 1);
  const auto most = static_cast<double>(most_trips(device));
  return static_cast<std::int64_t>(std::clamp(std::round(wanted / digit) * digit, 1.0, most));
}

}  // namespace clweave::families
