// SPDX-License-Identifier: Apache-2.0
#include "results/results_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/path.hpp"
#include "base/version.hpp"
#include "os/replacement.hpp"
#include "results/contradictions.hpp"

namespace clweave::results {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> sample_header = {"row",      "run",     "case_id", "index",
                                                "event_ns", "host_ns", "batch",   "throttled"};

// Drops an incomplete last row.
void cut_to_last_line(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return;
  auto size = static_cast<std::int64_t>(in.tellg());
  std::int64_t keep = size;
  for (; keep > 0; --keep) {
    in.seekg(keep - 1);
    if (in.get() == '\n') break;
  }
  in.close();
  if (keep != size) fs::resize_file(path, static_cast<std::uintmax_t>(keep));
}

// Drops what follows the last whole row, or header: a cut row may have line ends within quotes.
void cut_to_last_row(const std::string& path) {
  cut_to_last_line(path);
  if (fs::file_size(path) == 0) return;
  CsvReader reader(path);
  for (CsvTable::Row row; reader.next(row);) continue;
  if (reader.whole_bytes() != fs::file_size(path)) fs::resize_file(path, reader.whole_bytes());
}

// Drops samples of rows that are not in the results, as their cases are run again.
void cut_samples(const std::string& path, std::size_t rows) {
  cut_to_last_line(path);
  std::ifstream in(path, std::ios::binary);
  std::string line;
  std::uintmax_t keep = 0;
  if (!std::getline(in, line)) return;
  keep = line.size() + 1;
  while (std::getline(in, line)) {
    if (std::strtoull(line.c_str(), nullptr, 10) > rows) break;
    keep += line.size() + 1;
  }
  in.close();
  if (keep < fs::file_size(path)) fs::resize_file(path, keep);
}

// Returns the first line, with its end if it has one.
std::string first_line(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  std::getline(in, line);
  return in.eof() ? line : line + "\n";
}

// Refuses a file in the way of the samples, unless it holds samples whose rows are gone. Those of other rows
// stay: X and X.csv use the same name for their samples.
void check_samples(const std::string& rows) {
  const std::string samples = samples_path(rows);
  refuse_link(samples);
  if (!fs::exists(samples)) return;
  const std::string other = rows.ends_with(".csv") ? rows.substr(0, rows.size() - 4) : rows + ".csv";
  const bool shared = samples_path(other) == samples && fs::is_regular_file(other) &&
                      first_line(other).starts_with(columns().front().name + ",");
  if (fs::is_regular_file(samples)) {
    const std::string line = first_line(samples);
    if (line.empty() || (!shared && csv_line(sample_header).starts_with(line))) return;
  }
  throw Error(ErrorCode::usage,
              samples + " is in the way of this run's samples: move it away, or choose another --csv");
}

// Returns the path of the note beside a file that is being written.
std::string note_path(const std::string& path) { return path + ".running"; }

// Refuses a name that is too long for those of the files beside it, before anything is written.
void check_length(const std::string& path) {
  constexpr std::size_t most = 255;                     // of a name, on every file system in use
  const std::string of_replacement = ".00000000.part";  // see Replacement
  std::size_t longest = 0;
  for (const auto& other : {samples_path(path), note_path(path) + of_replacement})
    longest = std::max(longest, fs::path(other).filename().string().size());
  if (longest > most)
    throw Error(ErrorCode::usage, fmt::format("the name {} is too long by {} letters for the files beside it",
                                              fs::path(path).filename().string(), longest - most));
}

void read_note(const std::string& path, Unfinished& out) {
  if (std::error_code none; !fs::is_regular_file(note_path(path), none)) return;
  const auto note = parsed_json(json_text(note_path(path)));
  if (!note.is_object()) return;
  try {
    out.origin = {note.at("command"), note.at("run_id"), note.at("version"), note.at("devices"),
                  note.value("listings", out.origin.listings)};
    out.running_key = note.at("case");
    out.running_attempts = note.at("attempts");
  } catch (const nlohmann::json::exception&) {
    // Ignore a damaged note: the rows have the rest.
    out.origin = {};
    out.running_key.clear();
  }
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::usage,
              fmt::format("{} cannot be resumed: {}; start again with another --csv, or with --csv {} "
                          "--overwrite",
                          path, why, path));
}

// Returns whether the case was never run: a lost device may be back.
bool never_run(const Record& record) {
  return record.status == Status::device_lost && record.reason.starts_with("not run");
}

