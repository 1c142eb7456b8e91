// SPDX-License-Identifier: Apache-2.0
// check: the rules for families, checked without a device.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

struct Family;

// Returns a sentence per broken rule. Plans every case of every preset on every mock device; the smallest
// cases are also filled and checked. `stems` are the existing kernel files.
std::vector<std::string> problems_of(const Family&, const std::vector<std::string>& stems);

}  // namespace clweave::suite
