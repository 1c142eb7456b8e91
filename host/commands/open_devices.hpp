// SPDX-License-Identifier: Apache-2.0
// measuring: what every command that measures begins with: devices, sampling rule, file names.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "campaign/runner.hpp"
#include "commands/options.hpp"

namespace clweave::commands {

// How the options ask for sampling: by the preset, then by what was given.
SamplingOptions rule_of(const MeasureOptions&);

RunnerOptions runner_options(const MeasureOptions&, std::function<void()> tick);
std::unique_ptr<Runner> runner_of(const MeasureOptions&, std::function<void()> tick);

// The devices that the selectors mean; all when there are none. Complaints about drivers go to stderr. Empty
// after an interrupt. Throws `no_device` with the list of those there are.
std::vector<DeviceInfo> chosen_devices(Runner&, const std::vector<std::string>& selectors);

// Where the rows go: "-" for any other name of stdout, such as /dev/stdout. `usage` for the file that stderr
// goes to: each would write over the other.
std::string rows_path(const std::string& path);

// results/<device>/<UTC time><suffix>.csv for each; equal devices get a number.
std::vector<std::string> default_paths(const std::vector<DeviceInfo>&, const std::string& suffix);

}  // namespace clweave::commands