// Holds the cells of the kept rows against each other.
void check_rows(const CsvTable& table, const Unfinished& left, const std::string& path) {
  std::size_t row = 0, record = 0;
  for (const auto& [line, cells] : table.rows) {
    if (cells.at(0) != footer_mark && left.kept.at(row++)) check_cells(left.records.at(record++), path, line);
  }
}

// Returns the key of a device's findings in a run.
std::string group_of(const Record& record) {
  return fmt::format("{}\n{}", record.device_key().text(), record.run.value_or(0));
}

// Replaces a file by one with these rows, atomically.
void replace(const std::string& path, const CsvTable& table) {
  Replacement out(path, Links::replaced);
  out.write(csv_line(table.header));
  for (const auto& row : table.rows) out.write(csv_line(row.cells));
  out.commit();
}

// Removes rows and the footer from a pair. Returns false if there was nothing to remove.
bool keep_rows(const std::string& path, const std::vector<bool>& kept) {
  CsvTable table = read_csv(path);
  std::vector<std::size_t> place(kept.size());  // new number of each row, from 1; 0: gone
  std::vector<CsvTable::Row> rows;
  for (std::size_t r = 0; r < kept.size(); ++r) {
    if (!kept[r]) continue;
    rows.push_back(std::move(table.rows[r]));
    place[r] = rows.size();
  }
  if (rows.size() == table.rows.size()) return false;
  table.rows = std::move(rows);
  if (std::error_code none; fs::file_size(samples_path(path), none) > 0 && !none) {
    CsvTable samples = read_csv(samples_path(path));
    std::erase_if(samples.rows, [&](CsvTable::Row& sample) {
      const auto row = std::strtoull(sample.cells.at(0).c_str(), nullptr, 10);
      if (row == 0 || row > place.size() || place[row - 1] == 0) return true;
      sample.cells[0] = std::to_string(place[row - 1]);
      return false;
    });
    replace(samples_path(path), samples);
  }
  replace(path, table);
  return true;
}

}  // namespace

namespace {

std::string beside(const std::string& path, std::string_view ending) {
  return path.substr(0, path.ends_with(".csv") ? path.size() - 4 : path.size()).append(ending);
}

}  // namespace

std::string samples_path(const std::string& path) { return beside(path, ".samples.csv"); }

std::string at_once_path(const std::string& path) { return beside(path, at_once_ending); }

bool is_samples_path(const std::string& path) { return path.ends_with(".samples.csv"); }

std::string row_key(const Record& record) {
  return fmt::format("{} / {} / {} / {} / run {} / {}{}", record.platform, record.device, record.device_id,
                     record.driver, record.run.value_or(0), record.case_id,
                     record.is_baseline() ? " by " + record.api : "");
}

ResultsFile::ResultsFile(const std::string& path, std::vector<std::string> axes, Origin origin,
                         bool overwrite)
    : path_(behind_links(path)), axes_(std::move(axes)), origin_(std::move(origin)) {
  if (is_samples_path(path_))
    throw Error(ErrorCode::usage, path_ + ": the samples of other rows have such names: choose another");
  if (path_ != "-") check_length(path_);
  if (path_ != "-") check_samples(path_);
  if (path_ != "-") lock_ = std::make_shared<FileLock>(path_);
  rows_ = std::make_unique<CsvWriter>(path_, overwrite ? CsvWriter::Mode::truncate : CsvWriter::Mode::create);
  if (path_ != "-" && !lock_->held()) *lock_ = FileLock(path_);
  rows_->watch();
  rows_->write(header_cells(axes_));
  // There are no samples or notes beside /dev/stdout.
  std::error_code none;
  if (path_ == "-" || !fs::is_regular_file(path_, none)) return;
  note("", 0);
  open_samples(false);
}

