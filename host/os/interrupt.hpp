// interrupt: Ctrl-C and SIGTERM while measuring.
#pragma once

#include "base/namespaces.hpp"

namespace clweave::os {

// Counts SIGINT, SIGTERM and SIGHUP (unless nohup ignores it) from here on instead of ending the process: the
// first lets the running case finish, the second does not wait for it.
void catch_interrupts();
int interrupts();

}  // namespace clweave::os
