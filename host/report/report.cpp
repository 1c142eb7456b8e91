// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "report/openmetrics.hpp"

namespace clweave::report {

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

// Cuts the lines of a table or a drawing where the screen is narrower than their narrowest form.
std::string cut_lines(const std::string& text, const Screen& screen, bool& any_cut) {
  if (screen.width == 0) return text;
  const auto width = static_cast<std::size_t>(screen.width);
  std::string out;
  for (const auto& line : split(text, '\n')) {
    any_cut = any_cut || width_of(line) > width;
    out += cut(line, width, screen.ascii ? "~" : "…") + "\n";
  }
  out.pop_back();  // split gives an empty part behind the last line end
  return out;
}

void for_people(const Report& report, const Screen& screen, const Sink& write) {
  bool any_cut = false;
  for (const auto& part : report.parts())
    write(std::visit(
        Each{[&](const Report::Heading& h) { return lines_of(paint(h.text, Style::bold), screen); },
             [&](const Report::Sentence& s) { return lines_of(s.text, screen); },
             [&](const Report::Command& c) { return shown(c.text, screen) + "\n"; },
             [&](const Table& table) { return cut_lines(table.text(screen), screen, any_cut); },
             [&](const Report::Drawing& drawing) {
               return cut_lines(shown(drawing.draw(screen), screen), screen, any_cut);
             }},
        part));
  if (any_cut) write(lines_of("lines were cut: a wider terminal or a file shows them whole", screen));
}

// Fences code by more backticks than it has in a row.
std::string code(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fmt::format("\n{}\n{}{}\n", fence, text, fence);
}

void markdown(const Report& report, const Screen&, const Sink& write) {
  const Screen page{.ascii = false};
  const auto plain = [&](const std::string& text) { return markdown_text(shown(text, page)); };
  const auto sentence = [&](const std::string& text) {
    return text.empty() ? "" : plain(text) + "  \n";  // two spaces: the line ends here
  };
  for (const auto& part : report.parts())
    write(std::visit(
        Each{[&](const Report::Heading& h) { return fmt::format("\n### {}\n\n", plain(h.text)); },
             [&](const Report::Sentence& s) { return sentence(s.text); },
             [&](const Report::Command& c) { return code(shown(c.text, page) + "\n"); },
             [&](const Table& table) { return fmt::format("\n{}\n", shown(table.markdown(), page)); },
             [&](const Report::Drawing& drawing) {
               return code(shown(drawing.draw(Screen{.width = 80}), page));
             }},
        part));
}

std::string csv_cell(const Cell& cell) {
  return std::visit(
      Each{[](std::monostate) { return std::string(); },
           [](const std::string& text) { return inert(without_controls(text)); },
           [](std::int64_t value) { return fmt::format("{}", value); },
           [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : std::string(); },
           [](bool flag) { return std::string(flag ? "yes" : "no"); },
           [](const std::vector<std::string>& list) {
             return inert(without_controls(fmt::format("{}", fmt::join(list, ";"))));
           }},
      cell);
}

void csv(const Report& report, const Screen&, const Sink& write) {
  write(csv_line(report.column_names()));
  std::vector<std::string> cells(report.column_names().size());
  report.each_row([&](const Report::Row& row) {
    std::ranges::transform(row, cells.begin(), csv_cell);
    write(csv_line(cells));
  });
}

// Returns the code of a character of two or three bytes that the library leaves as it is, though a terminal
// obeys it: DEL, the control characters from U+0080 to U+009F, and what turns the direction of text. 0: none.
unsigned obeyed_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) == 0x7F) return 0x7F;
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return byte(1);
  const unsigned code = byte(0) == 0xE2 ? 0x2000 + ((byte(1) & 0x3FU) << 6) + (byte(2) & 0x3FU) : 0;
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ? code : 0;
}

// Replaces invalid UTF-8, as drivers may write anything into a name, and escapes what a terminal obeys.
std::string as_json(const auto& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const unsigned code = obeyed_at(rest);
    if (code == 0)
      out += rest.front();
    else
      out += fmt::format("\\u{:04x}", code);
    rest.remove_prefix(code == 0 || code == 0x7F ? 1 : code < 0x100 ? 2 : 3);
  }
  return out;
}

nlohmann::ordered_json json_cell(const Cell& cell) {
  return std::visit(Each{[](std::monostate) { return nlohmann::ordered_json(); },
                         [](double value) {  // JSON has neither nan nor infinity
                           return std::isfinite(value) ? nlohmann::ordered_json(value)
                                                       : nlohmann::ordered_json();
                         },
                         [](const auto& value) { return nlohmann::ordered_json(value); }},
                    cell);
}

void json(const Report& report, const Screen&, const Sink& write) {
  if (const auto document = report.document(); !document.empty()) return write(document);
  std::vector<std::string> names;
  for (const auto& name : report.column_names()) names.push_back(as_json(nlohmann::json(name), -1));
  bool any = false;
  report.each_row([&](const Report::Row& row) {
    std::string out = any ? ",\n  {" : "[\n  {";
    any = true;
    for (std::size_t c = 0; c < row.size(); ++c)
      out.append(c == 0 ? "\n    " : ",\n    ")
          .append(names[c])
          .append(": ")
          .append(as_json(json_cell(row[c]), -1));
    write(out + "\n  }");
  });
  write(any ? "\n]\n" : "[]\n");
}

