// SPDX-License-Identifier: Apache-2.0
// check: the rules that every family keeps, as they can be tried without a device.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

struct Family;

// What breaks a rule, a sentence each; empty: none. `stems` are the kernel files there are. Every case of
// every preset is planned on every imaginary device; the smallest cases are filled and checked, too.
std::vector<std::string> problems_of(const Family&, const std::vector<std::string>& stems);

}  // namespace clweave::suite
