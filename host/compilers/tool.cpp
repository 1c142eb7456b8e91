// SPDX-License-Identifier: Apache-2.0
#include "compilers/tool.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <fstream>
#include <iterator>
#include <set>

#include "base/error.hpp"
#include "base/excerpt.hpp"
#include "os/process.hpp"
#include "os/temporary_folder.hpp"

namespace clweave::compilers {

namespace fs = std::filesystem;

namespace {

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
  try {
    os::Process process({.file = program, .words = words, .most_file_bytes = limits.file_bytes}, log);
    const bool in_time = process.wait(limits.seconds);
    if (!in_time) process.kill();
    Ran ran{in_time ? process.ending()->code : late, bytes_of(log)};
    if (!in_time) {
      hanging().insert(program);
      ran.output += fmt::format("\n{} did not end within {:.3g} s and was killed\n", program, limits.seconds);
    } else if (process.ending()->file_limit) {
      ran.output =
          Excerpt(1 << 16).append(ran.output).text() +
          fmt::format("\n{} was killed as it wrote more than {} MiB\n", program, limits.file_bytes >> 20U);
    }
    return ran;
  } catch (const Error&) {  // as if it were not there
    return {};
  }
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
