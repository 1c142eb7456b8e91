// SPDX-License-Identifier: Apache-2.0
// host: what the system tells of this computer, its user and this process. What is unknown is empty or 0.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::os {

std::string host_name();
std::string system_name();     // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
std::string processor_name();  // the model

// Returns the bytes of the first processor's caches, by level.
std::vector<std::int64_t> processor_caches();

std::int64_t memory_bytes();
// Returns what can be allocated without swapping.
std::int64_t available_memory_bytes();

struct User {
  std::string name, full_name;
  std::string home;
};
User current_user();

int process_id();

}  // namespace clweave::os
