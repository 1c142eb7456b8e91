// SPDX-License-Identifier: Apache-2.0
// hash: names a text in a table, equally in all programs; not cryptographic.
#pragma once
#include <string>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::base {

// Returns the FNV-1a hash (Fowler, Noll, Vo) as 16 hex digits.
std::string hash_of(std::string_view text);

}  // namespace clweave::base
