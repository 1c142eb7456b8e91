// SPDX-License-Identifier: Apache-2.0
#include "commands/reading.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/tell.hpp"

namespace clweave {

namespace fs = std::filesystem;

void tell_notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) tell("note: {}\n", note);
}

const ResultsSet& read_with_notes(const std::vector<std::string>& files,
                                  const std::vector<Family>& families) {
  static auto& kept = *new std::deque<ResultsSet>;
  const ResultsSet& out = kept.emplace_back(read_results(files, families));
  tell_notes(out.notes);
  if (measured(out).empty())
    throw Error(Kind::io,
                fmt::format("no row of an OpenCL device in {}{}", fmt::join(files, ", "),
                            out.natives.empty() ? "" : ": name the file, too, that it stands beside"));
  return out;
}

void check_drawing(const std::string& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return;
  std::ifstream there(path, std::ios::binary);
  if (const int first = there.get(); there && first != '<')
    throw Error(Kind::usage, path + " holds something else than a page or a picture: choose another name");
}

void write_drawing(const std::string& path, const std::string& text) {
  check_drawing(path);
  std::error_code none;
  const fs::path whole = behind_links(path);
  // What is no ordinary file, such as /dev/stdout, is never replaced.
  const bool in_place = fs::exists(whole, none) && !fs::is_regular_file(whole, none);
  if (whole.has_parent_path()) fs::create_directories(whole.parent_path(), none);
  const fs::path part = in_place ? whole : fs::path(whole.string() + ".part");
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  if (file && (in_place || std::rename(part.c_str(), whole.c_str()) == 0)) return;
  const std::string why = std::strerror(errno);
  if (!in_place) fs::remove(part, none);
  throw Error(Kind::io, fmt::format("cannot write {}: {}", path, why));
}

}  // namespace clweave
