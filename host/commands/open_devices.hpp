// SPDX-License-Identifier: Apache-2.0
// open_devices: the start of every command that measures: devices, sampling options, file names.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "campaign/runner.hpp"
#include "commands/options.hpp"

namespace clweave::commands {

// Returns the sampling options of the preset, overridden by those given. Peaks have those that the suite's
// own cases have, also beside kernels of the user's.
enum class Sampled { cases, peaks };
SamplingOptions sampling_of(const MeasureOptions&, Sampled = Sampled::cases);

RunnerOptions runner_options(const MeasureOptions&, std::function<void()> tick);
std::unique_ptr<Runner> runner_of(const MeasureOptions&, std::function<void()> tick);

// Returns every entry, duplicates too. Logs the errors of drivers. Empty after an interrupt. Throws
// `no_device` if there is none.
std::vector<DeviceInfo> listed_devices(Runner&);

// Returns the devices that match the selectors, or all if there are none; in place of an entry that is a
// duplicate the first. Empty after an interrupt. Throws `no_device` with a list of the devices that exist.
std::vector<DeviceInfo> chosen_devices(Runner&, const std::vector<std::string>& selectors);

// Returns the path for the rows: "-" for any other name of stdout, such as /dev/stdout. Throws `usage` for
// the file that stderr goes to, because each would overwrite the other.
std::string rows_path(const std::string& path);

// Returns results/<device>/<UTC time><suffix>.csv for each device; identical ones get a number.
std::vector<std::string> default_paths(const std::vector<DeviceInfo>&, const std::string& suffix);

}  // namespace clweave::commands
