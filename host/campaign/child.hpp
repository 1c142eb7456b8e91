// SPDX-License-Identifier: Apache-2.0
// child: a process of this or another program that one talks to in lines, and that can always be got rid of.
// No OpenCL.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::campaign {

// The file descriptor on which a child answers: stdout belongs to whatever a driver prints.
inline constexpr int answer_fd = 3;

inline constexpr const char* this_program = "/proc/self/exe";

class Child {
 public:
  // Starts `program` with `arguments` in a process group of its own, with `environment` ("NAME=value") on top
  // of this one's. Throws `io` when it cannot be started.
  Child(const std::string& program, const std::vector<std::string>& arguments,
        const std::vector<std::string>& environment);
  ~Child();  // stop()
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // False when the child no longer listens.
  bool send(const std::string& line) const;

  enum class ChildMessage { line, silence, end };
  // Waits up to `seconds` for the next line of the child. `end`: it closed its side, that is, it is gone.
  // Returns early, as silence, when a signal came.
  ChildMessage hear(std::string& line, double seconds);

  // What became of it: "exit code 7", "SIGSEGV"; empty after exit code 0. Waits up to `seconds` for an end
  // that is under way, then stops it.
  std::string end(double seconds);

  // SIGTERM to the group, half a second, SIGKILL, five seconds. False when it survived even that, as a
  // process does that hangs in a driver's kernel code: then it is left alone.
  bool stop();

 private:
  bool reap(double seconds);

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace clweave::campaign
