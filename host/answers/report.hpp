// SPDX-License-Identifier: Apache-2.0
// report: what is printed, as a value.
#pragma once
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/table.hpp"

namespace clweave {

// How a report is printed: for people, or for a tool or a page.
enum class Format { text, csv, json, markdown };

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

}  // namespace clweave
