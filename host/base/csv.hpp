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
  // False: the text does not end in a line end, as when its writer was interrupted. Nothing tells whether
  // that last row is whole (1.5 may have been 1.53), so it is not among `rows`.
  bool complete_last_line = true;
};

// One line, ended by "\n" alone as every tool that reads lines expects; the reader takes "\r\n" too. A NUL
// byte, which the reader refuses, becomes U+FFFD, so that no driver's text can cost a row. Throws `usage` for
// no cells.
std::string csv_line(std::span<const std::string> cells);

// The first line is the header; a UTF-8 byte order mark before it is skipped. Throws `io`, as
// "NAME:line:column: what is wrong" with both from 1 and columns in bytes, for anything malformed, for a row
// with another number of cells than the header, for header names empty or repeated, and for an empty text.
// A quote left open on the last line counts as interrupted; one that swallows a line end is an error.
CsvTable parse_csv(std::string_view text, const std::string& name);

// The same row by row, for files of which only a part is kept.
class CsvReader {
 public:
  // Reads the header. The text must outlive it.
  CsvReader(std::string_view text, std::string name);

  // Of a file, which is read in pieces: never more of it is held than a piece or its longest row. Throws `io`
  // with the path, too, when it cannot be read.
  explicit CsvReader(const std::string& path);
  CsvReader(const CsvReader&) = delete;  // text_ may show buffer_
  CsvReader& operator=(const CsvReader&) = delete;
  ~CsvReader() = default;

  const std::vector<std::string>& header() const { return header_; }

  // The next whole row into `row`, whose memory is used again. False: there is none.
  bool next(CsvTable::Row& row);

  // Of what was read.
  bool complete_last_line() const { return end_ != End::text; }

  // Throws `io` about the row that comes next, or the end, as for malformed text.
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }

 private:
  enum class End { cell, row, text };

  [[noreturn]] void fail_at(std::size_t where, const std::string& what) const;
  void read_header();
  // Drops the text before `from` and reads on. False: there is no more.
  bool refill(std::size_t from);
  // Reads one cell and its delimiter; says what ended it.
  End cell(std::string& out);
  // False: the text ends before the closing quote.
  bool quoted_text(std::string& out);

  std::string_view text_;
  std::string name_;
  std::shared_ptr<std::FILE> file_;  // null: all of it is in text_
  std::string buffer_;               // what text_ shows of the file
  std::size_t first_line_ = 1;       // of text_
  std::vector<std::string> header_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  End end_ = End::cell;
  bool in_header_ = true;
};

// Throws `io` with the path when it cannot be read.
std::string read_text(const std::string& path);

// Throws as read_text and parse_csv do.
CsvTable read_csv(const std::string& path);

// Appends each row with one write(2) to a file opened O_APPEND: rows of several processes stay whole, and
// what was written survives any crash of this one. SIGPIPE is to be ignored, as main does: the end of a
// pipe's reader comes back as an error like any other.
class CsvWriter {
 public:
  enum class Mode {
    create,    // refuses a file that holds something
    truncate,  // empties it
    append,    // refuses one that ends within a line
  };

  // "-" is stdout, whatever the mode. Creates parent folders. Throws `usage` for a file the mode refuses,
  // `io` for one that cannot be opened.
  explicit CsvWriter(std::string path, Mode = Mode::create);
  ~CsvWriter();
  CsvWriter(const CsvWriter&) = delete;
  CsvWriter& operator=(const CsvWriter&) = delete;

  // Throws `io` with the path and the reason. The file may then end within a row: later writes are refused
  // (`usage`), so that none continues that row.
  void write(std::span<const std::string> cells);

  // From here on nobody else writes the file: each write first looks whether it is still there and as long as
  // it was left, and throws `io` when it was removed, replaced or changed. Nothing where it is no ordinary
  // file.
  void watch();

  // Some file systems report a full disk only here. Throws `io`; does nothing the second time.
  void close();

  const std::string& path() const { return path_; }
  // Nothing was in the file when it was opened: the header is still to be written.
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
