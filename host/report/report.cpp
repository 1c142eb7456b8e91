// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "base/error.hpp"
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
    out += std::visit(
        Each{[&](const Report::Heading& h) { return fmt::format("\n### {}\n\n", shown(h.text, page)); },
             [&](const Report::Sentence& s) { return sentence(s.text); },
             [&](const Report::Command& c) { return fmt::format("\n```\n{}\n```\n", shown(c.text, page)); },
             [&](const Table& table) { return fmt::format("\n{}\n", shown(table.markdown(), page)); },
             [&](const Report::Drawing& drawing) {
               return fmt::format("\n```\n{}```\n", shown(drawing.draw(Screen{.width = 80}), page));
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
  std::vector<std::string> cells(report.column_names().size());
  report.each_row([&](const Report::Row& row) {
    std::ranges::transform(row, cells.begin(), csv_cell);
    out += csv_line(cells);
  });
  return out;
}

// Replaces invalid UTF-8: drivers may write anything into a name.
std::string as_json(const auto& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
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

std::string json(const Report& report, const Screen&) {
  if (auto document = report.document(); !document.empty()) return document;
  // Converts row by row, so that of a million rows only one is held as JSON.
  std::vector<std::string> names;
  for (const auto& name : report.column_names()) names.push_back(as_json(nlohmann::json(name), -1));
  std::string out = "[";
  report.each_row([&](const Report::Row& row) {
    out += out.size() == 1 ? "\n  {" : ",\n  {";
    for (std::size_t c = 0; c < row.size(); ++c)
      out.append(c == 0 ? "\n    " : ",\n    ")
          .append(names[c])
          .append(": ")
          .append(as_json(json_cell(row[c]), -1));
    out += "\n  }";
  });
  return out + (out.size() == 1 ? "]\n" : "\n]\n");
}

// Leaves unknown values out.
std::string json_lines(const Report& report, const Screen&) {
  std::vector<std::string> names;
  for (const auto& name : report.column_names()) names.push_back(as_json(nlohmann::json(name), -1));
  std::string out;
  report.each_row([&](const Report::Row& row) {
    const std::size_t begin = out.size();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto value = json_cell(row[c]);
      if (value.is_null()) continue;
      out.append(out.size() == begin ? "{" : ",").append(names[c]).append(":").append(as_json(value, -1));
    }
    out += out.size() == begin ? "{}\n" : "}\n";
  });
  return out;
}

}  // namespace

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
  return printer_named(format).text(report, screen);
}

Exit print(const Report& report, std::string_view format, int fd) {
  put(fd, text_of(report, format, screen_of(fd)));
  return success;
}

}  // namespace clweave::report
