// SPDX-License-Identifier: Apache-2.0
#include "commands/read_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/zip.hpp"
#include "commands/own_kernels.hpp"
#include "os/replacement.hpp"
#include "os/temporary_folder.hpp"
#include "results/results_file.hpp"
#include "results/results_files.hpp"
#include "results/row_families.hpp"
#include "suite/added_families.hpp"

namespace clweave::commands {

namespace fs = std::filesystem;

void tell_notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) log_line("note: {}\n", note);
}

namespace {

// Holds what notes and pages call each unpacked file: its archive, as it was typed, and its name there.
std::map<std::string, std::string>& origins() {
  static auto& kept = *new std::map<std::string, std::string>;
  return kept;
}

// Unpacks into a folder with the archive's name, which tables then show.
void unpack(const std::string& archive, std::vector<std::string>& out) {
  static std::deque<TemporaryFolder> folders;  // removed at the end of the process
  const fs::path folder = folders.emplace_back().path() / fs::path(archive).filename();
  fs::create_directories(folder);
  const auto names = unpack_zip(archive, ".csv", folder.string());
  if (names.empty()) throw Error(ErrorCode::io, archive + " has no CSV: it is not of clweave run --share");
  for (const auto& name : names) {
    if (is_samples_path(name)) continue;
    out.push_back((folder / name).string());
    origins()[out.back()] = fmt::format("{}/{}", archive, name);
  }
}

}  // namespace

std::vector<std::string> unpacked(const std::vector<std::string>& names) {
  std::vector<std::string> results = names;
  take_own({&results});
  const ResultsFiles files = results_files(results, ResultsFiles::all);
  tell_notes(files.notes);
  std::vector<std::string> out;
  for (const auto& file : files.paths) {
    if (file.ends_with(archive_ending))
      unpack(file, out);
    else
      out.push_back(file);
  }
  return out;
}

std::string name_as_typed(const std::string& file) {
  const auto origin = origins().find(file);
  return origin != origins().end() ? origin->second : file;
}

ResultsSet read_known(const std::vector<std::string>& files, Samples samples) {
  // What one file's rows tell of a family is no rule for another's.
  static std::vector<std::string> of_rows;
  std::vector<Family> told;
  if (!of_rows.empty()) {
    std::ranges::copy_if(all_families(), std::back_inserter(told), [](const Family& family) {
      return std::ranges::find(of_rows, family.name) == of_rows.end();
    });
  }
  ResultsSet out = read_results(files, of_rows.empty() ? all_families() : told, samples);
  for (auto& note : out.notes) {
    for (const auto& [path, origin] : origins()) boost::replace_all(note, path, origin);
  }
  std::ranges::transform(out.files, out.files.begin(), name_as_typed);
  for (auto& family : row_families(out, all_families())) {
    of_rows.push_back(family.name);
    add_family(std::move(family));
  }
  return out;
}

const ResultsSet& read_with_notes(const std::vector<std::string>& files) {
  static auto& kept = *new std::deque<ResultsSet>;
  const ResultsSet& out = kept.emplace_back(read_known(unpacked(files)));
  tell_notes(out.notes);
  if (measured(out).empty())
    throw Error(ErrorCode::io,
                fmt::format("no row of an OpenCL device in {}{}", fmt::join(files, ", "),
                            out.baselines.empty() ? "" : ": name the file, too, that it stands beside"));
  return out;
}

void check_drawing(const std::string& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) return;
  std::ifstream there(path, std::ios::binary);
  if (const int first = there.get(); there && first != '<')
    throw Error(ErrorCode::usage, path + " is neither a page nor a picture: choose another name");
}

void write_drawing(const std::string& path, const std::string& text) {
  check_drawing(path);
  std::error_code none;
  const fs::path whole = behind_links(path);
  if (whole.has_parent_path()) fs::create_directories(whole.parent_path(), none);
  replace_file(path, text);
}

}  // namespace clweave::commands
