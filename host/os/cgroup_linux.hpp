// SPDX-License-Identifier: Apache-2.0
// cgroup: the control groups of Linux that this process is in, as of a container or a batch system's job.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::os {

// A group's folder and what its files are called.
struct Cgroup {
  std::filesystem::path folder;
  bool is_v2 = false;
};

// Returns the groups of a controller, such as "memory", from the process's own to the root of what can be
// seen. In a container the path that /proc tells may be the host's, and the folder that is mounted its end.
// `root`: where /proc and /sys are.
std::vector<Cgroup> cgroups(const std::string& controller, const std::filesystem::path& root = "/");

// Returns the number behind a word of a file of such lines: "oom_kill 3"; 0 if there is none.
std::uint64_t number_behind(const std::filesystem::path& file, const std::string& word);

}  // namespace clweave::os
