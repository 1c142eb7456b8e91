// SPDX-License-Identifier: Apache-2.0
// table: cells in columns, for a terminal or a page.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/terminal.hpp"

namespace clweave::report {

// Escapes what Markdown would take for HTML, a link, a picture or the edge of code.
std::string markdown_text(std::string text);

enum class Align { left, right };

// Handling of a column if the screen is too narrow: keep, cut with an ellipsis, or wrap.
enum class Overflow { keep, cut, wrap };

// One or more columns two spaces apart, a thin rule under their headers. Cells may hold colours and UTF-8.
//
// Where the screen is too narrow, columns that may be cut or wrapped first give all that is more than they
// need to be read, the widest first; then columns leave, those of the lowest `leaves` first; then the ones
// still there are cut to a few letters, and at last the others leave from the right. The first column never
// leaves.
class Table {
 public:
  struct Column {
    std::string header;
    Align align = Align::left;
    Overflow give = Overflow::keep;
    int leaves = 0;  // 1 leaves first; 0: when nothing else is left to give
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void title(std::string text) { title_ = std::move(text); }
  bool empty() const { return rows_.empty(); }
  // Returns whether a cell ends in this mark, such as "*", beneath its colours: what a legend then explains.
  bool has_mark(const std::string& mark) const;

  // Throws `usage` unless there is one cell per column.
  void add(std::vector<std::string> cells);

  // Ends in a line end. A last line names the columns that had to leave.
  std::string text(const Screen&) const;

  // Formats GitHub Markdown, without colours.
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::string title_;
};

}  // namespace clweave::report
