// SPDX-License-Identifier: Apache-2.0
// sharing: results in one file for others: rows, samples, devices, build logs of what failed, and no name of
// a computer or a user.
#pragma once
#include <string>
#include <vector>

#include "suite/device_info.hpp"

namespace clweave::results {

// What a text may betray. Empty: nothing is known of it.
struct Identity {
  std::string host, user, home;  // home: the user's folder
};
Identity identity_here();

// With the home folder as ~, the user's name as a folder's as "user", and the computer's as a word, with its
// domain or without, as "host".
std::string anonymous(std::string text, const Identity&);

// Writes an archive of finished results files and their samples: DEVICE.csv, DEVICE.samples.csv, devices.json
// and, where something did not build, build-logs.txt. Column `host` is empty; what people and drivers wrote
// is anonymous. Throws `io` and as write_zip.
void share(const std::string& path, const std::vector<std::string>& files, const std::vector<DeviceInfo>&,
           const Identity&);

}  // namespace clweave::results
