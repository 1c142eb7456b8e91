// SPDX-License-Identifier: Apache-2.0
#include "os/pages.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace clweave::os {

void FreePages::operator()(std::byte* pages) const { std::free(pages); }

Pages allocate_pages(std::uint64_t bytes, bool large) {
  const std::uint64_t each = large ? large_page_bytes : page_bytes;
  bytes = (bytes + each - 1) / each * each;
  Pages out(static_cast<std::byte*>(std::aligned_alloc(each, bytes)));
  if (large && out) madvise(out.get(), bytes, MADV_HUGEPAGE);
  return out;
}

bool give_pages_back(std::byte* pages, std::uint64_t bytes) {
  return madvise(pages, bytes / page_bytes * page_bytes, MADV_DONTNEED) == 0;
}

}  // namespace clweave::os
