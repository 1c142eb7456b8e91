// terminal: what an output can show, and text as it takes columns there.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace clweave {

// In this order: NO_COLOR not empty: no; CLICOLOR_FORCE neither empty nor 0: yes; TERM=dumb: no; else whether
// fd is a terminal. Sources: no-color.org, bixense.com/clicolors.
bool wants_colour(int fd);

enum class Style { bold, dim, red, green, yellow, cyan };

std::string paint(std::string text, Style, bool colour);

// What an output can show.
struct Screen {
  bool live = false;  // a terminal that can redraw a line
  bool colour = false;
  bool ascii = true;  // the locale is not UTF-8
  int width = 80;     // columns
};

Screen screen_of(int fd);

// Columns that a text takes: every code point counts as one, escape sequences as none.
std::size_t width_of(std::string_view text);

std::string without_colour(std::string_view text);

// At most `width` columns: what is longer ends in `ellipsis`. Keeps every escape sequence, so that a colour
// begun before the cut still ends.
std::string cut(std::string_view text, std::size_t width, const char* ellipsis);

// Control characters become spaces.
std::string on_one_line(std::string text);

// Exactly `width` columns, `fraction` of them full, in eighths of a column; clamped to 0..1.
std::string bar(double fraction, int width, bool ascii = false);

}  // namespace clweave
