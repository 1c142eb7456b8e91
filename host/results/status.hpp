// SPDX-License-Identifier: Apache-2.0
// status: what came of a case, how sure its output is, and what timed it.
#pragma once
#include <array>

#include "base/error.hpp"
#include "base/words.hpp"

namespace clweave {

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
template <>
struct Words<Status> {
  static constexpr std::array list = {
      "",        "ok",      "unsupported", "build_failed", "launch_failed", "out_of_memory", "wrong_result",
      "timeout", "crashed", "device_lost", "implausible"};
};

// What a row becomes for an error while its case ran.
constexpr Status status_of(Kind kind) {
  switch (kind) {
    case Kind::unsupported: return Status::unsupported;
    case Kind::build: return Status::build_failed;
    case Kind::wrong_result: return Status::wrong_result;
    case Kind::timeout: return Status::timeout;
    case Kind::crashed: return Status::crashed;
    case Kind::out_of_memory: return Status::out_of_memory;
    case Kind::device_lost: return Status::device_lost;
    default: return Status::launch_failed;
  }
}

enum class Verified { none, yes, before, no };
template <>
struct Words<Verified> {
  static constexpr std::array list = {"", "yes", "before", "no"};
};

enum class Timer { none, event, host };
template <>
struct Words<Timer> {
  static constexpr std::array list = {"", "event", "host"};
};

}  // namespace clweave
