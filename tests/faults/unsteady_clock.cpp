// SPDX-License-Identifier: Apache-2.0
// unsteady_clock: preloaded, sets the monotonic clock of a process back by a fifth of a second four times a
// second, as the hypervisors do whose processors disagree.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

// NOLINTNEXTLINE(readability-identifier-naming): the system's
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* at) noexcept {
  constexpr std::int64_t second = 1'000'000'000, turn = second / 4, step = second / 5;
  const auto code = static_cast<int>(syscall(SYS_clock_gettime, clock, at));
  if (code != 0 || clock != CLOCK_MONOTONIC) return code;
  const std::int64_t now = at->tv_sec * second + at->tv_nsec;
  const std::int64_t told = now / turn * (turn - step) + now % turn;
  at->tv_sec = told / second;
  at->tv_nsec = told % second;
  return code;
}
