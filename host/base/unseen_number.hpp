// SPDX-License-Identifier: Apache-2.0
// unseen_number: a number that no other process has or can guess.
#pragma once
#include <sys/random.h>

#include <cstdint>

#include "base/error.hpp"
#include "base/namespaces.hpp"

namespace clweave::base {

// Draws it from the system, because std::random_device needs a newer libc than many clusters have. Throws
// `io`.
inline std::uint32_t unseen_number() {
  std::uint32_t out = 0;
  if (getrandom(&out, sizeof out, 0) != sizeof out)
    throw Error(ErrorCode::io, "the system has no random numbers");
  return out;
}

}  // namespace clweave::base
