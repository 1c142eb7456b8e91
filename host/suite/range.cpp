// SPDX-License-Identifier: Apache-2.0
#include "suite/range.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/error.hpp"

namespace clweave::suite {

std::size_t items_in(const Range& range) {
  std::size_t items = 1;
  for (auto extent : range) items *= extent;
  return items;
}

std::uint64_t ceil_div(std::uint64_t n, std::uint64_t size) { return (n + size - 1) / size; }

std::uint64_t round_up(std::uint64_t n, std::uint64_t multiple) { return ceil_div(n, multiple) * multiple; }

std::string text_of(const Range& range) { return fmt::format("{}", fmt::join(range, "x")); }

std::optional<Range> range_in(const std::string& text) {
  Range range;
  const char* at = text.data();
  const char* end = at + text.size();
  while (range.size() < 3) {
    std::size_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc{} || extent == 0) break;
    range.push_back(extent);
    if (next == end) return range;
    if (*next != 'x') break;
    at = next + 1;
  }
  return {};
}

Range range_of(const std::string& text) {
  if (auto range = range_in(text)) return *std::move(range);
  throw Error(ErrorCode::usage,
              "'" + text + "' is no shape: write 1 to 3 positive numbers joined by x, such as 256 or 16x16");
}

}  // namespace clweave::suite
