// text: what strings are made into.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

std::string lower(std::string text);

// Without white space and NUL at both ends.
std::string trimmed(const std::string& text);

// The parts between separators: one more than there are separators.
std::vector<std::string> split(const std::string& text, char separator);

// A name that is safe as a folder: lower case, runs of anything else become one dash.
std::string slug(const std::string& text);

}  // namespace clweave::base
