// SPDX-License-Identifier: Apache-2.0
// peak: the rates that family peak measures, each a bound that a plan may name.
#pragma once
#include <array>

#include "base/enum_names.hpp"

namespace clweave::suite {

// The one family that others know: it measures the rates below.
inline constexpr const char* peak_family = "peak";

enum class Peak {
  none,
  copy,   // of memory, read and written
  read,   // of memory
  local,  // of local memory, read
  arithmetic_float,
  arithmetic_double,
  arithmetic_int,
  arithmetic_long
};

constexpr auto enum_names(Peak) {
  return std::array{"",
                    "copy",
                    "read",
                    "local",
                    "arithmetic_float",
                    "arithmetic_double",
                    "arithmetic_int",
                    "arithmetic_long"};
}

constexpr bool of_arithmetic(Peak c) { return c >= Peak::arithmetic_float; }
constexpr bool of_memory(Peak c) { return c == Peak::copy || c == Peak::read; }
constexpr const char* unit_of(Peak c) { return of_arithmetic(c) ? "Gop/s" : "GB/s"; }

}  // namespace clweave::suite
