// SPDX-License-Identifier: Apache-2.0
#include "results/record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/number.hpp"
#include "suite/family.hpp"
#include "suite/former_names.hpp"

namespace clweave::results {

const std::vector<Column>& columns() {
  static const std::vector<Column> table = {
      {"schema", "",
       "Version of this table: `clweave-1`; `#end` opens the footer, which tells the number of rows",
       &Record::schema},
      {"run_id", "", "Same for all rows of one call of `clweave run`, and of its resumption",
       &Record::run_id},
      {"run", "", "Number of the repetition, from 1; each is a process of its own", &Record::run},
      {"time_utc", "", "When the row was finished, ISO 8601", &Record::time_utc},
      {"version", "", "Version of clweave and the commit it was built from", &Record::version},
      {"command", "", "Arguments of `clweave`, as a JSON array; of a baseline's own program behind its name",
       &Record::command},
      {"seed", "", "Seed of the inputs and of the order", &Record::seed},
      {"order", "", "Place of the case in the order of its run, from 1", &Record::order},
      {"host", "", "Name of the computer", &Record::host},
      {"os", "", "Its operating system", &Record::os},
      {"cpu", "", "Its processor", &Record::cpu},
      {"loader", "", "OpenCL ICD loader", &Record::loader},
      {"platform", "", "OpenCL platform: name and version", &Record::platform},
      {"vendor", "", "Vendor of the device", &Record::vendor},
      {"device", "", "Name of the device", &Record::device},
      {"device_id", "", "Which of several equal devices: PCI address, else UUID, else index",
       &Record::device_id},
      {"uuid", "", "Which card of all there are, where its driver tells; processors have none", &Record::uuid,
       true},
      {"label", "",
       "What the card is called: `run --label`; of files without UUIDs `merge` puts the computer's name here",
       &Record::label, true},
      {"device_type", "", "cpu, gpu, accelerator or custom", &Record::device_type},
      {"driver", "", "Version of the driver", &Record::driver},
      {"compute_units", "", "Compute units of the device, as the driver counts them", &Record::compute_units,
       true},
      {"api", "", "opencl; a native baseline names its own", &Record::api},
      {"family", "", "Kernel family", &Record::family},
      {"case_id", "", "Family and every axis value: the key of a case", &Record::case_id},
      {"status", "",
       "ok, unsupported, build_failed, launch_failed, out_of_memory, wrong_result, timeout, crashed, "
       "device_lost or implausible",
       &Record::status},
      {"reason", "", "Why the row is not ok, or what is worth knowing about it", &Record::reason},
      {"verified", "",
       "yes: the whole output equalled a host reference before and after the timing; before: and was not "
       "compared "
       "again, in the brief rounds of a search; no: it differed",
       &Record::verified},
      {"known_incorrect", "", "yes: a published form known to be wrong, kept to show what it does",
       &Record::known_incorrect},
      {"tuned", "",
       "yes: in a launch that `clweave tune` found, beside the default ones; `reason` names another device "
       "that it was found on",
       &Record::tuned, true},
      {"timer", "",
       "event: device time stamps; host: host clock around a batch. Never compare one with the other",
       &Record::timer},
      {"timer_reason", "", "What the device's timer certificate says", &Record::timer_reason},
      {"method", "",
       "single: one execution per sample; back_to_back: `batch` of them, from the start of the first to the "
       "end "
       "of the last; batch, in older files: each by its own time stamps",
       &Record::method},
      {"cache", "",
       "warm: samples back to back; cold: a buffer larger than the caches is written before each",
       &Record::cache},
      {"batch", "", "Executions per sample", &Record::batch},
      {"samples", "", "Number of timed samples", &Record::samples},
      {"converged", "",
       "yes: the 95 % interval of the median is as narrow as asked for; no: a cap ended the sampling",
       &Record::converged},
      {"time_s", "s", "Median time of one execution by `timer`", &Record::time_s},
      {"time_low_s", "s", "Lower end of the 95 % interval of the median, corrected for autocorrelation",
       &Record::time_low_s},
      {"time_high_s", "s", "Upper end of that interval", &Record::time_high_s},
      {"wall_s", "s",
       "Median host time of one execution, launch and wait included; of a batch, "
       "its share",
       &Record::wall_s},
      {"call_s", "s", "Median host time of one execution that nothing overlaps, launch and wait included",
       &Record::call_s, true},
      {"steps_s", "",
       "Median time in seconds of each step in an execution of its own, by the device's time stamps, joined "
       "by "
       "`;`, where a case has several",
       &Record::steps_s, true},
      {"min_s", "s", "Shortest sample", &Record::min_s},
      {"p25_s", "s", "First quartile of the samples", &Record::p25_s},
      {"p75_s", "s", "Third quartile", &Record::p75_s},
      {"p95_s", "s", "95 % quantile", &Record::p95_s},
      {"mean_s", "s", "Mean", &Record::mean_s},
      {"sd_s", "s", "Standard deviation", &Record::sd_s},
      {"lag1", "", "Rank autocorrelation of successive samples", &Record::lag1},
      {"outliers", "", "Samples beyond three interquartile ranges from the quartiles; counted, never dropped",
       &Record::outliers},
      {"throttled", "", "Fraction of the samples taken while the canary kernel ran slow", &Record::throttled},
      {"steal", "", "Fraction of the host's processor time that a hypervisor gave to others meanwhile",
       &Record::steal},
      {"clock_mhz", "MHz", "Clock as reported by the driver; not measured", &Record::clock_mhz},
      {"meter", "",
       "What the device's sensors are read by: nvml, hwmon, or powercap and which parts of the processor it "
       "counts; empty, as are the columns that follow from it, where there are none",
       &Record::meter, true},
      {"core_mhz", "MHz",
       "Clock of its cores by them, the median of looks between batches; of `run --energy`, as the "
       "following, "
       "of its longer loop",
       &Record::core_mhz, true},
      {"memory_mhz", "MHz", "Clock of its memory, so, too", &Record::memory_mhz, true},
      {"power_w", "W",
       "Power, the mean of those looks that come a quarter of a second after the work began or later; by a "
       "counter of energy, over the sampling",
       &Record::power_w, true},
      {"temperature_c", "C", "Highest temperature met", &Record::temperature_c, true},
      {"throttle_reasons", "",
       "Why its clock was lower than it could be, in its driver's words, joined by `;`",
       &Record::throttle_reasons, true},
      {"bytes", "B", "Bytes that the algorithm reads and writes in one execution", &Record::bytes},
      {"flops", "", "Arithmetic operations of one execution; a fused multiply-add counts as two",
       &Record::flops},
      {"items", "", "Elements processed by one execution", &Record::items},
      {"gb_per_s", "GB/s", "bytes / time_s, GB = 1e9 bytes", &Record::gb_per_s},
      {"gflop_per_s", "Gop/s", "flops / time_s", &Record::gflop_per_s},
      {"gitems_per_s", "G/s", "items / time_s", &Record::gitems_per_s},
      {"meter_reason", "",
       "Of `run --energy`: what the certificate of the power meter says, or why there are no joules",
       &Record::meter_reason, true},
      {"idle_w", "W", "Power of the device when it was open and did nothing", &Record::idle_w, true},
      {"energy_j", "J",
       "Energy of one execution, of a second or more of them: all that the device takes, what it takes idle, "
       "too",
       &Record::energy_j, true},
      {"energy_low_j", "J",
       "Lower end of its 95 % interval, by what parts of that loop differ and the meter's updates; how true "
       "the meter is is no part of it",
       &Record::energy_low_j, true},
      {"energy_high_j", "J", "Upper end of that interval", &Record::energy_high_j, true},
      {"joules_per_item", "J", "energy_j / items; the interval of it and of the next two is as wide",
       &Record::joules_per_item, true},
      {"joules_per_byte", "J", "energy_j / bytes", &Record::joules_per_byte, true},
      {"joules_per_flop", "J", "energy_j / flops", &Record::joules_per_flop, true},
      {"cached", "",
       "yes: the buffers fit the measured last-level cache, so memory does not bound the case; empty: the "
       "run looked for none",
       &Record::cached},
      {"peak", "",
       "What bounds the case: copy, read, local or an arithmetic rate, as family peak measured it in this "
       "run",
       &Record::peak},
      {"fraction_of_peak", "", "Fraction of that peak reached", &Record::fraction_of_peak},
      {"finding", "", "Name of a conclusion drawn from several rows; such a row has no time",
       &Record::finding},
      {"value", "unit",
       "Value of the finding, in the unit of column `unit`; empty: undecided, `reason` says why. In the row "
       "of a case the largest of what its check measured over the whole output, such as an error",
       &Record::value},
      {"value_low", "unit", "Where the value lies, if that is known: from here", &Record::value_low, true},
      {"value_high", "unit", "to here", &Record::value_high, true},
      {"unit", "", "Unit of `value`", &Record::unit},
      {"build_ms", "ms", "Time to build the program; 0 when an earlier case had built it", &Record::build_ms},
      {"build_options", "", "Options given to the OpenCL compiler", &Record::build_options},
      {"kernel_hash", "", "Hash of the kernel's full source and its options", &Record::kernel_hash},
  };
  return table;
}

std::string Record::axis(const std::string& name) const {
  const auto it = std::ranges::find(axes, name, &std::pair<std::string, std::string>::first);
  return it != axes.end() ? it->second : "";
}

Number rate_of(const Record& record) {
  return of_arithmetic(record.peak) ? record.gflop_per_s : record.gb_per_s;
}

namespace {

std::string cell_of(const Record& record, const Column& column) {
  return std::visit(
      [&](auto member) -> std::string {
        const auto& field = record.*member;
        if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>) {
          return field;
        } else if constexpr (NamedEnum<std::decay_t<decltype(field)>>) {
          return text_of(field);
        } else {
          return field ? fmt::format("{}", *field) : std::string();
        }
      },
      column.member);
}

}  // namespace

