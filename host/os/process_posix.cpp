// SPDX-License-Identifier: Apache-2.0
#include "os/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "os/handle.hpp"
#include "os/new_process.hpp"

namespace clweave::os {

namespace {

// The descriptor on which a process answers.
constexpr int answer_descriptor = 3;
// A process that takes nothing for so long hangs, and would keep this one from its interrupts.
constexpr int most_deaf_ms = 60'000;

Handle checked(int descriptor) {
  if (descriptor < 0) throw Error(ErrorCode::io, std::strerror(errno));
  return Handle(descriptor);
}

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorCode::io, std::string("cannot make a pipe: ") + std::strerror(errno));
    read_end = Handle(ends[0]);
    write_end = Handle(ends[1]);
  }
  Handle read_end, write_end;
};

std::vector<std::string> merged_environment(const std::vector<std::string>& extra) {
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> out = extra;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const bool replaced = std::ranges::any_of(
        extra, [&](const std::string& other) { return name_of(other) == name_of(*entry); });
    if (!replaced) out.emplace_back(*entry);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Everything that the new process needs, made before it exists: between fork and exec only functions may be
// called that are safe in a signal handler.
struct Prepared {
  const char* file;
  char** words;
  char** variables;
  std::optional<std::uint64_t> most_file_bytes;
  pid_t parent;
  std::vector<Handle> descriptors;  // which get the numbers from 0 on; copies above all of those
  Handle failure;                   // where to write errno
};

[[noreturn]] void become(const Prepared& how) {
  const auto fail = [](int descriptor) {
    const int error = errno;
    [[maybe_unused]] const auto written = write(descriptor, &error, sizeof error);
    _exit(127);
  };
  die_with_parent();
  if (getppid() != how.parent) _exit(0);
  setsid();
  die_first_out_of_memory();
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int count = static_cast<int>(how.descriptors.size());
  for (int there = 0; there < count; ++there) {
    if (dup2(how.descriptors[static_cast<std::size_t>(there)].descriptor(), there) < 0)
      fail(how.failure.descriptor());
  }
  const int failure = dup2(how.failure.descriptor(), count);
  fcntl(failure, F_SETFD, FD_CLOEXEC);
  close_from(failure + 1);
  if (how.most_file_bytes) {
    const rlimit most{*how.most_file_bytes, *how.most_file_bytes};
    setrlimit(RLIMIT_FSIZE, &most);
  }
  execve(how.file, how.words, how.variables);
  fail(failure);
  _exit(127);
}

// Starts a program with these descriptors from 0 on and no other. Throws `io`, saying why.
pid_t start(const Program& program, const std::vector<const Handle*>& descriptors) {
  Pipe failure;
  const int above = static_cast<int>(descriptors.size()) + 1;
  const auto copy = [&](const Handle& one) {
    return checked(fcntl(one.descriptor(), F_DUPFD_CLOEXEC, above));
  };
  auto words = program.words;
  auto variables = merged_environment(program.variables);
  auto word_pointers = pointers(words), variable_pointers = pointers(variables);
  Prepared how{program.file.c_str(),
               word_pointers.data(),
               variable_pointers.data(),
               program.most_file_bytes,
               getpid(),
               {},
               copy(failure.write_end)};
  for (const Handle* one : descriptors) how.descriptors.push_back(copy(*one));
  const pid_t child = fork();
  if (child == 0) become(how);
  if (child < 0) throw Error(ErrorCode::io, std::strerror(errno));
  for (Handle* end : {&failure.write_end, &how.failure}) end->close();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(failure.read_end.descriptor(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error) return child;
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw Error(ErrorCode::io, std::strerror(error));
}

bool has_ended(pid_t process) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == process;
}

Ending ending_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {128 + signal, std::string("SIG") + sigabbrev_np(signal), signal == SIGKILL, signal == SIGXFSZ};
  }
  const int code = WEXITSTATUS(status);
  return {code, code == 0 ? "" : fmt::format("exit code {}", code)};
}

}  // namespace

