// text: small string functions.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

std::string lower(std::string text);

// Removes white space and NUL at both ends.
std::string trimmed(const std::string& text);

// Splits at each separator: one part more than there are separators.
std::vector<std::string> split(const std::string& text, char separator);

// Makes a name that is safe as a folder: lower case, runs of other characters become one dash.
std::string slug(const std::string& text);

}  // namespace clweave::base
