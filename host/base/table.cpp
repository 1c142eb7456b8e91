// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/terminal.hpp"

namespace clweave {

void Table::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw Error(Kind::usage,
                fmt::format("a table row of {} cells for {} columns", cells.size(), columns_.size()));
  for (auto& cell : cells) cell = on_one_line(std::move(cell));
  rows_.push_back(std::move(cells));
}

std::string Table::text(bool colour, std::size_t last_width) const {
  const std::size_t last = columns_.size() - 1;
  const auto shown = [&](const std::string& cell, std::size_t c) {
    const std::string text = colour ? cell : without_colour(cell);
    return c == last && last_width > 0 ? cut(text, last_width, "…") : text;
  };
  std::vector<std::vector<std::string>> lines(1);
  for (std::size_t c = 0; c <= last; ++c)
    lines[0].push_back(paint(shown(columns_[c].header, c), Style::bold, colour));
  for (const auto& row : rows_) {
    auto& line = lines.emplace_back();
    for (std::size_t c = 0; c <= last; ++c) line.push_back(shown(row[c], c));
  }
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& line : lines) {
    for (std::size_t c = 0; c <= last; ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }

  std::string out = title_.empty() ? "" : paint(title_, Style::bold, colour) + "\n";
  for (const auto& line : lines) {
    for (std::size_t c = 0; c <= last; ++c) {
      const std::string space(widths[c] - width_of(line[c]), ' ');
      out += columns_[c].align == Align::left ? line[c] + space : space + line[c];
      if (c < last) out += "  ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
    if (&line != &lines.front()) continue;
    std::string rule;
    for (auto n = std::accumulate(widths.begin(), widths.end(), 2 * last); n > 0; --n) rule += "─";
    out += paint(rule, Style::dim, colour) + "\n";
  }
  return out;
}

std::string Table::markdown() const {
  std::string out = title_.empty() ? "" : "**" + title_ + "**\n\n";
  const auto line = [&](const auto& cells, const auto& text) {
    for (const auto& cell : cells) out += "| " + text(cell) + " ";
    out += "|\n";
  };
  const auto escaped = [](std::string cell) {
    cell = without_colour(cell);
    for (auto at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2))
      cell.insert(at, "\\");
    return cell;
  };
  line(columns_, [&](const Column& column) { return escaped(column.header); });
  line(columns_,
       [](const Column& column) { return std::string(column.align == Align::left ? "---" : "---:"); });
  for (const auto& row : rows_) line(row, escaped);
  return out;
}

}  // namespace clweave
