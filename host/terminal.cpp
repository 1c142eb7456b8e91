// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string_view>

#include "error.hpp"
#include "timer.hpp"

namespace clweave {

namespace {

constexpr const char* erase_line = "\r\x1b[K";

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool can_redraw(int fd) { return isatty(fd) == 1 && environment("TERM") != "dumb"; }

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto locale = environment(name);
    if (!locale.empty())
      return locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

// Calls `visit(unit, is_escape)` for every code point and every escape sequence.
template <class Visit>
void for_each_unit(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const bool escape = text.starts_with("\x1b[");
    std::size_t n = escape ? 2 : 1;
    if (escape) {
      while (n < text.size() && (text[n] < '@' || text[n] > '~')) ++n;
      n = std::min(n + 1, text.size());
    } else {
      while (n < text.size() && (text[n] & 0xC0) == 0x80) ++n;
    }
    visit(text.substr(0, n), escape);
    text.remove_prefix(n);
  }
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for_each_unit(text, [&](std::string_view, bool escape) { width += escape ? 0 : 1; });
  return width;
}

std::string without_colour(std::string_view text) {
  std::string out;
  for_each_unit(text, [&](std::string_view unit, bool escape) { out += escape ? std::string_view() : unit; });
  return out;
}

// Keeps every escape sequence, so that a colour begun before the cut still ends.
std::string cut(std::string_view text, std::size_t width, const char* ellipsis) {
  if (width_of(text) <= width) return std::string(text);
  std::string out;
  std::size_t column = 0;
  for_each_unit(text, [&](std::string_view unit, bool escape) {
    if (escape || ++column < width) {
      out += unit;
    } else if (column == width) {
      out += ellipsis;
    }
  });
  return out;
}

std::string on_one_line(std::string text) {
  const auto control = [](unsigned char c) { return (c < ' ' && c != '\x1b') || c == '\x7f'; };
  std::ranges::replace_if(text, control, ' ');
  return text;
}

// The power of ten of the first digit once `value` is rounded to `digits`: 0 for 9.99, but 1 for 9.996.
int exponent_of(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  int exponent = 0;
  const std::size_t sign = text.find('e') + 1;
  std::from_chars(text.data() + sign + (text[sign] == '+' ? 1 : 0), text.data() + text.size(), exponent);
  return exponent;
}

std::string rounded(double value, int digits) {
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent_of(value, digits)));
}

struct Unit {
  double size;
  const char* name;
};

// The largest unit that leaves at least 1 after rounding, else the smallest.
const Unit& unit_for(double value, int digits, std::span<const Unit> units) {
  for (const auto& unit : units) {
    if (exponent_of(value / unit.size, digits) >= 0) return unit;
  }
  return units.back();
}

std::string clock_text(double seconds) {
  const auto s = std::llround(std::clamp(seconds, 0.0, 1e9));
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

bool wants_colour(int fd) {
  if (!environment("NO_COLOR").empty()) return false;
  const auto force = environment("CLICOLOR_FORCE");
  return (!force.empty() && force != "0") || can_redraw(fd);
}

std::string paint(std::string text, Style style, bool colour) {
  if (!colour || text.empty()) return text;
  constexpr std::array codes = {1, 2, 31, 32, 33, 36};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes.at(static_cast<std::size_t>(style)), text);
}

Screen screen_of(int fd) {
  Screen screen{.live = can_redraw(fd), .colour = wants_colour(fd), .ascii = !utf8_locale()};
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) screen.width = size.ws_col;
  return screen;
}

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

std::string seconds_text(double seconds) {
  static constexpr std::array<Unit, 5> units = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}}};
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return "-" + seconds_text(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 59.95) {  // from here on, three digits would be 60.0
    const auto& unit = unit_for(seconds, 3, units);
    return rounded(seconds / unit.size, 3) + " " + unit.name;
  }
  if (const double s = std::round(seconds); s < 3600)
    return fmt::format("{} min {:02} s", int(s) / 60, int(s) % 60);
  if (const double min = std::round(seconds / 60); min < 48 * 60)
    return fmt::format("{} h {:02} min", int(min) / 60, int(min) % 60);
  return rounded(seconds / 86400, 3) + " d";
}

std::string bytes_text(double bytes) {
  static constexpr std::array<Unit, 6> units = {
      {{0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}};
  if (!std::isfinite(bytes)) return "-";
  if (bytes == 0) return "0 B";
  const auto& unit = unit_for(bytes, 3, units);
  std::string number = rounded(bytes / unit.size, 3);
  // Sizes are mostly chosen, not measured: 64 MiB is meant, not 64.0.
  if (number.find('.') != std::string::npos) number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number + " " + unit.name;
}

std::string si_text(double value, int digits, const std::string& unit) {
  static constexpr std::array<Unit, 11> prefixes = {{{1e18, "E"},
                                                     {1e15, "P"},
                                                     {1e12, "T"},
                                                     {1e9, "G"},
                                                     {1e6, "M"},
                                                     {1e3, "k"},
                                                     {1, ""},
                                                     {1e-3, "m"},
                                                     {1e-6, "u"},
                                                     {1e-9, "n"},
                                                     {1e-12, "p"}}};
  if (!std::isfinite(value)) return "-";
  static constexpr Unit one = {1, ""};
  const auto& prefix = value == 0 ? one : unit_for(value, digits, prefixes);
  const std::string number = value == 0 ? "0" : rounded(value / prefix.size, digits);
  const std::string name = prefix.name + unit;
  return name.empty() ? number : number + " " + name;
}

std::string count_text(std::int64_t count) {
  std::string out = std::to_string(count);
  const std::ptrdiff_t first = count < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > first; at -= 3)
    out.insert(out.begin() + at, ',');
  return out;
}

