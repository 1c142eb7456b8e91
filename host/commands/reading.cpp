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
#include "base/tell.hpp"

namespace clweave {

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

void write_file(const std::string& path, const std::string& text) {
  const std::filesystem::path whole = path;
  std::error_code ignored;
  if (whole.has_parent_path()) std::filesystem::create_directories(whole.parent_path(), ignored);
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  if (file && std::rename(part.c_str(), path.c_str()) == 0) return;
  const std::string why = std::strerror(errno);
  std::filesystem::remove(part, ignored);
  throw Error(Kind::io, fmt::format("cannot write {}: {}", path, why));
}

}  // namespace clweave
