// SPDX-License-Identifier: Apache-2.0
#include "campaign/wrong_alike.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/number.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

namespace {

// Returns the device and the task of a row.
std::string task_of(const Family& family, const Record& record) {
  std::string out = record.platform + "/" + record.device_id;
  for (const auto& axis : family.axes) {
    if (!axis.tunable && axis.name != kernel_axis) out += "/" + record.axis(axis.name);
  }
  return out;
}

// Returns whether two right kernels may have written these: each may be off by what the check allows.
bool agree(const suite::WrongElement& a, const suite::WrongElement& b) {
  if (a.got == b.got) return true;
  const auto x = number_of<double>(a.got), y = number_of<double>(b.got);
  return x && y && std::abs(*x - *y) <= a.tolerance + b.tolerance;
}

// Returns whether elements are wrong in both, and all of these agree. Where the check's tolerance ends, one
// may be wrong in an element and the other not.
bool agree(const WrongOutput& a, const WrongOutput& b) {
  std::size_t both = 0;
  for (const auto& one : a.sample) {
    const auto other = std::ranges::find(b.sample, one.index, &suite::WrongElement::index);
    if (other == b.sample.end()) continue;
    if (!agree(one, *other)) return false;
    ++both;
  }
  return a.output == b.output && 2 * both > std::max(a.sample.size(), b.sample.size());
}

std::string sentence(const std::vector<const WrongRow*>& rows, std::size_t tasks) {
  const WrongRow& first = *rows.front();
  std::vector<std::string> kernels;
  for (const auto& value : first.family->axis(kernel_axis)->values) {
    const auto is_of = [&value](const WrongRow* row) {
      return row->record.axis(kernel_axis) == text_of(value);
    };
    if (std::ranges::any_of(rows, is_of)) kernels.push_back(text_of(value));
  }
  const std::string last = kernels.back();
  kernels.pop_back();
  const auto& at = *std::ranges::min_element(first.output.sample, {}, &suite::WrongElement::index);
  return fmt::format(
      "{}: kernels {} and {} agree with one another and differ from {} at {}[{}]: {}, not {}{}. Look there "
      "first, then at what all of them are given: arguments, contents, numbers of work-items",
      first.record.family, fmt::join(kernels, ", "), last, first.output.rule, first.output.output, at.index,
      at.got, at.wanted,
      tasks == 1   ? ""
      : tasks == 2 ? ", and in another case"
                   : fmt::format(", and in {} other cases", tasks - 1));
}

}  // namespace

std::vector<std::string> wrong_alike(const std::vector<WrongRow>& wrong, const std::vector<Record>& records) {
  // Families in the order of their rows.
  std::vector<const Family*> families;
  std::map<std::string, std::vector<const WrongRow*>> tasks;
  for (const auto& row : wrong) {
    if (std::ranges::find(families, row.family) == families.end()) families.push_back(row.family);
    tasks[row.family->name + "/" + task_of(*row.family, row.record)].push_back(&row);
  }
  std::vector<std::string> out;
  for (const auto* family : families) {
    // Counts those that are right, and those that are wrong in another way, as behind the end of a buffer,
    // too.
    std::map<std::string, std::size_t> seen;
    for (const auto& record : records) {
      const bool tells =
          record.ok() || record.status == Status::wrong_result || record.status == Status::implausible;
      if (record.family == family->name && record.finding.empty() && !record.is_baseline() && tells)
        ++seen[family->name + "/" + task_of(*family, record)];
    }
    const std::vector<const WrongRow*>* first = nullptr;
    std::size_t found = 0;
    for (const auto& [task, rows] : tasks) {
      const WrongRow& one = *rows.front();
      if (one.family != family || seen[task] != rows.size()) continue;
      std::set<std::string> kernels;
      for (const auto* row : rows) kernels.insert(row->record.axis(kernel_axis));
      const auto is_alike = [&one](const WrongRow* row) { return agree(row->output, one.output); };
      if (kernels.size() < 2 || !std::ranges::all_of(rows, is_alike)) continue;
      if (found++ == 0) first = &rows;
    }
    if (first != nullptr) out.push_back(sentence(*first, found));
  }
  return out;
}

}  // namespace clweave::campaign
