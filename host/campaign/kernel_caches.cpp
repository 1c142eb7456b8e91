// SPDX-License-Identifier: Apache-2.0
#include "campaign/kernel_caches.hpp"

#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace clweave::campaign {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Tries it, because a file system may be read-only or a quota used up. Leaves nothing behind.
bool can_write(fs::path folder) {
  std::error_code none;
  while (!fs::exists(folder, none) && folder.has_relative_path()) folder = folder.parent_path();
  std::string path = (folder / "clweave-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) return false;
  fs::remove(path, none);
  return true;
}

}  // namespace

std::vector<KernelCache> kernel_caches() {
  const fs::path home = variable("HOME");
  const std::string shared = variable("XDG_CACHE_HOME");
  const fs::path cache = shared.empty() ? home / ".cache" : fs::path(shared);
  std::vector<KernelCache> out = {{"POCL_CACHE_DIR", cache / "pocl"},
                                  {"MESA_SHADER_CACHE_DIR", cache / "mesa_shader_cache"},
                                  {"CUDA_CACHE_PATH", home / ".nv"},
                                  {"NEO_CACHE_DIR", cache / "neo_compiler_cache"}};
  for (auto& one : out) {
    if (const std::string given = variable(one.variable.c_str()); !given.empty()) one.folder = given;
  }
  return out;
}

std::vector<KernelCache> unwritable_kernel_caches() {
  auto out = kernel_caches();
  std::erase_if(out, [](const KernelCache& one) { return can_write(one.folder); });
  return out;
}

std::vector<std::string> moved(const std::vector<KernelCache>& caches, const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& one : caches) out.push_back(one.variable + "=" + folder.string());
  return out;
}

}  // namespace clweave::campaign
