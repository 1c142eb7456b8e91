// SPDX-License-Identifier: Apache-2.0
// resume: the options and rows of an interrupted run, so that it can go on.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "commands/options.hpp"
#include "results/results_file.hpp"
#include "suite/device_info.hpp"

namespace clweave::commands {

// An interrupted run.
struct Interrupted {
  Unfinished left;                   // its rows so far
  std::vector<std::string> command;  // that began it
  bool own_file = false;             // the file holds one device of several
};

// Reads the file of --resume; empty if it is complete. Otherwise replaces `options` by those of the command
// that began it, as far as that may decide (recorded.hpp); files are those of `options`. Throws `io` or
// `usage` for a file that cannot be continued.
std::optional<Interrupted> read_interrupted(MeasureOptions& options);

// Throws as check_kernels does, for each row.
void check_kernels_of(const Interrupted&, const MeasureOptions&, const std::vector<DeviceInfo>&);

// Checks that the devices and drivers of the interrupted run are here, and keeps only them: otherwise the
// file would mix rows of several without saying so. Throws `no_device` with what is missing.
void keep_devices_of(const Interrupted&, const MeasureOptions&, std::vector<DeviceInfo>&);

// Returns the key by which rows and files name a device.
std::string device_key_of(const DeviceInfo&, const std::string& label);

}  // namespace clweave::commands
