// SPDX-License-Identifier: Apache-2.0
// status: the outcome of a case, how its output was verified, and which clock timed it.
#pragma once
#include <array>

#include "base/enum_names.hpp"
#include "base/error.hpp"

namespace clweave::results {

using base::operator<<;  // of named enumerations: argument-dependent lookup sees no using-directive

enum class Status {
  none,  // not yet known
  ok,
  unsupported,
  build_failed,
  launch_failed,
  out_of_memory,
  wrong_result,
  timeout,
  crashed,
  device_lost,
  implausible
};
constexpr auto enum_names(Status) {
  return std::array{
      "",        "ok",      "unsupported", "build_failed", "launch_failed", "out_of_memory", "wrong_result",
      "timeout", "crashed", "device_lost", "implausible"};
}

// Returns the status of a row whose case failed with this error.
constexpr Status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::unsupported: return Status::unsupported;
    case ErrorCode::build: return Status::build_failed;
    case ErrorCode::wrong_result: return Status::wrong_result;
    case ErrorCode::timeout: return Status::timeout;
    case ErrorCode::crashed: return Status::crashed;
    case ErrorCode::out_of_memory: return Status::out_of_memory;
    case ErrorCode::device_lost: return Status::device_lost;
    default: return Status::launch_failed;
  }
}

enum class Verified { none, yes, before, no };
constexpr auto enum_names(Verified) { return std::array{"", "yes", "before", "no"}; }

enum class Timer { none, event, host };
constexpr auto enum_names(Timer) { return std::array{"", "event", "host"}; }

}  // namespace clweave::results