std::vector<std::string> footer_cells(std::size_t rows, const std::vector<std::string>& axis_names) {
  std::vector<std::string> cells(columns().size() + axis_names.size());
  cells[0] = footer_mark;
  cells[1] = std::to_string(rows);
  return cells;
}

std::vector<std::string> header_cells(const std::vector<std::string>& axis_names) {
  std::vector<std::string> cells;
  for (const auto& column : columns()) cells.push_back(column.name);
  cells.insert(cells.end(), axis_names.begin(), axis_names.end());
  return cells;
}

std::vector<std::string> cells_of(const Record& record, const std::vector<std::string>& axis_names) {
  std::vector<std::string> cells;
  for (const auto& column : columns()) cells.push_back(cell_of(record, column));
  for (const auto& axis : axis_names) {
    const auto it = std::ranges::find(record.axes, axis, &std::pair<std::string, std::string>::first);
    cells.push_back(it != record.axes.end() ? it->second : "");
  }
  return cells;
}

RecordReader::RecordReader(std::vector<std::string> header, std::string name)
    : name_(std::move(name)), header_(std::move(header)) {
  for (const auto& title : header_) {
    const auto it = std::ranges::find(columns(), column_now(title), &Column::name);
    meaning_.push_back(it != columns().end() ? &*it : nullptr);
  }
  for (const auto& column : columns()) {
    if (!column.later && missing_.empty() && std::ranges::find(meaning_, &column) == meaning_.end())
      missing_ = column.name;
  }
  schema_ = static_cast<std::size_t>(std::ranges::find(header_, columns().front().name) - header_.begin());
  if (schema_ == header_.size()) check_header();
}

