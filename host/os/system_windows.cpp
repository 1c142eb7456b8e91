// SPDX-License-Identifier: Apache-2.0
#include "os/system_windows.hpp"

#include <io.h>

#include <cwchar>

namespace clweave::os {

HANDLE system_handle(std::FILE* file) { return reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file))); }

std::wstring wide(std::string_view utf8) {
  if (utf8.empty()) return {};
  const int bytes = static_cast<int>(utf8.size());
  std::wstring out(static_cast<std::size_t>(MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, nullptr, 0)),
                   L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, out.data(), static_cast<int>(out.size()));
  return out;
}

std::string narrow(std::wstring_view utf16) {
  if (utf16.empty()) return {};
  const int units = static_cast<int>(utf16.size());
  std::string out(static_cast<std::size_t>(
                      WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, nullptr, 0, nullptr, nullptr)),
                  '\0');
  WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, out.data(), static_cast<int>(out.size()), nullptr,
                      nullptr);
  return out;
}

std::wstring variable(const wchar_t* name) {
  std::wstring out(GetEnvironmentVariableW(name, nullptr, 0), L'\0');
  out.resize(GetEnvironmentVariableW(name, out.data(), static_cast<DWORD>(out.size())));
  return out;
}

std::string registry_text(const wchar_t* key, const wchar_t* value) {
  wchar_t text[1024];
  DWORD bytes = sizeof text;
  if (RegGetValueW(HKEY_LOCAL_MACHINE, key, value, RRF_RT_REG_SZ, nullptr, text, &bytes) != ERROR_SUCCESS)
    return {};
  return narrow({text, std::wcslen(text)});
}

}  // namespace clweave::os

#ifdef __MINGW32__
// Reads UTF-8, one unit of UTF-16 a call. libstdc++ makes paths of text by this function, and that of
// msvcrt.dll knows no UTF-8, whatever code page the program's manifest asks for. Of what is written in four
// bytes the first three give the high surrogate, the last one the low: the state between them is its bits.
extern "C" std::size_t mbrtowc(wchar_t* out, const char* text, std::size_t bytes, std::mbstate_t* state) {
  constexpr auto bad = static_cast<std::size_t>(-1), more = static_cast<std::size_t>(-2);
  static std::mbstate_t own;
  if (state == nullptr) state = &own;
  if (text == nullptr) {
    *state = 0;
    return 0;
  }
  const auto tail = [&](std::size_t at) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[at])) & 0x3FU;
  };
  const auto is_tail = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  if (bytes == 0) return more;
  unsigned unit = 0;
  std::size_t length = 1;
  const auto first = static_cast<unsigned char>(*text);
  if (*state != 0) {
    if (!is_tail(0)) return bad;
    unit = 0xDC00U | ((static_cast<unsigned>(*state) & 0xFU) << 6U) | tail(0);
    *state = 0;
  } else if (first < 0x80) {
    unit = first;
  } else {
    length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4) return bad;
    for (std::size_t at = 1; at < length; ++at) {
      if (at == bytes) return more;
      if (!is_tail(at)) return bad;
    }
    if (length == 2) unit = ((first & 0x1FU) << 6U) | tail(1);
    if (length == 3) unit = ((first & 0xFU) << 12U) | (tail(1) << 6U) | tail(2);
    if (length == 4) {
      const unsigned upper =
          ((first & 0x7U) << 12U) | (tail(1) << 6U) | tail(2);  // without the last six bits
      unit = 0xD800U | (((upper << 6U) - 0x10000U) >> 10U);
      *state = static_cast<std::mbstate_t>(0x10U | (upper & 0xFU));
      length = 3;
    }
  }
  if (out != nullptr) *out = static_cast<wchar_t>(unit);
  return unit == 0 ? 0 : length;
}
#endif
