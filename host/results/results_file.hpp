// SPDX-License-Identifier: Apache-2.0
// results_file: X.csv with a row per case and run and X.samples.csv beside it, and how an interrupted pair is
// resumed.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.hpp"
#include "os/file_lock.hpp"
#include "results/row.hpp"

namespace clweave::results {

// The origin of a file's rows, which their cells repeat. A note beside the file holds it until the first row
// is written.
struct Origin {
  std::string command;  // JSON array, as in the column
  std::string run_id;
  std::string version;               // of clweave
  std::vector<std::string> devices;  // Record::device_key of each; empty: unknown
  // By its key what its platform listed (DeviceInfo::listing), of each device without an address of its own.
  std::map<std::string, std::string> listings = {};
};

// The content of an interrupted file.
struct Unfinished {
  Origin origin;
  std::vector<Record> records;  // that are kept
  bool complete = false;        // all cases were measured
  std::string running_key;      // of the case that was running at the end; empty: none
  int running_attempts = 0;
  std::vector<bool> kept;  // per row of the file: rows of cases that were never run are removed
  std::shared_ptr<FileLock> lock;
};

// X.samples.csv beside X.csv.
std::string samples_path(const std::string& path);
bool is_samples_path(const std::string& path);

// X-at-once.csv beside X.csv holds the times of identical devices that worked at the same time. It serves
// comparison with X.csv alone, so a folder's name does not include it.
inline constexpr std::string_view at_once_ending = "-at-once.csv";
std::string at_once_path(const std::string& path);

// Returns the key of a row: device, run and case, and of a baseline its api.
std::string row_key(const Record&);

class ResultsFile {
 public:
  // Creates a pair of files; "-" writes the rows to stdout without samples, as does a path that is not a
  // regular file. Throws as CsvWriter does, and `usage` if another process writes the file, for a name of
  // samples, and if a file is in the way of its samples. `overwrite` replaces existing files.
  ResultsFile(const std::string& path, std::vector<std::string> axes, Origin, bool overwrite = false);

  // Reads an interrupted pair, which stays locked while the value lives. Throws `io` if it is no results
  // file; `usage`, with what differs and what to type, if it cannot be resumed: rows of another version, or
  // columns other than `axes` and those of baselines.
  static Unfinished read(const std::string& name, const std::vector<std::string>& axes);
  // Continues after its last complete row.
  ResultsFile(const std::string& path, std::vector<std::string> axes, Origin, const Unfinished&);

  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  // Notes on disk that this row's case is about to run, so that a resumed run knows which case took the
  // machine down. The note is removed when this process ends normally.
  void mark_started(const std::string& key, int attempt);

  void write(const Record&, const std::vector<Sample>&);

  // Writes the footer. Throws `io` if not everything could be written.
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
