// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.hpp"

#include <csignal>

namespace clweave::os {

namespace {

volatile std::sig_atomic_t caught = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { caught = caught + 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

int interrupts() { return caught; }

}  // namespace clweave::os
