// SPDX-License-Identifier: Apache-2.0
#include "os/library.hpp"

#include "os/system_windows.hpp"

namespace clweave::os {

Library::Library(const std::string& name) : handle_(LoadLibraryW(wide(name).c_str())) {
  if (handle_ == nullptr) why_ = name + ": " + error_now().message();
}

void* Library::address_of(const char* name) const {
  return handle_ == nullptr ? nullptr
                            : reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

// Libraries are opened by name here: the program is linked with none but the system's.
std::filesystem::path file_of_function(const char*) { return {}; }

}  // namespace clweave::os
