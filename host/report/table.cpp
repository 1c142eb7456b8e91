// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace clweave::report {

namespace {

struct Place {
  const Table::Column* column;
  std::size_t natural = 0, width = 0;
  bool left = false;
};

std::size_t total_of(const std::vector<Place>& places) {
  std::size_t total = 0, kept = 0;
  for (const auto& place : places) {
    if (place.left) continue;
    total += place.width;
    ++kept;
  }
  return total + 2 * (kept - 1);
}

// Takes from the widest of the columns that may give, down to `cut` and `wrap` columns of the screen. Returns
// whether that is enough.
bool narrow(std::vector<Place>& places, std::size_t width, std::size_t cut, std::size_t wrap) {
  const auto least = [&](const Place& place) {
    const Overflow give = place.column->give;
    return give == Overflow::keep ? place.natural
                                  : std::min(place.natural, give == Overflow::cut ? cut : wrap);
  };
  // Asks first, as a table of a fleet has thousands of columns, which leave one by one.
  for (auto& place : places) place.width = least(place);
  if (total_of(places) > width) return false;
  for (auto& place : places) place.width = place.natural;
  for (std::size_t total = total_of(places); total > width; --total) {
    Place* widest = nullptr;
    for (auto& place : places) {
      if (place.left || place.width <= least(place)) continue;
      if (widest == nullptr || place.width > widest->width) widest = &place;
    }
    if (widest == nullptr) return false;
    --widest->width;
  }
  return true;
}

void fit(std::vector<Place>& places, std::size_t width) {
  constexpr std::size_t readable_cut = 14, readable_wrap = 30, least_cut = 5, least_wrap = 12;
  while (!narrow(places, width, readable_cut, readable_wrap)) {
    Place* next = nullptr;
    for (auto& place : places) {
      const bool may = !place.left && place.column->leaves > 0 && &place != &places.front();
      if (may && (next == nullptr || place.column->leaves <= next->column->leaves)) next = &place;
    }
    if (next == nullptr) break;
    next->left = true;
  }
  for (std::size_t c = places.size() - 1; c > 0 && !narrow(places, width, least_cut, least_wrap); --c)
    places[c].left = true;
  // The first alone.
  if (total_of(places) > width) places.front().width = width;
}

using Line = std::vector<std::string>;  // a cell for each column

// Returns the places that the columns get on the screen.
std::vector<Place> places_of(const std::vector<Table::Column>& columns, const std::vector<Line>& lines,
                             const Screen& screen) {
  std::vector<Place> places;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t width = 0;
    for (const auto& line : lines) width = std::max(width, width_of(line[c]));
    places.push_back({.column = &columns[c], .natural = width, .width = width});
  }
  if (screen.width > 0) fit(places, static_cast<std::size_t>(screen.width));
  return places;
}

// Appends a row, whose cells may be wrapped to several lines.
void add_row(std::string& out, const Line& cells, const std::vector<Place>& places, const char* ellipsis) {
  struct Part {
    const Place* place;
    std::vector<std::string> lines;
  };
  std::vector<Part> parts;
  std::size_t height = 1;
  for (std::size_t c = 0; c < places.size(); ++c) {
    const Place& place = places[c];
    if (place.left) continue;
    const bool wraps = place.column->give == Overflow::wrap;
    parts.push_back({&place, wraps ? wrapped(cells[c], place.width)
                                   : std::vector<std::string>{cut(cells[c], place.width, ellipsis)}});
    height = std::max(height, parts.back().lines.size());
  }
  for (std::size_t y = 0; y < height; ++y) {
    for (const auto& [place, lines] : parts) {
      const std::string part = y < lines.size() ? lines[y] : "";
      const std::string space(place->width - width_of(part), ' ');
      out += place->column->align == Align::left ? part + space : space + part;
      if (place != parts.back().place) out += "  ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
}

}  // namespace

std::string markdown_text(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> escapes = {
      {{"<", "&lt;"}, {"![", "!\\["}, {"](", "]\\("}, {"```", R"(\`\`\`)"}}};
  for (const auto& [raw, safe] : escapes) {
    for (auto at = text.find(raw); at != std::string::npos; at = text.find(raw, at + safe.size()))
      text.replace(at, raw.size(), safe);
  }
  return text;
}

void Table::add(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw Error(ErrorCode::usage,
                fmt::format("a table row of {} cells for {} columns", cells.size(), columns_.size()));
  for (auto& cell : cells) cell = on_one_line(std::move(cell));
  rows_.push_back(std::move(cells));
}

bool Table::has_mark(const std::string& mark) const {
  return std::ranges::any_of(rows_, [&](const auto& row) {
    return std::ranges::any_of(row, [&](const auto& cell) { return without_colour(cell).ends_with(mark); });
  });
}

std::string Table::text(const Screen& screen) const {
  std::vector<Line> lines(1);
  for (const auto& column : columns_) lines[0].push_back(shown(paint(column.header, Style::bold), screen));
  for (const auto& row : rows_) {
    auto& line = lines.emplace_back();
    for (const auto& cell : row) line.push_back(shown(cell, screen));
  }
  const std::vector<Place> places = places_of(columns_, lines, screen);
  std::string out = title_.empty() ? "" : shown(paint(title_, Style::bold), screen) + "\n";
  for (const auto& line : lines) {
    add_row(out, line, places, screen.ascii ? "~" : "…");
    if (&line != &lines.front()) continue;
    // Limits the rule where lines have no limit: a column of sentences is a thousand wide.
    constexpr std::size_t longest_rule = 120;
    std::string rule;
    for (auto n = screen.width > 0 ? total_of(places) : std::min(total_of(places), longest_rule); n > 0; --n)
      rule += screen.ascii ? "-" : "─";
    out += paint(rule, Style::dim, screen.colour) + "\n";
  }
  std::vector<std::string> left_out;
  for (const auto& place : places) {
    if (place.left && !place.column->header.empty()) left_out.push_back(place.column->header);
  }
  if (left_out.empty()) return out;
  const auto note =
      fmt::format("columns left out: {}; a wider terminal or a file shows them", fmt::join(left_out, ", "));
  for (const auto& line : wrapped(shown(note, screen), static_cast<std::size_t>(screen.width)))
    out += paint(line, Style::dim, screen.colour) + "\n";
  return out;
}

std::string Table::markdown() const {
  std::string out = title_.empty() ? "" : "**" + markdown_text(title_) + "**\n\n";
  const auto line = [&](const auto& cells, const auto& text) {
    for (const auto& cell : cells) out += "| " + text(cell) + " ";
    out += "|\n";
  };
  const auto escaped = [](std::string cell) {
    cell = markdown_text(without_colour(cell));
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

}  // namespace clweave::report
