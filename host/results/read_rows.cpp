// SPDX-License-Identifier: Apache-2.0
// read_rows: fills a set from the rows of results files, of samples and of published figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/stats.hpp"
#include "results/contradictions.hpp"
#include "results/disturbance.hpp"
#include "results/results_file.hpp"
#include "results/results_set.hpp"
#include "results/row.hpp"
#include "suite/family.hpp"

namespace clweave::results {

namespace {

constexpr double z = 1.96;  // of the intervals in a results file

double log_variance(double low, double high) {
  if (!(low > 0) || !(high > low)) return 0;
  const double sd = (std::log(high) - std::log(low)) / (2 * z);
  return sd * sd;
}

std::string work_of(const Record& r) {
  const auto text = [](const Count& count) { return count ? std::to_string(*count) : ""; };
  return fmt::format("{}/{}/{}", text(r.bytes), text(r.flops), text(r.items));
}

std::string items_of(const Record& r) {
  return r.items ? std::to_string(*r.items) : r.bytes ? std::to_string(*r.bytes) + " B" : "";
}

// Adds a row to its case. Returns false if it has no time.
bool add_row(CaseTimes& at, const Record& r, const RunTime& run) {
  if (at.rows++ == 0) {
    at.work = work_of(r);
    at.items = items_of(r);
  }
  at.known_incorrect = at.known_incorrect || !r.known_incorrect.empty();
  at.unverified = at.unverified || is_unchecked(r);
  at.bounded = at.bounded || r.peak != Peak::none;
  if (!r.ok() || !r.time_s || !(*r.time_s > 0)) {
    ++at.bad;
    // A wrong result says more of a case than a run that only failed.
    const bool is_first_wrong = r.status == Status::wrong_result && at.status != Status::wrong_result;
    if (at.ok() || is_first_wrong) {
      at.status = r.ok() ? Status::none : r.status;
      at.reason = r.ok() ? "no time" : r.reason;
    }
    return false;
  }
  if (at.ok() && !r.reason.empty()) at.reason = r.reason;
  std::string clock = text_of(r.timer);
  clock.append(", ").append(r.cache);
  at.each_by_itself = at.each_by_itself || (r.method == "batch" && r.timer == Timer::event);
  if (at.clock.empty()) {
    at.clock = clock;
    at.cache = r.cache;
  }
  if (at.clock != clock) at.clock = several_clocks;
  if (at.cache != r.cache) at.cache = several_clocks;
  at.runs.push_back(run);
  return true;
}

std::shared_ptr<const Sensed> sensed_in(const Record& r) {
  if (!r.core_mhz && !r.memory_mhz && !r.power_w && !r.temperature_c && r.throttle_reasons.empty()) return {};
  return std::make_shared<const Sensed>(
      Sensed{r.core_mhz, r.memory_mhz, r.power_w, r.temperature_c, r.throttle_reasons});
}

// Converts a row. Where it has no interval, because of too few samples, the range from minimum to 95 %
// quantile stands for it.
RunTime run_of(const Record& r) {
  RunTime run{static_cast<const Measurement&>(r)};
  run.timer = r.timer;
  run.cold = r.cache == "cold";
  run.cached = r.cached == "yes";
  run.disturbed = !r.disturbed.empty();
  run.slowed = is_slowed(r);
  run.unsettled = r.converged == "no";
  run.time_s = r.time_s.value_or(0);
  run.log_variance = log_variance(r.time_low_s.value_or(0), r.time_high_s.value_or(0));
  run.batch = r.batch.value_or(0);
  run.commands = 1 + std::ranges::count(r.steps_s, ';');
  run.steps_s = steps_of(r);
  run.sensed = sensed_in(r);
  run.low_s = std::min(run.time_s, r.time_low_s.value_or(r.min_s.value_or(run.time_s)));
  run.high_s = std::max(run.time_s, r.time_high_s.value_or(r.p95_s.value_or(run.time_s)));
  run.has_interval = has_interval(r);
  return run;
}

// Returns whether two rows of a file are one measurement: of the same run, or a copy under another number.
// The host's clock has so many digits that two runs hardly ever agree in it and in the whole interval.
bool is_same_measurement(const RunTime& a, const RunTime& b) {
  if (a.file != b.file) return false;
  return a.run == b.run || (a.call_s && a.call_s == b.call_s && a.min_s && a.min_s == b.min_s &&
                            a.time_s == b.time_s && a.low_s == b.low_s && a.high_s == b.high_s);
}

// Returns the compute units of a device whose row, of an older file, does not tell them: from its items,
// where they are a multiple of what the family counts per unit. 0: unknown.
std::int64_t units_of(const CaseName& name, const RunTime& run, const std::vector<Family>& families) {
  const auto family = std::ranges::find(families, name.family, &Family::name);
  if (family == families.end() || !family->items_per_unit || !run.items) return 0;
  Case at{name.family, {}, 0};
  for (const auto& axis : name.axes) at.axes.emplace_back(*axis.name, *axis.value);
  try {
    const std::int64_t per_unit = family->items_per_unit(at);
    return per_unit > 0 && *run.items % per_unit == 0 ? *run.items / per_unit : 0;
  } catch (const Error&) {  // it lacks an axis
    return 0;
  }
}

// Makes a row that says ok, and that its output was wrong, a failed one.
void fail_if_unverified(Record& r) {
  if (!r.ok() || r.verified != Verified::no || is_unchecked(r)) return;
  r.status = Status::wrong_result;
  r.reason = unverified;
}

// Bounds of plausible times: outside, ratios of times may overflow or be no number.
constexpr double least_s = 1e-15, most_s = 1e12;

void check_times(const Record& r, const std::string& file, std::size_t line) {
  if (!r.ok()) return;
  for (const auto& column : columns()) {
    const auto* member = std::get_if<Number Record::*>(&column.member);
    if (member == nullptr || column.unit != "s" || column.name == "sd_s") continue;
    const Number& value = r.**member;
    if (value && !(*value >= least_s && *value <= most_s))
      throw Error(ErrorCode::io,
                  fmt::format("{}:{}: column {}: {} s is no time", file, line, column.name, *value));
  }
}

// Refuses a word on an axis of numbers.
void check_axes(const CaseName& name, const std::vector<Family>& families, const std::string& file,
                std::size_t line) {
  const auto family = std::ranges::find(families, name.family, &Family::name);
  if (family == families.end()) return;
  const auto is_word = [](const Value& value) { return std::holds_alternative<std::string>(value); };
  for (const auto& [title, value] : name.axes) {
    const Axis* axis = family->axis(*title);
    const bool of_numbers = axis != nullptr && axis->domain.of != Domain::Of::shapes &&
                            std::ranges::none_of(axis->values, is_word);
    if (of_numbers && is_word(*value))
      throw Error(ErrorCode::io,
                  fmt::format("{}:{}: column {}: '{}' is no number", file, line, *title, text_of(*value)));
  }
}

// The run of the case that a row of the file became.
struct Place {
  std::size_t device, at, run;
  bool event;  // timed by the device's time stamps, not by the host's clock
};

void add_samples(ResultsSet& set, const std::vector<std::optional<Place>>& places, CsvReader& reader,
                 const std::string& samples_name, const std::string& rows_name) {
  const auto column = [&](const char* title) {
    const auto it = std::ranges::find(reader.header(), title);
    if (it == reader.header().end())
      throw Error(ErrorCode::io,
                  fmt::format("{}:1: no column '{}': not samples of clweave run", samples_name, title));
    return static_cast<std::size_t>(it - reader.header().begin());
  };
  const std::size_t row_column = column("row"), event = column("event_ns"), host = column("host_ns");
  CsvNumbers numbers(reader.dialect());
  std::vector<double> samples;
  std::size_t of_row = 0, of_line = 1;
  const auto finish = [&] {
    if (samples.empty()) return;
    const auto& place = places[of_row - 1];
    if (place) {
      RunTime& run = set.devices[place->device].cases[place->at].runs[place->run];
      const MedianInterval interval = median_interval(samples, z);
      // Samples are rounded to a tenth of a nanosecond.
      if (std::abs(interval.median - run.time_s) > 1e-3 * run.time_s + 1e-10)
        throw Error(
            ErrorCode::io,
            fmt::format("{}:{}: row {} has a median of {:.4g} s in {}, but {:.4g} s here: the samples "
                        "are of another file",
                        samples_name, of_line, of_row, run.time_s, rows_name, interval.median));
      run.time_s = interval.median;
      run.log_variance = log_variance(interval.low, interval.high);
    }
    samples.clear();
  };
  for (CsvTable::Row row; reader.next(row);) {
    const auto number = [&](std::size_t c) {
      const std::string& cell = row.cells[c];
      const auto value = numbers.number(cell);
      if (!value)
        throw Error(ErrorCode::io, fmt::format("{}:{}: column {}: {}", samples_name, row.line,
                                               reader.header()[c], numbers.refusal(cell, false)));
      return *value;
    };
    const double at = number(row_column);
    if (!(at >= 1) || at > static_cast<double>(places.size()) || at != std::floor(at))
      throw Error(ErrorCode::io, fmt::format("{}:{}: row {} is not in {}, which has {}", samples_name,
                                             row.line, row.cells[row_column], rows_name, places.size()));
    if (const auto number_of_row = static_cast<std::size_t>(at); number_of_row != of_row) {
      finish();
      of_row = number_of_row;
      of_line = row.line;
    }
    const auto& place = places[of_row - 1];
    if (!place) continue;
    const double seconds = 1e-9 * number(place->event ? event : host);
    if (seconds > 0) samples.push_back(seconds);
  }
  if (!reader.complete_last_line()) reader.fail("the file ends within this row");
  finish();
}

// Adds published figures, one per row: a time, a fraction of the device's peak, or a speed-up over another
// case. Those with a time become cases, too.
void add_figures(ResultsSet& set, CsvReader& reader, const std::string& name, std::uint32_t file) {
  const auto column = [&](const char* title) {
    const auto it = std::ranges::find(reader.header(), title);
    if (it == reader.header().end())
      throw Error(ErrorCode::io,
                  fmt::format("{}:1: no column '{}': neither a CSV of clweave run nor the published "
                              "figures",
                              name, title));
    return static_cast<std::size_t>(it - reader.header().begin());
  };
  const std::size_t year = column("year"), device = column("device"), id = column("case"),
                    over = column("over"), evidence = column("evidence"), note = column("note");
  const auto fraction_of = std::ranges::find(reader.header(), "fraction_of") - reader.header().begin();
  using Quantity = PublishedFigure::Quantity;
  const std::array<std::tuple<Quantity, const char*, std::size_t>, 3> quantities = {
      {{Quantity::time, "seconds", column("seconds")},
       {Quantity::fraction_of_peak, "fraction_of_peak", column("fraction_of_peak")},
       {Quantity::speedup, "speedup", column("speedup")}}};
  CaseNames& names = *set.names.front();
  CsvNumbers numbers(reader.dialect());
  for (CsvTable::Row row; reader.next(row);) {
    const auto& cells = row.cells;
    if (cells[id].empty()) continue;
    PublishedFigure figure{.device = fmt::format("{} ({})", cells[device], cells[year]),
                           .of = &names.of_id(cells[id]),
                           .over = cells[over].empty() ? nullptr : &names.of_id(cells[over]),
                           .quantity = {},
                           .value = 0,
                           .fraction_of = std::cmp_less(fraction_of, cells.size())
                                              ? cells[static_cast<std::size_t>(fraction_of)]
                                              : "",
                           .evidence = cells[evidence]};
    for (const auto& [quantity, title, at] : quantities) {
      if (is_unknown(cells[at])) continue;
      const auto value = numbers.number(cells[at]);
      if (!value || !(*value > 0))
        throw Error(ErrorCode::io, fmt::format("{}:{}: column {}: '{}' is no number above 0", name, row.line,
                                               title, cells[at]));
      figure.quantity = quantity;
      figure.value = *value;
    }
    if (figure.value == 0 || (figure.over != nullptr) != (figure.quantity == Quantity::speedup))
      throw Error(ErrorCode::io,
                  fmt::format("{}:{}: a case needs seconds, or fraction_of_peak, or a speedup over another",
                              name, row.line));
    set.figures.push_back(figure);
    if (figure.quantity != Quantity::time) continue;
    DeviceResults& measured = set.device_of({.platform = {}, .name = figure.device, .id = {}, .driver = {}});
    measured.published = true;
    CaseTimes& at = measured.case_of(*figure.of, false);
    ++at.rows;
    at.clock = "published";
    at.bounded = true;
    if (figure.evidence.empty()) {
      RunTime& run = at.runs.emplace_back();
      run.file = file;
      run.time_s = run.low_s = run.high_s = figure.value;
    } else {
      ++at.bad;
      at.status = Status::wrong_result;
      at.reason = figure.evidence + ": " + cells[note];
    }
  }
  if (!reader.complete_last_line()) reader.fail("the file ends within this row");
}

std::string samples_beside(const std::string& path) {
  const std::string samples = samples_path(path);
  return std::filesystem::is_regular_file(samples) ? samples : "";
}

// Adds rows one by one, and remembers what successive rows of a file have in common.
class RowImporter {
 public:
  RowImporter(ResultsSet& set, const std::string& name, const std::vector<Family>& families)
      : set_(set), families_(families), name_(name), file_(static_cast<std::uint32_t>(set.files.size())) {
    set.files.push_back(name);
  }

