// SPDX-License-Identifier: Apache-2.0
// merge: the results files of many computers as one.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::results {

struct Merged {
  std::size_t files = 0;             // whose rows are there
  std::size_t rows = 0;              // written
  std::size_t twice = 0;             // rows that were there before, cell by cell
  std::size_t cards = 0;             // devices, as DeviceKey tells them apart
  std::vector<std::string> notes;    // files that are left out, interrupted, or hold what others hold
  std::vector<std::string> missing;  // tasks whose file is not there, interrupted or without a row
};

// Writes the rows of the files that these names mean into `out` ("-": stdout), every cell as it is, under the
// columns of all of them. A row that an earlier one equals cell by cell is written once. Rows that tell
// neither UUID nor label of their card, as those of older files and of processors, get the name of their
// computer as label, or where they hide that their file's: one computer's first card is not another's.
//
// A file NAME-I-of-N*.csv is that of task I of N, from 1: of each NAME the tasks without a finished file are
// named.
//
// Throws `io` with file and line for what is malformed or of another schema, and for rows that tell different
// things of one run of a case; `usage` for a file of `clweave tune`, which in a folder is left out with a
// note; and as results_files and CsvWriter do. Nothing is written unless all can be read.
Merged merge_files(const std::vector<std::string>& names, const std::string& out, bool overwrite);

}  // namespace clweave::results
