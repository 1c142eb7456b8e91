// SPDX-License-Identifier: Apache-2.0
// sharing: an archive of results for others: rows, samples, devices and build logs, without the name of a
// computer or user.
#pragma once
#include <string>
#include <vector>

#include "base/csv.hpp"
#include "suite/device_info.hpp"

namespace clweave::results {

// The other entries of an archive, beside CSVs.
inline constexpr const char* devices_entry = "devices.json";
inline constexpr const char* build_logs_entry = "build-logs.txt";

// Names that a text must not contain; empty where unknown.
struct Identity {
  std::string host, user, home;  // home: the user's folder
  std::string full_name = {};
};
Identity names_to_redact();

// Replaces the home folder by ~, the user's names by "user", and the computer's name, with or without its
// domain, by "host": as words, in upper and lower case.
std::string anonymous(std::string text, const Identity&);

// Rows of a file as others may see them.
struct AnonymousRows {
  std::string device;      // of the first row, as a file name
  std::string rows;        // a CSV
  std::string build_logs;  // of what did not build
  std::string host;        // that a row named before
  bool finished = false;   // the last line is the end mark
};

// Empties column `host` and makes texts of users and drivers anonymous. Throws as CsvReader and RecordReader
// do.
AnonymousRows anonymous_rows(CsvReader&, const std::string& name, const Identity&);

// Writes an archive of finished results files and their samples: DEVICE.csv, DEVICE.samples.csv, devices.json
// and, if something did not build, build-logs.txt. Throws `io` and as write_zip.
void share(const std::string& path, const std::vector<std::string>& files, const std::vector<DeviceInfo>&,
           const Identity&);

}  // namespace clweave::results
