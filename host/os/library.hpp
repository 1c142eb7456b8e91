// SPDX-License-Identifier: Apache-2.0
// library: a dynamic library that is opened by name at run time.
#pragma once
#include <filesystem>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::os {

// Never closed: drivers have threads of their own, and some crash when their library is unloaded.
class Library {
 public:
  explicit Library(const std::string& name);

  bool is_open() const { return handle_ != nullptr; }
  // Returns why it could not be opened, as the system says; empty if it was.
  const std::string& why() const { return why_; }

  // Returns a function of it; null if it has none of that name.
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  void* handle_ = nullptr;
  std::string why_;
};

// Returns the file of the library that this process calls a function of; empty if it is linked with none.
std::filesystem::path file_of_function(const char* name);

}  // namespace clweave::os
