// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.hpp"

#include <csignal>

namespace clweave {

namespace {

volatile std::sig_atomic_t caught = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { caught = caught + 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupts() { return caught; }

}  // namespace clweave
