// SPDX-License-Identifier: Apache-2.0
// peak: the measured peaks that a plan may name as its bound.
#pragma once
#include <array>

#include "base/enum_names.hpp"

namespace clweave::suite {

// Makes the functions of named enumerations visible to argument-dependent lookup, which ignores
// using-directives. (suite has its own text_of.)
using base::operator<<;
using base::text_of;

// Family that measures the peaks, and the only one that other code names.
inline constexpr const char* peak_family = "peak";

enum class Peak {
  none,
  copy,   // memory bandwidth, bytes read and written
  read,   // memory bandwidth
  write,  // memory bandwidth, of writes alone
  local,  // local memory bandwidth, read
  arithmetic_float,
  arithmetic_double,
  arithmetic_int,
  arithmetic_long
};

constexpr auto enum_names(Peak) {
  return std::array{"",
                    "copy",
                    "read",
                    "write",
                    "local",
                    "arithmetic_float",
                    "arithmetic_double",
                    "arithmetic_int",
                    "arithmetic_long"};
}

constexpr bool of_arithmetic(Peak c) { return c >= Peak::arithmetic_float; }
constexpr bool of_memory(Peak c) { return c >= Peak::copy && c <= Peak::write; }
constexpr const char* unit_of(Peak c) { return of_arithmetic(c) ? "Gop/s" : "GB/s"; }

}  // namespace clweave::suite
