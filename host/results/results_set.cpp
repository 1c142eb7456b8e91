// SPDX-License-Identifier: Apache-2.0
#include "results/results_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/stats.hpp"
#include "results/results_file.hpp"

namespace clweave {

namespace {

constexpr double z = 1.96;  // of the intervals in a results file

double log_variance(double low, double high) {
  if (!(low > 0) || !(high > low)) return 0;
  const double sd = (std::log(high) - std::log(low)) / (2 * z);
  return sd * sd;
}

std::vector<std::pair<std::string, std::string>> axes_of_id(std::string_view id) {
  std::vector<std::pair<std::string, std::string>> axes;
  for (auto at = id.find('/'); at != std::string_view::npos;) {
    const auto next = id.find('/', at + 1);
    const auto part = id.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) {
      axes.emplace_back(part, "yes");
    } else {
      axes.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    at = next;
  }
  return axes;
}

std::string work_of(const Record& r) {
  const auto text = [](const Count& count) { return count ? std::to_string(*count) : ""; };
  return fmt::format("{}/{}/{}", text(r.bytes), text(r.flops), text(r.items));
}

std::string items_of(const Record& r) {
  return r.items ? std::to_string(*r.items) : r.bytes ? std::to_string(*r.bytes) + " B" : "";
}

DeviceResults& device_of(ResultsSet& set, const Record& r) {
  for (auto& device : set.devices) {
    if (device.name == r.device && device.id == r.device_id && device.platform == r.platform &&
        device.driver == r.driver && !device.published)
      return device;
  }
  auto& device = set.devices.emplace_back();
  device.platform = r.platform;
  device.name = r.device;
  device.id = r.device_id;
  device.driver = r.driver;
  device.version = r.version;
  device.cpu = r.cpu;
  return device;
}

CaseTimes& case_of(DeviceResults& device, const std::string& id, const std::string& family) {
  const auto [it, is_new] = device.by_id.try_emplace(id, device.cases.size());
  if (is_new) {
    auto& made = device.cases.emplace_back();
    made.id = id;
    made.family = family;
    made.axes = axes_of_id(id);
  }
  return device.cases[it->second];
}

void add_row(CaseTimes& at, const Record& r, const RunTime& run) {
  if (at.rows++ == 0) {
    at.work = work_of(r);
    at.items = items_of(r);
  }
  at.exhibit = at.exhibit || !r.exhibit.empty();
  at.bounded = at.bounded || r.ceiling != Ceiling::none;
  if (!r.ok() || !r.time_s || !(*r.time_s > 0)) {
    ++at.bad;
    if (at.ok()) {
      at.status = r.ok() ? Status::none : r.status;
      at.reason = r.ok() ? "no time" : r.reason;
    }
    return;
  }
  const std::string clock = fmt::format("{}, {}", r.timer, r.cache);
  at.each_by_itself = at.each_by_itself || (r.method == "batch" && r.timer == Timer::event);
  if (at.clock.empty()) {
    at.clock = clock;
    at.cache = r.cache;
  }
  if (at.clock != clock) at.clock = several_clocks;
  if (at.cache != r.cache) at.cache = several_clocks;
  at.runs.push_back(run);
}

// Which run of which case a row of the file became.
struct Place {
  std::size_t device, at, run;
  bool event;  // timed by the device's time stamps, not by the host's clock
};

void add_samples(ResultsSet& set, const std::vector<std::optional<Place>>& places, std::string_view text,
                 const std::string& samples_name, const std::string& rows_name) {
  CsvReader reader(text, samples_name);
  const auto column = [&](const char* title) {
    const auto it = std::ranges::find(reader.header(), title);
    if (it == reader.header().end())
      throw Error(Kind::io,
                  fmt::format("{}:1: no column '{}': not samples of clweave run", samples_name, title));
    return static_cast<std::size_t>(it - reader.header().begin());
  };
  const std::size_t row_column = column("row"), event = column("event_ns"), host = column("host_ns");
  std::vector<double> samples;
  std::size_t of_row = 0, of_line = 1;
  const auto finish = [&] {
    if (samples.empty()) return;
    const auto& place = places[of_row - 1];
    if (place) {
      RunTime& run = set.devices[place->device].cases[place->at].runs[place->run];
      const MedianInterval interval = median_interval(samples, z);
      // Samples are written to a tenth of a nanosecond.
      if (std::abs(interval.median - run.time_s) > 1e-3 * run.time_s + 1e-10)
        throw Error(
            Kind::io,
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
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc{} || end != cell.data() + cell.size() || !std::isfinite(value))
        throw Error(Kind::io, fmt::format("{}:{}: column {}: '{}' is no number", samples_name, row.line,
                                          reader.header()[c], cell));
      return value;
    };
    const double at = number(row_column);
    if (!(at >= 1) || at > static_cast<double>(places.size()) || at != std::floor(at))
      throw Error(Kind::io, fmt::format("{}:{}: row {} is not in {}, which has {}", samples_name, row.line,
                                        row.cells[row_column], rows_name, places.size()));
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

constexpr const char* figures_first_column = "source";

// The published figures: one row per figure, of which those with a family and a time become cases.
void add_figures(ResultsSet& set, CsvReader& reader, const std::string& name, std::uint32_t file) {
  const auto column = [&](const char* title) {
    const auto it = std::ranges::find(reader.header(), title);
    if (it == reader.header().end())
      throw Error(Kind::io,
                  fmt::format("{}:1: no column '{}': neither a CSV of clweave run nor the published "
                              "figures",
                              name, title));
    return static_cast<std::size_t>(it - reader.header().begin());
  };
  const std::size_t year = column("year"), device = column("device"), id = column("case"),
                    seconds = column("seconds"), evidence = column("evidence"), note = column("note");
  for (CsvTable::Row row; reader.next(row);) {
    const auto& cells = row.cells;
    if (cells[id].empty() || cells[seconds].empty()) continue;
    const std::string& cell = cells[seconds];
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0) || !std::isfinite(value))
      throw Error(Kind::io, fmt::format("{}:{}: column seconds: '{}' is no time", name, row.line, cell));
    const std::string title = fmt::format("{} ({})", cells[device], cells[year]);
    auto it = std::ranges::find(set.devices, title, &DeviceResults::name);
    if (it == set.devices.end()) {
      set.devices.emplace_back().name = title;
      it = set.devices.end() - 1;
      it->published = true;
    }
    CaseTimes& at = case_of(*it, cells[id], cells[id].substr(0, cells[id].find('/')));
    ++at.rows;
    at.clock = "published";
    at.bounded = true;
    if (cells[evidence].empty()) {
      at.runs.push_back({.file = file, .run = 0, .time_s = value, .log_variance = 0, .of_ceiling = {}});
    } else {
      ++at.bad;
      at.status = Status::wrong_result;
      at.reason = cells[evidence] + ": " + cells[note];
    }
  }
  if (!reader.complete_last_line()) reader.fail("the file ends within this row");
}

std::string samples_beside(const std::string& path) {
  const std::string samples = samples_path(path);
  return std::filesystem::is_regular_file(samples) ? samples : "";
}

}  // namespace

double CaseTimes::median_s() const {
  std::vector<double> times;
  for (const auto& run : runs) times.push_back(run.time_s);
  return median(times);
}

Number CaseTimes::host_median_s() const {
  std::vector<double> times;
  for (const auto& run : runs) {
    if (!run.wall_s || !(*run.wall_s > 0)) return {};
    times.push_back(*run.wall_s);
  }
  return median(times);
}

Number CaseTimes::of_ceiling() const {
  std::vector<double> fractions;
  for (const auto& run : runs) {
    if (run.of_ceiling && *run.of_ceiling > 0) fractions.push_back(*run.of_ceiling);
  }
  if (fractions.empty()) return {};
  return median(fractions);
}

std::optional<CaseTimes> CaseTimes::by_host() const {
  CaseTimes out = *this;
  out.clock = "host";
  if (each_by_itself || !host_median_s()) return {};
  for (auto& run : out.runs) {
    if (run.batch != runs.front().batch) return {};
    run.time_s = *run.wall_s;
  }
  return out;
}

const CaseTimes* DeviceResults::find(const std::string& case_id) const {
  const auto it = by_id.find(case_id);
  return it != by_id.end() ? &cases[it->second] : nullptr;
}

std::string DeviceResults::label() const {
  std::string out = name;
  // PoCL: how it runs, LLVM's name of the processor, then the product.
  if (out.starts_with("pthread-") || out.starts_with("cpu-")) out = out.substr(out.rfind('-') + 1);
  for (const char* mark : {"(R)", "(TM)", " Processor", " CPU"}) {
    for (auto at = out.find(mark); at != std::string::npos; at = out.find(mark))
      out.erase(at, std::string_view(mark).size());
  }
  return out.empty() ? name : out;
}

void ResultsSet::add(std::string_view text, const std::string& name, std::string_view samples,
                     const std::string& samples_name, const std::vector<Family>& families) {
  CsvReader reader(text, name);
  const auto file = static_cast<std::uint32_t>(files.size());
  files.push_back(name);
  if (reader.header().front() == figures_first_column) return add_figures(*this, reader, name, file);

  const RecordReader records(reader.header(), name);
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> run_numbers;
  std::vector<std::optional<Place>> places;  // per row of the file
  std::size_t unfinished = 0;                // rows since the last footer
  bool tuning = false;
  CsvTable::Row row;
  for (Record r; reader.next(row);) {
    if (!records.read(row, r)) {
      if (r.run_id != std::to_string(unfinished))
        throw Error(Kind::io, fmt::format("{}:{}: the footer counts {} rows, but there are {}", name,
                                          row.line, r.run_id, unfinished));
      unfinished = 0;
      continue;
    }
    ++unfinished;
    add_later_axes(r, families);
    auto& place = places.emplace_back();
    DeviceResults& device = device_of(*this, r);
    if (!r.finding.empty()) {
      ++device.findings;
      continue;
    }
    tuning = tuning || r.command.starts_with("[\"tune\"");
    const auto [it, is_new] =
        run_numbers.try_emplace({r.run_id, r.run.value_or(0)}, static_cast<std::uint32_t>(runs));
    if (is_new) ++runs;
    RunTime run{.file = file,
                .run = it->second,
                .time_s = r.time_s.value_or(0),
                .log_variance = log_variance(r.time_low_s.value_or(0), r.time_high_s.value_or(0)),
                .of_ceiling = r.of_ceiling,
                .wall_s = r.wall_s,
                .batch = r.batch.value_or(0),
                .slowed = r.throttled.value_or(0) > 0.5};
    CaseTimes& at = case_of(device, r.tuned.empty() ? r.case_id : r.case_id + "/tuned", r.family);
    if (!at.runs.empty() && at.runs.back().run == run.run)
      throw Error(Kind::io, fmt::format("{}:{}: a second row of run {} of {}", name, row.line,
                                        r.run.value_or(0), at.id));
    // A search looks again and longer at what seems good: its last look is the one that counts.
    if (tuning && !at.runs.empty() && at.runs.back().file == file) at.runs.pop_back();
    add_row(at, r, run);
    if (!at.runs.empty() && at.runs.back().run == run.run)
      place = {static_cast<std::size_t>(&device - devices.data()),
               static_cast<std::size_t>(&at - device.cases.data()), at.runs.size() - 1, r.timer == Timer::event};
    if (r.family == "ceiling" && r.ok() && r.ceiling != Ceiling::none) {
      double& best = device.ceilings[r.ceiling];
      best = std::max(best, rate_of(r).value_or(0));
    }
  }
  records.check_header();
  if (!reader.complete_last_line())
    reader.fail("the file ends within this row: clweave run --resume finishes what was interrupted");
  if (places.empty()) throw Error(Kind::io, name + ": no row to compare");
  if (unfinished > 0) notes.push_back(fmt::format("{} was interrupted after {} rows", name, places.size()));
  if (!samples.empty()) add_samples(*this, places, samples, samples_name, name);
}

void ResultsSet::merge(ResultsSet other) {
  const auto file = static_cast<std::uint32_t>(files.size());
  for (auto& device : other.devices) {
    for (auto& at : device.cases) {
      for (auto& run : at.runs) {
        run.file += file;
        run.run += runs;
      }
    }
    const auto same = std::ranges::find_if(devices, [&](const DeviceResults& d) {
      return d.name == device.name && d.id == device.id && d.platform == device.platform &&
             d.driver == device.driver && d.published == device.published;
    });
    if (same == devices.end()) {
      devices.push_back(std::move(device));
      continue;
    }
    same->findings += device.findings;
    for (const auto& [name, rate] : device.ceilings)
      same->ceilings[name] = std::max(same->ceilings[name], rate);
    for (auto& more : device.cases) {
      CaseTimes& at = case_of(*same, more.id, more.family);
      if (at.rows == 0) {
        at = std::move(more);
        continue;
      }
      at.rows += more.rows;
      at.bad += more.bad;
      at.exhibit = at.exhibit || more.exhibit;
      at.each_by_itself = at.each_by_itself || more.each_by_itself;
      at.bounded = at.bounded || more.bounded;
      if (at.ok()) {
        at.status = more.status;
        at.reason = more.reason;
      }
      if (at.clock.empty()) {
        at.clock = more.clock;
        at.cache = more.cache;
      }
      if (at.cache != more.cache) at.cache = several_clocks;
      if (!more.clock.empty() && at.clock != more.clock) at.clock = several_clocks;
      if (at.work != more.work) at.work = at.items = "several sizes";
      at.runs.insert(at.runs.end(), more.runs.begin(), more.runs.end());
    }
  }
  files.insert(files.end(), other.files.begin(), other.files.end());
  notes.insert(notes.end(), other.notes.begin(), other.notes.end());
  runs += other.runs;
}

void ResultsSet::keep(const std::vector<std::string>& families) {
  if (families.empty()) return;
  std::set<std::string> here;
  for (auto& device : devices) {
    std::vector<CaseTimes> kept;
    for (auto& at : device.cases) {
      here.insert(at.family);
      if (std::ranges::find(families, at.family) != families.end()) kept.push_back(std::move(at));
    }
    device.cases = std::move(kept);
    device.by_id.clear();
    for (std::size_t i = 0; i < device.cases.size(); ++i) device.by_id[device.cases[i].id] = i;
  }
  std::erase_if(devices,
                [](const DeviceResults& device) { return device.published && device.cases.empty(); });
  for (const auto& family : families) {
    if (!here.contains(family))
      throw Error(Kind::usage, fmt::format("no case of family '{}' in {}; there are {}", family,
                                           fmt::join(files, ", "), fmt::join(here, ", ")));
  }
}

ResultsSet read_results(const std::vector<std::string>& files, const std::vector<Family>& families) {
  ResultsSet out;
  for (const auto& file : files) {
    const std::string text = read_text(file);
    const std::string samples = samples_beside(file);
    out.add(text, file, samples.empty() ? "" : read_text(samples), samples, families);
  }
  return out;
}

}  // namespace clweave
