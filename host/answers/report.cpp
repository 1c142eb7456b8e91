// SPDX-License-Identifier: Apache-2.0
#include "answers/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "base/error.hpp"

namespace clweave {

namespace {

template <class... F>
struct Each : F... {
  using F::operator()...;
};
template <class... F>
Each(F...) -> Each<F...>;

std::string lines_of(const std::string& text, const Screen& screen) {
  const std::string safe = shown(text, screen);
  if (screen.width == 0) return safe + "\n";
  std::string out;
  for (const auto& line : wrapped(safe, static_cast<std::size_t>(screen.width), 2)) out += line + "\n";
  return out;
}

std::string for_people(const Report& report, const Screen& screen) {
  std::string out;
  for (const auto& part : report.parts())
    out += std::visit(
        Each{[&](const Report::Heading& h) { return lines_of(paint(h.text, Style::bold), screen); },
             [&](const Report::Sentence& s) { return lines_of(s.text, screen); },
             [&](const Report::Command& c) { return shown(c.text, screen) + "\n"; },
             [&](const Table& table) { return table.text(screen); },
             [&](const Report::Drawing& drawing) { return shown(drawing.draw(screen), screen); }},
        part);
  return out;
}

std::string markdown(const Report& report, const Screen&) {
  const Screen page{.ascii = false};
  const auto sentence = [&](const std::string& text) {
    return text.empty() ? "" : shown(text, page) + "  \n";  // two spaces: the line ends here
  };
  std::string out;
  for (const auto& part : report.parts())
    out +=
        std::visit(Each{[&](const Report::Heading& h) { return "\n### " + shown(h.text, page) + "\n\n"; },
                        [&](const Report::Sentence& s) { return sentence(s.text); },
                        [&](const Report::Command& c) { return "\n```\n" + shown(c.text, page) + "\n```\n"; },
                        [&](const Table& table) { return "\n" + shown(table.markdown(), page) + "\n"; },
                        [&](const Report::Drawing& drawing) {
                          return "\n```\n" + shown(drawing.draw(Screen{.width = 80}), page) + "```\n";
                        }},
                   part);
  return out;
}

std::string csv_cell(const Cell& cell) {
  return std::visit(
      Each{[](std::monostate) { return std::string(); }, [](const std::string& text) { return text; },
           [](std::int64_t value) { return fmt::format("{}", value); },
           [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); },
           [](bool flag) { return std::string(flag ? "yes" : "no"); },
           [](const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ";")); }},
      cell);
}

std::string csv(const Report& report, const Screen&) {
  std::string out = csv_line(report.column_names());
  for (const auto& row : report.rows()) {
    std::vector<std::string> cells(row.size());
    std::ranges::transform(row, cells.begin(), csv_cell);
    out += csv_line(cells);
  }
  return out;
}

// Drivers may write anything into a name.
std::string dumped(const auto& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json json_cell(const Cell& cell) {
  return std::visit(Each{[](std::monostate) { return nlohmann::ordered_json(); },
                         [](double value) {  // what JSON has no word for
                           return std::isfinite(value) ? nlohmann::ordered_json(value)
                                                       : nlohmann::ordered_json();
                         },
                         [](const auto& value) { return nlohmann::ordered_json(value); }},
                    cell);
}

std::string json(const Report& report, const Screen&) {
  if (!report.document().empty()) return report.document();
  auto out = nlohmann::ordered_json::array();
  for (const auto& row : report.rows()) {
    auto& object = out.emplace_back(nlohmann::ordered_json::object());
    for (std::size_t c = 0; c < row.size(); ++c) object[report.column_names()[c]] = json_cell(row[c]);
  }
  return dumped(out);
}

}  // namespace

void Report::row(std::vector<Cell> cells) {
  if (cells.size() != columns_.size())
    throw Error(Kind::usage,
                fmt::format("a report row of {} cells for {} columns", cells.size(), columns_.size()));
  rows_.push_back(std::move(cells));
}

void Report::document(const nlohmann::json& json) { document_ = dumped(json); }

const std::vector<Printer>& printers() {
  static const std::vector<Printer> all = {{"text", "Tables for people", for_people},
                                           {"csv", "CSV, every row", csv},
                                           {"json", "JSON, the same and more", json},
                                           {"markdown", "Markdown, the tables", markdown}};
  return all;
}

std::string text_of(const Report& report, std::string_view format, const Screen& screen) {
  for (const auto& known : printers()) {
    if (known.name == format) return known.text(report, screen);
  }
  throw Error(Kind::usage, fmt::format("there is no format {}", format));
}

Exit print(const Report& report, std::string_view format, int fd) {
  put(fd, text_of(report, format, screen_of(fd)));
  return fine;
}

}  // namespace clweave
