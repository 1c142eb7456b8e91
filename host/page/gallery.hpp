// SPDX-License-Identifier: Apache-2.0
// gallery: the pages that list the results of many files and compare the profiles of their devices.
//
// They are plain HTML, whose script filters rows and chooses columns. Names and reasons are escaped.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/profile/profile.hpp"

namespace clweave::page {

// Names of the pages and of the numbers behind them, in one folder.
inline constexpr const char* gallery_index = "index.html";
inline constexpr const char* gallery_compare = "compare.html";
inline constexpr const char* gallery_profiles = "profiles.json";

// The rows of a device in a file.
struct GalleryEntry {
  std::string id;    // the name of its page without .html; empty: it has none
  std::string file;  // that the rows are from
  std::string device, vendor, kind, platform, driver;
  std::string label;   // who or what measured, as the file says
  std::string date;    // 2026-11-28; empty: the file does not tell
  std::string preset;  // and whether it is whole
  std::string version;
  std::size_t rows = 0;
  Profile profile = {};

  // Returns whether there is something to compare.
  bool has_figures() const;
};

struct NotShown {
  std::string file, reason;
};

struct Gallery {
  std::vector<GalleryEntry> shown;  // with pages
  std::vector<GalleryEntry> older;  // of which shown ones are newer, or more
  std::vector<NotShown> not_shown;
};

// Returns the profiles of the shown entries that have some, for programs and for the page that compares them.
nlohmann::json profiles_of(const Gallery&);

// Return pages as the text of a file.
std::string index_html(const Gallery&);
std::string compare_html(const Gallery&);

}  // namespace clweave::page
