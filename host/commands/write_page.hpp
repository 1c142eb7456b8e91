// SPDX-License-Identifier: Apache-2.0
// reporting: results files as one HTML page.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::commands {

struct ReportOptions {
  std::vector<std::string> files,
      against;  // against: a device after a change; then `files` are from before it
  std::string out;
};

// Where the page of a run goes: `asked`, or beside its first file. `usage` where rows would be lost by it.
std::string page_path(const std::string& asked, const std::string& rows);

// Throws as read_results and write_drawing.
void write_report(const ReportOptions&);

}  // namespace clweave::commands
