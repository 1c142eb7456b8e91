// SPDX-License-Identifier: Apache-2.0
#include "os/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/number.hpp"
#include "os/cgroup_linux.hpp"

namespace clweave::os {

namespace fs = std::filesystem;

namespace {

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return {};
  return number_of<std::uint64_t>(word);
}

}  // namespace

std::optional<MemoryLimit> memory_limit(const fs::path& root) {
  // Version 1 has no word for none, but a number that no machine reaches.
  constexpr std::uint64_t none = std::uint64_t{1} << 60;
  std::optional<MemoryLimit> least;
  for (const auto& group : cgroups("memory", root)) {
    const auto bytes = number_in(group.folder / (group.is_v2 ? "memory.max" : "memory.limit_in_bytes"));
    if (!bytes || *bytes >= none) continue;
    const auto used = number_in(group.folder / (group.is_v2 ? "memory.current" : "memory.usage_in_bytes"));
    // What files have left in memory is given up before anything is killed.
    const fs::path stat = group.folder / "memory.stat";
    const std::string total = group.is_v2 ? "" : "total_";
    const auto cached =
        number_behind(stat, total + "inactive_file") + number_behind(stat, total + "active_file");
    MemoryLimit limit{*bytes, used.value_or(0) - std::min(used.value_or(0), cached), group.folder};
    if (!least || limit.left() < least->left()) least = std::move(limit);
  }
  return least;
}

MemoryKills memory_kills(const fs::path& root) {
  MemoryKills out;
  for (const auto& group : cgroups("memory", root))
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

}  // namespace clweave::os
