// SPDX-License-Identifier: Apache-2.0
// profile: a device profile for each device, for the command itself and for compare --fingerprint.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::commands {

struct ProfileOptions {
  std::vector<std::string> files;
  std::string format = "text";
  bool rows = false;  // show which rows a number comes from
};

int print_profiles(const ProfileOptions&);

}  // namespace clweave::commands
