// SPDX-License-Identifier: Apache-2.0
// commands: the commands of the program, a file each. They return an Exit and throw `usage`, `no_device` and
// `io`.
#pragma once
#include <string>
#include <vector>

#include "commands/options.hpp"

namespace clweave::commands {

int devices(const Options&);
int list(const Options&);
int run(Options, const std::vector<std::string>& arguments);
int tune(const Options&, const std::vector<std::string>& arguments);
int roofline(const Options&);
int compare(const Options&);
int claims(const Options&);
int fingerprint(const Options&);

}  // namespace clweave::commands
