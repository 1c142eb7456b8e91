// SPDX-License-Identifier: Apache-2.0
#include "os/this_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.hpp"

namespace clweave::os {

namespace {

namespace fs = std::filesystem;

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

}  // namespace clweave::os
