// SPDX-License-Identifier: Apache-2.0
// bad_icd: an OpenCL driver that ends or blocks every process that loads it.
//
// CLWEAVE_BAD_ICD says how: crash, hang, exit or abort.
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace {

enum class Manner { crash, hang, exit, abort };

// UBSan would turn the write into its own message and, where it does not recover, into an abort.
__attribute__((constructor, no_sanitize("undefined"))) void misbehave() {
  // A driver loaded before may have installed handlers that survive the signal.
  std::signal(SIGSEGV, SIG_DFL);
  std::signal(SIGABRT, SIG_DFL);
  volatile int* volatile nowhere = nullptr;
  switch (Manner::CLWEAVE_BAD_ICD) {
    case Manner::crash: *nowhere = 1; break;
    case Manner::hang:
      for (;;) pause();
    case Manner::exit: std::exit(7);
    case Manner::abort: std::abort();
  }
}

}  // namespace
