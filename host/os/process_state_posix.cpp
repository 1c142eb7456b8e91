// SPDX-License-Identifier: Apache-2.0
#include "os/process_state.hpp"

#include <fcntl.h>

#include <cerrno>
#include <csignal>

namespace clweave::os {

void prepare_process() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      open("/dev/null", O_RDONLY);  // takes the lowest number
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
}

void ProcessState::unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace clweave::os
