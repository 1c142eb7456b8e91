// SPDX-License-Identifier: Apache-2.0
// results_files: which files are meant by the names that a command was given.
#pragma once
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::results {

inline constexpr const char* archive_ending = ".zip";  // of what clweave run --share writes

struct ResultsFiles {
  enum What {
    rows,  // CSVs of rows
    all,   // and archives of them, and the published figures
  };
  std::vector<std::string> paths;
  std::vector<std::string> notes;  // what was left out of folders
};

// A folder stands for those files below it that hold what is wanted, in the order of their names, without
// `without` and without an archive of the CSV beside it; samples, which belong to the rows beside them, are
// passed over wherever they are named. Throws `io` for a name that is neither file nor folder, and `usage`
// where there is no file.
ResultsFiles results_files(const std::vector<std::string>& names, ResultsFiles::What,
                           const std::string& without = {});

// Samples among the names, unless there is nothing else: for what counts its files.
void pass_over_samples(std::vector<std::string>& names);

}  // namespace clweave::results
