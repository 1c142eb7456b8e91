// SPDX-License-Identifier: Apache-2.0
// process: how this program begins others and talks to them. They begin as if nothing had been set before:
// whatever this process inherited, or a library in it has changed, is not theirs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::os {

struct Program {
  std::string file;                                   // its path
  std::vector<std::string> words;                     // from the name that it is given on
  std::vector<std::string> variables = {};            // "NAME=value", which extend and replace this process's
  std::optional<std::uint64_t> most_file_bytes = {};  // of a file that it writes; not on Windows
};

// How a process ended.
struct Ending {
  int code = 0;             // as a shell has it
  std::string text = {};    // "exit code 7", "SIGSEGV"; empty after exit code 0
  bool was_killed = false;  // by another, as where memory runs out
  bool file_limit = false;  // by the limit of a file that it wrote
};

// A program in a group of its own with what it starts, without a terminal, which it could write to or be
// stopped by. It is killed when the thread ends that started it, and before this process where memory runs
// out.
class Process {
 public:
  using Take = std::function<void(std::string_view)>;

  // Starts one that is sent text on stdin, and answers by a pipe of its own, see `answer`, as drivers may
  // print to stdout. What it prints is taken whenever this process sends or hears. Throws `io`, saying why.
  Process(const Program&, Take printed);
  // Starts one that reads nothing and prints into a file. Throws `io`.
  Process(const Program&, const std::filesystem::path& log);
  ~Process();  // stop()
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int id() const { return id_; }

  // Sends the whole text. Returns false if the process no longer reads, or takes nothing for a minute.
  bool send(std::string_view text);

  enum class Heard { answer, nothing, end };
  // Waits up to `seconds` for an answer, and appends what there is of it. `end`: the process closed its side,
  // that is, it has ended. A signal to this process ends the wait early.
  Heard hear(std::string& answer, double seconds);

  // Takes what it has printed, without waiting.
  void take_print();

  // Waits up to `seconds` for its end, then ends what is left of its group. Returns false if it goes on.
  bool wait(double seconds);
  const std::optional<Ending>& ending() const { return ending_; }

  // Asks the group to end, kills it after half a second, and waits five seconds. Returns false if the process
  // survives even that, as one does that hangs in a driver's kernel code; then it is left running.
  bool stop();
  // Kills the group at once, and waits as stop does.
  bool kill();

 private:
  struct Connection;  // of each system

  int id_ = -1;
  std::unique_ptr<Connection> connection_;
  Take printed_;
  std::optional<Ending> ending_;
};

// Answers the process that started this one. Returns false if nobody is left to answer to.
bool answer(std::string_view text);

// Ends this process when the one that started it ends, at once if `parent` is no longer that. Crashes leave
// no core dumps from here on: many would fill the disk.
void end_with_parent(int parent);

// Returns the path of a program in PATH, or nothing.
std::string found_program(const std::string& name);

}  // namespace clweave::os
