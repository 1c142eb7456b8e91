// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup_linux.hpp"

#include <algorithm>
#include <fstream>

#include "base/text.hpp"

namespace clweave::os {

namespace fs = std::filesystem;

std::vector<Cgroup> cgroups(const std::string& controller, const fs::path& root) {
  std::vector<Cgroup> out;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const bool is_v2 = parts[0] == "0";
    const auto controllers = split(parts[1], ',');
    if (!is_v2 && std::ranges::find(controllers, controller) == controllers.end()) continue;
    const fs::path mounted = root / "sys/fs/cgroup" / (is_v2 ? "" : controller);
    for (fs::path inner = fs::path(parts[2]).relative_path();; inner = inner.parent_path()) {
      out.push_back({inner.empty() ? mounted : mounted / inner, is_v2});
      if (inner.empty()) break;
    }
  }
  return out;
}

std::uint64_t number_behind(const fs::path& file, const std::string& wanted) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  for (std::string word; in >> word >> value;) {
    if (word == wanted) return value;
  }
  return 0;
}

}  // namespace clweave::os
