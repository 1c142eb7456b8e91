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
  constexpr unsigned later = Column::later, from_samples = Column::from_samples,
                     free_text = Column::free_text;
  static const std::vector<Column> table = {
      {"schema", "",
       "Version of this table: `clweave-1`; `#end` marks the footer, which has the number of rows",
       &Record::schema},
      {"run_id", "", "Identifies one `clweave run` and its resumptions", &Record::run_id},
      {"run", "", "Number of the repetition, from 1; each is a process", &Record::run},
      {"time_utc", "", "When the row was finished, ISO 8601", &Record::time_utc},
      {"version", "", "Version of clweave and the commit it was built from", &Record::version},
      {"command", "", "Arguments of `clweave`, as a JSON array; of a baseline program, preceded by its name",
       &Record::command, free_text},
      {"seed", "", "Seed of the inputs and of the order", &Record::seed},
      {"order", "", "Position of the case in its run, from 1", &Record::order},
      {"host", "", "Name of the computer", &Record::host},
      {"os", "", "Its operating system", &Record::os, free_text},
      {"cpu", "", "Its processor", &Record::cpu},
      {"loader", "", "OpenCL ICD loader", &Record::loader},
      {"platform", "", "OpenCL platform: name and version", &Record::platform},
      {"vendor", "", "Vendor of the device", &Record::vendor},
      {"device", "", "Name of the device", &Record::device},
      {"device_id", "", "Tells identical devices of one host apart: PCI address, else UUID, else index",
       &Record::device_id},
      {"uuid", "", "UUID of the device, if its driver reports one; CPUs have none", &Record::uuid, later},
      {"label", "",
       "Name of the device, by `run --label`; for files without UUIDs `merge` enters the host's name",
       &Record::label, later | free_text},
      {"device_type", "", "cpu, gpu, accelerator or custom", &Record::device_type},
      {"driver", "", "Version of the driver", &Record::driver},
      {"compute_units", "", "Compute units of the device, as the driver counts them", &Record::compute_units,
       later},
      {"api", "", "opencl; a native baseline names its own", &Record::api},
      {"family", "", "Kernel family", &Record::family},
      {"case_id", "", "Family and every axis value; the key of a case", &Record::case_id},
      {"status", "",
       "ok, unsupported, build_failed, launch_failed, out_of_memory, wrong_result, timeout, crashed, "
       "device_lost or implausible",
       &Record::status},
      {"reason", "", "Why the row is not ok, or a remark", &Record::reason, free_text},
      {"verified", "",
       "yes: the whole output equalled a host reference before and after the timing; before: only before, in "
       "the brief rounds of a search; no: it differed, or nothing checked it, as --unchecked allows",
       &Record::verified},
      {"known_incorrect", "", "yes: a published kernel or configuration known to be incorrect",
       &Record::known_incorrect},
      {"tuned", "",
       "yes: in a configuration that `clweave tune` found, beside the default; `reason` names the device if "
       "it was found on another",
       &Record::tuned, later},
      {"timer", "",
       "event: device time stamps; host: host clock around a batch. Do not compare one with the other",
       &Record::timer},
      {"timer_reason", "", "Result of the device's timer certification", &Record::timer_reason, free_text},
      {"method", "",
       "single: one execution per sample; back_to_back: `batch` executions, from the start of the first to "
       "the end of the last; batch, in older files: each by its own time stamps",
       &Record::method, from_samples},
      {"cache", "",
       "warm: samples back to back; cold: a buffer larger than the caches is written before each",
       &Record::cache},
      {"batch", "", "Executions per sample", &Record::batch, from_samples},
      {"samples", "", "Number of timed samples", &Record::samples, from_samples},
      {"converged", "",
       "yes: the 95 % interval of the median is as narrow as requested, and the samples do not drift; no: a "
       "cap "
       "ended the sampling",
       &Record::converged, from_samples},
      {"time_s", "s", "Median time of one execution by `timer`", &Record::time_s, from_samples},
      {"time_low_s", "s",
       "Lower end of the 95 % interval of the median, corrected for autocorrelation, wider where parts of "
       "the samples differ",
       &Record::time_low_s, from_samples},
      {"time_high_s", "s", "Upper end of that interval", &Record::time_high_s, from_samples},
      {"wall_s", "s", "Median host time of one execution, including launch and wait; of a batch, its share",
       &Record::wall_s, from_samples},
      {"call_s", "s", "Median host time of one execution that overlaps no other, including launch and wait",
       &Record::call_s, later | from_samples},
      {"steps_s", "",
       "Median time of each step in seconds, by device time stamps in a separate execution, joined by `;`, "
       "for cases with several steps",
       &Record::steps_s, later | from_samples},
      {"min_s", "s", "Shortest sample", &Record::min_s, from_samples},
      {"p25_s", "s", "First quartile of the samples", &Record::p25_s, from_samples},
      {"p75_s", "s", "Third quartile", &Record::p75_s, from_samples},
      {"p95_s", "s", "95 % quantile", &Record::p95_s, from_samples},
      {"mean_s", "s", "Mean", &Record::mean_s, from_samples},
      {"sd_s", "s", "Standard deviation", &Record::sd_s, from_samples},
      {"lag1", "", "Rank autocorrelation of successive samples", &Record::lag1, from_samples},
      {"outliers", "", "Samples beyond three interquartile ranges from the quartiles; counted, never dropped",
       &Record::outliers, from_samples},
      {"throttled", "", "Fraction of the samples taken while the canary kernel ran slow", &Record::throttled,
       from_samples},
      {"over_time", "",
       "For cases that are repeated for seconds: of each 50 ms the end in seconds from the start, the time "
       "of one execution in s, core clock in MHz, temperature in C and power in W, separated by blanks, - "
       "where a sensor was not read; joined by `;`",
       &Record::over_time, later | from_samples},
      {"steal", "", "Fraction of CPU time that the hypervisor gave to other guests meanwhile",
       &Record::steal},
      {"own_cpus", "",
       "Processors that the measuring process used meanwhile: its processor time / time; on a processor as "
       "many "
       "as its compute units where a kernel keeps all busy",
       &Record::own_cpus, later},
      {"other_cpus", "", "Processors that other processes used meanwhile, on average", &Record::other_cpus,
       later},
      {"cpu_wait", "",
       "Fraction of their time in which the threads of the measuring process were ready, but had no "
       "processor",
       &Record::cpu_wait, later},
      {"quota", "", "Fraction of the time in which the cgroup's limit of processor time stopped the process",
       &Record::quota, later},
      {"swapped_pages", "", "Pages that the host read from or wrote to its swap space meanwhile",
       &Record::swapped_pages, later},
      {"disturbed", "",
       "What disturbed the measurement, by the columns around; empty on a quiet machine. Findings of such "
       "rows are undecided",
       &Record::disturbed, later},
      {"clock_mhz", "MHz", "Clock as reported by the driver; not measured", &Record::clock_mhz},
      {"theoretical_gb_per_s", "GB/s",
       "Theoretical memory bandwidth: twice the highest memory clock times the bus width, by NVML; empty "
       "where "
       "no driver tells both",
       &Record::theoretical_gb_per_s, later},
      {"theoretical_gflop_per_s", "Gop/s",
       "Theoretical rate of FP32 multiply-adds: clock_mhz times compute_units times the multiply-adds of one "
       "per "
       "clock, times 2; empty where no driver tells all of these",
       &Record::theoretical_gflop_per_s, later},
      {"meter", "",
       "Interface of the device's sensors: nvml, hwmon, or powercap with the parts of the CPU that it "
       "counts; empty, as are the sensor columns, without any",
       &Record::meter, later},
      {"core_mhz", "MHz",
       "Core clock by the sensors, median of readings between batches; with `run --energy` this and the "
       "following are from its longer loop",
       &Record::core_mhz, later},
      {"memory_mhz", "MHz", "Memory clock, likewise", &Record::memory_mhz, later},
      {"power_w", "W",
       "Mean power of readings from a quarter of a second after the work began; by an energy counter, over "
       "the sampling",
       &Record::power_w, later},
      {"temperature_c", "C", "Highest temperature", &Record::temperature_c, later},
      {"throttle_reasons", "", "Throttle reasons as the driver names them, joined by `;`",
       &Record::throttle_reasons, later},
      {"bytes", "B", "Bytes that the algorithm reads and writes in one execution", &Record::bytes},
      {"flops", "", "Arithmetic operations of one execution; a fused multiply-add counts as two",
       &Record::flops},
      {"items", "", "Elements processed by one execution", &Record::items},
      {"gb_per_s", "GB/s", "bytes / time_s, GB = 1e9 bytes", &Record::gb_per_s, from_samples},
      {"gflop_per_s", "Gop/s", "flops / time_s", &Record::gflop_per_s, from_samples},
      {"gitems_per_s", "G/s", "items / time_s", &Record::gitems_per_s, from_samples},
      {"meter_reason", "",
       "With `run --energy`: result of the power meter's certification, or why there is no energy",
       &Record::meter_reason, later | free_text},
      {"idle_w", "W", "Idle power of the open device", &Record::idle_w, later},
      {"energy_j", "J",
       "Energy of one execution, measured over a second or more of them, including idle power",
       &Record::energy_j, later | from_samples},
      {"energy_low_j", "J",
       "Lower end of its 95 % interval, from the variation within that loop and the meter's update rate, not "
       "its accuracy",
       &Record::energy_low_j, later | from_samples},
      {"energy_high_j", "J", "Upper end of that interval", &Record::energy_high_j, later | from_samples},
      {"joules_per_item", "J",
       "energy_j / items; the relative interval is that of energy_j, as for the next two",
       &Record::joules_per_item, later | from_samples},
      {"joules_per_byte", "J", "energy_j / bytes", &Record::joules_per_byte, later | from_samples},
      {"joules_per_flop", "J", "energy_j / flops", &Record::joules_per_flop, later | from_samples},
      {"cached", "",
       "yes: the buffers fit the measured last-level cache, so memory does not bound the case; empty: not "
       "measured",
       &Record::cached},
      {"peak", "",
       "Measured peak that bounds the case: copy, read, write, local or an arithmetic throughput, by family "
       "peak in "
       "this run",
       &Record::peak},
      {"fraction_of_peak", "", "Fraction of that peak", &Record::fraction_of_peak},
      {"finding", "", "Name of a conclusion from several rows; such a row has no time", &Record::finding},
      {"value", "unit",
       "Value of the finding, in the unit of column `unit`; empty: undecided, `reason` says why. In the row "
       "of a case: the maximum that its check measured over the whole output, such as an error; of a "
       "launch behind another kernel the part of that kernel's remaining time that it took",
       &Record::value},
      {"value_low", "unit", "Lower end of the value's interval, if known", &Record::value_low, later},
      {"value_high", "unit", "Upper end of that interval", &Record::value_high, later},
      {"unit", "", "Unit of `value`", &Record::unit},
      {"output_hash", "",
       "Name and hash of each output, for kernels whose inputs are the same in every run, joined by `;`: two "
       "devices with equal ones agree bit by bit, a NaN counting as any other",
       &Record::output_hash, later | from_samples},
      {"build_ms", "ms", "Time to build the program; 0 when an earlier case had built it", &Record::build_ms},
      {"build_options", "", "Options given to the OpenCL compiler", &Record::build_options, free_text},
      {"kernel_hash", "", "Hash of the kernel's full source and its options", &Record::kernel_hash},
  };
  return table;
}

