// SPDX-License-Identifier: Apache-2.0
#include "results/sharing.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/csv.hpp"
#include "base/text.hpp"
#include "base/zip.hpp"
#include "results/record.hpp"
#include "results/results_file.hpp"

namespace clweave::results {

namespace {

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Replaces a word, not a part of a longer one; a folder's name only behind a slash.
void replace_word(std::string& text, const std::string& word, std::string_view with, bool folder) {
  if (word.empty()) return;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const auto end = at + word.size();
    const bool begins = folder ? at > 0 && text[at - 1] == '/' : at == 0 || !is_of_word(text[at - 1]);
    if (!begins || (end < text.size() && is_of_word(text[end]))) {
      at = end;
      continue;
    }
    text.replace(at, word.size(), with);
    at += with.size();
  }
}

struct SharedRows {
  std::string device;  // of the first row
  std::string rows, build_logs;
};

SharedRows shared_rows(const std::string& path, const Identity& identity) {
  CsvReader reader(path);
  std::vector<bool> is_free;
  std::map<std::string, std::size_t> places;
  for (const auto& name : reader.header()) {
    places[name] = is_free.size();
    const auto known = std::ranges::find(columns(), name, &Column::name);
    is_free.push_back(known != columns().end() && known->is(Column::free_text));
  }
  const RecordReader records(reader.header(), path);
  records.check_header();
  SharedRows out;
  out.rows = csv_line(reader.header());
  CsvTable::Row row;
  for (Record record; reader.next(row);) {
    const bool is_row = records.read(row, record);
    Identity names = identity;
    if (is_row) names.host = record.host;  // of the computer that measured it
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

}  // namespace

Identity names_to_redact() {
  Identity out;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) out.host = host.data();
  if (const passwd* user = getpwuid(getuid()); user != nullptr) {
    out.user = user->pw_name;
    out.home = user->pw_dir;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') out.home = home;
  return out;
}

std::string anonymous(std::string text, const Identity& identity) {
  // A home of / identifies nobody.
  if (identity.home.size() > 1) {
    std::string home = identity.home;
    while (home.size() > 1 && home.ends_with('/')) home.pop_back();
    replace_word(text, home, "~", false);
  }
  replace_word(text, identity.user, "user", true);
  replace_word(text, identity.host, "host", false);
  replace_word(text, identity.host.substr(0, identity.host.find('.')), "host", false);
  return text;
}

void share(const std::string& path, const std::vector<std::string>& files,
           const std::vector<DeviceInfo>& devices, const Identity& identity) {
  std::vector<ZipEntry> entries;
  std::string build_logs;
  std::map<std::string, int> seen;
  for (const auto& file : files) {
    SharedRows shared = shared_rows(file, identity);
    if (const int twins = ++seen[shared.device]; twins > 1) shared.device += fmt::format("-{}", twins);
    entries.push_back({shared.device + ".csv", std::move(shared.rows)});
    if (const std::string samples = samples_path(file); std::filesystem::exists(samples))
      entries.push_back({shared.device + ".samples.csv", read_text(samples)});
    build_logs += shared.build_logs;
  }
  using nlohmann::json;  // texts of drivers need not be UTF-8
  entries.push_back(
      {"devices.json", json(devices).dump(2, ' ', false, json::error_handler_t::replace) + "\n"});
  if (!build_logs.empty()) entries.push_back({"build-logs.txt", std::move(build_logs)});
  write_zip(path, entries);
}

}  // namespace clweave::results
