// SPDX-License-Identifier: Apache-2.0
// write_t4: writes results for Kernel Tuner and other tuners, of show and tune.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace CLI {
class App;
}

namespace clweave::suite {
struct Family;
}

namespace clweave::commands {

void add_t4(CLI::App&, std::string& path);

// Throws `usage` for an existing file that is no JSON object, as it would be lost.
void check_t4(const std::string& path);

// Writes the rows of the family, see t4_of, whole or not at all; "-" is stdout. Throws as t4_of, check_t4 and
// replace_file do.
void write_t4(const std::string& path, const std::vector<std::string>& files, const std::vector<Family>&,
              const std::string& family);

}  // namespace clweave::commands
