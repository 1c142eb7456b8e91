// SPDX-License-Identifier: Apache-2.0
// unseen_number: a number that no other process has or can guess.
#pragma once
#include <cstdint>

#include "base/namespaces.hpp"

namespace clweave::os {

// Draws it from the system, because std::random_device needs a newer libc than many clusters have. Throws
// `io`.
std::uint32_t unseen_number();

}  // namespace clweave::os
