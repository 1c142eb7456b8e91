// SPDX-License-Identifier: Apache-2.0
#include "results/sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/csv.hpp"
#include "base/text.hpp"
#include "base/zip.hpp"
#include "os/host.hpp"
#include "results/record.hpp"
#include "results/results_file.hpp"
#include "suite/former_names.hpp"
#include "suite/selection.hpp"

namespace clweave::results {

namespace {

char lower_of(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Replaces a word in whatever case, not a part of a longer one.
void replace_word(std::string& text, const std::string& word, std::string_view with,
                  std::string_view more_of_words = "") {
  if (word.empty()) return;
  const auto is_of_word = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           more_of_words.find(c) != std::string_view::npos;
  };
  const auto same = [](char a, char b) { return lower_of(a) == lower_of(b); };
  for (std::size_t from = 0;;) {
    const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), word.begin(),
                                   word.end(), same);
    if (found == text.end()) return;
    const auto at = static_cast<std::size_t>(found - text.begin()), end = at + word.size();
    from = end;
    if ((at > 0 && is_of_word(text[at - 1])) || (end < text.size() && is_of_word(text[end]))) continue;
    text.replace(at, word.size(), with);
    from = at + with.size();
  }
}

// Returns whether texts in a column may be a user's or driver's, or are of no column of ours.
bool is_free_text(const std::string& name, const std::vector<std::string>& axes) {
  const auto known = std::ranges::find(columns(), column_now(name), &Column::name);
  if (known != columns().end()) return known->is(Column::free_text);
  return std::ranges::find(axes, name) == axes.end();
}

}  // namespace

AnonymousRows anonymous_rows(CsvReader& reader, const std::string& name, const Identity& identity) {
  std::vector<bool> is_free;
  std::map<std::string, std::size_t> places;
  const auto axes = axis_names(all_families());
  for (const auto& title : reader.header()) {
    places[title] = is_free.size();
    is_free.push_back(is_free_text(title, axes));
  }
  RecordReader records(reader.header(), name, reader.dialect());
  records.check_header();
  AnonymousRows out;
  out.rows = csv_line(reader.header());
  CsvTable::Row row;
  for (Record record; reader.next(row);) {
    const bool is_row = records.read(row, record);
    Identity names = identity;
    out.finished = !is_row;
    if (is_row) {
      names.host = record.host;  // of the computer that measured it
      if (out.host.empty()) out.host = record.host;
    }
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      if (is_free[c]) row.cells[c] = anonymous(anonymous(std::move(row.cells[c]), names), identity);
    }
    if (is_row) {
      row.cells[places.at("host")].clear();
      if (out.device.empty())
        out.device = slug(record.platform.substr(0, record.platform.find(',')) + " " + record.device);
      if (record.status == Status::build_failed)
        out.build_logs +=
            fmt::format("{}, {}\n{}\n\n", record.device, record.case_id, row.cells[places.at("reason")]);
    }
    out.rows += csv_line(row.cells);
  }
  return out;
}

Identity names_to_redact() {
  const os::User user = os::current_user();
  return {os::host_name(), user.name, user.home, user.full_name};
}

std::string anonymous(std::string text, const Identity& identity) {
  // A home of / identifies nobody.
  if (identity.home.size() > 1) {
    std::string home = identity.home;
    while (home.size() > 1 && home.ends_with('/')) home.pop_back();
    replace_word(text, home, "~", "_");
  }
  replace_word(text, identity.full_name, "user");
  replace_word(text, identity.user, "user");
  replace_word(text, identity.host, "host");
  replace_word(text, identity.host.substr(0, identity.host.find('.')), "host");
  return text;
}

void share(const std::string& path, const std::vector<std::string>& files,
           const std::vector<DeviceInfo>& devices, const Identity& identity) {
  std::vector<ZipEntry> entries;
  std::string build_logs;
  std::map<std::string, int> seen;
  for (const auto& file : files) {
    CsvReader reader(file);
    AnonymousRows shared = anonymous_rows(reader, file, identity);
    if (const int twins = ++seen[shared.device]; twins > 1) shared.device += fmt::format("-{}", twins);
    entries.push_back({shared.device + ".csv", std::move(shared.rows)});
    if (const std::string samples = samples_path(file); std::filesystem::exists(samples))
      entries.push_back({shared.device + ".samples.csv", read_text(samples)});
    build_logs += shared.build_logs;
  }
  using nlohmann::json;  // texts of drivers need not be UTF-8
  entries.push_back(
      {devices_entry, json(devices).dump(2, ' ', false, json::error_handler_t::replace) + "\n"});
  if (!build_logs.empty()) entries.push_back({build_logs_entry, std::move(build_logs)});
  write_zip(path, entries);
}

}  // namespace clweave::results
