// SPDX-License-Identifier: Apache-2.0
#include "os/pages.hpp"

#include <windows.h>

namespace clweave::os {

void FreePages::operator()(std::byte* pages) const { VirtualFree(pages, 0, MEM_RELEASE); }

// Large pages take a right that users do not have unless an administrator gives it.
Pages allocate_pages(std::uint64_t bytes, bool) {
  bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  return Pages(
      static_cast<std::byte*>(VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)));
}

bool give_pages_back(std::byte* pages, std::uint64_t bytes) {
  bytes = bytes / page_bytes * page_bytes;
  return bytes == 0 || (VirtualFree(pages, bytes, MEM_DECOMMIT) != 0 &&
                        VirtualAlloc(pages, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr);
}

}  // namespace clweave::os
