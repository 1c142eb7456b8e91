// SPDX-License-Identifier: Apache-2.0
// man_page: the option table as the page that man shows.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::commands {

struct CommandEntry;

std::string man_page(const std::vector<CommandEntry>&);  // in roff

}  // namespace clweave::commands
