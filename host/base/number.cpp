// SPDX-License-Identifier: Apache-2.0
#include "base/number.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace clweave::base {

double rounded(double value, int digits) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

}  // namespace clweave::base
