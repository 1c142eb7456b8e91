// SPDX-License-Identifier: Apache-2.0
// range: extents of an NDRange or a work-group.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

// One to three dimensions, fastest first. As a local size, empty lets the driver choose.
using Range = std::vector<std::size_t>;
std::size_t items_in(const Range&);
std::uint64_t ceil_div(std::uint64_t n, std::uint64_t size);
std::uint64_t round_up(std::uint64_t n, std::uint64_t multiple);
std::string text_of(const Range&);                       // "16x16"
std::optional<Range> range_in(const std::string& text);  // 1 to 3 positive numbers joined by x
Range range_of(const std::string& text);                 // throws `usage` instead

}  // namespace clweave::suite