  // Adds a row; returns where its time went, if it has one.
  std::optional<Place> add(const Record& r, std::size_t line) {
    if (is_in_another_file(r)) return {};
    const std::uint32_t place = set_.rows++;
    if (r.is_baseline()) {
      add_baseline(r, line);
      return {};
    }
    DeviceResults& device = device_of(r);
    if (!r.finding.empty()) {
      device.finding_of(r.case_id, r.family)
          .runs.push_back({r.finding, r.value, r.unit, r.reason, r.value_low, r.value_high});
      return {};
    }
    ++device.rows;
    if (!r.meter_reason.empty()) device.take_meter(r.meter, r.meter_reason, r.idle_w);
    tuning_ = tuning_ || r.command.starts_with("[\"tune\"");
    check_times(r, name_, line);
    CaseTimes& at = device.case_of(set_.names.front()->of(r, families_), !r.tuned.empty());
    if (at.rows == 0) {
      check_axes(*at.name, families_, name_, line);
      at.derived = set_.names.front()->derived_of(r, families_);
    }
    RunTime run = run_of(r);
    run.file = file_;
    run.run = run_number(r);
    run.row = place;
    if (std::ranges::any_of(at.runs, [&](const RunTime& other) { return is_same_measurement(other, run); }))
      throw Error(ErrorCode::io, fmt::format("{}:{}: a second row of run {} of {}", name_, line,
                                             r.run.value_or(0), at.label()));
    // A search measures promising configurations again and longer: only the last row of each counts.
    if (tuning_ && !at.runs.empty() && at.runs.back().file == file_) at.runs.pop_back();
    const bool timed = add_row(at, r, run);
    if (!timed || !r.known_incorrect.empty())
      device.untimed.push_back({at.name, r.status, !r.known_incorrect.empty(), r.reason});
    if (!timed) return {};
    device.compute_units = std::max(device.compute_units,
                                    r.compute_units ? *r.compute_units : units_of(*at.name, run, families_));
    device.take_clocks(r);
    if (r.family == peak_family && r.peak != Peak::none && at.counts(run)) {
      double& best = device.peaks[r.peak];
      best = std::max(best, rate_of(r).value_or(0));
      if (!run.disturbed) device.quiet_peaks.insert(r.peak);
    }
    return Place{static_cast<std::size_t>(&device - set_.devices.data()),
                 static_cast<std::size_t>(&at - device.cases.data()), at.runs.size() - 1,
                 r.timer == Timer::event};
  }

