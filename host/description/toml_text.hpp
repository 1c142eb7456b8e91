// SPDX-License-Identifier: Apache-2.0
// toml_text: writes TOML, for what other inputs say in their own way.
#pragma once
#include <string>

#include "base/namespaces.hpp"

namespace clweave::description {

// Returns a text as a basic string of TOML 1.0, in quotes.
std::string in_quotes(const std::string& text);

}  // namespace clweave::description
