// SPDX-License-Identifier: Apache-2.0
// zip: several files as one that every system opens.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

struct ZipEntry {
  std::string name;  // of a file, in no folder
  std::string text;
};

// `usage` for a file that would be lost: it is no archive.
void check_zip(const std::string& path);

// Replaces an archive of that name, whole or not at all. Makes its folder. Throws `io`, and as check_zip.
void write_zip(const std::string& path, const std::vector<ZipEntry>&);

// Those whose name ends so, in their order; what lies in folders is left out, and so a name that leads
// elsewhere. Throws `io` for what is no archive or a broken one, and for one that unpacks to more than 4 GiB.
std::vector<ZipEntry> read_zip(const std::string& path, std::string_view ending);

}  // namespace clweave::base
