// SPDX-License-Identifier: Apache-2.0
// ceiling: the rates that family ceiling measures, each a bound that a plan may name.
#pragma once
#include <array>

#include "base/enum_names.hpp"

namespace clweave::suite {

// The one family that others know: it measures the rates below.
inline constexpr const char* ceiling_family = "ceiling";

enum class Ceiling {
  none,
  copy,   // of memory, read and written
  read,   // of memory
  local,  // of local memory, read
  arithmetic_float,
  arithmetic_double,
  arithmetic_int,
  arithmetic_long
};

constexpr auto enum_names(Ceiling) {
  return std::array{"",
                    "copy",
                    "read",
                    "local",
                    "arithmetic_float",
                    "arithmetic_double",
                    "arithmetic_int",
                    "arithmetic_long"};
}

constexpr bool of_arithmetic(Ceiling c) { return c >= Ceiling::arithmetic_float; }
constexpr bool of_memory(Ceiling c) { return c == Ceiling::copy || c == Ceiling::read; }
constexpr const char* unit_of(Ceiling c) { return of_arithmetic(c) ? "Gop/s" : "GB/s"; }

}  // namespace clweave::suite
