// SPDX-License-Identifier: Apache-2.0
#include "base/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace clweave::base {

namespace fs = std::filesystem;

namespace {

// What the system passed to main, and where that was: before any library could change the folder.
struct Beginning {
  int words = 0;
  std::string name;
  fs::path folder;
};
Beginning& beginning() {
  static Beginning known;
  return known;
}
// glibc calls it with the arguments of main.
__attribute__((constructor)) void remember_beginning(int count, char** words, char** /*environment*/) {
  std::error_code gone;
  beginning() = {count, count > 0 ? words[0] : "", fs::current_path(gone)};
}

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
  rlim_t most_file_bytes;
  pid_t parent;
  std::vector<std::pair<int, int>> descriptors;  // number there, copy here above all of those
  int failure;                                   // where to write errno
};

void close_from(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  constexpr rlim_t most = 65536;
  rlimit files{most, most};
  getrlimit(RLIMIT_NOFILE, &files);
  for (int fd = first; fd < static_cast<int>(std::min(files.rlim_cur, most)); ++fd) close(fd);
}

// Asks the kernel to end this process, not the one that started it, where memory runs out: that one has the
// rows that are done.
void be_first_out_of_memory() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = write(fd, "1000", 4);
  close(fd);
}

[[noreturn]] void become(const Prepared& how) {
  const auto fail = [](int descriptor) {
    const int error = errno;
    [[maybe_unused]] const auto written = write(descriptor, &error, sizeof error);
    _exit(127);
  };
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != how.parent) _exit(0);
  setsid();
  be_first_out_of_memory();
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int last = 0;
  for (const auto& pair : how.descriptors) last = std::max(last, pair.first);
  for (int fd = 0; fd <= last; ++fd) close(fd);
  for (const auto& [there, here] : how.descriptors) {
    if (dup2(here, there) < 0) fail(how.failure);
  }
  const int failure = dup2(how.failure, last + 1);
  fcntl(failure, F_SETFD, FD_CLOEXEC);
  close_from(failure + 1);
  if (how.most_file_bytes != RLIM_INFINITY) {
    const rlimit most{how.most_file_bytes, how.most_file_bytes};
    setrlimit(RLIMIT_FSIZE, &most);
  }
  execve(how.file, how.words, how.variables);
  fail(failure);
  _exit(127);
}

// Descriptors that are closed on every way out.
class Descriptors {
 public:
  Descriptors() = default;
  ~Descriptors() {
    for (const int fd : all_) close(fd);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  int add(int fd) {
    if (fd < 0) throw Error(ErrorCode::io, std::strerror(errno));
    all_.push_back(fd);
    return fd;
  }

 private:
  std::vector<int> all_;
};

// Forks. Returns the process and, in `told`, the end of a pipe on which it says why it could not begin.
pid_t fork_into(const Program& program, const std::vector<std::pair<int, int>>& descriptors,
                Descriptors& ours, int& told) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorCode::io, std::strerror(errno));
  told = ours.add(ends[0]);
  Descriptors theirs;
  theirs.add(ends[1]);
  int above = 0;
  for (const auto& pair : descriptors) above = std::max(above, pair.first + 2);
  auto words = program.words;
  auto variables = merged_environment(program.variables);
  auto word_pointers = pointers(words), variable_pointers = pointers(variables);
  Prepared how{program.file.c_str(),
               word_pointers.data(),
               variable_pointers.data(),
               program.most_file_bytes,
               getpid(),
               {},
               theirs.add(fcntl(ends[1], F_DUPFD_CLOEXEC, above))};
  for (const auto& [there, here] : descriptors)
    how.descriptors.emplace_back(there, theirs.add(fcntl(here, F_DUPFD_CLOEXEC, above)));
  const pid_t child = fork();
  if (child == 0) become(how);
  if (child < 0) throw Error(ErrorCode::io, std::strerror(errno));
  return child;
}

}  // namespace

pid_t start(const Program& program, const std::vector<std::pair<int, int>>& descriptors) {
  Descriptors ours;
  int told = -1, error = 0;
  const pid_t child = fork_into(program, descriptors, ours, told);
  ssize_t got = 0;
  do {
    got = read(told, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error) return child;
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw Error(ErrorCode::io, std::strerror(error));
}

std::string found_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path == nullptr ? "" : path, ':')) {
    std::string place = fs::path(folder) / name;
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

namespace {

constexpr const char* running_file = "/proc/self/exe";

// The words of the process, more than main has behind a loader: "ld.so --library-path X clweave run".
std::vector<std::string> process_words() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> out;
  for (std::string word; std::getline(in, word, '\0');) out.push_back(word);
  return out;
}

std::string named_file() {
  const std::string& name = beginning().name;
  return name.find('/') != std::string::npos ? (beginning().folder / name).string() : found_program(name);
}

}  // namespace

Program this_program() {
  if (access(running_file, X_OK) != 0) {
    const std::string file = named_file();
    if (file.empty() || access(file.c_str(), X_OK) != 0)
      throw Error(ErrorCode::io,
                  fmt::format("this program is not found again: there is no {}, and '{}' is no "
                              "program; start it by its path",
                              running_file, beginning().name));
    return {file, {beginning().name}};
  }
  auto words = process_words();
  const int of_loader = static_cast<int>(words.size()) - beginning().words;
  if (of_loader <= 0) return {running_file, {beginning().name}};
  words.resize(static_cast<std::size_t>(of_loader) + 1);
  return {running_file, std::move(words)};
}

fs::path program_file() {
  std::ifstream in("/proc/self/maps");
  const auto place = reinterpret_cast<std::uintptr_t>(&remember_beginning);
  for (std::string line; std::getline(in, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (!(range >> std::hex >> begin >> dash >> end) || place < begin || place >= end) continue;
    const auto path = line.find('/');
    if (path != std::string::npos) return line.substr(path);
  }
  return named_file();
}

}  // namespace clweave::base
