// SPDX-License-Identifier: Apache-2.0
// error: the one exception clweave throws; `kind` decides the row's status or the exit code.
#pragma once
#include <stdexcept>
#include <string>

namespace clweave {

enum class Kind {
  usage,
  no_device,
  unsupported,
  build,
  launch,
  out_of_memory,
  device_lost,
  wrong_result,
  timeout,
  crashed,
  io,
  closed  // the reader of a pipe went away
};

struct Error : std::runtime_error {
  Error(Kind k, const std::string& what) : std::runtime_error(what), kind(k) {}
  Kind kind;
};

}  // namespace clweave
