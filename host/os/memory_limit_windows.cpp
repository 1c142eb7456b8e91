// SPDX-License-Identifier: Apache-2.0
#include "os/memory_limit.hpp"

#include <windows.h>

namespace clweave::os {

// Of the job that this process is in, as of a container.
std::optional<MemoryLimit> memory_limit(const std::filesystem::path&) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION job{};
  if (QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &job, sizeof job, nullptr) == 0 ||
      (job.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) == 0)
    return {};
  return MemoryLimit{job.JobMemoryLimit, 0, "job object"};
}

// Windows kills nobody for want of memory: allocations fail.
MemoryKills memory_kills(const std::filesystem::path&) { return {}; }

std::string memory_kill_since(const MemoryKills&, const std::filesystem::path&) { return {}; }

}  // namespace clweave::os