void clear_measured(Record& record) {
  for (const auto& column : columns()) {
    if (column.is(Column::from_samples)) std::visit([&](auto member) { record.*member = {}; }, column.member);
  }
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
          return inert(field);
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
    cells.push_back(it != record.axes.end() ? inert(it->second) : "");
  }
  return cells;
}

RecordReader::RecordReader(std::vector<std::string> header, std::string name, const CsvDialect& dialect)
    : name_(std::move(name)), header_(std::move(header)), numbers_(dialect) {
  for (const auto& title : header_) {
    const auto it = std::ranges::find(columns(), column_now(title), &Column::name);
    meaning_.push_back(it != columns().end() ? &*it : nullptr);
  }
  for (const auto& column : columns()) {
    if (!column.is(Column::later) && missing_.empty() &&
        std::ranges::find(meaning_, &column) == meaning_.end())
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

void RecordReader::read_cell(const Column& column, const std::string& title, const std::string& cell,
                             std::size_t line, Record& record) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::io, fmt::format("{}:{}: column {}: {}", name_, line, title, what));
  };
  const bool unknown = is_unknown(cell);
  std::visit(
      [&](auto member) {
        auto& field = record.*member;
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, std::string>) {
          field = unknown ? "" : from_inert(cell);
        } else if constexpr (NamedEnum<Field>) {
          const auto value = enum_named<Field>(unknown ? "" : cell);
          if (!value) refuse(fmt::format("'{}' is none of{}", cell, fmt::join(enum_names(field), " ")));
          field = *value;
        } else {
          constexpr bool whole = std::is_same_v<Field, Count>;
          if constexpr (whole)
            field = numbers_.whole(cell);
          else
            field = numbers_.number(cell);
          // Rows of findings once had an infinity for "never".
          const bool never = !whole && cell == "inf" && column.name == std::string_view("value");
          if (!unknown && !never && !field) refuse(numbers_.refusal(cell, whole));
        }
      },
      column.member);
}

