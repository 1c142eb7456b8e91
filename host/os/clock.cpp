// SPDX-License-Identifier: Apache-2.0
#include "os/clock.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>

namespace clweave::os {

namespace {

std::atomic<long> setbacks{0};

}  // namespace

double host_now() {
  static std::mutex one_reader;  // two threads would store what they read in the other order
  static double last = -1e300, lost = 0;
  const std::scoped_lock lock(one_reader);
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (now < last) {
    lost += last - now;
    ++setbacks;
  }
  last = now;
  return now + lost;
}

long host_setbacks() { return setbacks; }

std::string utc_now(const char* format) {
  return fmt::format(fmt::runtime(format),
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace clweave::os
