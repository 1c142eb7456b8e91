// SPDX-License-Identifier: Apache-2.0
// results_file: X.csv with a row per case and run, X.samples.csv beside it, and how an interrupted pair goes
// on.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.hpp"
#include "base/file_lock.hpp"
#include "results/row.hpp"

namespace clweave::results {

// Where a file's rows come from. The rows tell the same; until the first is there, only a note beside the
// file does.
struct Origin {
  std::string command;  // JSON array, as in the column
  std::string run_id;
  std::string version;               // of clweave
  std::vector<std::string> devices;  // Record::device_key of each; empty: not known
};

// What an interrupted file holds.
struct Unfinished {
  Origin origin;
  std::vector<Record> records;  // those that stay
  bool complete = false;        // nothing is left to do
  std::string running_key;      // of the case that was running when it ended, empty if none
  int running_attempts = 0;
  std::vector<bool> kept;  // per row of the file: those of cases that were never run are taken out again
  std::shared_ptr<FileLock> lock;
};

// X.samples.csv beside X.csv.
std::string samples_path(const std::string& path);
bool is_samples_path(const std::string& path);

// X-at-once.csv beside X.csv: what equal devices took while all of them worked. For comparison with the
// other alone: a folder's name does not mean it.
inline constexpr std::string_view at_once_ending = "-at-once.csv";
std::string at_once_path(const std::string& path);

// Which row is meant: device, run and case, and of a baseline its api.
std::string row_key(const Record&);

class ResultsFile {
 public:
  // A new pair of files; "-" writes the rows to stdout and no samples, and so does a path that is no ordinary
  // file. Throws as CsvWriter does, and `usage` when another process writes it, for a name that samples have,
  // and for what is in the way of its samples, be it those of other rows. `overwrite`: what was there goes.
  ResultsFile(const std::string& path, std::vector<std::string> axes, Origin, bool overwrite = false);

  // The pair as it was left; nobody else may write it as long as the value lives. `io` when it is no results
  // file; `usage`, with what differs and what to type, when it cannot go on: the rows of another version, or
  // columns that are not today's: `axes`, and behind them those of baselines where the run had any.
  static Unfinished read(const std::string& name, const std::vector<std::string>& axes);
  // Goes on behind its last whole row.
  ResultsFile(const std::string& path, std::vector<std::string> axes, Origin, const Unfinished&);

  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  // Says on disk that this row's case is about to run, so that whoever resumes knows what took the machine
  // down. An orderly end of this process takes it back.
  void running(const std::string& key, int attempt);

  void write(const Record&, const std::vector<Sample>&);

  // The footer. Throws `io` when the disk did not take everything.
  void finish();

  const std::string& path() const { return path_; }

 private:
  void open_samples(bool append);
  void note(const std::string& key, int attempt) const;

  std::string path_;
  std::vector<std::string> axes_;
  Origin origin_;
  std::shared_ptr<FileLock> lock_;
  std::unique_ptr<CsvWriter> rows_;
  std::unique_ptr<CsvWriter> samples_;
  std::size_t written_ = 0;
  bool running_ = false;
};

}  // namespace clweave::results
