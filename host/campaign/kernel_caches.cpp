// SPDX-License-Identifier: Apache-2.0
#include "campaign/kernel_caches.hpp"

#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "os/folders.hpp"
#include "os/temporary_folder.hpp"

namespace clweave::campaign {

namespace fs = std::filesystem;

namespace {

// Tries it, because a file system may be read-only or a quota used up.
bool can_write(fs::path folder) {
  std::error_code none;
  while (!fs::exists(folder, none) && folder.has_relative_path()) folder = folder.parent_path();
  try {
    const TemporaryFolder tried(folder);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<KernelCache> kernel_caches() {
  const fs::path home = os::home_folder(), cache = os::cache_folder();
  std::vector<KernelCache> out = {{"POCL_CACHE_DIR", cache / "pocl"},
                                  {"MESA_SHADER_CACHE_DIR", cache / "mesa_shader_cache"},
                                  {"CUDA_CACHE_PATH", home / ".nv"},
                                  {"NEO_CACHE_DIR", cache / "neo_compiler_cache"}};
  for (auto& one : out) {
    if (const char* given = std::getenv(one.variable.c_str()); given != nullptr && *given != '\0')
      one.folder = given;
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
