// SPDX-License-Identifier: Apache-2.0
#include "base/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "base/number.hpp"

namespace clweave::base {

namespace {

[[noreturn]] void fail(const char* action, const std::string& path,
                       std::error_code error = {errno, std::generic_category()}) {
  throw Error(error == std::errc::broken_pipe ? ErrorCode::closed : ErrorCode::io,
              fmt::format("cannot {} {}: {}", action, path == "-" ? "stdout" : path, error.message()));
}

// Marks the bytes that end or quote a cell: one table access instead of four comparisons.
constexpr std::array<bool, 256> specials_with(unsigned char separator) {
  std::array<bool, 256> out{};
  for (const unsigned char c : {separator, static_cast<unsigned char>('\n'), static_cast<unsigned char>('\r'),
                                static_cast<unsigned char>('"')})
    out[c] = true;
  return out;
}
constexpr auto comma_specials = specials_with(','), semicolon_specials = specials_with(';');

bool needs_quotes(const std::string& cell) {
  return !cell.empty() &&
         (cell.front() == ' ' || cell.back() == ' ' || cell.find_first_of(",\"\r\n") != std::string::npos);
}

void add_cell(std::string& out, const std::string& cell) {
  const bool quotes = needs_quotes(cell);
  if (quotes) out += '"';
  for (const char c : cell) {
    if (c == '\0') {
      out += "\uFFFD";
      continue;
    }
    if (c == '"') out += '"';
    out += c;
  }
  if (quotes) out += '"';
}

// Cuts text between characters.
std::string_view within_utf8(std::string_view text, std::size_t bytes) {
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

// Returns whether a spreadsheet takes a cell for a formula that may do something: a sign without a call or a
// link to another program does not.
bool is_formula(std::string_view cell) {
  if (cell.empty()) return false;
  constexpr std::string_view always = "=@\t\r", with_a_call = "+-";
  return always.find(cell.front()) != std::string_view::npos ||
         (with_a_call.find(cell.front()) != std::string_view::npos &&
          cell.find_first_of("(|!") != std::string_view::npos);
}

bool is_formula_behind_apostrophes(std::string_view cell) {
  const auto first = cell.find_first_not_of('\'');
  return first != std::string_view::npos && is_formula(cell.substr(first));
}

}  // namespace

std::string inert(std::string cell) {
  if (is_formula_behind_apostrophes(cell)) cell.insert(0, 1, '\'');
  return cell;
}

std::string from_inert(std::string cell) {
  if (cell.starts_with('\'') && is_formula_behind_apostrophes(cell)) cell.erase(0, 1);
  return cell;
}

bool is_unknown(std::string_view cell) {
  constexpr std::array<std::string_view, 5> words = {"", "NA", "NaN", "<NA>", "#N/A"};
  return std::ranges::find(words, cell) != words.end();
}

std::optional<std::string> CsvNumbers::with_point(std::string_view cell) {
  std::string out(cell);
  const auto mark = out.find_first_of(".,");
  if (mark == std::string::npos) return out;
  const char decimal = out[mark];
  if (decimal == ',' && !commas_) return {};
  if (commas_ && decimal_ != 0 && decimal_ != decimal) return {};
  out[mark] = '.';
  if (number_of<double>(out)) decimal_ = decimal;
  return out;
}

std::optional<double> CsvNumbers::number(std::string_view cell) {
  const auto text = with_point(cell);
  return text ? number_of<double>(*text) : std::nullopt;
}

std::optional<std::int64_t> CsvNumbers::whole(std::string_view cell) {
  if (const auto out = number_of<std::int64_t>(cell)) return out;
  // Spreadsheets write E, and at most six digits before it.
  if (cell.find('E') != std::string_view::npos) return {};
  constexpr double exact = 9007199254740992;  // 2^53
  const auto value = number(cell);
  if (!value || std::abs(*value) >= exact || *value != std::trunc(*value)) return {};
  return static_cast<std::int64_t>(*value);
}

std::string CsvNumbers::refusal(std::string_view cell, bool whole) {
  std::string out = fmt::format("'{}' is no number", cell);
  std::string other(cell);
  std::ranges::replace(other, ',', '.');
  const auto value = number_of<double>(other);
  if (commas_ && decimal_ != 0 && value && !number(cell))
    return out +
           fmt::format(" where other cells have decimals behind '{}': save the file again with one mark",
                       decimal_);
  if (whole && value && *value == std::trunc(*value) && cell.find_first_of("eE.") != std::string_view::npos)
    return out + ": another program has rounded it; use the file as it was, or read all its columns as text";
  return out;
}

std::string csv_line(std::span<const std::string> cells) {
  if (cells.empty()) throw Error(ErrorCode::usage, "a CSV row has at least one cell");
  // Many readers skip blank lines, and a lone empty cell would be one.
  if (cells.size() == 1 && cells.front().empty()) return "\"\"\n";
  std::string out;
  for (const auto& cell : cells) {
    if (&cell != &cells.front()) out += ',';
    // A NUL byte becomes three.
    const auto bytes = cell.size() + 2 * static_cast<std::size_t>(std::ranges::count(cell, '\0'));
    if (bytes <= most_cell_bytes) {
      add_cell(out, cell);
    } else {
      const auto kept = within_utf8(cell, most_cell_bytes / 4);
      add_cell(out, fmt::format("{} .. ({} more bytes)", kept, cell.size() - kept.size()));
    }
  }
  return out += '\n';
}

CsvReader::CsvReader(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
  read_header();
}

CsvReader::CsvReader(const std::string& path)
    : name_(path), file_(os::open_to_read(path), [](std::FILE* file) {
        if (file != nullptr) std::fclose(file);
      }) {
  if (!file_) clweave::base::fail("open", path);
  refill(0);
  read_header();
}

char CsvReader::separator_of_header(std::size_t start) const {
  std::size_t semicolons = 0;
  bool quoted = false;
  for (std::size_t at = start; at < text_.size() && (quoted || text_[at] != '\n'); ++at) {
    if (text_[at] == '"') quoted = !quoted;
    if (quoted) continue;
    if (text_[at] == ',') return ',';
    if (text_[at] == ';') ++semicolons;
  }
  return semicolons > 1 ? ';' : ',';
}

void CsvReader::read_header() {
  const std::size_t start = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  if (text_.size() == start) fail_at(0, "the file is empty");
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    fail_at(0, "text in UTF-16: save the file as CSV in UTF-8");
  if (const auto nul = text_.find('\0'); nul != std::string::npos) fail_at(nul, "a NUL byte");
  do {
    dialect_.separator = separator_of_header(start);
    read_titles(start);
  } while (end_ == End::text && refill(0));
  if (end_ == End::row) whole_bytes_ = at_;
  in_header_ = false;
}

void CsvReader::read_titles(std::size_t start) {
  header_.clear();
  dialect_.row_names = false;
  std::unordered_set<std::string> known;
  at_ = start;
  end_ = End::cell;
  while (end_ == End::cell) {
    const std::size_t title_at = at_;
    std::string title;
    end_ = cell(title);
    if (end_ == End::text && file_) return;
    if (title.empty() && title_at == start && end_ == End::cell) {
      dialect_.row_names = true;
      continue;
    }
    if (title.empty()) fail_at(title_at, "a column without a name");
    if (!known.insert(title).second) fail_at(title_at, "a second column named '" + title + "'");
    if (header_.size() == most_columns) fail_at(title_at, fmt::format("more than {} columns", most_columns));
    header_.push_back(std::move(title));
  }
}

bool CsvReader::refill(std::size_t from) {
  if (!file_) return false;
  constexpr std::size_t piece = 1 << 20;
  first_line_ += static_cast<std::size_t>(
      std::count(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(from), '\n'));
  buffer_.erase(0, from);
  dropped_ += from;
  const std::size_t kept = buffer_.size();
  text_ = buffer_;
  at_ -= std::min(at_, from);
  if (kept > most_row_bytes) fail_at(0, fmt::format("a row of more than {} MiB", most_row_bytes >> 20));
  buffer_.resize(kept + std::max(piece, kept));
  const std::size_t n = std::fread(buffer_.data() + kept, 1, buffer_.size() - kept, file_.get());
  if (std::ferror(file_.get()) != 0) clweave::base::fail("read", name_);
  buffer_.resize(kept + n);
  text_ = buffer_;
  if (const auto nul = text_.find('\0', kept); nul != std::string::npos) fail_at(nul, "a NUL byte");
  if (n == 0) file_.reset();
  return true;
}

bool CsvReader::next(CsvTable::Row& row) {
  for (;;) {
    if (at_ >= text_.size()) {
      if (!refill(at_)) return false;
      continue;
    }
    const std::size_t start = row_at_ = at_;
    const std::size_t start_line = row.line = line_;
    std::size_t count = 0;
    end_ = dialect_.row_names ? cell(left_out_) : End::cell;
    for (; end_ == End::cell; ++count) {
      if (count == most_columns) fail_at(start, fmt::format("more than {} cells", most_columns));
      if (count == row.cells.size()) row.cells.emplace_back();
      end_ = cell(row.cells[count]);
    }
    if (end_ == End::text && file_) {  // the piece ends within this row, which is read again
      at_ = start;
      line_ = start_line;
      refill(start);
      continue;
    }
    if (end_ == End::text) return false;
    if (count != header_.size())
      fail_at(start, fmt::format("{} cells, but the header has {}", count, header_.size()));
    row.cells.resize(count);
    whole_bytes_ = dropped_ + at_;
    return true;
  }
}

// Counts lines and columns only for an error, so that parsing need not.
void CsvReader::fail_at(std::size_t where, const std::string& what) const {
  const auto before = text_.substr(0, where);
  const auto line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  throw Error(ErrorCode::io,
              fmt::format("{}:{}:{}: {}", name_,
                          first_line_ + static_cast<std::size_t>(std::ranges::count(before, '\n')),
                          1 + where - line_start, what));
}

CsvReader::End CsvReader::cell(std::string& out) {
  const bool quoted = at_ < text_.size() && text_[at_] == '"';
  if (quoted) {
    out.clear();
    if (!quoted_text(out)) return End::text;
  } else {
    const auto& specials = dialect_.separator == ';' ? semicolon_specials : comma_specials;
    std::size_t end = at_;
    while (end < text_.size() && !specials[static_cast<unsigned char>(text_[end])]) ++end;
    if (end - at_ > most_cell_bytes)
      fail_at(at_, fmt::format("a cell of more than {} MiB", most_cell_bytes >> 20));
    out.assign(text_, at_, end - at_);
    at_ = end;
  }
  if (at_ == text_.size()) return End::text;
  if (text_[at_] == dialect_.separator) return ++at_, End::cell;
  switch (text_[at_]) {
    case '\r':
      if (at_ + 1 == text_.size()) return ++at_, End::text;
      if (text_[at_ + 1] != '\n') fail_at(at_, "a carriage return outside quotes");
      ++at_;
      [[fallthrough]];
    case '\n': ++at_, ++line_; return End::row;
    default: fail_at(at_, quoted ? "text after the closing quote" : "a quote inside an unquoted cell");
  }
}

bool CsvReader::quoted_text(std::string& out) {
  const std::size_t open = at_++;
  for (;;) {
    const std::size_t quote = text_.find('"', at_);
    if (out.size() + std::min(quote, text_.size()) - at_ > most_cell_bytes)
      fail_at(open, fmt::format("a cell of more than {} MiB, or a quote that is never closed",
                                most_cell_bytes >> 20));
    if (quote == std::string::npos) {
      if (!file_ && (in_header_ || is_stray(open))) fail_at(open, "a quote that is never closed");
      at_ = text_.size();
      return false;
    }
    const auto part = text_.substr(at_, quote - at_);
    out += part;
    line_ += static_cast<std::size_t>(std::ranges::count(part, '\n'));
    at_ = quote + 1;
    if (at_ == text_.size() || text_[at_] != '"') return true;
    out += '"';
    ++at_;
  }
}

bool CsvReader::is_stray(std::size_t open) const {
  auto begin = text_.find('\n', open);
  if (open == row_at_ && begin != std::string::npos) return true;
  while (begin != std::string::npos) {
    const auto end = text_.find('\n', begin + 1);
    if (end == std::string::npos) return false;
    const auto line = text_.substr(begin, end - begin);
    if (std::cmp_greater_equal(std::ranges::count(line, dialect_.separator) + 1, header_.size())) return true;
    begin = end;
  }
  return false;
}

CsvTable parse_csv(std::string_view text, const std::string& name) {
  CsvReader reader(text, name);
  CsvTable out;
  out.header = reader.header();
  out.dialect = reader.dialect();
  for (CsvTable::Row row; reader.next(row);) out.rows.push_back(row);
  out.complete_last_line = reader.complete_last_line();
  return out;
}

std::string read_text(const std::string& path) {
  const auto shut = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(shut)> file(os::open_to_read(path), shut);
  if (!file) fail("open", path);
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const auto n = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    text.append(buffer.data(), n);
  if (std::ferror(file.get()) != 0) fail("read", path);
  return text;
}

CsvTable read_csv(const std::string& path) { return parse_csv(read_text(path), path); }

namespace {

// Waits for another writer, which may be within a line, to end it.
bool ends_a_line(const os::OutputFile& file) {
  constexpr int looks = 40;
  for (int look = 1;; ++look) {
    if (file.ends_with('\n')) return true;
    if (look == looks) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

CsvWriter::CsvWriter(std::string path, Mode mode) : path_(std::move(path)) {
  std::error_code error;
  if (path_ == "-") {
    file_ = os::OutputFile::of_stdout(error);
    if (error) fail("open", path_, error);
    return;
  }
  if (const auto folder = std::filesystem::path(path_).parent_path(); !folder.empty()) {
    std::filesystem::create_directories(folder, error);
    if (error) fail("create the folder of", path_, error);
  }
  using Opened = os::OutputFile::Mode;
  file_ = os::OutputFile(path_,
                         mode == Mode::append     ? Opened::append
                         : mode == Mode::truncate ? Opened::truncate
                                                  : Opened::extend,
                         error);
  if (error) fail("open", path_, error);
  empty_ = file_.size() == 0;
  if (empty_) return;
  std::string refusal;
  if (mode == Mode::create)
    refusal = path_ + " exists and is not empty: choose another name, or replace it by --overwrite";
  if (mode == Mode::append && !ends_a_line(file_))
    refusal =
        path_ +
        " ends within a line, as if its writer was interrupted: remove that line or choose another name";
  if (!refusal.empty()) throw Error(ErrorCode::usage, refusal);
}

void CsvWriter::write(std::span<const std::string> cells) {
  if (!file_) throw Error(ErrorCode::usage, "a row for " + path_ + " after it was closed or a write failed");
  const std::string line = csv_line(cells);
  if (watched_) look();
  size_ += static_cast<std::int64_t>(line.size());
  if (const auto error = file_.write(line)) {
    file_.close();
    fail("write", path_, error);
  }
}

void CsvWriter::watch() {
  if (path_ == "-" || !file_ || !file_.is_regular()) return;
  watched_ = true;
  size_ = file_.size();
}

void CsvWriter::look() const {
  const bool same = file_.is_at(path_);
  if (same && file_.size() == size_) return;
  throw Error(ErrorCode::io, fmt::format("{} was {} while it was written: what follows would have no place",
                                         path_, same ? "changed by another program" : "removed or replaced"));
}

void CsvWriter::close() {
  if (const auto error = file_.close()) fail("close", path_, error);
}

}  // namespace clweave::base
