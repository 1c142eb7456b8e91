// SPDX-License-Identifier: Apache-2.0
// csv: the only reader and writer of comma-separated files, after RFC 4180.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

struct CsvTable {
  struct Row {
    std::size_t line = 0;  // of its first character, from 1
    std::vector<std::string> cells;
  };
  std::vector<std::string> header;
  std::vector<Row> rows;  // each with as many cells as the header
  // False if the last line has no line end, as when its writer was interrupted. That row may be cut short
  // (1.5 may have been 1.53), so it is not in `rows`.
  bool complete_last_line = true;
};

// Formats one line, ended by "\n" alone as line tools expect; the reader also accepts "\r\n". A NUL byte,
// which the reader refuses, becomes U+FFFD, so that no driver's text can cost a row. Throws `usage` if there
// are no cells.
std::string csv_line(std::span<const std::string> cells);

// Parses text whose first line is the header; skips a UTF-8 byte order mark. Throws `io`, as
// "NAME:line:column: what is wrong" with both from 1 and columns in bytes, for malformed text, a row
// whose number of cells differs from the header's, empty or repeated header names, and an empty text.
// An open quote on the last line counts as interrupted; one that spans a line end is an error.
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
  std::vector<std::string> header_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  End end_ = End::cell;
  bool in_header_ = true;
};

// Returns a file's contents. Throws `io` with the path if it cannot be read.
std::string read_text(const std::string& path);

// Reads and parses a file. Throws as read_text and parse_csv do.
CsvTable read_csv(const std::string& path);

// Appends each row with one write(2) to a file opened O_APPEND: rows of several processes do not interleave,
// and written rows survive a crash of this process. Needs SIGPIPE ignored, as main does: a closed pipe is
// then an error like any other.
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
  ~CsvWriter();
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

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
  int fd_ = -1;
  bool empty_ = true;
  bool watched_ = false;
  std::int64_t size_ = 0;  // as this left it
};

}  // namespace clweave::base
