// SPDX-License-Identifier: Apache-2.0
// child: a child process of this or another program that exchanges lines with this one and can always be
// stopped. No OpenCL.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::campaign {

// The file descriptor on which a child answers, because drivers may print to stdout.
inline constexpr int answer_fd = 3;

inline constexpr const char* this_program = "/proc/self/exe";

class Child {
 public:
  // Starts `program` with `arguments` in its own process group. `environment` ("NAME=value") extends and
  // overrides this process's. Throws `io` if it cannot be started.
  Child(const std::string& program, const std::vector<std::string>& arguments,
        const std::vector<std::string>& environment);
  ~Child();  // stop()
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return pid_; }

  // Sends a line; returns false if the child no longer reads.
  bool send(const std::string& line) const;

  enum class ChildMessage { line, timeout, end };
  // Waits up to `seconds` for the next line. `end`: the child closed its side, that is, it has ended. A
  // signal ends the wait early with `timeout`.
  ChildMessage hear(std::string& line, double seconds);

  // Returns how it ended: "exit code 7", "SIGSEGV", or empty after exit code 0. Waits up to `seconds` for the
  // end, then stops the child.
  std::string end(double seconds);

  // Sends SIGTERM to the group, after half a second SIGKILL, and waits five seconds. Returns false if the
  // child survives even that, as a process does that hangs in a driver's kernel code; then it is left
  // running.
  bool stop();

 private:
  bool has_ended() const;  // without reaping it
  // Waits up to `seconds` for the child's end, ends what is left of its group, and keeps its status.
  bool reap(double seconds);

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace clweave::campaign
