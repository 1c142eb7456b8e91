// SPDX-License-Identifier: Apache-2.0
// terminal: capabilities of an output, and text fitted to its columns.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::base {

// Decides in this order: NO_COLOR not empty: no; CLICOLOR_FORCE neither empty nor 0: yes; TERM=dumb: no; else
// whether it is a terminal. Sources: no-color.org, bixense.com/clicolors.
bool wants_colour(std::FILE*);

enum class Style { bold, dim, red, green, yellow, cyan };

// Adds the escape sequences of a style. Text carries its colours; `shown` removes them where the screen has
// none.
std::string paint(std::string text, Style, bool colour = true);

// Capabilities of an output.
struct Screen {
  bool live = false;  // a terminal that can redraw a line
  bool colour = false;
  bool ascii = true;  // the locale is not UTF-8
  int width = 0;      // columns; 0: unlimited, as for a file or a pipe
};

// Width: COLUMNS if set, else the terminal's, else 80 for a terminal.
Screen screen_of(std::FILE*);

// Returns the columns of a text in a UTF-8 locale, by wcwidth: none for escape sequences and combining
// characters, two for wide ones, one for unprintable ones.
std::size_t width_of(std::string_view text);

std::string without_colour(std::string_view text);

// Sanitises text for a screen: only text, line ends and the colours of `paint` reach a terminal, whatever
// files and drivers hold. Other control characters become spaces or question marks; invalid UTF-8, and in
// ASCII every character without a counterpart, becomes a question mark.
std::string shown(std::string_view text, const Screen&);

// Removes from data what a terminal would obey: escape sequences, control characters, also those of one byte
// from 0x80 to 0x9f, and what turns the direction of text. Keeps line ends, and other bytes that are no
// UTF-8.
std::string without_controls(std::string_view text);

// Cuts to `width` columns, ending in `ellipsis` (one column). Keeps every escape sequence, so that a colour
// begun before the cut still ends.
std::string cut(std::string_view text, std::size_t width, const char* ellipsis);

// Wraps to `width` columns at spaces, or anywhere if there is none. Continuation lines are indented as the
// first line of their paragraph, plus `hang`. A colour continues across the line end.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t hang = 0);

// Replaces control characters by spaces.
std::string on_one_line(std::string text);

// Draws a bar of `width` columns, `fraction` (clamped to 0..1) of it full, in eighths of a column.
std::string bar(double fraction, int width, bool ascii = false);

// Writes the whole text to stdout or stderr, past its buffer. Throws `io`, or `closed` if the reading end of
// a pipe was closed.
void put(std::FILE*, std::string_view text);

}  // namespace clweave::base
