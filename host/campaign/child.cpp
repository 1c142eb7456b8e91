// SPDX-License-Identifier: Apache-2.0
#include "campaign/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/timer.hpp"

// NOLINTNEXTLINE(readability-redundant-declaration): POSIX leaves it to the program
extern char** environ;

namespace clweave::campaign {

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& extra) {
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> out = extra;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const auto& other : extra) replaced = replaced || name_of(other) == name_of(*entry);
    if (!replaced) out.emplace_back(*entry);
  }
  return out;
}

// Closes its ends on every way out: starting a process may fail again and again on a busy machine.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      throw Error(ErrorCode::io, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  ~Pipe() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  int take_read_end() { return std::exchange(ends_[0], -1); }
  int take_write_end() { return std::exchange(ends_[1], -1); }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace

Child::Child(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment) {
  Pipe down, up;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, down.read_end(), STDIN_FILENO);
  // dup2 onto its own number would keep the close-on-exec flag.
  int answer = up.write_end();
  if (answer == answer_fd) answer = fcntl(answer, F_DUPFD_CLOEXEC, answer_fd + 1);
  posix_spawn_file_actions_adddup2(&files, answer, answer_fd);
  // Drivers print messages for people; stdout is data.
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t defaults, none;
  sigemptyset(&none);
  sigfillset(&defaults);  // whatever this process or its parent ignores
  for (const int signal : {SIGKILL, SIGSTOP}) sigdelset(&defaults, signal);
  posix_spawnattr_setsigdefault(&how, &defaults);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> words = {"clweave"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = merged_environment(environment);
  const int failure =
      posix_spawn(&pid_, program.c_str(), &files, &how, pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (answer != up.write_end()) close(answer);
  if (failure != 0)
    throw Error(ErrorCode::io,
                fmt::format("cannot start a child process{}: {}",
                            program == this_program ? "" : " of " + program, std::strerror(failure)));
  to_ = down.take_write_end();
  from_ = up.take_read_end();
}

Child::~Child() {
  stop();
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
}

bool Child::send(const std::string& line) const {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(to_, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

Child::ChildMessage Child::hear(std::string& line, double seconds) {
  const double until = host_now() + seconds;
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return ChildMessage::line;
    }
    const double left = until - host_now();
    if (left <= 0) {
      // A process that a driver forked keeps the pipe open, so the child's end is not seen there.
      if (pid_ >= 0) reap(0);
      return ChildMessage::timeout;
    }
    pollfd ready{from_, POLLIN, 0};
    const int n = poll(&ready, 1, static_cast<int>(left * 1e3) + 1);
    if (n < 0 && errno == EINTR) return ChildMessage::timeout;
    if (n <= 0) continue;
    char bytes[65536];
    const ssize_t got = read(from_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return ChildMessage::end;
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
}

bool Child::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

bool Child::reap(double seconds) {
  const double until = host_now() + seconds;
  while (!status_) {
    int status = 0;
    // While the child is not reaped its number is not given to another group.
    if (has_ended()) kill(-pid_, SIGKILL);  // what a driver forked
    const pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got == pid_) status_ = status;
    if (got < 0 && errno != EINTR) status_ = 0;
    if (status_ || host_now() >= until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return status_.has_value();
}

std::string Child::end(double seconds) {
  if (pid_ < 0) return {};
  if (!reap(seconds)) {
    stop();
    return "no end";
  }
  if (WIFSIGNALED(*status_)) return std::string("SIG") + sigabbrev_np(WTERMSIG(*status_));
  if (WEXITSTATUS(*status_) != 0) return fmt::format("exit code {}", WEXITSTATUS(*status_));
  return {};
}

bool Child::stop() {
  if (pid_ < 0 || reap(0)) return true;
  kill(-pid_, SIGTERM);
  if (reap(0.5)) return true;
  kill(-pid_, SIGKILL);
  return reap(5);
}

}  // namespace clweave::campaign