void RecordReader::check_header() const {
  if (!missing_.empty())
    throw Error(ErrorCode::io, name_ + ":1: no column '" + missing_ + "': not a CSV of clweave run");
}

namespace {

void use_names_of_today(Record& record) {
  record.family = family_now(record.family);
  record.case_id = case_id_now(record.case_id);
  record.finding = finding_now(record.finding);
  for (auto& [name, value] : record.axes) {
    name = axis_now(record.family, name);
    value = value_now(record.family, name, value);
  }
}

}  // namespace

bool RecordReader::read(const CsvTable::Row& row, Record& record) const {
  const std::string& schema = row.cells.at(schema_);
  const bool footer = schema == footer_mark;
  if (!footer && schema != Record().schema)
    throw Error(ErrorCode::io, fmt::format("{}:{}: schema '{}', this clweave reads '{}'", name_, row.line,
                                           schema, Record().schema));
  check_header();
  record.axes.clear();
  for (std::size_t c = 0; c < row.cells.size(); ++c) {
    const std::string& cell = row.cells[c];
    if (meaning_[c] == nullptr) {
      if (!cell.empty()) record.axes.emplace_back(header_[c], cell);
      continue;
    }
    std::visit(
        [&](auto member) {
          auto& field = record.*member;
          if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>) {
            field = cell;
          } else if constexpr (NamedEnum<std::decay_t<decltype(field)>>) {
            const auto value = enum_named<std::decay_t<decltype(field)>>(cell);
            if (!value)
              throw Error(ErrorCode::io, fmt::format("{}:{}: column {}: '{}' is none of{}", name_, row.line,
                                                     header_[c], cell, fmt::join(enum_names(field), " ")));
            field = *value;
          } else {
            // Unknown numbers are empty cells: clweave never writes inf or nan.
            field = number_of<typename std::decay_t<decltype(field)>::value_type>(cell);
            if (!cell.empty() && !field)
              throw Error(ErrorCode::io, fmt::format("{}:{}: column {}: '{}' is no number", name_, row.line,
                                                     header_[c], cell));
          }
        },
        meaning_[c]->member);
  }
  if (!footer) use_names_of_today(record);
  return !footer;
}

