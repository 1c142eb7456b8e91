// SPDX-License-Identifier: Apache-2.0
// shell_word: words of commands that messages suggest.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

// Quotes a word for a shell: names of files and devices may hold `$(..)` or `;`.
inline std::string shell_quoted(std::string_view word) {
  if (word.find_first_of("\"$`\\!\n") == std::string_view::npos) return '"' + std::string(word) + '"';
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += R"('\'')";
    else
      out += c;
  }
  return out + "'";
}

// Does so unless the word stands for itself.
inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=,+@%^-";
  const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string_view::npos;
  return is_plain ? std::string(word) : shell_quoted(word);
}

// Joins the words of a command line.
inline std::string shell_words(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + shell_word(word);
  return out;
}

}  // namespace clweave::base
