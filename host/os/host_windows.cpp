// SPDX-License-Identifier: Apache-2.0
#include "os/host.hpp"

#include <fmt/format.h>

#include <map>

#include "os/folders.hpp"
#include "os/system_windows.hpp"

namespace clweave::os {

std::string host_name() {
  wchar_t name[256];
  DWORD length = 256;
  return GetComputerNameExW(ComputerNameDnsHostname, name, &length) != 0 ? narrow({name, length}) : "";
}

std::string system_name() {
  constexpr const wchar_t* key = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
  std::string name = registry_text(key, L"ProductName");
  if (name.empty()) name = "Windows";
  if (const std::string release = registry_text(key, L"DisplayVersion"); !release.empty())
    name += " " + release;
  return fmt::format("{}, build {}", name, registry_text(key, L"CurrentBuild"));
}

std::string processor_name() {
  return registry_text(L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", L"ProcessorNameString");
}

std::vector<std::int64_t> processor_caches() {
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> all(bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (all.empty() || GetLogicalProcessorInformation(all.data(), &bytes) == 0) return {};
  std::map<int, std::int64_t> by_level;
  for (const auto& one : all) {
    if (one.Relationship == RelationCache && one.Cache.Type != CacheInstruction &&
        (one.ProcessorMask & 1U) != 0)
      by_level.emplace(one.Cache.Level, one.Cache.Size);
  }
  std::vector<std::int64_t> out;
  for (const auto& [level, size] : by_level) {
    if (level == static_cast<int>(out.size()) + 1) out.push_back(size);
  }
  return out;
}

namespace {

MEMORYSTATUSEX memory() {
  MEMORYSTATUSEX out{};
  out.dwLength = sizeof out;
  GlobalMemoryStatusEx(&out);
  return out;
}

}  // namespace

std::int64_t memory_bytes() { return static_cast<std::int64_t>(memory().ullTotalPhys); }

std::int64_t available_memory_bytes() { return static_cast<std::int64_t>(memory().ullAvailPhys); }

User current_user() {
  wchar_t name[257];
  DWORD length = 257;
  User out;
  if (GetUserNameW(name, &length) != 0) out.name = narrow({name, length - 1});
  out.home = home_folder().string();
  return out;
}

int process_id() { return static_cast<int>(GetCurrentProcessId()); }

}  // namespace clweave::os
