// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.hpp"

#include "os/system_windows.hpp"

namespace clweave::os {

bool is_terminal(std::FILE* out) {
  DWORD mode = 0;
  return GetConsoleMode(system_handle(out), &mode) != 0;
}

int terminal_columns(std::FILE* out) {
  CONSOLE_SCREEN_BUFFER_INFO screen{};
  return GetConsoleScreenBufferInfo(system_handle(out), &screen) != 0
             ? screen.srWindow.Right - screen.srWindow.Left + 1
             : 0;
}

// prepare_process asks for it; what goes to a file or pipe is always UTF-8.
bool shows_utf8() { return GetConsoleOutputCP() == CP_UTF8 || GetConsoleOutputCP() == 0; }

int columns_of(char32_t code) {
  constexpr char32_t surrogates = 0x10000;
  if (code >= surrogates) return 2;  // nearly all are pictures, or of the wide scripts of East Asia
  const auto unit = static_cast<wchar_t>(code);
  WORD kind = 0, shape = 0;
  if (GetStringTypeW(CT_CTYPE1, &unit, 1, &kind) == 0 || GetStringTypeW(CT_CTYPE3, &unit, 1, &shape) == 0 ||
      (kind & C1_CNTRL) != 0 || (kind & C1_DEFINED) == 0)
    return -1;
  if ((shape & C3_NONSPACING) != 0) return 0;
  const bool wide = (shape & (C3_FULLWIDTH | C3_IDEOGRAPH | C3_KATAKANA | C3_HIRAGANA)) != 0;
  return wide && (shape & C3_HALFWIDTH) == 0 ? 2 : 1;
}

}  // namespace clweave::os
