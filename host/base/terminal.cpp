// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace clweave {

namespace {

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

}  // namespace clweave
