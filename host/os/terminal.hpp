// SPDX-License-Identifier: Apache-2.0
// terminal: what the system tells of a terminal, and how wide characters are there.
#pragma once
#include <cstdio>

#include "base/namespaces.hpp"

namespace clweave::os {

bool is_terminal(std::FILE*);

// Returns the columns of a terminal; 0 if they are unknown or it is none.
int terminal_columns(std::FILE*);

// Returns whether text in UTF-8 is shown as such.
bool shows_utf8();

// Returns the columns of a character, whatever the program's locale is: -1 for an unprintable one.
int columns_of(char32_t code);

}  // namespace clweave::os
