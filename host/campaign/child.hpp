// SPDX-License-Identifier: Apache-2.0
// child: a child process of this or another program that exchanges lines with this one and can always be
// stopped. No OpenCL.
#pragma once
#include <cstddef>
#include <string>

#include "base/excerpt.hpp"
#include "base/namespaces.hpp"
#include "os/process.hpp"

namespace clweave::campaign {

class Child {
 public:
  // Starts the program. What it prints is kept, not shown: a driver's words are not the run's. Throws `io` if
  // it cannot be started.
  explicit Child(const os::Program&);

  int process() const { return process_.id(); }

  // Sends a line; returns false if the child no longer reads.
  bool send(const std::string& line) { return process_.send(line + "\n"); }

  enum class ChildMessage { line, timeout, end };
  // Waits up to `seconds` for the next line. `end`: the child closed its side, that is, it has ended. A
  // signal ends the wait early with `timeout`.
  ChildMessage hear(std::string& line, double seconds);

  // Returns how many bytes it has answered so far.
  std::size_t answered() const { return answered_; }

  // Returns what it printed since the last call, the middle left out if it is long.
  std::string printed();

  // Returns how it ended. Waits up to `seconds` for the end, then stops the child.
  os::Ending end(double seconds);

  // Stops it and what it started, see os::Process.
  bool stop() { return process_.stop(); }

 private:
  bool take_line(std::string& line);

  std::string buffer_;
  std::size_t begin_ = 0, searched_ = 0, answered_ = 0;  // of the line that comes, in the buffer
  base::Excerpt print_;
  os::Process process_;
};

}  // namespace clweave::campaign
