// SPDX-License-Identifier: Apache-2.0
#include "compilers/tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <re2/re2.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/excerpt.hpp"
#include "base/process.hpp"
#include "base/temporary_folder.hpp"

namespace clweave::compilers {

namespace fs = std::filesystem;

namespace {

// Waits for the end, at most until the limit, and ends what is left of the process's group.
std::optional<int> status_of(pid_t process, double seconds) {
  const double until = host_now() + seconds;
  std::optional<int> out;
  auto pause = std::chrono::microseconds(200);
  while (!out) {
    siginfo_t info{};
    const bool ended = waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                       info.si_pid == process;
    const bool late = !ended && host_now() >= until;
    // While it is not reaped its number is no other group's.
    if (ended || late) kill(-process, SIGKILL);
    int status = 0;
    if (ended || late) {
      while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
      }
      if (late) return {};
      out = status;
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(10000));
    }
  }
  return out;
}

// Programs that did not end in time: each of their targets would wait as long again.
std::set<std::string>& hanging() {
  static std::set<std::string> names;
  return names;
}

}  // namespace

Ran run_tool(const Texts& words, const fs::path& log, const ToolLimits& limits) {
  constexpr int late = 124;  // as a shell has them
  const std::string program =
      words.front().find('/') != std::string::npos ? words.front() : found_program(words.front());
  if (program.empty()) return {};
  if (hanging().contains(program)) return {late, program + " is not asked again, as it did not end before\n"};
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  pid_t process = 0;
  try {
    if (out >= 0 && in >= 0)
      process = start({.file = program, .words = words, .most_file_bytes = limits.file_bytes},
                      {{STDIN_FILENO, in}, {STDOUT_FILENO, out}, {STDERR_FILENO, out}});
  } catch (const Error&) {  // as if it were not there
  }
  for (const int end : {out, in}) {
    if (end >= 0) close(end);
  }
  if (process == 0) return {};
  const auto status = status_of(process, limits.seconds);
  Ran ran{late, bytes_of(log)};
  if (!status) {
    hanging().insert(program);
    ran.output += fmt::format("\n{} did not end within {:.3g} s and was killed\n", program, limits.seconds);
  } else if (WIFEXITED(*status)) {
    ran.status = WEXITSTATUS(*status);
  } else {
    ran.status = 128 + WTERMSIG(*status);
    if (WTERMSIG(*status) == SIGXFSZ) {
      ran.output =
          Excerpt(1 << 16).append(ran.output).text() +
          fmt::format("\n{} was killed as it wrote more than {} MiB\n", program, limits.file_bytes >> 20U);
    }
  }
  return ran;
}

std::string first_match(const Texts& words, const std::string& pattern) {
  const TemporaryFolder folder;
  std::string found;
  RE2::PartialMatch(run_tool(words, folder.path() / "log", {.seconds = 30}).output, pattern, &found);
  return found;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path file_in(const fs::path& folder, const std::string& extension) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) return entry.path();
  }
  return {};
}

}  // namespace clweave::compilers