  // Notes rows that were not added, after the last one.
  void finish() {
    for (const auto& [other, rows] : twice_)
      set_.notes.push_back(fmt::format("{} {} of {} {} in {}, too: read twice, counted once", rows,
                                       rows == 1 ? "row" : "rows", name_, rows == 1 ? "is" : "are",
                                       set_.files[other]));
    for (const auto& [api, rows] : failed_)
      set_.notes.push_back(fmt::format("{} {} of {} failed: {}", rows.size(),
                                       rows.size() == 1 ? "row" : "rows", api, rows.front()));
  }

 private:
  // Returns whether the row was read from another file before, as when a merged file lies beside its parts.
  // The label does not count, because a merge may have set it; times do, because devices that measured in
  // parallel have the same run.
  bool is_in_another_file(const Record& r) {
    if (r.run_id.empty()) return false;
    key_.clear();
    for (const auto* part : {&r.run_id, &r.time_utc, &r.case_id, &r.finding, &r.api, &r.tuned, &r.cache,
                             &r.platform, &r.device, &r.device_id, &r.uuid, &r.driver})
      key_.append(*part).push_back('\n');
    fmt::format_to(std::back_inserter(key_), "{} {} {}", r.run.value_or(0), r.time_s.value_or(0),
                   r.value.value_or(0));
    const auto [first, is_new] = set_.met_in.try_emplace(std::hash<std::string>()(key_), file_);
    if (is_new || first->second == file_) return false;
    ++twice_[first->second];
    return true;
  }

