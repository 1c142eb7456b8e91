// SPDX-License-Identifier: Apache-2.0
// csv: the only reader and writer of comma-separated files, after RFC 4180.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"
#include "os/file.hpp"

namespace clweave::base {

// Describes how another program wrote a table again.
struct CsvDialect {
  char separator = ',';    // ';' where a spreadsheet's decimals have commas
  bool row_names = false;  // pandas and R put a column without a name first, which is left out

  bool operator==(const CsvDialect&) const = default;
};

struct CsvTable {
  struct Row {
    std::size_t line = 0;  // of its first character, from 1
    std::vector<std::string> cells;
  };
  std::vector<std::string> header;
  std::vector<Row> rows;  // each with as many cells as the header
  CsvDialect dialect;
  // False if the last line has no line end, as when its writer was interrupted. That row may be cut short
  // (1.5 may have been 1.53), so it is not in `rows`.
  bool complete_last_line = true;
};

// Formats one line, ended by "\n" alone as line tools expect; the reader also accepts "\r\n". A NUL byte,
// which the reader refuses, becomes U+FFFD, so that no driver's text can cost a row. Throws `usage` if there
// are no cells. Ends a cell that is longer than the reader takes with the number of bytes left out.
std::string csv_line(std::span<const std::string> cells);

// Limits what a table may ask of memory: no program of this suite writes more.
inline constexpr std::size_t most_cell_bytes = std::size_t{1} << 20;
inline constexpr std::size_t most_row_bytes = std::size_t{1} << 24;
inline constexpr std::size_t most_columns = 4096;

// Puts an apostrophe before text that a spreadsheet would run as a formula, and before such an apostrophe;
// from_inert takes it off again.
std::string inert(std::string cell);
std::string from_inert(std::string cell);

// Returns whether a cell says that its value is not known: it is empty, or what pandas, R and spreadsheets
// write for that.
bool is_unknown(std::string_view cell);

// Parses the numbers of one table, as pandas, R and spreadsheets write them, too: 4.0 and 4e+00 for a whole
// one, and where ';' separates cells a comma for the decimal point.
class CsvNumbers {
 public:
  explicit CsvNumbers(const CsvDialect& dialect) : commas_(dialect.separator == ';') {}

  // Return std::nullopt for what is no number; for a number that is not whole, or that a spreadsheet has
  // rounded; and for a comma as well as a point, in one table, as either may part thousands.
  std::optional<double> number(std::string_view cell);
  std::optional<std::int64_t> whole(std::string_view cell);

  // Says why a cell is no number, and what to do where another program is the cause.
  std::string refusal(std::string_view cell, bool whole);

 private:
  std::optional<std::string> with_point(std::string_view cell);

  bool commas_;
  char decimal_ = 0;  // that the cells so far had; 0: none
};

// Parses text whose first line is the header; skips a UTF-8 byte order mark. Cells are separated by commas,
// or by semicolons if the header has two or more of them and no comma. Throws `io`, as
// "NAME:line:column: what is wrong" with both from 1 and columns in bytes, for malformed text, a row
// whose number of cells differs from the header's, empty or repeated header names, an empty text, and what
// is beyond the limits above. An open quote counts as interrupted, also if it spans line ends, unless a whole
// row follows it or it begins its row.
CsvTable parse_csv(std::string_view text, const std::string& name);

// Parses row by row, for files of which only a part is kept.
class CsvReader {
 public:
  // Reads the header. The text must outlive it.
  CsvReader(std::string_view text, std::string name);

  // Reads a file in pieces: holds no more than a piece or the longest row. Throws `io` with the path if it
  // cannot be read.
  explicit CsvReader(const std::string& path);
  CsvReader(const CsvReader&) = delete;  // text_ may point into buffer_
  CsvReader& operator=(const CsvReader&) = delete;
  ~CsvReader() = default;

  const std::vector<std::string>& header() const { return header_; }
  const CsvDialect& dialect() const { return dialect_; }

  // Returns the offset in the file behind the last whole row that was read, or the header.
  std::size_t whole_bytes() const { return whole_bytes_; }

  // Reads the next whole row into `row`, reusing its memory. Returns false at the end.
  bool next(CsvTable::Row& row);

  // As CsvTable::complete_last_line, of what was read so far.
  bool complete_last_line() const { return end_ != End::text; }

  // Throws `io` at the position of the next row, as for malformed text.
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }

 private:
  enum class End { cell, row, text };

  [[noreturn]] void fail_at(std::size_t where, const std::string& what) const;
  void read_header();
  void read_titles(std::size_t start);
  char separator_of_header(std::size_t start) const;
  // Returns whether a quote without an end was not cut off: a whole row follows it, or it begins the row and
  // spans a line end.
  bool is_stray(std::size_t open) const;
  // Drops the text before `from` and reads the next piece. Returns false at the end of the file.
  bool refill(std::size_t from);
  // Reads one cell and its delimiter; returns which delimiter that was.
  End cell(std::string& out);
  // Returns false if the text ends before the closing quote.
  bool quoted_text(std::string& out);

  std::string_view text_;
  std::string name_;
  std::shared_ptr<std::FILE> file_;  // null if text_ is the whole text
  std::string buffer_;               // the piece of the file that text_ refers to
  std::size_t first_line_ = 1;       // of text_
  std::size_t dropped_ = 0;          // bytes of the file before text_
  std::size_t whole_bytes_ = 0;
  CsvDialect dialect_;
  std::vector<std::string> header_;
  std::string left_out_;  // a cell that is not kept; used again
  std::size_t at_ = 0;
  std::size_t row_at_ = 0;  // of the row being read
  std::size_t line_ = 1;
  End end_ = End::cell;
  bool in_header_ = true;
};

// Returns a file's contents. Throws `io` with the path if it cannot be read.
std::string read_text(const std::string& path);

// Reads and parses a file. Throws as read_text and parse_csv do.
CsvTable read_csv(const std::string& path);

// Appends each row by itself: rows of several processes do not interleave, and written rows survive a crash
// of this process. A closed pipe is an error like any other, see prepare_process.
class CsvWriter {
 public:
  enum class Mode {
    create,    // refuses a file that is not empty
    truncate,  // empties it
    append,    // refuses a file whose last line has no end
  };

  // Opens the file, "-" being stdout in any mode. Creates parent folders. Throws `usage` for a file that the
  // mode refuses, `io` for one that cannot be opened.
  explicit CsvWriter(std::string path, Mode = Mode::create);

  // Writes one row. Throws `io` with the path and the reason; as the file may then end within a row, later
  // writes throw `usage`, so that none continues that row.
  void write(std::span<const std::string> cells);

  // Claims the file: from here on each write first checks that it still exists with the size this writer
  // left, and throws `io` if it was removed, replaced or changed. Does nothing for pipes and devices.
  void watch();

  // Closes the file; some file systems report a full disk only here. Throws `io`; idempotent.
  void close();

  const std::string& path() const { return path_; }
  // Returns whether the file was empty when opened, so that the header is still to be written.
  bool empty() const { return empty_; }

 private:
  void look() const;

  std::string path_;
  os::OutputFile file_;
  bool empty_ = true;
  bool watched_ = false;
  std::int64_t size_ = 0;  // as this left it
};

}  // namespace clweave::base