struct Process::Connection {
  Handle to, from, prints;
};

Process::Process(const Program& program, Take printed) : printed_(std::move(printed)) {
  Pipe down, up, print;
  id_ = start(program, {&down.read_end, &print.write_end, &print.write_end, &up.write_end});
  connection_ = std::make_unique<Connection>();
  connection_->to = std::move(down.write_end);
  connection_->from = std::move(up.read_end);
  connection_->prints = std::move(print.read_end);
  for (const Handle* end : {&connection_->to, &connection_->prints})
    fcntl(end->descriptor(), F_SETFL, O_NONBLOCK);
}

Process::Process(const Program& program, const std::filesystem::path& log)
    : connection_(std::make_unique<Connection>()) {
  const Handle in = checked(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Handle out = checked(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  id_ = start(program, {&in, &out, &out});
}

Process::~Process() { stop(); }

bool Process::send(std::string_view text) {
  while (!text.empty()) {
    // A process that prints more than a pipe holds would wait for this one, which waits for it.
    pollfd ready[] = {{connection_->to.descriptor(), POLLOUT, 0},
                      {connection_->prints.descriptor(), POLLIN, 0}};
    const int events = poll(ready, 2, most_deaf_ms);
    if (events == 0 || (events < 0 && errno != EINTR)) return false;
    if (ready[1].revents != 0) take_print();
    const ssize_t n = write(connection_->to.descriptor(), text.data(), text.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void Process::take_print() {
  char bytes[65536];
  // Not for ever: it may print as fast as this reads.
  for (int pass = 0; pass < 16 && connection_->prints; ++pass) {
    const ssize_t got = read(connection_->prints.descriptor(), bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) {
      connection_->prints.close();
      return;
    }
    printed_({bytes, static_cast<std::size_t>(got)});
  }
}

Process::Heard Process::hear(std::string& answer, double seconds) {
  const double until = host_now() + seconds;
  while (true) {
    const double left = until - host_now();
    if (left <= 0) {
      // A process that a driver forked keeps the pipe open, so the end is not seen there.
      wait(0);
      return Heard::nothing;
    }
    pollfd ready[] = {{connection_->from.descriptor(), POLLIN, 0},
                      {connection_->prints.descriptor(), POLLIN, 0}};  // a closed one is passed over
    const int n = poll(ready, 2, static_cast<int>(left * 1e3) + 1);
    if (n < 0 && errno == EINTR) return Heard::nothing;
    if (n <= 0) continue;
    if (ready[1].revents != 0) take_print();
    if (ready[0].revents == 0) continue;
    char bytes[65536];
    const ssize_t got = read(connection_->from.descriptor(), bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Heard::end;
    answer.append(bytes, static_cast<std::size_t>(got));
    return Heard::answer;
  }
}

bool Process::wait(double seconds) {
  const double until = host_now() + seconds;
  auto pause = std::chrono::microseconds(200);
  while (!ending_) {
    int status = 0;
    // While it is not reaped its number is not given to another group.
    if (has_ended(id_)) ::kill(-id_, SIGKILL);  // what it forked
    const pid_t got = waitpid(id_, &status, WNOHANG);
    if (got == id_) ending_ = ending_of(status);
    if (got < 0 && errno != EINTR) ending_ = Ending{};
    if (ending_ || host_now() >= until) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
  return ending_.has_value();
}

bool Process::stop() {
  if (wait(0)) return true;
  ::kill(-id_, SIGTERM);
  return wait(0.5) || kill();
}

bool Process::kill() {
  if (wait(0)) return true;
  ::kill(-id_, SIGKILL);
  return wait(5);
}

bool answer(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(answer_descriptor, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void end_with_parent(int parent) {
  die_with_parent();
  if (getppid() != parent) _exit(0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

std::string found_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path == nullptr ? "" : path, ':')) {
    std::string place = (std::filesystem::path(folder) / name).string();
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

}  // namespace clweave::os
