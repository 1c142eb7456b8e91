// SPDX-License-Identifier: Apache-2.0
#include "os/process_state.hpp"

#include <cfenv>
#include <clocale>
#include <locale>
#include <system_error>

namespace clweave::os {

namespace {

std::filesystem::path folder_now() {
  std::error_code gone;
  return std::filesystem::current_path(gone);
}

}  // namespace

ProcessState::ProcessState() : folder_(folder_now()) {}

void ProcessState::restore() const {
  if (!folder_.empty() && folder_now() != folder_) {
    std::error_code gone;
    std::filesystem::current_path(folder_, gone);
  }
  std::locale::global(std::locale::classic());  // C's as well
  std::fesetenv(FE_DFL_ENV);
  unblock_signals();
}

}  // namespace clweave::os
