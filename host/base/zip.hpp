// SPDX-License-Identifier: Apache-2.0
// zip: reads and writes .zip archives.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

struct ZipEntry {
  std::string name;  // a file name without a folder
  std::string text;
};

// Throws `usage` if the path is an existing file that is no archive, which writing would destroy.
void check_zip(const std::string& path);

// Writes an archive, replacing an older one atomically. Creates its folder. Throws `io`, and as check_zip.
void write_zip(const std::string& path, const std::vector<ZipEntry>&);

// Limits of what is read, whatever an archive says of itself.
inline constexpr std::uint64_t most_unpacked_bytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t most_zip_entries = 10'000;

// Returns the entries whose name has that ending, in order; skips entries in folders, and so names that point
// elsewhere. Throws `io` for a file that is no archive, a broken one, one with two entries of a name, and one
// beyond the limits.
std::vector<ZipEntry> read_zip(const std::string& path, std::string_view ending);

// Returns the names of those entries, whose text is not read. Throws as read_zip does.
std::vector<std::string> zip_names(const std::string& path, std::string_view ending);

// Writes them into a folder instead, piece by piece. Returns their names. Throws as read_zip does.
std::vector<std::string> unpack_zip(const std::string& path, std::string_view ending,
                                    const std::string& folder,
                                    std::uint64_t most_bytes = most_unpacked_bytes);

}  // namespace clweave::base
