// SPDX-License-Identifier: Apache-2.0
// page: results as one HTML page for people: sections of boxes, charts and tables.
//
// The page is a value first, as JSON: its sections, their charts (Vega-Lite specifications without data, and
// the data) and tables. host/page/html holds what shows it: page.html, its style and script, and Vega. The
// page is one file that loads nothing from any network. Names, reasons and paths are data there, never
// markup.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "page/input.hpp"

namespace clweave::page {

// Returns the sections in order. One without data has "absent", which says what would measure it.
nlohmann::json page_of(const Input&);

// Returns the page as the text of a file.
std::string html_of(const nlohmann::json& page);

}  // namespace clweave::page
