// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.hpp"

#include <windows.h>

#include <atomic>

namespace clweave::os {

namespace {

std::atomic<int> caught = 0;

// Runs in a thread of its own.
BOOL WINAPI count(DWORD) {
  ++caught;
  return TRUE;
}

}  // namespace

void catch_interrupts() { SetConsoleCtrlHandler(count, TRUE); }

int interrupts() { return caught; }

}  // namespace clweave::os