std::string percent_text(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return "-";
  std::string number = fmt::format("{:.{}f}", 100 * fraction, decimals);
  if (number.find_first_not_of("-0.") == std::string::npos) number.erase(0, number.find_first_not_of('-'));
  return number + " %";
}

std::string bar(double fraction, int width, bool ascii) {
  if (!(fraction > 0)) fraction = 0;
  const int parts = ascii ? 1 : 8;  // of a column
  const auto full = static_cast<int>(std::lround(std::min(fraction, 1.0) * width * parts));
  if (ascii) return fmt::format("{:<{}}", std::string(static_cast<std::size_t>(full), '#'), width);
  static constexpr std::array<const char*, 8> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string out;
  for (int n = full / 8; n > 0; --n) out += "█";
  out += eighths.at(static_cast<std::size_t>(full % 8));
  out.append(static_cast<std::size_t>(width - (full + 7) / 8), ' ');
  return out;
}

Progress::Progress(std::FILE* out, std::vector<double> predicted_s)
    : Progress(out, std::move(predicted_s), screen_of(fileno(out)), host_now) {}

Progress::Progress(std::FILE* out, std::vector<double> predicted_s, Screen screen, Clock clock)
    : out_(out),
      predicted_s_(std::move(predicted_s)),
      screen_(screen),
      clock_(std::move(clock)),
      began_s_(clock_()) {
  for (auto& s : predicted_s_) s = std::isfinite(s) && s > 0 ? s : 0;
  total_s_ =  // NOLINT(cppcoreguidelines-prefer-member-initializer)
      std::accumulate(predicted_s_.begin(), predicted_s_.end(), 0.0);
}

void Progress::start(std::size_t step, std::string text) {
  const double now_s = clock_();
  if (running_ && step_ < predicted_s_.size()) {
    done_s_ += now_s - step_began_s_;
    done_predicted_s_ += predicted_s_[step_];
  }
  running_ = true;
  step_ = step;
  step_began_s_ = now_s;
  text_ = on_one_line(std::move(text));
  tick();
}

void Progress::tick() {
  if (!screen_.live || !running_) return;
  const double now_s = clock_();
  if (!drawn_ || now_s - drawn_at_s_ >= 0.1) draw(now_s);
}

void Progress::note(const std::string& line) {
  if (drawn_) put(erase_line);
  put((screen_.colour ? line : without_colour(line)) + "\n");
  if (drawn_) draw(clock_());
}

void Progress::finish() {
  if (drawn_) put(erase_line);
  drawn_ = running_ = false;
}

void Progress::draw(double now_s) {
  const auto next =
      predicted_s_.begin() + static_cast<std::ptrdiff_t>(std::min(step_ + 1, predicted_s_.size()));
  const double after_s = std::accumulate(next, predicted_s_.end(), 0.0);
  const double step_s = step_ < predicted_s_.size() ? predicted_s_[step_] : 0;
  // A first step of a thousandth of the whole says nothing about the rest.
  const double scale =
      done_predicted_s_ >= 0.01 * total_s_ && done_predicted_s_ > 0 ? done_s_ / done_predicted_s_ : 1;
  const double left_s = std::max(0.0, scale * step_s - (now_s - step_began_s_)) + scale * after_s;
  const std::size_t steps = std::max(predicted_s_.size(), step_ + 1);
  const double whole_s = scale * total_s_;
  const double fraction =
      whole_s > 0 ? 1 - left_s / whole_s : static_cast<double>(step_) / static_cast<double>(steps);

  const std::string left = total_s_ > 0 ? ", " + clock_text(left_s) + " left" : "";
  const std::string last = std::to_string(steps);
  const std::string line = fmt::format("[{:>{}}/{}] |{}| {}{}  {}", step_ + 1, last.size(), last,
                                       paint(bar(fraction, 10, screen_.ascii), Style::green, screen_.colour),
                                       clock_text(now_s - began_s_), left, text_);
  // One column stays free: a terminal that wraps after the last one would no longer redraw in place.
  const auto width = static_cast<std::size_t>(std::max(1, screen_.width - 1));
  put("\r" + cut(line, width, screen_.ascii ? "~" : "…") + "\x1b[K");
  drawn_ = true;
  drawn_at_s_ = now_s;
}

void Progress::put(const std::string& text) {
  std::fputs(text.c_str(), out_);
  std::fflush(out_);
}

}  // namespace clweave
