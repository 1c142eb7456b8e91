// SPDX-License-Identifier: Apache-2.0
#include "os/unseen_number.hpp"

#include <windows.h>
// Needs the types of windows.h.
#include <bcrypt.h>

#include "base/error.hpp"

namespace clweave::os {

std::uint32_t unseen_number() {
  std::uint32_t out = 0;
  if (BCryptGenRandom(nullptr, reinterpret_cast<PUCHAR>(&out), sizeof out, BCRYPT_USE_SYSTEM_PREFERRED_RNG) !=
      0)
    throw Error(ErrorCode::io, "the system has no random numbers");
  return out;
}

}  // namespace clweave::os
