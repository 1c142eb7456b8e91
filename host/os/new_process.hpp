// SPDX-License-Identifier: Apache-2.0
// new_process: what a process does between fork and exec that POSIX has no functions for. Only what is safe
// in a signal handler may be called there.
#pragma once
#include "base/namespaces.hpp"

namespace clweave::os {

// Lets the system kill this process when the thread ends that started it.
void die_with_parent();

// Lets the system kill this process before others where memory runs out: the one that started it has the rows
// that are done.
void die_first_out_of_memory();

// Closes descriptors from this on.
void close_from(int first);

}  // namespace clweave::os
