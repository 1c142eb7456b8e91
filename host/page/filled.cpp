// SPDX-License-Identifier: Apache-2.0
#include "page/filled.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace clweave::page {

std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string_view>>& places) {
  std::string out;
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    out.append(text.substr(0, at));
    text.remove_prefix(at);
    const auto place =
        std::ranges::find_if(places, [&](const auto& one) { return text.starts_with(one.first); });
    const std::string_view with = place != places.end() ? place->second : text.substr(0, 1);
    out.append(with);
    text.remove_prefix(place != places.end() ? place->first.size() : 1);
  }
  return out.append(text);
}

std::string script_data(const nlohmann::json& value) {
  // Escape "<": nothing else could end the script element.
  std::string out;
  for (const char c : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace clweave::page
