// SPDX-License-Identifier: Apache-2.0
// json: reads the JSON of files and processes that are not trusted.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::base {

// Levels of objects and lists within each other. No file of clweave has ten; printing and comparing a value
// recurse, so that 100,000 levels would end in a crash.
inline constexpr int most_json_levels = 64;

// Returns what the JSON library says of an error, without its own names.
std::string plain_json_error(std::string what);

// Parses a text. Returns a discarded value if it is no JSON or has more levels; `why` then says which.
nlohmann::json parsed_json(std::string_view text, std::string* why = nullptr);

// Reads the text of such a file. Throws `io` if it cannot be read or has more than 64 MiB, as /dev/zero has.
std::string json_text(const std::string& path);

}  // namespace clweave::base
