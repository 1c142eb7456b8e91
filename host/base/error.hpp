// SPDX-License-Identifier: Apache-2.0
// error: the one exception clweave throws; `code` decides the row's status or the exit code.
#pragma once
#include <stdexcept>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::base {

enum class ErrorCode {
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
  closed  // the reading end of a pipe was closed
};

struct Error : std::runtime_error {
  Error(ErrorCode c, const std::string& what) : std::runtime_error(what), code(c) {}
  ErrorCode code;
};

}  // namespace clweave::base
