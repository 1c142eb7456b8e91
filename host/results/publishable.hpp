// SPDX-License-Identifier: Apache-2.0
// publishable: results of others, checked before everybody may see them.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::results {

// A CSV of rows, alone or in an archive.
struct PublishableRows {
  std::string name;      // of the CSV, behind that of its archive
  std::string rows;      // as anonymous_rows has them
  std::string samples;   // beside them in an archive; empty: none
  bool finished = true;  // it has its end mark
};

// Reads a CSV of rows or an archive of such; `name` is what messages call it. Returns nothing for the
// published figures. Throws `io` for text with the path of somebody's home folder; for markup in a name of a
// device, its driver or its computer, as no driver has any; for a CSV that another program wrote again; for
// what is no results file or a damaged archive; and for an archive of clweave run --share that names its
// computer, holds other files, or rows without the end mark. Whether the rows are plausible is for
// read_results to say.
std::vector<PublishableRows> publishable(const std::string& path, const std::string& name);

}  // namespace clweave::results
