// SPDX-License-Identifier: Apache-2.0
// zip: reads and writes .zip archives.
#pragma once
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

// Returns the entries whose name has that ending, in order; skips entries in folders, and so names that point
// elsewhere. Throws `io` for a file that is no archive, a broken one, or one that unpacks to more than 4 GiB.
std::vector<ZipEntry> read_zip(const std::string& path, std::string_view ending);

}  // namespace clweave::base