void RecordReader::take_axes_of_id(Record& record, std::size_t line) {
  const std::string_view id = record.case_id;
  for (auto at = id.find('/'); at != std::string_view::npos;) {
    const auto end = id.find('/', at + 1);
    const auto part = id.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    at = end;
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const auto name = part.substr(0, equals), value = part.substr(equals + 1);
    const auto axis = std::ranges::find(record.axes, name, &std::pair<std::string, std::string>::first);
    if (axis == record.axes.end() || axis->second == value) continue;
    const auto number = number_of<double>(value);
    if (!number || numbers_.number(axis->second) != number)
      throw Error(ErrorCode::io,
                  fmt::format("{}:{}: column {}: '{}', but its case is {}: one of the two was changed", name_,
                              line, name, axis->second, id));
    axis->second = value;
  }
}

bool RecordReader::read(const CsvTable::Row& row, Record& record) {
  const std::string& schema = row.cells.at(schema_);
  const bool footer = schema == footer_mark;
  if (!footer && schema != Record().schema)
    throw Error(ErrorCode::io, fmt::format("{}:{}: schema '{}', this clweave reads '{}'", name_, row.line,
                                           schema, Record().schema));
  check_header();
  record.axes.clear();
  for (std::size_t c = 0; c < row.cells.size(); ++c) {
    const std::string& cell = row.cells[c];
    if (meaning_[c] != nullptr)
      read_cell(*meaning_[c], header_[c], cell, row.line, record);
    else if (!is_unknown(cell))
      record.axes.emplace_back(header_[c], from_inert(cell));
  }
  if (footer) {
    // pandas has no whole numbers where a cell is empty.
    if (const auto rows = numbers_.whole(record.run_id)) record.run_id = std::to_string(*rows);
    return false;
  }
  // An index, as pandas writes it again where another cell of the column is empty.
  if (auto& id = record.device_id;
      id.ends_with(".0") && number_of<std::int64_t>(std::string_view(id).substr(0, id.size() - 2)))
    id.resize(id.size() - 2);
  use_names_of_today(record);
  take_axes_of_id(record, row.line);
  return true;
}

std::vector<Record> records_of(const CsvTable& table, const std::string& name) {
  RecordReader reader(table.header, name, table.dialect);
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
