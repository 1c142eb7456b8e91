// SPDX-License-Identifier: Apache-2.0
#include "results/each_row.hpp"

#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "suite/family.hpp"

namespace clweave::results {

namespace {

// Returns whether the file was interrupted: rows follow its last footer.
bool each_row_of(const std::string& file, const std::vector<Family>& families,
                 const std::function<void(const Record&)>& take) {
  CsvReader reader(file);
  RecordReader records(reader.header(), file, reader.dialect());
  CsvTable::Row row;
  std::size_t since_footer = 0;
  for (Record record; reader.next(row);) {
    if (records.read(row, record)) {
      add_later_axes(record, families);
      take(record);
      ++since_footer;
      continue;
    }
    if (record.run_id != std::to_string(since_footer))
      throw Error(ErrorCode::io, fmt::format("{}:{}: the footer counts {} rows, but there are {}", file,
                                             row.line, record.run_id, since_footer));
    since_footer = 0;
  }
  records.check_header();
  if (!reader.complete_last_line())
    reader.fail("the file ends within this row: clweave run --resume finishes what was interrupted");
  return since_footer > 0;
}

}  // namespace

std::vector<std::string> each_row(const std::vector<std::string>& files, const std::vector<Family>& families,
                                  const std::function<void(const Record&)>& take) {
  std::vector<std::string> notes;
  for (const auto& file : files) {
    if (each_row_of(file, families, take)) notes.push_back(file + " was interrupted");
  }
  return notes;
}

}  // namespace clweave::results
