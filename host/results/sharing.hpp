// SPDX-License-Identifier: Apache-2.0
// sharing: an archive of results for others: rows, samples, devices and build logs, without the name of a
// computer or user.
#pragma once
#include <string>
#include <vector>

#include "suite/device_info.hpp"

namespace clweave::results {

// Names that a text must not contain; empty where unknown.
struct Identity {
  std::string host, user, home;  // home: the user's folder
  std::string full_name = {};
};
Identity names_to_redact();

// Replaces the home folder by ~, the user's names by "user", and the computer's name, with or without its
// domain, by "host": as words, in upper and lower case.
std::string anonymous(std::string text, const Identity&);

// Writes an archive of finished results files and their samples: DEVICE.csv, DEVICE.samples.csv, devices.json
// and, if something did not build, build-logs.txt. Column `host` is emptied, and texts of users and drivers
// are made anonymous. Throws `io` and as write_zip.
void share(const std::string& path, const std::vector<std::string>& files, const std::vector<DeviceInfo>&,
           const Identity&);

}  // namespace clweave::results
