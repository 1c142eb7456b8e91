// SPDX-License-Identifier: Apache-2.0
#include "base/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/number.hpp"
#include "base/text.hpp"

namespace clweave::base {

namespace fs = std::filesystem;

namespace {

// A group's folder and what its files are called.
struct Group {
  fs::path folder;
  bool is_v2 = false;
};

// Groups of the process, from its own to the root of what can be seen. In a container the path that /proc
// tells may be the host's, and the folder that is mounted its end.
std::vector<Group> groups(const fs::path& root) {
  std::vector<Group> out;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool is_v2 = parts[0] == "0";
    const auto controllers = split(parts[1], ',');
    if (!is_v2 && std::ranges::find(controllers, "memory") == controllers.end()) continue;
    const fs::path mounted = root / "sys/fs/cgroup" / (is_v2 ? "" : "memory");
    for (fs::path inner = fs::path(parts[2]).relative_path();; inner = inner.parent_path()) {
      out.push_back({inner.empty() ? mounted : mounted / inner, is_v2});
      if (inner.empty()) break;
    }
  }
  return out;
}

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return {};
  return number_of<std::uint64_t>(word);
}

// Returns the number behind a word: "oom_kill 3".
std::uint64_t number_behind(const fs::path& file, const std::string& wanted) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  for (std::string word; in >> word >> value;) {
    if (word == wanted) return value;
  }
  return 0;
}

}  // namespace

std::optional<MemoryLimit> memory_limit(const fs::path& root) {
  // Version 1 has no word for none, but a number that no machine reaches.
  constexpr std::uint64_t none = std::uint64_t{1} << 60;
  std::optional<MemoryLimit> least;
  for (const auto& group : groups(root)) {
    const auto bytes = number_in(group.folder / (group.is_v2 ? "memory.max" : "memory.limit_in_bytes"));
    if (!bytes || *bytes >= none) continue;
    const auto used = number_in(group.folder / (group.is_v2 ? "memory.current" : "memory.usage_in_bytes"));
    // What files have left in memory is given up before anything is killed.
    const auto cached =
        number_behind(group.folder / "memory.stat", group.is_v2 ? "inactive_file" : "total_inactive_file");
    MemoryLimit limit{*bytes, used.value_or(0) - std::min(used.value_or(0), cached), group.folder};
    if (!least || limit.left() < least->left()) least = std::move(limit);
  }
  return least;
}

MemoryKills memory_kills(const fs::path& root) {
  MemoryKills out;
  for (const auto& group : groups(root))
    out.of_group +=
        number_behind(group.folder / (group.is_v2 ? "memory.events" : "memory.oom_control"), "oom_kill");
  out.of_host = number_behind(root / "proc/vmstat", "oom_kill");
  return out;
}

std::string memory_kill_since(const MemoryKills& before, const fs::path& root) {
  const MemoryKills now = memory_kills(root);
  const auto limit = memory_limit(root);
  constexpr double gib = 1 << 30;
  if (now.of_group > before.of_group && limit)
    return fmt::format("the memory limit of {:.3g} GiB of this cgroup ({})",
                       static_cast<double>(limit->bytes) / gib, limit->group.string());
  if (now.of_group > before.of_group || now.of_host > before.of_host) return "the host has no memory left";
  return {};
}

}  // namespace clweave::base
