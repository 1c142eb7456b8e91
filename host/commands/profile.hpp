// SPDX-License-Identifier: Apache-2.0
// fingerprint: one card per device, for itself and for compare --fingerprint.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::commands {

struct FingerprintOptions {
  std::vector<std::string> files;
  std::string format = "text";
  bool rows = false;  // show which rows a number comes from
};

int fingerprint(const FingerprintOptions&);

}  // namespace clweave::commands
