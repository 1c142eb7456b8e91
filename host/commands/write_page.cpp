// SPDX-License-Identifier: Apache-2.0
#include "commands/write_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/claims/load.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/shell_word.hpp"
#include "commands/own_kernels.hpp"
#include "commands/read_results.hpp"
#include "page/page.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

// Returns the first row of each file; files of published figures, which were not measured, have none.
std::vector<FileOrigin> origins_of(const std::vector<std::string>& files) {
  std::vector<FileOrigin> out;
  for (const auto& file : files) {
    CsvReader reader(file);
    CsvTable::Row row;
    if (reader.header().empty() || reader.header().front() != columns().front().name || !reader.next(row))
      continue;
    FileOrigin origin{name_as_typed(file), {}};
    if (RecordReader(reader.header(), file, reader.dialect()).read(row, origin.first))
      out.push_back(std::move(origin));
  }
  return out;
}

// Tells which files of other programs are of devices that none of the other files is of.
void tell_lost(const ResultsSet& set) {
  std::set<std::string> lost;
  for (const auto& baseline : set.baselines) {
    const auto here = [&](const DeviceResults* device) { return baseline.runs_on(*device); };
    if (std::ranges::none_of(measured(set), here)) lost.insert(set.files.at(baseline.run.file));
  }
  for (const auto& file : lost)
    log_line("note: {}: times of other programs on a device that no file here is of\n", file);
}

}  // namespace

std::string page_path(const std::string& asked, const std::string& rows) {
  const std::filesystem::path page =
      asked.empty() ? std::filesystem::path(rows).replace_extension(".html") : std::filesystem::path(asked);
  if (page.lexically_normal() == std::filesystem::path(rows).lexically_normal())
    throw Error(ErrorCode::usage, rows + " is to hold the rows: choose another name for the page");
  if (asked.empty()) refuse_link(page.string());
  check_drawing(page.string());
  return page.string();
}

void write_report(const ReportOptions& options) {
  const auto& families = all_families();
  std::optional<RunComparison> changes;
  std::vector<std::string> files = options.files, against = options.against;
  take_own({&files, &against});
  files = unpacked(files);
  if (!against.empty()) {
    const ResultsSet before = read_known(files, Samples::read);
    files = unpacked(against);
    const ResultsSet after = read_known(files, Samples::read);
    changes = compare_runs(before, after, {});
  }
  const ResultsSet& set = read_with_notes(files);
  tell_lost(set);
  std::string command = "clweave report " + shell_words(options.files);
  if (!options.against.empty()) command += " --against " + shell_words(options.against);
  const Input input = input_of({.set = &set,
                                .families = &families,
                                .claims = load_claims(""),
                                .origins = origins_of(files),
                                .changes = changes ? &*changes : nullptr,
                                .command = command + " -o " + shell_word(options.out)});
  write_drawing(options.out, html_of(page_of(input)));
  log_line("clweave: report: {}\n", options.out);
}

}  // namespace clweave::commands
