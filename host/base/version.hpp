// SPDX-License-Identifier: Apache-2.0
// version: version and commit of this build.
#pragma once

#include "base/namespaces.hpp"

namespace clweave::base {

// Generated at build time.
extern const char* const version;      // "0.1.0 3f2a91c0d4e7"
extern const char* const version_day;  // date of that commit, "2026-11-23"; empty if unknown

}  // namespace clweave::base
