// SPDX-License-Identifier: Apache-2.0
// wide: Windows' functions take UTF-16; all text of this program is UTF-8.
#pragma once
#include <windows.h>

#include <string>
#include <string_view>
#include <system_error>

#include "base/namespaces.hpp"

namespace clweave::os {

std::wstring wide(std::string_view utf8);
std::string narrow(std::wstring_view utf16);

// Returns why the last function failed.
inline std::error_code error_now() { return {static_cast<int>(GetLastError()), std::system_category()}; }

// Returns the text of a variable of the environment; empty if it is not set.
std::wstring variable(const wchar_t* name);

// Returns a value of the registry below HKEY_LOCAL_MACHINE, as text; empty if there is none.
std::string registry_text(const wchar_t* key, const wchar_t* value);

}  // namespace clweave::os
