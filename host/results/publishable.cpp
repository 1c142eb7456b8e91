// SPDX-License-Identifier: Apache-2.0
#include "results/publishable.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/zip.hpp"
#include "results/results_file.hpp"
#include "results/results_files.hpp"
#include "results/results_set.hpp"
#include "results/sharing.hpp"

namespace clweave::results {

namespace {

[[noreturn]] void refuse_text(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::io, fmt::format("{}: {}", name, why));
}

// Refuses the path of a home folder, by its line alone: the message is published, too. clweave run --share
// leaves `user` of a user's name.
void check_paths(std::string_view text, const std::string& name) {
  static const RE2 home(R"((?i)(?:/home/|/Users/|[A-Z]:\\+Users\\+)([^/\\"'\s,;:]+))");
  static const RE2 placeholder("(?i)user(?:[^A-Z0-9].*)?");
  std::string owner;
  for (re2::StringPiece rest(text.data(), text.size()); RE2::FindAndConsume(&rest, home, &owner);) {
    if (RE2::FullMatch(owner, placeholder)) continue;
    const auto line = 1 + std::ranges::count(text.substr(0, text.size() - rest.size()), '\n');
    refuse_text(fmt::format("{}:{}", name, line),
                "has the path of somebody's home folder, which clweave run --share takes out: measure again "
                "with it, or write ~ there");
  }
}

// Refuses tags where only names of hardware and software belong. Reasons of rows may have some, such as
// <stdin>.
void check_names(std::string_view text, const std::string& name) {
  constexpr std::array columns_of_names = {"version",   "os",     "cpu",         "loader",
                                           "platform",  "vendor", "device",      "label",
                                           "device_id", "uuid",   "device_type", "driver"};
  static const RE2 tag("<[A-Za-z/!?]");
  CsvReader reader(text, name);
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < reader.header().size(); ++c) {
    if (std::ranges::find(columns_of_names, reader.header()[c]) != columns_of_names.end())
      places.push_back(c);
  }
  for (CsvTable::Row row; reader.next(row);) {
    for (const std::size_t c : places) {
      if (RE2::PartialMatch(row.cells[c], tag))
        refuse_text(fmt::format("{}:{}", name, row.line),
                    fmt::format("column {} has markup, which no driver has", reader.header()[c]));
    }
  }
}

PublishableRows checked(const std::string& text, const std::string& name, bool is_shared) {
  CsvReader reader(text, name);
  if (reader.dialect() != CsvDialect())
    refuse_text(name, "another program has written it again, with other separators or another column");
  AnonymousRows rows = anonymous_rows(reader, name, {});
  if (is_shared && !rows.host.empty())
    refuse_text(name, "column host names a computer, which clweave run --share takes out");
  if (is_shared && !rows.finished)
    refuse_text(name, fmt::format("has no end mark ({}), which the files of clweave run --share have: rows "
                                  "are missing",
                                  footer_mark));
  check_names(rows.rows, name);
  return {.name = name, .rows = std::move(rows.rows), .samples = {}, .finished = rows.finished};
}

std::vector<PublishableRows> in_archive(const std::string& path, const std::string& name) {
  const auto entries = read_zip(path, "");
  const auto find = [&](const std::string& wanted) {
    return std::ranges::find(entries, wanted, &ZipEntry::name);
  };
  const bool is_shared = find(devices_entry) != entries.end();
  std::vector<PublishableRows> out;
  for (const auto& entry : entries) {
    const std::string entry_name = name + "/" + entry.name;
    check_paths(entry.text, entry_name);
    if (entry.name == devices_entry && !parsed_json(entry.text).is_array())
      refuse_text(entry_name, "is no list of devices");
    const bool is_csv = entry.name.ends_with(".csv");
    if (is_csv && !is_samples_path(entry.name)) {
      out.push_back(checked(entry.text, entry_name, is_shared));
      if (const auto samples = find(samples_path(entry.name)); samples != entries.end())
        out.back().samples = samples->text;
    } else if (!is_csv && entry.name != devices_entry && entry.name != build_logs_entry) {
      refuse_text(entry_name, "is none of the files that clweave run --share packs");
    }
  }
  if (out.empty()) refuse_text(name, "has no CSV: it is not of clweave run --share");
  return out;
}

}  // namespace

std::vector<PublishableRows> publishable(const std::string& path, const std::string& name) {
  if (path.ends_with(archive_ending)) return in_archive(path, name);
  const std::string text = read_text(path);
  if (CsvReader(text, name).header().front() == figures_first_column) return {};
  check_paths(text, name);
  return {checked(text, name, false)};
}

}  // namespace clweave::results
