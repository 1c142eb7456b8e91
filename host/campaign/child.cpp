// SPDX-License-Identifier: Apache-2.0
#include "campaign/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/timer.hpp"

namespace clweave::campaign {

namespace {

constexpr std::size_t most_printed = 32768;
// A child that takes nothing for so long hangs, and would keep this process from its interrupts.
constexpr int most_deaf_ms = 60'000;

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

Child::Child(const base::Program& program) : print_(most_printed) {
  Pipe down, up, print;
  try {
    pid_ = base::start(program, {{STDIN_FILENO, down.read_end()},
                                 {STDOUT_FILENO, print.write_end()},
                                 {STDERR_FILENO, print.write_end()},
                                 {answer_fd, up.write_end()}});
  } catch (const Error& error) {
    throw Error(error.code,
                fmt::format("cannot start a child process of {}: {}", program.words.front(), error.what()));
  }
  to_ = down.take_write_end();
  from_ = up.take_read_end();
  prints_ = print.take_read_end();
  for (const int end : {to_, prints_}) fcntl(end, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  stop();
  for (const int end : {to_, from_, prints_}) {
    if (end >= 0) close(end);
  }
}

bool Child::send(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    // A child that prints more than a pipe holds would wait for this process, which waits for it.
    pollfd ready[] = {{to_, POLLOUT, 0}, {prints_, POLLIN, 0}};
    const int events = poll(ready, 2, most_deaf_ms);
    if (events == 0 || (events < 0 && errno != EINTR)) return false;
    if (ready[1].revents != 0) take_print();
    const ssize_t n = write(to_, text.data() + sent, text.size() - sent);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

// Neither a line without an end nor many lines at once are searched or moved again and again.
bool Child::take_line(std::string& line) {
  const auto end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    buffer_.erase(0, std::exchange(begin_, 0));
    searched_ = buffer_.size();
    return false;
  }
  line = buffer_.substr(begin_, end - begin_);
  begin_ = searched_ = end + 1;
  return true;
}

void Child::take_print() {
  char bytes[65536];
  // Not for ever: it may print as fast as this reads.
  for (int pass = 0; pass < 16 && prints_ >= 0; ++pass) {
    const ssize_t got = read(prints_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) {
      close(std::exchange(prints_, -1));
      return;
    }
    print_.append({bytes, static_cast<std::size_t>(got)});
  }
}

std::string Child::printed() {
  take_print();
  return std::exchange(print_, base::Excerpt(most_printed)).text();
}

Child::ChildMessage Child::hear(std::string& line, double seconds) {
  const double until = host_now() + seconds;
  while (true) {
    if (take_line(line)) return ChildMessage::line;
    const double left = until - host_now();
    if (left <= 0) {
      // A process that a driver forked keeps the pipe open, so the child's end is not seen there.
      if (pid_ >= 0) reap(0);
      return ChildMessage::timeout;
    }
    pollfd ready[] = {{from_, POLLIN, 0}, {prints_, POLLIN, 0}};  // a negative one is passed over
    const int n = poll(ready, 2, static_cast<int>(left * 1e3) + 1);
    if (n < 0 && errno == EINTR) return ChildMessage::timeout;
    if (n <= 0) continue;
    if (ready[1].revents != 0) take_print();
    if (ready[0].revents == 0) continue;
    char bytes[65536];
    const ssize_t got = read(from_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return ChildMessage::end;
    answered_ += static_cast<std::size_t>(got);
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
