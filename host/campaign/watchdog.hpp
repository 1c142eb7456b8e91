// SPDX-License-Identifier: Apache-2.0
// watchdog: decides when a child process that sends nothing counts as hanging. It has no clock of its own:
// its caller tells it how much time passed.
#pragma once
#include <algorithm>
#include <string>
#include <utility>

#include "base/namespaces.hpp"

namespace clweave::campaign {

// Limits the time without progress, not the total: a child that reports stages may take as long as it needs,
// as every request ends by itself.
class Watchdog {
 public:
  explicit Watchdog(double timeout_s) : timeout_s_(timeout_s) {}

  // Records that a phase begins.
  void hear(std::string phase) {
    phase_ = std::move(phase);
    quiet_s_ = wall_s_ = 0;
  }

  // Records the time since the last call, of which the child could make use of a `share`, as on a busy host
  // it waits for a processor: see ProgressShare. At most a second of it counts, because this process itself
  // may have been stopped, as by Ctrl-Z.
  void pass(double seconds, double share = 1) {
    quiet_s_ += std::min(seconds, 1.0) * share;
    wall_s_ += std::min(seconds, 1.0);
  }

  // Returns whether the child hangs. Compilation, process start and the loading of drivers report no
  // progress, so they get longer timeouts than a running kernel.
  bool expired() const {
    const bool compiles = phase_ == "build" || phase_ == "certify timer";
    const double least_s = phase_ == start || phase_ == loading ? least_start_s : 0;
    return quiet_s_ >= std::max(least_s, timeout_s_ * (compiles ? 4 : 1));
  }

  // Describe the time since the last phase began: without the child's waits for a processor, and all of it.
  double quiet_s() const { return quiet_s_; }
  double wall_s() const { return wall_s_; }
  const std::string& phase() const { return phase_; }

 private:
  static constexpr const char* start = "start";
  static constexpr const char* loading = "loading drivers";
  static constexpr double least_start_s = 10;

  double timeout_s_, quiet_s_ = 0, wall_s_ = 0;
  std::string phase_ = start;
};

}  // namespace clweave::campaign