Unfinished ResultsFile::read(const std::string& name, const std::vector<std::string>& axes) {
  const std::string path = behind_links(name);
  Unfinished out;
  out.lock = std::make_shared<FileLock>(path);
  read_note(path, out);
  const std::string text = read_text(path);
  if (text.find('\n') == std::string::npos && !out.origin.command.empty()) return out;  // not even the header
  const CsvTable table = parse_csv(text, path);
  auto records = records_of(table, path);
  const bool footer = !table.rows.empty() && table.rows.back().cells.at(0) == footer_mark;
  std::set<std::string> lost;  // devices and runs
  for (const auto& record : records) {
    if (never_run(record)) lost.insert(group_of(record));
  }
  out.complete = footer && lost.empty();
  for (auto& record : records) {
    // Findings without them are removed, too.
    out.kept.push_back(!never_run(record) && (record.finding.empty() || !lost.contains(group_of(record))));
    if (out.kept.back()) out.records.push_back(std::move(record));
  }
  if (const auto& any = out.kept.empty()      ? nullptr
                        : out.records.empty() ? &records.front()
                                              : &out.records.front();
      any != nullptr) {
    out.origin.command = any->command;
    out.origin.run_id = any->run_id;
    out.origin.version = any->version;
  }
  if (out.complete) {
    check_rows(table, out, path);
    return out;
  }
  if (out.origin.command.empty()) refuse(path, "it holds no row that tells its command");
  if (table.dialect != CsvDialect())
    refuse(path, "another program has written it again, with other separators or another column");
  if (out.origin.version != version)
    refuse(path, fmt::format("it was made by clweave {}, this is {}", out.origin.version, version));
  auto with_natives = axes;
  with_natives.emplace_back(threads_axis);
  auto today = header_cells(with_natives);
  if (table.header.size() < today.size()) today = header_cells(axes);
  for (std::size_t c = 0; c < std::max(today.size(), table.header.size()); ++c) {
    const std::string then = c < table.header.size() ? table.header[c] : "none";
    const std::string now = c < today.size() ? today[c] : "none";
    if (then != now) refuse(path, fmt::format("its column {} is '{}', today's is '{}'", c + 1, then, now));
  }
  check_rows(table, out, path);  // behind the columns, which may be the cause
  return out;
}

ResultsFile::ResultsFile(const std::string& path, std::vector<std::string> axes, Origin origin,
                         const Unfinished& left)
    : path_(behind_links(path)),
      axes_(std::move(axes)),
      origin_(std::move(origin)),
      lock_(left.lock),
      written_(left.records.size()) {
  check_samples(path_);
  cut_to_last_row(path_);
  if (fs::exists(samples_path(path_))) cut_samples(samples_path(path_), left.kept.size());
  if (fs::file_size(path_) > 0 && keep_rows(path_, left.kept)) *lock_ = FileLock(path_);  // another file now
  rows_ = std::make_unique<CsvWriter>(path_, CsvWriter::Mode::append);
  rows_->watch();
  if (rows_->empty()) rows_->write(header_cells(axes_));
  note("", 0);
  open_samples(true);
}

ResultsFile::~ResultsFile() {
  try {
    if (running_) note("", 0);
  } catch (...) {  // no memory left: without it a resumed run only knows less
  }
}

void ResultsFile::open_samples(bool append) {
  const std::string path = samples_path(path_);
  samples_ = std::make_unique<CsvWriter>(path, append ? CsvWriter::Mode::append : CsvWriter::Mode::truncate);
  samples_->watch();
  if (samples_->empty() || !append) samples_->write(sample_header);
}

// Renames the note into place, so that readers find a complete one.
void ResultsFile::note(const std::string& key, int attempt) const {
  const nlohmann::json text = {{"command", origin_.command},   {"run_id", origin_.run_id},
                               {"version", origin_.version},   {"devices", origin_.devices},
                               {"listings", origin_.listings}, {"case", key},
                               {"attempts", attempt}};
  try {
    replace_file(note_path(path_), text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                 Links::replaced);
  } catch (const Error&) {  // without it a resumed run only knows less
  }
}

void ResultsFile::mark_started(const std::string& key, int attempt) {
  if (!samples_) return;
  note(key, attempt);
  running_ = true;
}

void ResultsFile::write(const Record& record, const std::vector<Sample>& samples) {
  ++written_;
  if (samples_) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Sample& s = samples[i];
      samples_->write(std::vector<std::string>{
          std::to_string(written_), std::to_string(record.run.value_or(0)), record.case_id, std::to_string(i),
          fmt::format("{:.1f}", 1e9 * s.event_s), fmt::format("{:.1f}", 1e9 * s.host_s),
          std::to_string(s.batch), s.throttled ? "yes" : ""});
    }
  }
  rows_->write(cells_of(record, axes_));
}

void ResultsFile::finish() {
  rows_->write(footer_cells(written_, axes_));
  rows_->close();
  if (!samples_) return;
  samples_->close();
  running_ = false;
  std::error_code gone;
  fs::remove(note_path(path_), gone);
}

}  // namespace clweave::results
