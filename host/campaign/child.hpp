// SPDX-License-Identifier: Apache-2.0
// child: a child process of this or another program that exchanges lines with this one and can always be
// stopped. No OpenCL.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

#include "base/excerpt.hpp"
#include "base/namespaces.hpp"
#include "base/process.hpp"

namespace clweave::campaign {

// The file descriptor on which a child answers, because drivers may print to stdout.
inline constexpr int answer_fd = 3;

class Child {
 public:
  // Starts the program in its own process group. What it prints is kept, not shown: a driver's words are not
  // the run's. Throws `io` if it cannot be started.
  explicit Child(const base::Program&);
  ~Child();  // stop()
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return pid_; }

  // Sends a line; returns false if the child no longer reads.
  bool send(const std::string& line);

  enum class ChildMessage { line, timeout, end };
  // Waits up to `seconds` for the next line. `end`: the child closed its side, that is, it has ended. A
  // signal ends the wait early with `timeout`.
  ChildMessage hear(std::string& line, double seconds);

  // Returns how many bytes it has answered so far.
  std::size_t answered() const { return answered_; }

  // Returns what it printed since the last call, the middle left out if it is long.
  std::string printed();

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
  bool take_line(std::string& line);
  void take_print();  // what is there, without waiting

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1, prints_ = -1;
  std::string buffer_;
  std::size_t begin_ = 0, searched_ = 0, answered_ = 0;  // of the line that comes, in the buffer
  base::Excerpt print_;
  std::optional<int> status_;
};

}  // namespace clweave::campaign
