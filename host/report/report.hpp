// SPDX-License-Identifier: Apache-2.0
// report: what a command answers, as a value, and the formats that it can be printed in.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "report/table.hpp"

namespace clweave::report {

// Nothing, text, a whole number, a number, a flag or a list of texts.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool, std::vector<std::string>>;

// The answer for people: headings, sentences, tables, plots, in the order added. The answer for programs:
// named columns and rows of typed cells. Text may hold the colours of `paint`, names as files and drivers
// spell them, and line ends; a printer leaves out what its output must not have.
class Report {
 public:
  struct Heading {
    std::string text;
  };
  struct Sentence {  // broken into lines where the screen ends
    std::string text;
  };
  struct Command {  // for copying: never broken
    std::string text;
  };
  struct Drawing {
    std::function<std::string(const Screen&)> draw;  // whole lines; Markdown shows it in ASCII, 80 wide
  };
  using Part = std::variant<Heading, Sentence, Command, Table, Drawing>;

  void heading(std::string text) { parts_.emplace_back(Heading{std::move(text)}); }
  void line(std::string text = "") { parts_.emplace_back(Sentence{std::move(text)}); }
  void command(std::string text) { parts_.emplace_back(Command{std::move(text)}); }
  void table(Table table) { parts_.emplace_back(std::move(table)); }
  void drawing(std::function<std::string(const Screen&)> draw) {
    parts_.emplace_back(Drawing{std::move(draw)});
  }

  using Row = std::vector<Cell>;
  void columns(std::vector<std::string> names) { columns_ = std::move(names); }
  // Throws `usage` unless there is one cell per column.
  void row(Row cells);
  // Rows behind those, one by one, made only where a printer asks for them: there may be a million. What
  // `make` reads must outlive the report.
  void rows(std::function<void(const std::function<void(Row)>& take)> make) { more_ = std::move(make); }

  // What JSON shows instead of the rows where their columns are too flat for it; likewise made when asked
  // for.
  void document(const nlohmann::json&);
  void document(std::function<nlohmann::json()> make);

  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<std::string>& column_names() const { return columns_; }
  void each_row(const std::function<void(const Row&)>& take) const;
  std::string document() const { return document_ ? document_() : ""; }

 private:
  void check(const Row&) const;

  std::vector<Part> parts_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
  std::function<void(const std::function<void(Row)>&)> more_;
  std::function<std::string()> document_;  // as JSON; empty: none
};

// A format to print in. Adding one is a line in the table in report.cpp and its function there.
struct Printer {
  const char* name;     // also the option of the commands, --json
  const char* meaning;  // for --help
  std::string (*text)(const Report&, const Screen&);
};

const std::vector<Printer>& printers();

// The report in the format of that name. Throws `usage` where there is none.
std::string text_of(const Report&, std::string_view format, const Screen&);

// The one place where commands print. Throws `io` or `closed` where the output cannot take it.
Exit print(const Report&, std::string_view format = "text", int fd = 1);

}  // namespace clweave::report
