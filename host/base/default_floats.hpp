// SPDX-License-Identifier: Apache-2.0
// default_floats: arithmetic as the language defines it, whatever a library in the process has set.
#pragma once
#include <cfenv>

#include "base/namespaces.hpp"

namespace clweave::base {

// For its lifetime this thread keeps denormals and rounds to nearest. A library built for fast arithmetic
// sets other modes as it is loaded, and threads inherit them from those that start them.
class DefaultFloats {
 public:
  DefaultFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&before_); }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
  std::fenv_t before_{};
};

}  // namespace clweave::base
