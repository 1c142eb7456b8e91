// SPDX-License-Identifier: Apache-2.0
// added_families: adds families to those that the program was built with, such as those that users describe.
#pragma once
#include <string>

#include "suite/family.hpp"

namespace clweave::suite {

// Adds to all_families(), behind the others; pointers to these stay valid. `file` names what describes it;
// empty: only its rows are known. Throws `usage` for a name that one has already, and for more than 256. Not
// for several threads.
void add_family(Family, std::string file = "");

// Returns whether a family of this name was added.
bool is_added(const std::string& name);
// Returns the file that describes an added family, without its folder; empty: none is known, or none added.
std::string file_of_family(const std::string& name);

}  // namespace clweave::suite
