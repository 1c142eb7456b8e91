// SPDX-License-Identifier: Apache-2.0
// merge: joins the results files of many computers.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::results {

struct Merged {
  std::size_t files = 0;             // whose rows are in it
  std::size_t rows = 0;              // written
  std::size_t twice = 0;             // rows that equal an earlier one cell by cell
  std::size_t devices = 0;           // that DeviceKey distinguishes
  std::vector<std::string> notes;    // on files that are left out, interrupted, or have the rows of others
  std::vector<std::string> missing;  // tasks whose file is missing, interrupted or empty
};

// Writes the rows of the files that these names mean into `out` ("-": stdout), every cell unchanged, under
// the columns of all of them. Writes a row that equals an earlier one cell by cell once. Rows with neither
// UUID nor label, as those of older files and of CPUs, get the name of their computer as label, or that of
// their file if they hide it, to keep apart devices of different computers; so do rows without a label whose
// UUID several computers report, with a note.
//
// A file NAME-I-of-N*.csv is that of task I of N, from 1: for each NAME the tasks without a finished file are
// named.
//
// Throws `io` with file and line for rows that are malformed, of another schema, or contradict each other
// about one run of a case; `usage` for a file of `clweave tune`, which in a folder is left out with a note;
// and as results_files and CsvWriter do. Writes nothing unless all can be read.
Merged merge_files(const std::vector<std::string>& names, const std::string& out, bool overwrite);

}  // namespace clweave::results
