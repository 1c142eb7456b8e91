// SPDX-License-Identifier: Apache-2.0
// pages: memory in whole pages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/namespaces.hpp"

namespace clweave::os {

inline constexpr std::uint64_t page_bytes = 4096, large_page_bytes = std::uint64_t{2} << 20;

struct FreePages {
  void operator()(std::byte*) const;
};
using Pages = std::unique_ptr<std::byte, FreePages>;

// Returns whole pages; null if there is no memory. `large`: asks for large ones, which a system without them
// ignores.
Pages allocate_pages(std::uint64_t bytes, bool large);

// Gives memory back to the system: its pages are new ones when they are touched again. Returns false if the
// system takes none.
bool give_pages_back(std::byte* pages, std::uint64_t bytes);

}  // namespace clweave::os
