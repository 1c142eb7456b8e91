// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"

namespace clweave::base {

namespace {

// Counts brackets outside strings.
bool is_too_deep(std::string_view text) {
  int level = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++level > most_json_levels) return true;
    } else if (c == ']' || c == '}') {
      --level;
    }
  }
  return false;
}

}  // namespace

std::string plain_json_error(std::string what) {
  if (what.starts_with("[json.exception.")) what.erase(0, what.find(']') + 2);
  return what;
}

nlohmann::json parsed_json(std::string_view text, std::string* why) {
  using nlohmann::json;
  try {
    if (!is_too_deep(text)) return json::parse(text);
    if (why != nullptr)
      *why = fmt::format("lists and objects within each other on more than {} levels", most_json_levels);
  } catch (const json::exception& error) {
    if (why != nullptr) *why = plain_json_error(error.what());
  }
  return json(json::value_t::discarded);
}

std::string json_text(const std::string& path) {
  constexpr std::streamsize most_bytes = 64 << 20;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::vector<char> piece(1 << 16);
  while (in && std::ssize(text) <= most_bytes) {
    in.read(piece.data(), std::ssize(piece));
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (std::ssize(text) > most_bytes)
    throw Error(ErrorCode::io, fmt::format("{} has more than {} MiB", path, most_bytes >> 20));
  if (!in.eof()) throw Error(ErrorCode::io, "cannot read " + path);
  return text;
}

}  // namespace clweave::base
