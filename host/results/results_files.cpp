// SPDX-License-Identifier: Apache-2.0
#include "results/results_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/zip.hpp"
#include "results/record.hpp"
#include "results/results_file.hpp"
#include "results/results_set.hpp"

namespace clweave::results {

namespace {

namespace fs = std::filesystem;

// Orders numbers in names by value, as text would put 10 before 9.
bool by_number(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto digits = [&](const std::string& text, std::size_t& at) {
      while (at + 1 < text.size() && text[at] == '0' && is_digit(text[at + 1])) ++at;
      const std::size_t from = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(from, at - from);
    };
    const std::string one = digits(a, i), other = digits(b, j);
    if (one.size() != other.size()) return one.size() < other.size();
    if (one != other) return one < other;
  }
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// Returns whether the header of a file that cannot be read is one of clweave's. A file that cannot even be
// opened may be, too.
bool may_be_ours(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return true;
  std::string line(std::size_t{1} << 16, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  std::erase(line, '\0');  // UTF-16
  line.resize(std::min(line.find('\n'), line.size()));
  const auto has = [&](const Column& column) { return line.find(column.name) != std::string::npos; };
  return std::all_of(columns().begin(), columns().begin() + 3, has);
}

// Says why a CSV of a folder is passed over; empty: it is wanted.
std::string why_left_out(const std::string& path, ResultsFiles::What what) {
  const std::string foreign = "is left out: no CSV of clweave run";
  try {
    CsvReader reader(path);
    const auto& header = reader.header();
    const auto schema = std::ranges::find(header, columns().front().name) - header.begin();
    if (std::cmp_equal(schema, header.size()))
      return what != ResultsFiles::rows && header.front() == figures_first_column ? "" : foreign;
    CsvTable::Row row;
    // A merge counts the tasks that have no row yet.
    if (!reader.next(row)) return what != ResultsFiles::rows ? "is left out: it holds no row yet" : "";
    const std::string& version = row.cells.at(static_cast<std::size_t>(schema));
    return version == footer_mark || version.starts_with(schema_name) ? "" : foreign;
  } catch (const Error& error) {
    if (error.code != ErrorCode::io || may_be_ours(path)) return "";
    return fmt::format("{}: {}", foreign, error.what());
  }
}

// Says why an archive of a folder is passed over; empty: it is wanted, or broken, which its reading will say.
std::string why_left_out(const std::string& archive) {
  constexpr const char* foreign = " is left out: no archive of clweave run --share";
  std::ifstream file(archive, std::ios::binary);
  std::array<char, 2> magic{};
  if (file && (!file.read(magic.data(), magic.size()) || magic != std::array{'P', 'K'})) return foreign;
  try {
    return zip_names(archive, ".csv").empty() ? foreign : "";
  } catch (const Error&) {
    return "";
  }
}

// Returns whether a file of a folder is one of clweave's; notes other CSV files and archives.
bool is_wanted(const fs::path& path, ResultsFiles::What what, std::vector<std::string>& notes) {
  std::error_code none;
  const std::string name = path.string();
  if (path.extension() == archive_ending) {
    if (what == ResultsFiles::rows || fs::exists(fs::path(path).replace_extension(".csv"), none))
      return false;
    const std::string why = what == ResultsFiles::each ? "" : why_left_out(name);
    if (!why.empty()) notes.push_back(name + why);
    return why.empty();
  }
  // Parallel measurements do not describe a single device, so they have to be named.
  if (path.extension() != ".csv" || is_samples_path(name) || name.ends_with(at_once_ending)) return false;
  if (fs::file_size(path, none) == 0 && !none) {
    notes.push_back(path.string() + " is empty");
    return false;
  }
  const std::string why = why_left_out(name, what);
  if (!why.empty()) notes.push_back(name + " " + why);
  return why.empty();
}

void add_below(const fs::path& folder, ResultsFiles::What what, const std::string& without,
               ResultsFiles& out) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code none;
    if (!it->is_regular_file(none) || (!without.empty() && fs::equivalent(it->path(), without, none)))
      continue;
    found.push_back(it->path().string());
  }
  if (error) throw Error(ErrorCode::io, fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::ranges::sort(found, by_number);
  std::ranges::copy_if(found, std::back_inserter(out.paths),
                       [&](const std::string& path) { return is_wanted(path, what, out.notes); });
}

}  // namespace

void pass_over_samples(std::vector<std::string>& names) {
  if (!std::ranges::all_of(names, is_samples_path)) std::erase_if(names, is_samples_path);
}

ResultsFiles results_files(const std::vector<std::string>& names, ResultsFiles::What what,
                           const std::string& without) {
  ResultsFiles out;
  for (const auto& name : names) {
    std::error_code none;
    if (fs::is_directory(name, none)) {
      add_below(name, what, fs::exists(without, none) ? without : "", out);
      continue;
    }
    if (!fs::exists(name, none)) throw Error(ErrorCode::io, name + ": there is no such file or folder");
    if (!is_samples_path(name)) out.paths.push_back(name);
  }
  if (!out.paths.empty()) return out;
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  throw Error(ErrorCode::usage,
              std::ranges::all_of(names, is_samples_path)
                  ? all + ": samples alone; name the CSV of rows that they lie beside"
                  : fmt::format("no results file in {}: clweave run --csv FILE writes one{}{}", all,
                                out.notes.empty() ? "" : "; ", fmt::join(out.notes, "; ")));
}

}  // namespace clweave::results
