// table: cells in columns, for a terminal or a page.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace clweave {

enum class Align { left, right };

// One or more columns two spaces apart, a thin rule under their headers. Cells may hold colours and UTF-8;
// every code point counts as one column of the screen, and control characters become spaces.
class Table {
 public:
  struct Column {
    std::string header;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void title(std::string text) { title_ = std::move(text); }

  // Throws `usage` unless there is one cell per column.
  void add(std::vector<std::string> cells);

  // Ends in a line end. Without `colour`, the cells' own colours are taken out too. Cells of the last column
  // wider than `last_width`, unless that is 0, are cut and end in an ellipsis.
  std::string text(bool colour, std::size_t last_width = 0) const;

  // As GitHub's Markdown has it, without colours.
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::string title_;
};

}  // namespace clweave
