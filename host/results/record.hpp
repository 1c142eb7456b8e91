// SPDX-License-Identifier: Apache-2.0
// record: a CSV row of results and the table of its columns.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/csv.hpp"
#include "results/device_key.hpp"
#include "results/status.hpp"
#include "suite/axis.hpp"
#include "suite/measurement.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::results {

inline constexpr const char* opencl_api = "opencl";
inline constexpr const char* schema_name = "clweave-";  // and its version

struct Record : Measurement {
  // Identify the case, the run and the device.
  std::string schema = "clweave-1";
  std::string run_id;
  Count run;
  std::string time_utc;
  std::string version;
  std::string command;
  Count seed;
  Count order;
  std::string host;
  std::string os;
  std::string cpu;
  std::string loader;
  std::string platform;
  std::string vendor;
  std::string device;
  std::string device_id;
  std::string uuid;
  std::string label;
  std::string device_type;
  std::string driver;
  Count compute_units;
  std::string api = opencl_api;
  std::string family;
  std::string case_id;
  // Tell the outcome.
  Status status = Status::none;
  std::string reason;
  Verified verified = Verified::none;
  std::string known_incorrect;
  std::string tuned;
  // Describe the timing, and the conditions while it ran.
  Timer timer = Timer::none;
  std::string timer_reason;
  std::string method;
  std::string cache;
  Count batch;
  Count samples;
  std::string converged;
  Number time_s;
  Number time_low_s;
  Number time_high_s;
  std::string steps_s;
  Number p25_s;
  Number p75_s;
  Number p95_s;
  Number mean_s;
  Number sd_s;
  Number lag1;
  Count outliers;
  Number throttled;
  Number steal;
  Number other_cpus;
  Number cpu_wait;
  Number quota;
  Count swapped_pages;
  std::string disturbed;
  Number clock_mhz;
  Number theoretical_gb_per_s;
  Number theoretical_gflop_per_s;
  std::string meter;
  Number core_mhz;
  Number memory_mhz;
  Number power_w;
  Number temperature_c;
  std::string throttle_reasons;
  // Are derived from the measurement, or conclude from several.
  std::string meter_reason;
  Number idle_w;
  Number joules_per_item;
  Number joules_per_byte;
  Number joules_per_flop;
  std::string cached;
  std::string finding;
  Number value_low;
  Number value_high;
  std::string unit;
  // Describe the program.
  Number build_ms;
  std::string build_options;
  std::string kernel_hash;
  std::vector<std::pair<std::string, std::string>> axes;  // one column per axis name of any family

  // Returns the cell of an axis; empty if the row has none of that name.
  std::string axis(const std::string& name) const;
  DeviceKey device_key() const { return {platform, device, device_id, driver, uuid, label}; }
  bool ok() const { return status == Status::ok; }
  bool is_baseline() const { return api != opencl_api; }
  // Tells whether the exit code must show its failure: not if it is unsupported or known to be incorrect.
  bool failed() const { return !ok() && status != Status::unsupported && known_incorrect.empty(); }
};

// Returns the speed that is compared with the row's peak: Gop/s of arithmetic, else GB/s.
Number rate_of(const Record&);

// Gives the reason of an ok row that no preset has: the family's refinement added it. Another session may
// choose another case.
inline constexpr const char* chosen_here = "chosen by what the other rows say";

struct Column {
  std::string name;
  std::string unit;  // empty: text or a plain count
  std::string meaning;
  std::variant<std::string Record::*, Number Record::*, Count Record::*, Status Record::*, Verified Record::*,
               Timer Record::*, Peak Record::*>
      member;
  unsigned flags = 0;

  // Flags: was added after the first files of this schema, which are read without it.
  static constexpr unsigned later = 1;
  // Follows from the samples, so that a row without a valid measurement has none.
  static constexpr unsigned from_samples = 2;
  // Is text of users and drivers, which may name the user or the computer. All other text is the suite's own,
  // or describes the device.
  static constexpr unsigned free_text = 4;
  bool is(unsigned flag) const { return (flags & flag) != 0; }
};

// Clears every column that follows from the samples.
void clear_measured(Record&);

// Returns the fixed columns, in file order; the columns of axes follow them.
const std::vector<Column>& columns();

// Names the axis that only baselines have: the number of host threads.
inline constexpr const char* threads_axis = "threads";

std::vector<std::string> header_cells(const std::vector<std::string>& axis_names);
std::vector<std::string> cells_of(const Record&, const std::vector<std::string>& axis_names);

// Marks the last line of a finished file, which has as many cells as the others, so that every tool can open
// it.
inline constexpr const char* footer_mark = "#end";
std::vector<std::string> footer_cells(std::size_t rows, const std::vector<std::string>& axis_names);

// Reads the rows under one header. Columns may be in any order; one that is not in the table is an axis.
// Takes what pandas, R and spreadsheets make of the cells, as CsvNumbers and is_unknown say. Throws `io` with
// file, line and column for an invalid number, another schema, a missing column, and an axis whose cell
// contradicts the case id.
class RecordReader {
 public:
  RecordReader(std::vector<std::string> header, std::string name, const CsvDialect& dialect = {});

  // Reads a row into `record`, reusing its memory. Returns false for the footer, whose `run_id` is the number
  // of rows.
  bool read(const CsvTable::Row&, Record& record);

  // Throws if the header lacks a column. Called after the schema is known, because a newer one may have
  // dropped it.
  void check_header() const;

 private:
  void read_cell(const Column&, const std::string& title, const std::string& cell, std::size_t line,
                 Record& record);
  // Gives the axes the text that the id has for the same value, such as 1024 for 1024.0.
  void take_axes_of_id(Record& record, std::size_t line);

  std::string name_;
  std::vector<std::string> header_;
  CsvNumbers numbers_;
  std::vector<const Column*> meaning_;  // per file column; null: an axis
  std::size_t schema_ = 0;              // file column
  std::string missing_;
};

// Reads the records of a file, in order, without the footer. Throws as RecordReader does.
std::vector<Record> records_of(const CsvTable&, const std::string& name);

// Adds the axes that the family got after the row was written, at their defaults, so that rows of old and new
// files match. Leaves alone a row whose id does not match its axes, because it is not of this family.
void add_later_axes(Record&, const std::vector<Family>&);
// Tells whether that may change the row, because it lacks an axis of its family.
bool lacks_axes(const Record&, const std::vector<Family>&);

// Formats the column dictionary of docs/formats.md as a Markdown table.
std::string column_dictionary();

}  // namespace clweave::results
