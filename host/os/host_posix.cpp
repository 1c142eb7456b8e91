// SPDX-License-Identifier: Apache-2.0
#include "os/host.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "os/folders.hpp"

namespace clweave::os {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::int64_t memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

User current_user() {
  User out;
  if (const passwd* entry = getpwuid(getuid()); entry != nullptr) {
    out.name = entry->pw_name;
    const std::string_view said = entry->pw_gecos == nullptr ? "" : entry->pw_gecos;
    out.full_name = said.substr(0, said.find(','));
    out.home = entry->pw_dir;
  }
  if (const auto home = home_folder(); !home.empty()) out.home = home.string();
  return out;
}

int process_id() { return getpid(); }

}  // namespace clweave::os
