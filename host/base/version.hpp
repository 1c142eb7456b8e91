// SPDX-License-Identifier: Apache-2.0
// version: what this program was built from.
#pragma once

#include "base/namespaces.hpp"

namespace clweave::base {

// Generated at build time.
extern const char* const version;  // "0.1.0 3f2a91c0d4e7"

}  // namespace clweave::base
