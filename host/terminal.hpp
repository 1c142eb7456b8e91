// SPDX-License-Identifier: Apache-2.0
// terminal: text for people: colour, tables, numbers with units, a live progress line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace clweave {

// In this order: NO_COLOR not empty: no; CLICOLOR_FORCE neither empty nor 0: yes; TERM=dumb: no; else whether
// fd is a terminal. Sources: no-color.org, bixense.com/clicolors.
bool wants_colour(int fd);

enum class Style { bold, dim, red, green, yellow, cyan };

std::string paint(std::string text, Style, bool colour);

// How a report is printed: for people, or for a tool or a page.
enum class Format { text, csv, json, markdown };

// What an output can show.
struct Screen {
  bool live = false;  // a terminal that can redraw a line
  bool colour = false;
  bool ascii = true;  // the locale is not UTF-8
  int width = 80;     // columns
};

Screen screen_of(int fd);

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

// Numbers for people, the same in every locale: three significant digits unless told otherwise, "-" for what
// is not finite.
std::string seconds_text(double seconds);    // 45.6 us, 1.00 s, 3 min 20 s, 2 h 05 min, 4.17 d
std::string bytes_text(double bytes);        // 512 B, 1.5 GiB: multiples of 1024
std::string count_text(std::int64_t count);  // 1,234,567
std::string percent_text(double fraction, int decimals = 1);  // 87.3 % for 0.873
// 3.12 T, or with a unit 3.12 TB/s.
std::string si_text(double value, int digits = 3, const std::string& unit = "");

// Exactly `width` columns, `fraction` of them full, in eighths of a column; clamped to 0..1.
std::string bar(double fraction, int width, bool ascii = false);

// One line, redrawn in place: [ 3/40] |████▌     | 1:05, 3:20 left  text. Silent, but for notes, where the
// screen is not live. Draws at most ten times a second. For one thread.
class Progress {
 public:
  using Clock = std::function<double()>;  // seconds since any moment, never falling

  // On what `out` is, with a steady clock.
  Progress(std::FILE* out, std::vector<double> predicted_s);
  // `predicted_s` weighs the steps: the time left is what they predict, corrected by how long the finished
  // ones really took. Steps predicted to take no time, or not a finite one, weigh nothing.
  Progress(std::FILE* out, std::vector<double> predicted_s, Screen screen, Clock clock);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Step `step`, from 0, begins; the one begun before is done. Steps may be left out.
  void start(std::size_t step, std::string text);
  // Redraws when that is due. To be called often within long steps, for nothing else moves the clock shown.
  void tick();
  // A line that stays, above the progress line; written even where `screen` is not live.
  void note(const std::string& line);
  // Takes the line away. Does nothing the second time.
  void finish();

 private:
  void draw(double now_s);
  void put(const std::string& text);

  std::FILE* out_;
  std::vector<double> predicted_s_;
  Screen screen_;
  Clock clock_;
  double total_s_ = 0;  // of all predictions
  double began_s_ = 0;  // the whole
  double step_began_s_ = 0;
  double done_s_ = 0;            // what the finished steps took
  double done_predicted_s_ = 0;  // and were predicted to take
  double drawn_at_s_ = 0;
  std::size_t step_ = 0;
  std::string text_;
  bool running_ = false;
  bool drawn_ = false;
};

}  // namespace clweave
