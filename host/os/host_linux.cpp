// SPDX-License-Identifier: Apache-2.0
#include "os/host.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>

namespace clweave::os {

namespace {

// Returns the value of the first line "key : value" of a file; empty if there is none.
std::string field_of(const char* path, const std::string& key, char separator) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at == std::string::npos) continue;
    const auto first = line.find_first_not_of(" \t\"", at + 1);
    const auto last = line.find_last_not_of(" \t\"");
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
  }
  return {};
}

}  // namespace

std::string system_name() {
  utsname system{};
  uname(&system);
  return fmt::format("{}, {} {}", field_of("/etc/os-release", "PRETTY_NAME", '='), system.sysname,
                     system.release);
}

std::string processor_name() { return field_of("/proc/cpuinfo", "model name", ':'); }

std::vector<std::int64_t> processor_caches() {
  std::vector<std::int64_t> out;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    std::string type, unit;
    std::size_t level = 0;
    std::int64_t size = 0;
    if (!(std::ifstream(folder + "type") >> type) || !(std::ifstream(folder + "level") >> level) ||
        !(std::ifstream(folder + "size") >> size >> unit))
      return out;
    if (type == "Instruction" || level != out.size() + 1) continue;
    out.push_back(size * (unit == "M" ? 1 << 20 : 1 << 10));
  }
}

std::int64_t available_memory_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    std::int64_t kib = 0;
    if (word == "MemAvailable:" && in >> kib) return kib * 1024;
  }
  return 0;
}

}  // namespace clweave::os
