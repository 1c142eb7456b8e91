// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <cwchar>
#include <string_view>

namespace clweave::os {

bool is_terminal(std::FILE* out) { return isatty(fileno(out)) == 1; }

int terminal_columns(std::FILE* out) {
  winsize size = {};
  return is_terminal(out) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    const std::string_view locale = value == nullptr ? "" : value;
    if (!locale.empty())
      return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

int columns_of(char32_t code) {
  if (code >= U' ' && code <= U'~') return 1;
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return code < U'\xA0' ? -1 : 1;
  const locale_t before = uselocale(utf8);
  const int width = wcwidth(static_cast<wchar_t>(code));
  uselocale(before);
  return width;
}

}  // namespace clweave::os
