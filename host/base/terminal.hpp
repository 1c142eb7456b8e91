// SPDX-License-Identifier: Apache-2.0
// terminal: what an output can show, and text as it takes columns there.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

// In this order: NO_COLOR not empty: no; CLICOLOR_FORCE neither empty nor 0: yes; TERM=dumb: no; else whether
// fd is a terminal. Sources: no-color.org, bixense.com/clicolors.
bool wants_colour(int fd);

enum class Style { bold, dim, red, green, yellow, cyan };

// Text for people carries its colours always; what shows it leaves out those that its screen has not.
std::string paint(std::string text, Style, bool colour = true);

// What an output can show.
struct Screen {
  bool live = false;  // a terminal that can redraw a line
  bool colour = false;
  bool ascii = true;  // the locale is not UTF-8
  int width = 0;      // columns; 0: no end, as in a file or a pipe
};

// The width is COLUMNS where that is set, else what a terminal says, else 80 for a terminal.
Screen screen_of(int fd);

// Columns that a text takes in a UTF-8 locale, by wcwidth: none for escape sequences and for signs that
// combine with the one before, two for wide ones, one for what no locale can show.
std::size_t width_of(std::string_view text);

std::string without_colour(std::string_view text);

// As a screen may have it. Of all that files and drivers may hold nothing but text and the colours of `paint`
// reaches a terminal: other control characters become spaces or question marks, but line ends stay; what is
// no UTF-8 becomes a question mark, in ASCII all that has no likeness there.
std::string shown(std::string_view text, const Screen&);

// At most `width` columns: what is longer ends in `ellipsis`, which takes one. Keeps every escape sequence,
// so that a colour begun before the cut still ends.
std::string cut(std::string_view text, std::size_t width, const char* ellipsis);

// Lines of at most `width` columns, broken at spaces, or where no space is within reach anywhere. Lines of a
// paragraph but its first are set in as its first, and by `hang` more. A colour goes on over the line end.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t hang = 0);

// Control characters become spaces.
std::string on_one_line(std::string text);

// Exactly `width` columns, `fraction` of them full, in eighths of a column; clamped to 0..1.
std::string bar(double fraction, int width, bool ascii = false);

// Writes all of it. Throws `io`, or `closed` where the reader of a pipe went away.
void put(int fd, std::string_view text);

}  // namespace clweave::base
