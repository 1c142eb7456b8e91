// SPDX-License-Identifier: Apache-2.0
#include "os/drivers.hpp"

#include "os/system_windows.hpp"

namespace clweave::os {

std::string opencl_library() { return "OpenCL.dll"; }
std::string nvml_library() { return "nvml.dll"; }

// Drivers register themselves in the registry: values whose names are the paths of their libraries.
std::vector<std::filesystem::path> registered_drivers() {
  std::vector<std::filesystem::path> out;
  HKEY key = nullptr;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Khronos\\OpenCL\\Vendors", 0, KEY_READ, &key) !=
      ERROR_SUCCESS)
    return out;
  wchar_t name[1024];
  for (DWORD at = 0, length = 1024;
       RegEnumValueW(key, at, name, &length, nullptr, nullptr, nullptr, nullptr) == ERROR_SUCCESS;
       ++at, length = 1024)
    out.emplace_back(std::wstring(name, length));
  RegCloseKey(key);
  return out;
}

std::string library_of_driver(const std::filesystem::path& registered) { return registered.string(); }

std::vector<std::string> forbidden_nodes(const std::filesystem::path&) { return {}; }

const char* how_to_install_opencl() {
  return "Drivers of GPUs bring OpenCL.dll and an OpenCL of their own: install your vendor's newest (NVIDIA, "
         "AMD, Intel). This processor becomes a device by Intel's CPU runtime for OpenCL";
}

std::vector<std::pair<const char*, const char*>> place_variables() {
  return {{"PATH", "Folders in which OpenCL.dll is searched, after Windows' own."},
          {"LOCALAPPDATA", "clweave\\tuned.json in it keeps tuned configurations."}};
}

}  // namespace clweave::os
