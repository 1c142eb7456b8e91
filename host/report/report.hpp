// SPDX-License-Identifier: Apache-2.0
// report: a command's result as a value, and the formats it can be printed in.
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

// Empty (unknown), text, integer, floating point, flag or list of texts.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool, std::vector<std::string>>;

// Holds a result twice: for people as headings, sentences, tables and plots in the order added; for programs
// as named columns and rows of typed cells, which CSV, JSON and OpenMetrics are all made of. Text may hold
// the colours of `paint`, control characters from files and drivers, and line ends; each printer removes what
// its output must not contain.
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
  // The axes follow the names: their cells tell the row from others even where they are numbers, so that no
  // printer takes them for results.
  void columns(std::vector<std::string> names, const std::vector<std::string>& axes = {});
  // Throws `usage` unless there is one cell per column.
  void row(Row cells);
  // Adds rows behind those, made one by one each time a printer asks for them, as there may be a million.
  // References in `make` must outlive the report.
  void rows(std::function<void(const std::function<void(Row)>& take)> make) { more_ = std::move(make); }

  // Nests the rows in JSON, from the outermost level inwards: adjacent rows that agree in a level's columns
  // share one object, which lists the next level under that level's name. The innermost level, whose columns
  // may be left out, has every column that no other level names. So {{"", {"device"}}, {"traits"}} makes
  // [{"device": .., "traits": [{..}, ..]}, ..]. An outermost level with a name is an entry of an object,
  // beside `facts`: what describes the result as a whole and is in no row.
  struct Level {
    std::string name;
    std::vector<std::string> columns = {};
  };
  void nest(std::vector<Level> levels, std::function<nlohmann::ordered_json()> facts = {});

  // Replaces the rows in JSON, where columns are too flat; made when asked for.
  void document(const nlohmann::json&);
  void document(std::function<nlohmann::json()> make);

  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<std::string>& column_names() const { return columns_; }
  bool is_axis(std::size_t column) const { return column >= first_axis_; }
  void each_row(const std::function<void(const Row&)>& take) const;
  // Returns the JSON that stands in place of a list of rows, by `nest` or `document`; empty if neither.
  std::string document() const;

 private:
  void check(const Row&) const;

  std::vector<Part> parts_;
  std::vector<std::string> columns_;
  std::size_t first_axis_ = 0;
  std::vector<Row> rows_;
  std::function<void(const std::function<void(Row)>&)> more_;
  std::vector<Level> nested_;
  std::function<nlohmann::ordered_json()> facts_;
  std::function<std::string()> document_;
};

// Takes an output piece by piece, so that one of a million rows is never held as a whole.
using Sink = std::function<void(std::string_view)>;

// An output format. Adding one takes its function and a line of the table, both in report.cpp.
struct Printer {
  const char* name = "";     // also the option of the commands, --json
  const char* meaning = "";  // for --help
  void (*write)(const Report&, const Screen&, const Sink&) = nullptr;
  bool has_notes = true;  // false: only rows, so that a command tells its notes on stderr
};

const std::vector<Printer>& printers();

// Returns the format of that name. Throws `usage` if there is none.
const Printer& printer_named(std::string_view format);

// Returns the report in the format of that name. Throws `usage` if there is no such format.
std::string text_of(const Report&, std::string_view format, const Screen&);

// Prints for every command. Throws `io` or `closed` if the output cannot be written.
Exit print(const Report&, std::string_view format = "text", std::FILE* out = stdout);

}  // namespace clweave::report