std::vector<Record> records_of(const CsvTable& table, const std::string& name) {
  const RecordReader reader(table.header, name);
  std::vector<Record> records;
  records.reserve(table.rows.size());
  for (const auto& row : table.rows) {
    if (Record record; reader.read(row, record)) records.push_back(std::move(record));
  }
  reader.check_header();
  return records;
}

std::string column_dictionary() {
  std::string out = "| column | unit | meaning |\n|---|---|---|\n";
  for (const auto& column : columns())
    out += fmt::format("| `{}` | {} | {} |\n", column.name, column.unit, column.meaning);
  return out;
}

bool lacks_axes(const Record& record, const std::vector<Family>& families) {
  const auto family = std::ranges::find(families, record.family, &Family::name);
  return family != families.end() && std::ranges::any_of(family->axes, [&](const Axis& axis) {
           return std::ranges::find(record.axes, axis.name, &std::pair<std::string, std::string>::first) ==
                  record.axes.end();
         });
}

void add_later_axes(Record& record, const std::vector<Family>& families) {
  const auto family = std::ranges::find(families, record.family, &Family::name);
  if (family == families.end() || !record.finding.empty()) return;
  std::string id = family->name, id_now = family->name;
  auto axes = record.axes;
  for (const auto& axis : family->axes) {
    const auto is_it = [&](const auto& cell) { return axis.has_name(cell.first); };
    auto cell = std::ranges::find_if(axes, is_it);
    if (cell != axes.end())
      id.append("/").append(cell->first).append("=").append(cell->second);
    else
      cell = axes.insert(axes.end(), {axis.name, text_of(axis.values.front())});
    cell->first = axis.name;
    cell->second = axis.todays(cell->second);
    id_now.append("/").append(axis.name).append("=").append(cell->second);
  }
  if (id_now == id || record.case_id != id) return;
  record.case_id = id_now;
  record.axes = std::move(axes);
}

}  // namespace clweave::results
