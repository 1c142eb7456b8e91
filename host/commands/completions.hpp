// SPDX-License-Identifier: Apache-2.0
// completions: the option table as what shells complete words by.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::commands {

struct CommandEntry;

// Files that these shells read.
std::string bash_completion(const std::vector<CommandEntry>&);
std::string zsh_completion(const std::vector<CommandEntry>&);
std::string fish_completion(const std::vector<CommandEntry>&);

}  // namespace clweave::commands
