// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "os/file.hpp"
#include "os/terminal.hpp"

namespace clweave::base {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool can_redraw(std::FILE* out) { return os::is_terminal(out) && environment("TERM") != "dumb"; }

// Decodes the UTF-8 sequence that `text` begins with and returns its length; 1 and U+FFFD for an invalid
// byte.
std::size_t decode(std::string_view text, char32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t n = byte(0) < 0x80   ? 1
                        : byte(0) < 0xC2 ? 0
                        : byte(0) < 0xE0 ? 2
                        : byte(0) < 0xF0 ? 3
                        : byte(0) < 0xF5 ? 4
                                         : 0;
  code = U'\xFFFD';
  if (n == 0 || n > text.size()) return 1;
  auto value = static_cast<std::uint32_t>(n == 1 ? byte(0) : byte(0) & (0x7F >> n));
  for (std::size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 1;
    value = value << 6 | (byte(i) & 0x3F);
  }
  const bool right = (n < 3 || value >= 0x800) && (n < 4 || value >= 0x10000) && value < 0x110000 &&
                     (value & 0x1FF800) != 0xD800;
  if (!right) return 1;
  code = static_cast<char32_t>(value);
  return n;
}

struct Token {
  std::string_view text;
  bool escape = false;  // an escape sequence
  char32_t code = 0;
  int columns = 0;  // -1: unprintable
};

template <class Visit>
void for_each_token(std::string_view text, Visit visit) {
  while (!text.empty()) {
    Token token{.text = {}, .escape = text.starts_with("\x1b[")};
    std::size_t n = 2;
    if (token.escape) {
      while (n < text.size() && (text[n] < '@' || text[n] > '~')) ++n;
      n = std::min(n + 1, text.size());
    } else {
      n = decode(text, token.code);
      token.columns = os::columns_of(token.code);
    }
    token.text = text.substr(0, n);
    visit(token);
    text.remove_prefix(n);
  }
}

std::size_t columns_of(const Token& token) {
  return token.escape ? 0 : token.columns < 0 ? 1 : static_cast<std::size_t>(token.columns);
}

constexpr std::array style_codes = {1, 2, 31, 32, 33, 36};

// Returns whether a character is a bidirectional control, which would reorder the text after it.
bool turns_text(char32_t code) {
  return (code >= U'\x202A' && code <= U'\x202E') || (code >= U'\x2066' && code <= U'\x2069');
}

bool is_ours(std::string_view escape) {
  return escape == "\x1b[0m" ||
         std::ranges::any_of(style_codes, [&](int code) { return escape == fmt::format("\x1b[{}m", code); });
}

// Returns the ASCII counterpart of a character that clweave itself prints.
std::string_view ascii_of(std::string_view sign) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 21> likes = {
      {{"─", "-"},  {"●", "o"},  {"○", "s"}, {"✗", "X"}, {"│", "|"},   {"└", "+"},  {"…", "~"},
       {"·", "."},  {"±", "+-"}, {"×", "x"}, {"µ", "u"}, {"μ", "u"},   {"–", "-"},  {"≤", "<="},
       {"≥", ">="}, {"→", "->"}, {"†", "!"}, {"█", "#"}, {"®", "(R)"}, {"²", "^2"}, {"°", "deg"}}};
  const auto* const like =
      std::ranges::find(likes, sign, &std::pair<std::string_view, std::string_view>::first);
  return like == likes.end() ? "?" : like->second;
}

}  // namespace

bool wants_colour(std::FILE* out) {
  if (!environment("NO_COLOR").empty()) return false;
  const auto force = environment("CLICOLOR_FORCE");
  return (!force.empty() && force != "0") || can_redraw(out);
}

std::string paint(std::string text, Style style, bool colour) {
  if (!colour || text.empty()) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", style_codes.at(static_cast<std::size_t>(style)), text);
}

