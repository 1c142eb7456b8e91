// SPDX-License-Identifier: Apache-2.0
// sources: the programs of a run as files, for any other compiler.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "suite/selection.hpp"

namespace clweave::compilers {

// A folder of files for people.
class Folder {
 public:
  // Throws `io` when there is no such folder and none can be made.
  explicit Folder(std::filesystem::path);
  // Throws `io`.
  void write(const std::string& file, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

// Writes every distinct program to a file of its own, FAMILY-FINGERPRINT.cl, and an index.json of all: file,
// family, kernel_hash, options, entry_points, cases and devices that need it, and whether a compiler may well
// refuse it.
class SourcesFolder {
 public:
  explicit SourcesFolder(std::filesystem::path path) : folder_(std::move(path)) {}  // throws `io`

  // Writes the sources of the jobs that this device can run. Throws `io`.
  void add(const std::vector<Job>&, const DeviceInfo&, const std::string& kernel_dir);

  // Writes the index; returns how many programs there are. Throws `io`.
  std::size_t finish() const;

 private:
  Folder folder_;
  struct Program {
    std::string family, kernel_hash, options;
    bool may_fail_to_build = false;
    std::vector<std::string> entry_points = {}, devices = {}, cases = {};
  };
  std::map<std::string, Program> programs_;  // by file
};

}  // namespace clweave::compilers