  void add_baseline(const Record& r, std::size_t line) {
    if (r.failed()) failed_[r.api].push_back(fmt::format("{}, {}: {}", r.case_id, r.status, r.reason));
    if (!r.ok()) return;
    check_times(r, name_, line);
    BaselineTime baseline = {r.api, &set_.names.front()->of_id(r.case_id), r.device_key(), run_of(r)};
    baseline.run.file = file_;
    baseline.run.run = run_number(r);
    if (std::ranges::any_of(set_.baselines, [&](const BaselineTime& other) {
          return other.of == baseline.of && other.api == baseline.api && other.device == baseline.device &&
                 is_same_measurement(other.run, baseline.run);
        }))
      throw Error(ErrorCode::io, fmt::format("{}:{}: a second row of run {} of {}, {}", name_, line,
                                             r.run.value_or(0), r.api, r.case_id));
    set_.baselines.push_back(std::move(baseline));
  }

  DeviceResults& device_of(const Record& r) {
    if (last_device_ < set_.devices.size()) {
      DeviceResults& last = set_.devices[last_device_];
      if (last.name == r.device && last.id == r.device_id && last.driver == r.driver &&
          last.platform == r.platform && last.uuid == r.uuid && last.user_label == r.label)
        return last;
    }
    DeviceResults& device = set_.device_of(r.device_key());
    last_device_ = static_cast<std::size_t>(&device - set_.devices.data());
    if (device.version.empty()) {
      device.version = r.version;
      device.cpu = r.cpu;
      device.host = r.host;
      device.type = r.device_type;
    }
    return device;
  }

