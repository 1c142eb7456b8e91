// SPDX-License-Identifier: Apache-2.0
#include "os/unseen_number.hpp"

#include <sys/random.h>
#include <unistd.h>

#include "base/error.hpp"

namespace clweave::os {

std::uint32_t unseen_number() {
  std::uint32_t out = 0;
  if (getentropy(&out, sizeof out) != 0) throw Error(ErrorCode::io, "the system has no random numbers");
  return out;
}

}  // namespace clweave::os
