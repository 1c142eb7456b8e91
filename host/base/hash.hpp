// SPDX-License-Identifier: Apache-2.0
// hash: names a text in a table, equally in all programs, and tells whether bytes are the same as before; not
// cryptographic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::base {

// Returns the FNV-1a hash (Fowler, Noll, Vo) as 16 hex digits.
std::string hash_of(std::string_view text);

// Returns a hash of bytes at the speed of memory. Those that differ in up to 8 bytes at one place never
// agree, others by chance, once in 2^64.
std::uint64_t hash_of_bytes(std::span<const std::byte>);

}  // namespace clweave::base