  std::uint32_t run_number(const Record& r) {
    const std::int64_t run = r.run.value_or(0);
    if (run != last_run_.second || r.run_id != last_run_.first || run_numbers_.empty()) {
      last_run_ = {r.run_id, run};
      const auto [it, is_new] = run_numbers_.try_emplace(last_run_, set_.runs);
      if (is_new) ++set_.runs;
      last_number_ = it->second;
    }
    return last_number_;
  }

  ResultsSet& set_;
  const std::vector<Family>& families_;
  std::string name_;
  std::uint32_t file_;
  std::size_t last_device_ = SIZE_MAX;
  std::pair<std::string, std::int64_t> last_run_;
  std::uint32_t last_number_ = 0;
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> run_numbers_;
  bool tuning_ = false;
  std::map<std::string, std::vector<std::string>> failed_;  // of baselines, by api
  std::map<std::uint32_t, std::size_t> twice_;              // rows that another file has, too
  std::string key_;                                         // used again
};

}  // namespace

void ResultsSet::add(std::string_view text, const std::string& file, std::string_view samples,
                     const std::string& samples_name) {
  add(text, file, samples, samples_name, std::vector<Family>());
}

void ResultsSet::add(std::string_view text, const std::string& file, std::string_view samples,
                     const std::string& samples_name, const std::vector<Family>& families) {
  CsvReader reader(text, file);
  if (samples.empty()) return add(reader, file, nullptr, samples_name, families);
  CsvReader samples_reader(samples, samples_name);
  add(reader, file, &samples_reader, samples_name, families);
}

void ResultsSet::add(CsvReader& reader, const std::string& name, CsvReader* samples,
                     const std::string& samples_name, const std::vector<Family>& families) {
  if (reader.header().front() == figures_first_column) {
    files.push_back(name);
    return add_figures(*this, reader, name, static_cast<std::uint32_t>(files.size() - 1));
  }
  RecordReader records(reader.header(), name, reader.dialect());
  RowImporter filing(*this, name, families);
  std::vector<std::optional<Place>> places;  // per row of the file
  std::size_t count = 0, unfinished = 0;     // unfinished: rows since the last footer
  std::size_t disturbed = 0, not_checked = 0;
  CsvTable::Row row;
  for (Record r; reader.next(row);) {
    if (!records.read(row, r)) {
      if (r.run_id != std::to_string(unfinished))
        throw Error(ErrorCode::io, fmt::format("{}:{}: the footer counts {} rows, but there are {}", name,
                                               row.line, r.run_id, unfinished));
      unfinished = 0;
      continue;
    }
    fail_if_unverified(r);
    check_cells(r, name, row.line);
    ++unfinished;
    ++count;
    disturbed += r.disturbed.empty() ? 0 : 1;
    not_checked += is_unchecked(r) ? 1 : 0;
    auto place = filing.add(r, row.line);
    if (samples != nullptr) places.push_back(place);
  }
  filing.finish();
  records.check_header();
  if (!reader.complete_last_line())
    reader.fail("the file ends within this row: clweave run --resume finishes what was interrupted");
  if (count == 0) throw Error(ErrorCode::io, name + ": no row to compare");
  if (unfinished > 0) notes.push_back(fmt::format("{} was interrupted after {} rows", name, count));
  if (disturbed > 0)
    notes.push_back(
        fmt::format("{}: {} of {} rows were measured on a machine that was not quiet, as column disturbed "
                    "says: findings of them are undecided",
                    name, disturbed, count));
  if (not_checked > 0)
    notes.push_back(fmt::format(
        "{}: {} of {} rows are unverified, as of run --unchecked: their times are shown, and neither "
        "rank nor are compared",
        name, not_checked, count));
  if (samples != nullptr) add_samples(*this, places, *samples, samples_name, name);
}

bool same_content(const std::string& one, const std::string& other) {
  std::error_code error;
  const auto size = std::filesystem::file_size(one, error);
  if (error || size != std::filesystem::file_size(other, error) || error) return false;
  if (std::filesystem::equivalent(one, other, error)) return true;
  std::ifstream a(one, std::ios::binary), b(other, std::ios::binary);
  return a && b &&
         std::equal(std::istreambuf_iterator<char>(a), std::istreambuf_iterator<char>(),
                    std::istreambuf_iterator<char>(b), std::istreambuf_iterator<char>());
}

namespace {

// Returns the largest cache that a run found; 0 if none looked for it.
double largest_cache(const DeviceResults& device) {
  double out = 0;
  for (const auto& found : device.findings) {
    for (const auto& finding : found.runs) {
      if (finding.name == "cache_bytes") out = std::max(out, finding.value.value_or(0));
    }
  }
  return out;
}

// Marks rows whose buffers fit the cache. A run without peaks does not look for a cache, so that of another
// run is used.
void mark_cached(ResultsSet& set) {
  for (auto& device : set.devices) {
    const double cache = largest_cache(device);
    for (auto& at : device.cases) {
      for (auto& run : at.runs) {
        const bool unknown = of_memory(run.peak) && !run.fraction_of_peak;
        run.cached = run.cached || (unknown && run.bytes && static_cast<double>(*run.bytes) <= cache);
      }
    }
  }
}

}  // namespace

ResultsSet read_results(const std::vector<std::string>& files, const std::vector<Family>& families,
                        Samples samples) {
  ResultsSet out;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto first = std::ranges::find_if(
        files, [&](const auto& other) { return &other >= &files[i] || same_content(files[i], other); });
    if (&*first < &files[i]) {
      out.notes.push_back(files[i] == *first ? files[i] + " is given twice: its rows count once"
                                             : fmt::format("{} is the same file as {}: its rows count once",
                                                           files[i], *first));
      continue;
    }
    CsvReader reader(files[i]);
    const std::string beside = samples == Samples::read ? samples_beside(files[i]) : "";
    if (beside.empty()) {
      out.add(reader, files[i], nullptr, {}, families);
    } else {
      CsvReader samples_reader(beside);
      out.add(reader, files[i], &samples_reader, beside, families);
    }
  }
  mark_cached(out);
  return out;
}

ResultsSet results_of(const std::vector<Record>& records) {
  return results_of(records, std::vector<Family>());
}

ResultsSet results_of(const std::vector<Record>& records, const std::vector<Family>& families) {
  ResultsSet out;
  RowImporter filing(out, "rows", families);
  std::int64_t run = 0;
  for (Record record : records) {
    ++run;
    if (record.run_id.empty() || !record.run) record.run = run;
    fail_if_unverified(record);
    filing.add(record, 0);
  }
  filing.finish();
  return out;
}

}  // namespace clweave::results
