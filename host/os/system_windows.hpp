// SPDX-License-Identifier: Apache-2.0
// system: what the files for Windows share. Its functions take UTF-16; all text of this program is UTF-8.
#pragma once
#include <windows.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "base/namespaces.hpp"
#include "os/handle.hpp"

namespace clweave::os {

// Gives a handle an owner; those of failed calls, null or -1, become none.
inline Handle owned(HANDLE handle) {
  return handle == nullptr ? Handle() : Handle(reinterpret_cast<Handle::Value>(handle));
}
inline HANDLE system_handle(const Handle& handle) { return reinterpret_cast<HANDLE>(handle.value()); }
HANDLE system_handle(std::FILE*);

std::wstring wide(std::string_view utf8);
std::string narrow(std::wstring_view utf16);

// Returns why the last function failed.
inline std::error_code error_now() { return {static_cast<int>(GetLastError()), std::system_category()}; }

// Returns the text of a variable of the environment; empty if it is not set.
std::wstring variable(const wchar_t* name);

// Returns a value of the registry below HKEY_LOCAL_MACHINE, as text; empty if there is none.
std::string registry_text(const wchar_t* key, const wchar_t* value);

}  // namespace clweave::os
