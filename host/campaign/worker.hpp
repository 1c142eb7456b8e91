// SPDX-License-Identifier: Apache-2.0
// worker: what a child process does: it alone loads OpenCL, and answers as protocol.hpp says.
#pragma once

namespace clweave {

// The body of `clweave worker`, started by the process `parent`, with which it ends. Returns when stdin ends.
int serve(int parent);

}  // namespace clweave