Screen screen_of(std::FILE* out) {
  Screen screen{.live = can_redraw(out), .colour = wants_colour(out), .ascii = !os::shows_utf8()};
  const auto columns = environment("COLUMNS");
  int given = 0;
  const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), given);
  if (error == std::errc{} && end == columns.data() + columns.size() && given > 0) {
    screen.width = given;
  } else if (os::is_terminal(out)) {
    const int told = os::terminal_columns(out);
    screen.width = told > 0 ? told : 80;
  }
  return screen;
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for_each_token(text, [&](const Token& token) { width += columns_of(token); });
  return width;
}

std::string without_colour(std::string_view text) {
  std::string out;
  for_each_token(text, [&](const Token& token) { out += token.escape ? std::string_view() : token.text; });
  return out;
}

std::string shown(std::string_view text, const Screen& screen) {
  std::string out;
  bool painted = false;
  for_each_token(text, [&](const Token& token) {
    if (token.escape) {
      if (!screen.colour || !is_ours(token.text)) return;
      out += token.text;
      painted = token.text != "\x1b[0m";
    } else if (token.text == "\n") {
      out += '\n';
    } else if (token.code < U' ') {
      out += token.text == "\x1b" ? '?' : ' ';
    } else if (token.columns < 0 || token.code == U'\xFFFD' || turns_text(token.code)) {
      out += '?';
    } else {
      out += screen.ascii && token.text.size() > 1 ? ascii_of(token.text) : token.text;
    }
  });
  return painted ? out + "\x1b[0m" : out;
}

std::string without_controls(std::string_view text) {
  std::string out;
  for_each_token(text, [&](const Token& token) {
    if (token.escape) return;
    const auto first = static_cast<unsigned char>(token.text.front());
    if (token.code < U' ' && token.text != "\n")
      out += token.text == "\x1b" ? '?' : ' ';
    else if ((token.columns < 0 && token.text != "\n") || turns_text(token.code) ||
             (token.text.size() == 1 && first >= 0x80 && first < 0xA0))
      out += '?';
    else
      out += token.text;
  });
  return out;
}

std::string cut(std::string_view text, std::size_t width, const char* ellipsis) {
  if (width_of(text) <= width) return std::string(text);
  std::string out;
  std::size_t column = 0;
  bool whole = true;
  for_each_token(text, [&](const Token& token) {
    if (token.escape) {
      out += token.text;
    } else if (whole && column + columns_of(token) < width) {
      out += token.text;
      column += columns_of(token);
    } else if (whole) {
      out += ellipsis;
      whole = false;
    }
  });
  return out;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t hang) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto paragraph = text.substr(at, end - at);
    at = end + 1;
    if (width_of(paragraph) <= width) {
      out.emplace_back(paragraph);
      continue;
    }
    const auto inset = std::min(paragraph.find_first_not_of(' ') + hang, width / 2);
    std::string line, colour, colour_at_space;  // colour in effect
    std::size_t column = 0, space = 0;          // space: offset of the last break, in bytes; 0: none
    const auto begin_next = [&](const std::string& rest) {
      line = std::string(inset, ' ') + rest;
      column = width_of(line);
      space = 0;
    };
    for_each_token(paragraph, [&](const Token& token) {
      if (token.escape) {
        line += token.text;
        colour = token.text == "\x1b[0m" ? "" : token.text;
        return;
      }
      if (column + columns_of(token) > width) {
        const bool at_space = token.text == " ";
        const std::size_t head = at_space || space == 0 ? line.size() : space;
        const std::string open = head == line.size() ? colour : colour_at_space;
        std::string rest = head == line.size() ? "" : line.substr(head + 1);
        out.push_back(line.substr(0, head) + (open.empty() ? "" : "\x1b[0m"));
        begin_next(open + rest);
        if (at_space) return;
      }
      if (token.text == " " && column > inset) {
        space = line.size();
        colour_at_space = colour;
      }
      line += token.text;
      column += columns_of(token);
    });
    out.push_back(line);
  }
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

void put(std::FILE* out, std::string_view text) {
  if (const auto error = os::write_to(out, text))
    throw Error(error == std::errc::broken_pipe ? ErrorCode::closed : ErrorCode::io,
                fmt::format("cannot write to {}: {}", out == stderr ? "stderr" : "stdout", error.message()));
}

}  // namespace clweave::base
