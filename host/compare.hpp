// SPDX-License-Identifier: Apache-2.0
// compare: several results files side by side: one device before and after (compare_regression), or several
// devices (compare_architectures).
#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compare_results.hpp"
#include "terminal.hpp"

namespace clweave {

struct CompareOptions {
  std::vector<std::string> files;    // regression: the old ones, when `against` has the new
  std::vector<std::string> against;  // several sessions a side, best measured in turns
  std::vector<std::string> noise;    // sessions with nothing changed between them
  std::string mode = "auto";         // regression, architectures, auto
  std::string fail_on;               // slower, slower:5%, broken, joined by commas
  std::vector<std::string> families;
  double margin = 0.03;  // a ratio within 1 +- this is no change
  bool all = false;      // every case, every table
  Format format = Format::text;
};

// What is printed: lines and tables, as a terminal or Markdown shows them.
class Report {
 public:
  void line(std::string text) { parts_.emplace_back(std::move(text)); }
  void table(Table table) { parts_.emplace_back(std::move(table)); }

  std::string text(bool colour) const;
  std::string markdown() const;

 private:
  std::vector<std::variant<std::string, Table>> parts_;
};

// Digits, points and x: 4096, 0.5, 16x16.
bool is_number(const std::string&);

// A case in few words: its family and the axes that vary among `cases`. Words stand alone, numbers with their
// axis' name.
class ShortNames {
 public:
  void learn(const CaseTimes&);
  std::string of(const CaseTimes&) const;

 private:
  std::map<std::string, std::map<std::string, std::string>> first_;  // family -> axis -> the value met first
  std::map<std::string, std::map<std::string, bool>> varies_;
};

// `clweave compare`. Returns an Exit; throws `usage` and `io`.
int compare(const CompareOptions&);

}  // namespace clweave
