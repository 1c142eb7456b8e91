// SPDX-License-Identifier: Apache-2.0
#include "commands/gallery_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "os/replacement.hpp"

namespace clweave::commands {

namespace {

namespace fs = std::filesystem;

// The file that marks a folder as ours, with the names of all others.
constexpr const char* list_name = "clweave-gallery.json";

using Names = std::set<std::string>;

// Accepts only names that we could have given, as another may have changed the list.
bool is_our_name(const std::string& name) {
  const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos &&
                     name.find("..") == std::string::npos;
  return plain && name != list_name && (name.ends_with(".html") || name.ends_with(".json"));
}

// Returns the names of the files of a site; nothing if the folder is none.
std::optional<Names> names_in(const fs::path& folder) {
  std::error_code none;
  const fs::path path = folder / list_name;
  if (!fs::is_regular_file(path, none)) return {};
  const auto list = parsed_json(json_text(path.string()));
  const auto files = list.is_object() ? list.find("files") : list.end();
  if (files == list.end() || !files->is_array()) return {};
  Names out;
  for (const auto& name : *files) {
    if (name.is_string() && is_our_name(name.get<std::string>())) out.insert(name.get<std::string>());
  }
  return out;
}

void write_names(const fs::path& folder, const Names& names) {
  replace_file((folder / list_name).string(), nlohmann::json({{"files", names}}).dump(1) + "\n",
               Links::replaced);
}

// Leaves a file alone that has the text already.
void write_file(const fs::path& path, const std::string& text) {
  std::error_code none;
  const bool is_file = fs::is_regular_file(fs::symlink_status(path, none));
  if (is_file && fs::file_size(path, none) == text.size() && read_text(path.string()) == text) return;
  replace_file(path.string(), text, Links::replaced);
}

}  // namespace

void check_site(const std::string& folder) {
  std::error_code none;
  if (!fs::exists(folder, none)) return;
  if (!fs::is_directory(folder, none))
    throw Error(ErrorCode::usage, folder + " is a file: name a folder for the site");
  if (!fs::is_empty(folder, none) && !names_in(folder))
    throw Error(ErrorCode::usage,
                fmt::format("{} holds files that clweave gallery did not write (it has no {}): name a new or "
                            "empty folder",
                            folder, list_name));
}

void write_site(const std::string& folder, const std::map<std::string, std::string>& files,
                const std::string& last) {
  check_site(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(ErrorCode::io, fmt::format("cannot make {}: {}", folder, error.message()));
  Names now;
  for (const auto& [name, text] : files) now.insert(name);
  const Names before = names_in(folder).value_or(Names{});
  // Name all files first: after an interruption the folder is still known as ours.
  Names all = before;
  all.insert(now.begin(), now.end());
  write_names(folder, all);
  for (const auto& [name, text] : files) {
    if (name != last) write_file(fs::path(folder) / name, text);
  }
  write_file(fs::path(folder) / last, files.at(last));
  for (const auto& name : before) {
    if (!now.contains(name)) fs::remove(fs::path(folder) / name, error);
  }
  write_names(folder, now);
}

}  // namespace clweave::commands
