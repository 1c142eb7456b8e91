// SPDX-License-Identifier: Apache-2.0
#include "os/library.hpp"

#include <dlfcn.h>

namespace clweave::os {

Library::Library(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) why_ = dlerror();
}

void* Library::address_of(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

std::filesystem::path file_of_function(const char* name) {
  Dl_info info{};
  void* entry = dlsym(RTLD_DEFAULT, name);
  if (entry == nullptr || dladdr(entry, &info) == 0) return {};
  return info.dli_fname;
}

}  // namespace clweave::os
