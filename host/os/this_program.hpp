// SPDX-License-Identifier: Apache-2.0
// this_program: how this program was started, and where its file is.
#pragma once
#include <filesystem>

#include "base/namespaces.hpp"
#include "os/process.hpp"

namespace clweave::os {

// Returns how this program is started once more, behind the loader if it was started so; words are to be
// added. Where the system does not tell it is looked for by the name it was given. Throws `io` if it is not
// found.
Program this_program();

// Returns the file of this program, which is not that of a loader behind which it runs; empty if unknown.
std::filesystem::path program_file();

}  // namespace clweave::os
