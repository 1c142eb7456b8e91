// SPDX-License-Identifier: Apache-2.0
// loaded: the described families of this process, and how its child processes get the same ones.
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "description/description.hpp"

namespace clweave::description {

// Makes the family of a description and adds it to all_families(). Throws `usage`, as family_of and
// add_family do.
void load(Description);

// A description that was loaded, without what only its family needs.
struct Loaded {
  std::string name;                    // of the family
  std::filesystem::path file;          // the .cl, absolute
  bool is_checked = false;             // every output has a check
  std::vector<std::string> unchecked;  // names of the outputs that have none
};
const std::vector<Loaded>& loaded();

// Reads a kernel file. Throws `io`, also for more than 16 MiB.
std::string kernel_text(const std::filesystem::path&);

// Returns what a child process needs to load all that was loaded here: texts rather than paths, as a file may
// have been edited meanwhile.
nlohmann::json loaded_texts();
// Loads those that are not loaded yet, with the kernel files of today. Throws as parse_description and `load`
// do, and `io`.
void load_texts(const nlohmann::json&);

}  // namespace clweave::description
