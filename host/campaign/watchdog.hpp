// SPDX-License-Identifier: Apache-2.0
// patience: how long a child may be silent before it counts as hanging. It has no clock: it is told what
// passed.
#pragma once
#include <algorithm>
#include <string>
#include <utility>

#include "base/namespaces.hpp"

namespace clweave::campaign {

// A child that shows signs of life may go on for as long as it takes: what it was asked to do ends by itself.
class Watchdog {
 public:
  explicit Watchdog(double timeout_s) : timeout_s_(timeout_s) {}

  // A sign of life: what begins now.
  void hear(std::string stage) {
    stage_ = std::move(stage);
    quiet_s_ = 0;
  }

  // So long passed since the last call. A pause of this process itself, such as Ctrl-Z, is not the child's
  // silence.
  void pass(double seconds) { quiet_s_ += std::min(seconds, 1.0); }

  // Compilers take long and say nothing. Nor does a process that starts, on a busy machine for seconds: its
  // limit is none of the device's.
  bool over() const {
    const bool compiles = stage_ == "build" || stage_ == "certify timer";
    const double least_s = stage_ == start ? least_start_s : 0;
    return quiet_s_ >= std::max(least_s, timeout_s_ * (compiles ? 4 : 1));
  }

  double quiet_s() const { return quiet_s_; }
  const std::string& stage() const { return stage_; }

 private:
  static constexpr const char* start = "start";
  static constexpr double least_start_s = 10;

  double timeout_s_, quiet_s_ = 0;
  std::string stage_ = start;
};

}  // namespace clweave::campaign
