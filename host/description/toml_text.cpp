// SPDX-License-Identifier: Apache-2.0
#include "description/toml_text.hpp"

#include <fmt/format.h>

namespace clweave::description {

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace clweave::description
