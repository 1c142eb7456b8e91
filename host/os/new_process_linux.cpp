// SPDX-License-Identifier: Apache-2.0
#include "os/new_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace clweave::os {

void die_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void die_first_out_of_memory() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = write(fd, "1000", 4);
  close(fd);
}

void close_from(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  constexpr rlim_t most = 65536;
  rlimit files{most, most};
  getrlimit(RLIMIT_NOFILE, &files);
  for (int fd = first; fd < static_cast<int>(std::min(files.rlim_cur, most)); ++fd) close(fd);
}

}  // namespace clweave::os
