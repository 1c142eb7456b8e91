// SPDX-License-Identifier: Apache-2.0
#include "os/this_program.hpp"

#include "base/error.hpp"
#include "os/system_windows.hpp"

namespace clweave::os {

std::filesystem::path program_file() {
  constexpr std::size_t most = 32768;  // units of the longest path
  std::wstring out(most, L'\0');
  out.resize(GetModuleFileNameW(nullptr, out.data(), static_cast<DWORD>(out.size())));
  return out;
}

Program this_program() {
  const std::string file = program_file().string();
  if (file.empty()) throw Error(ErrorCode::io, "this program is not found again: " + error_now().message());
  return {.file = file, .words = {file}};
}

}  // namespace clweave::os
