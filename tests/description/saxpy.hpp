// SPDX-License-Identifier: Apache-2.0
// saxpy: a kernel file with a description that uses most of the language, for tests that change parts of it.
#pragma once
#include <string>

#include "description/kernel_source.hpp"

namespace clweave::description {

inline const std::string& saxpy_file() {
  static const std::string text = file_text(CLWEAVE_SOURCE_DIR "/tests/description/saxpy.cl", 10000);
  return text;
}

}  // namespace clweave::description
