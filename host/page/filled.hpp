// SPDX-License-Identifier: Apache-2.0
// filled: files of host/page/html with the values of their places, such as @DATA@.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clweave::page {

// Defined by what cmake/embed_page.cmake generates.
extern const std::string_view page_html, page_css, page_js, gallery_html, gallery_js, vega_js, vega_licences,
    page_hashes, gallery_hashes;

// Returns the text with each place replaced by its value, which is not searched for further ones.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string_view>>& places);

// Returns a value as the text of a script element, which nothing within it can end.
std::string script_data(const nlohmann::json&);

}  // namespace clweave::page
