// SPDX-License-Identifier: Apache-2.0
// write_page: writes results files as one HTML page.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::commands {

struct ReportOptions {
  std::vector<std::string> files;    // before a change, where there is `against`
  std::vector<std::string> against;  // the same device after the change
  std::string out;
};

// Returns the path of a run's page: `asked`, or beside the rows. Throws `usage` if the page would overwrite
// the rows.
std::string page_path(const std::string& asked, const std::string& rows);

// Throws as read_results and write_drawing.
void write_report(const ReportOptions&);

}  // namespace clweave::commands
