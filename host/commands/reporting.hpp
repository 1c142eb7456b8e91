// SPDX-License-Identifier: Apache-2.0
// reporting: results files as one HTML page.
#pragma once
#include <string>
#include <vector>

namespace clweave {

struct ReportOptions {
  std::vector<std::string> files,
      against;  // against: a device after a change; then `files` are from before it
  std::string out;
};

// Throws as read_results, and `io` where the page cannot be written.
void write_report(const ReportOptions&);

}  // namespace clweave
