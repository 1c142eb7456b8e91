// SPDX-License-Identifier: Apache-2.0
// results_files: finds the files that the arguments of a command mean.
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
    each,  // the same, with archives of other programs, to say of each why it is refused
  };
  std::vector<std::string> paths;
  std::vector<std::string> notes;  // on files of folders that were left out
};

// Replaces folders by the files below them that hold what is wanted, in the order of their names, without
// `without` and without an archive of the CSV beside it. Passes over CSVs of other programs, and for `all`
// those without a row yet; what has clweave's header stays, whatever follows. Skips samples, which belong to
// the rows beside them, even if named. Throws `io` for a name that is neither file nor folder, and `usage` if
// there is no file.
ResultsFiles results_files(const std::vector<std::string>& names, ResultsFiles::What,
                           const std::string& without = {});

// Removes samples from the names, unless there is nothing else.
void pass_over_samples(std::vector<std::string>& names);

}  // namespace clweave::results
