// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace clweave::base {

double host_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string utc_now(const char* format) {
  return fmt::format(fmt::runtime(format),
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace clweave::base