// Leaves unknown values out.
void json_lines(const Report& report, const Screen&, const Sink& write) {
  std::vector<std::string> names;
  for (const auto& name : report.column_names()) names.push_back(as_json(nlohmann::json(name), -1));
  report.each_row([&](const Report::Row& row) {
    std::string out;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto value = json_cell(row[c]);
      if (value.is_null()) continue;
      out.append(out.empty() ? "{" : ",").append(names[c]).append(":").append(as_json(value, -1));
    }
    write(out.empty() ? "{}\n" : out + "}\n");
  });
}

}  // namespace

void Report::columns(std::vector<std::string> names, const std::vector<std::string>& axes) {
  first_axis_ = names.size();
  columns_ = std::move(names);
  columns_.insert(columns_.end(), axes.begin(), axes.end());
}

void Report::row(Row cells) {
  check(cells);
  rows_.push_back(std::move(cells));
}

void Report::check(const Row& cells) const {
  if (cells.size() != columns_.size())
    throw Error(ErrorCode::usage,
                fmt::format("a report row of {} cells for {} columns", cells.size(), columns_.size()));
}

void Report::each_row(const std::function<void(const Row&)>& take) const {
  for (const auto& row : rows_) take(row);
  if (!more_) return;
  more_([&](const Row& row) {
    check(row);
    take(row);
  });
}

namespace {

// Builds the JSON of nested rows (see Report::nest), row by row.
class NestedRows {
 public:
  NestedRows(const std::vector<std::string>& names, const std::vector<Report::Level>& levels)
      : names_(names), levels_(levels), columns_(levels.size()) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      const auto of = std::ranges::find_if(levels, [&](const auto& level) {
        return std::ranges::find(level.columns, names[c]) != level.columns.end();
      });
      columns_[std::min<std::size_t>(of - levels.begin(), levels.size() - 1)].push_back(c);
    }
  }

  void add(const Report::Row& row) {
    auto* list = &top_;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      nlohmann::ordered_json object;
      for (const auto c : columns_[l]) object[names_[c]] = json_cell(row[c]);
      const bool innermost = l + 1 == levels_.size();
      if (innermost || list->empty() || !agree(list->back(), object)) list->push_back(std::move(object));
      if (!innermost) list = &list->back()[levels_[l + 1].name];
    }
  }

  nlohmann::ordered_json finish(nlohmann::ordered_json facts) {
    if (levels_.front().name.empty()) return std::move(top_);
    facts[levels_.front().name] = std::move(top_);
    return facts;
  }

 private:
  static bool agree(const nlohmann::ordered_json& open, const nlohmann::ordered_json& object) {
    return std::ranges::all_of(object.items(),
                               [&](const auto& one) { return open.at(one.key()) == one.value(); });
  }

  const std::vector<std::string>& names_;
  const std::vector<Report::Level>& levels_;
  std::vector<std::vector<std::size_t>> columns_;  // per level, by index
  nlohmann::ordered_json top_ = nlohmann::ordered_json::array();
};

}  // namespace

void Report::nest(std::vector<Level> levels, std::function<nlohmann::ordered_json()> facts) {
  nested_ = std::move(levels);
  facts_ = std::move(facts);
}

std::string Report::document() const {
  if (document_) return document_();
  if (nested_.empty()) return "";
  NestedRows out(columns_, nested_);
  each_row([&](const Row& row) { out.add(row); });
  return as_json(out.finish(facts_ ? facts_() : nlohmann::ordered_json::object()), 2) + "\n";
}

void Report::document(const nlohmann::json& json) {
  document_ = [text = as_json(json, 2) + "\n"] { return text; };
}

void Report::document(std::function<nlohmann::json()> make) {
  document_ = [make = std::move(make)] { return as_json(make(), 2) + "\n"; };
}

const std::vector<Printer>& printers() {
  static const std::vector<Printer> all = {
      {"text", "Tables for people", for_people},
      {"csv", "CSV, every row", csv, false},
      {"json", "JSON, the same and more", json},
      {"jsonl", "JSON, an object a line for each row", json_lines, false},
      {"openmetrics", "OpenMetrics text, for Prometheus and its kind", openmetrics, false},
      {"markdown", "Markdown, the tables", markdown}};
  return all;
}

const Printer& printer_named(std::string_view format) {
  const auto known = std::ranges::find(printers(), format, &Printer::name);
  if (known == printers().end()) throw Error(ErrorCode::usage, fmt::format("there is no format {}", format));
  return *known;
}

std::string text_of(const Report& report, std::string_view format, const Screen& screen) {
  std::string out;
  printer_named(format).write(report, screen, [&](std::string_view piece) { out += piece; });
  return out;
}

Exit print(const Report& report, std::string_view format, std::FILE* out) {
  constexpr std::size_t most = std::size_t{1} << 16;  // before it is written
  std::string waiting;
  printer_named(format).write(report, screen_of(out), [&](std::string_view piece) {
    waiting += piece;
    if (waiting.size() < most) return;
    put(out, waiting);
    waiting.clear();
  });
  put(out, waiting);
  return success;
}

}  // namespace clweave::report
