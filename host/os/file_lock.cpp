// SPDX-License-Identifier: Apache-2.0
#include "os/file_lock.hpp"

#include "base/error.hpp"

namespace clweave::os {

void FileLock::refuse(const std::string& path) {
  throw Error(ErrorCode::usage,
              path + " is being written by another clweave: wait for its end, or choose another name");
}

}  // namespace clweave::os
