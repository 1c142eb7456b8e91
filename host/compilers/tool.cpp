// SPDX-License-Identifier: Apache-2.0
#include "compilers/tool.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <re2/re2.h>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/temporary_folder.hpp"
#include "base/text.hpp"

namespace clweave::compilers {

namespace fs = std::filesystem;

Ran run_tool(Texts words, const fs::path& log) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return {};
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {};
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), bytes_of(log)};
}

std::string found_tool(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path == nullptr ? "" : path, ':')) {
    std::string place = fs::path(folder) / name;
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

std::string first_match(const Texts& words, const std::string& pattern) {
  const TemporaryFolder folder;
  std::string found;
  RE2::PartialMatch(run_tool(words, folder.path() / "log").output, pattern, &found);
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
