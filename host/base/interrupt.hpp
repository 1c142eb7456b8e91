// interrupt: what Ctrl-C and TERM mean to a command that measures.
#pragma once

#include "base/namespaces.hpp"

namespace clweave::base {

// From here on Ctrl-C, TERM and a terminal that closes (unless nohup has it ignored) are counted instead of
// ending the process: the first lets the case at work finish, the second does not wait for it.
void catch_interrupts();
int interrupts();

}  // namespace clweave::base
