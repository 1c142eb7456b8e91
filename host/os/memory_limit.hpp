// SPDX-License-Identifier: Apache-2.0
// memory_limit: how much memory the system lets this process have, and whom it killed for want of it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::os {

// The limit of a control group (cgroup, version 1 or 2) that this process is in, as of a container or a batch
// system's job.
struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::uint64_t used = 0;
  std::filesystem::path group;  // its folder

  std::uint64_t left() const { return bytes - std::min(bytes, used); }
};

// Returns the limit that leaves least; none if no group has one. `root`: where /proc and /sys are.
std::optional<MemoryLimit> memory_limit(const std::filesystem::path& root = "/");

// Returns how many processes were killed as a group of this process, or the host, had no memory left.
struct MemoryKills {
  std::uint64_t of_group = 0, of_host = 0;
};
MemoryKills memory_kills(const std::filesystem::path& root = "/");

// Explains a process's end by SIGKILL from what was counted before it began; empty if nothing tells.
std::string memory_kill_since(const MemoryKills& before, const std::filesystem::path& root = "/");

}  // namespace clweave::os
