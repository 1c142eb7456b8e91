// SPDX-License-Identifier: Apache-2.0
// results_file: X.csv with a row per case and run, X.samples.csv beside it, and how an interrupted pair goes
// on.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/csv.hpp"
#include "results/row.hpp"

namespace clweave {

// What an interrupted file holds.
struct Unfinished {
  std::string command;  // JSON array, as in the column
  std::string run_id;
  std::vector<Record> records;
  bool complete = false;    // the footer is there
  std::string running_key;  // of the case that was running when it ended, empty if none
  int running_attempts = 0;
};

// X.samples.csv beside X.csv.
std::string samples_path(const std::string& path);

// Which row is meant: device, run and case.
std::string row_key(const Record&);

class ResultsFile {
 public:
  // A new pair of files; "-" writes the rows to stdout and no samples, and so does a path that is no ordinary
  // file. Throws as CsvWriter does.
  ResultsFile(std::string path, std::vector<std::string> axes);

  // The pair as it was left, cut back to its last whole row. `io` when it is no results file.
  static Unfinished read(const std::string& path);
  ResultsFile(std::string path, std::vector<std::string> axes, const Unfinished&);

  // Says on disk that this row's case is about to run, so that whoever resumes knows what took the machine
  // down.
  void running(const std::string& key, int attempt);

  void write(const Record&, const std::vector<Sample>&);

  // The footer. Throws `io` when the disk did not take everything.
  void finish();

  const std::string& path() const { return path_; }

 private:
  std::string marker() const { return path_ + ".running"; }

  std::string path_;
  std::vector<std::string> axes_;
  std::unique_ptr<CsvWriter> rows_;
  std::unique_ptr<CsvWriter> samples_;
  std::size_t written_ = 0;
};

}  // namespace clweave
