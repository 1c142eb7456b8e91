// SPDX-License-Identifier: Apache-2.0
// near_word: what a mistyped word may have meant.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

// Returns the known word with the fewest edits (a character inserted, removed, replaced, or exchanged with
// its neighbour: optimal string alignment) from a word; empty if more than a third of its characters differ.
std::string near_word(const std::string& word, const std::vector<std::string>& known);

// Returns "; did you mean 'n'?", else "; there are a, b, c", else "; there are none". A long list is cut, and
// `shown_by`, a command that prints all of it, is named.
std::string suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& shown_by = {});

// Returns "a, b, c", cut as in suggestion.
std::string short_list(const std::vector<std::string>& words, const std::string& shown_by = {});

}  // namespace clweave::base
