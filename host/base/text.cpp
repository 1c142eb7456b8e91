// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <boost/algorithm/string.hpp>
#include <cctype>

namespace clweave::base {

std::string lower(std::string text) {
  boost::algorithm::to_lower(text, std::locale::classic());
  return text;
}

std::string trimmed(const std::string& text) {
  return boost::algorithm::trim_copy_if(
      text, [](char c) { return c == '\0' || c == ' ' || c == '\t' || c == '\n'; });
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const auto end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::string slug(const std::string& text) {
  std::string out;
  for (const char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "device" : out;
}

}  // namespace clweave::base
