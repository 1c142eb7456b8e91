// SPDX-License-Identifier: Apache-2.0
// gallery_site: the folder that clweave gallery writes.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::commands {

// Throws `usage` for a file, and for a folder with files that is no site of clweave gallery.
void check_site(const std::string& folder);

// Replaces the files of a site, each as a whole, and removes those that an earlier call wrote and this one
// does not. Writes the file `last` behind the others, to which it leads. Throws `io`, and as check_site.
void write_site(const std::string& folder, const std::map<std::string, std::string>& files,
                const std::string& last);

}  // namespace clweave::commands
