// SPDX-License-Identifier: Apache-2.0
#include "results/results_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "base/stats.hpp"
#include "base/text.hpp"
#include "suite/family.hpp"

namespace clweave::results {

std::string clock_of(const RunTime& run) {
  return std::string(text_of(run.timer)) + (run.cold ? ", cold" : ", warm");
}

double CaseTimes::median_s() const {
  std::vector<double> times;
  for (const auto& run : runs) times.push_back(run.time_s);
  return median(times);
}

bool CaseTimes::is_slowed() const {
  return !runs.empty() && 2 * std::ranges::count_if(runs, &RunTime::slowed) >= std::ssize(runs);
}

double CaseTimes::least_s() const {
  double out = HUGE_VAL;
  for (const auto& run : runs) out = std::min(out, run.least_s());
  return out;
}

bool CaseTimes::was_run(bool cold) const {
  return std::ranges::find(runs, cold, &RunTime::cold) != runs.end() || (runs.empty() && !cold);
}

RunTime middle_of(std::vector<const RunTime*> runs) {
  std::ranges::stable_sort(runs, {}, &RunTime::time_s);
  const RunTime& slower = *runs.at(runs.size() / 2);
  if (runs.size() % 2 == 1) return slower;
  const RunTime& faster = *runs[runs.size() / 2 - 1];
  RunTime out = slower;
  for (auto RunTime::*number : {&RunTime::time_s, &RunTime::log_variance, &RunTime::low_s, &RunTime::high_s})
    out.*number = (faster.*number + slower.*number) / 2;
  for (auto Measurement::*number :
       {&RunTime::min_s, &RunTime::fraction_of_peak, &RunTime::wall_s, &RunTime::call_s, &RunTime::value,
        &RunTime::energy_j, &RunTime::energy_low_j, &RunTime::energy_high_j}) {
    if (!(out.*number))
      out.*number = faster.*number;
    else if (faster.*number)
      out.*number = (*(faster.*number) + *(out.*number)) / 2;
  }
  for (auto Measurement::*rate : {&RunTime::gb_per_s, &RunTime::gflop_per_s, &RunTime::gitems_per_s}) {
    if (out.*rate) *(out.*rate) *= slower.time_s / out.time_s;
  }
  for (auto RunTime::*mark : {&RunTime::cached, &RunTime::disturbed, &RunTime::slowed, &RunTime::unsettled})
    out.*mark = faster.*mark || slower.*mark;
  out.has_interval = faster.has_interval && slower.has_interval;
  return out;
}

std::optional<RunTime> CaseTimes::typical(bool cold) const {
  std::vector<const RunTime*> looks;
  for (const auto& run : runs) {
    if (run.cold == cold) looks.push_back(&run);
  }
  if (!ok() || looks.empty()) return {};
  return middle_of(std::move(looks));
}

void DeviceResults::take_meter(const std::string& name, const std::string& says, const Number& watts) {
  if (!meter_reason.empty() && (idle_w || !watts)) return;
  meter = name;
  meter_reason = says;
  idle_w = watts;
}

const Finding& FindingRows::typical() const {
  std::vector<const Finding*> looks;
  for (const auto& run : runs) looks.push_back(&run);
  std::ranges::stable_sort(looks, {}, [](const Finding* one) { return one->value.value_or(0); });
  return *looks.at(looks.size() / 2);
}

Number CaseTimes::host_median_s() const {
  std::vector<double> times;
  for (const auto& run : runs) {
    if (!run.wall_s || !(*run.wall_s > 0)) return {};
    times.push_back(*run.wall_s);
  }
  return median(times);
}

Number CaseTimes::fraction_of_peak() const {
  std::vector<double> fractions;
  for (const auto& run : runs) {
    if (run.fraction_of_peak && *run.fraction_of_peak > 0) fractions.push_back(*run.fraction_of_peak);
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

const CaseTimes* DeviceResults::find(std::string_view case_id, bool tuned) const {
  for (; indexed_ < cases.size(); ++indexed_)
    (cases[indexed_].tuned ? tuned_by_id_ : by_id_)[cases[indexed_].id()] = indexed_;
  const auto& index = tuned ? tuned_by_id_ : by_id_;
  const auto it = index.find(case_id);
  return it != index.end() ? &cases[it->second] : nullptr;
}

CaseTimes& DeviceResults::case_of(const CaseName& name, bool tuned) {
  auto& index = tuned ? tuned_by_name_ : by_name_;
  const auto [it, is_new] = index.try_emplace(&name, cases.size());
  if (!is_new) return cases[it->second];
  if (const CaseTimes* same = merged_ ? find(name.id, tuned) : nullptr; same != nullptr) {
    it->second = static_cast<std::size_t>(same - cases.data());
    return cases[it->second];
  }
  auto& made = cases.emplace_back();
  made.name = &name;
  made.tuned = tuned;
  return made;
}

FindingRows& DeviceResults::finding_of(const std::string& id, const std::string& family) {
  const auto [it, is_new] = finding_by_id_.try_emplace(id, findings.size());
  if (is_new) findings.push_back({id, family, {}});
  return findings[it->second];
}

std::map<std::pair<bool, Status>, std::size_t> DeviceResults::counts() const {
  std::map<std::pair<bool, Status>, std::size_t> out;
  for (const auto& row : untimed) ++out[{row.known_incorrect, row.status}];
  if (rows > untimed.size()) out[{false, Status::ok}] += rows - untimed.size();
  return out;
}

void DeviceResults::keep(const std::vector<std::string>& families) {
  const auto goes = [&](const std::string& family) {
    return std::ranges::find(families, family) == families.end();
  };
  std::erase_if(cases, [&](const CaseTimes& at) { return goes(at.family()); });
  std::erase_if(untimed, [&](const FailedCase& row) { return goes(row.name->family); });
  std::erase_if(findings, [&](const FindingRows& found) { return goes(found.family); });
  finding_by_id_.clear();
  for (std::size_t i = 0; i < findings.size(); ++i) finding_by_id_[findings[i].id] = i;
  by_id_.clear();
  tuned_by_id_.clear();
  indexed_ = 0;
  by_name_.clear();
  tuned_by_name_.clear();
  for (std::size_t i = 0; i < cases.size(); ++i)
    (cases[i].tuned ? tuned_by_name_ : by_name_)[cases[i].name] = i;
}

std::string DeviceResults::label() const {
  std::string out = name;
  // PoCL's names are: kind of driver, LLVM's name of the processor, product.
  if (out.starts_with("pthread-") || out.starts_with("cpu-")) out = out.substr(out.rfind('-') + 1);
  for (const char* mark : {"(R)", "(TM)", " Processor", " CPU"}) {
    for (auto at = out.find(mark); at != std::string::npos; at = out.find(mark))
      out.erase(at, std::string_view(mark).size());
  }
  return out.empty() ? name : out;
}

const Value* CaseTimes::cell(std::string_view wanted) const {
  if (const Value* value = name->axis(wanted)) return value;
  const auto same = std::ranges::find_if(derived, [&](const CaseAxis& at) { return *at.name == wanted; });
  return same != derived.end() ? same->value : nullptr;
}

DeviceResults* ResultsSet::find(const DeviceKey& key) {
  const auto same = std::ranges::find_if(devices, [&](const DeviceKey& other) { return other == key; });
  const auto it = same != devices.end()
                      ? same
                      : std::ranges::find_if(devices, [&](const auto& other) { return other.meets(key); });
  return it != devices.end() ? &*it : nullptr;
}

DeviceResults& ResultsSet::device_of(const DeviceKey& key) {
  if (DeviceResults* there = find(key)) {
    if (there->uuid.empty()) there->uuid = key.uuid;
    return *there;
  }
  auto& device = devices.emplace_back();
  static_cast<DeviceKey&>(device) = key;
  return device;
}

bool BaselineTime::runs_on(const DeviceResults& other) const {
  if (!device.platform.starts_with(native_platform)) return device.meets(other);
  return device.name == other.name || (other.type == "cpu" && device.name == other.cpu);
}

namespace {

// Adds the rows of the same case of another file.
void add_rows(CaseTimes& at, const CaseTimes& more) {
  at.rows += more.rows;
  at.bad += more.bad;
  at.known_incorrect = at.known_incorrect || more.known_incorrect;
  at.unverified = at.unverified || more.unverified;
  at.each_by_itself = at.each_by_itself || more.each_by_itself;
  at.bounded = at.bounded || more.bounded;
  if (at.ok() || (more.status == Status::wrong_result && at.status != Status::wrong_result)) {
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

}  // namespace

void ResultsSet::merge(ResultsSet other) {
  const auto file = static_cast<std::uint32_t>(files.size());
  for (auto& device : other.devices) {
    for (auto& at : device.cases) {
      for (auto& run : at.runs) {
        run.file += file;
        run.run += runs;
        run.row += rows;
      }
    }
    DeviceResults* same = find(device);
    if (same == nullptr) {
      devices.push_back(std::move(device));
      continue;
    }
    if (same->uuid.empty()) same->uuid = device.uuid;
    same->merged_ = true;
    same->rows += device.rows;
    for (auto& more : device.findings) {
      auto& runs = same->finding_of(more.id, more.family).runs;
      std::ranges::move(more.runs, std::back_inserter(runs));
    }
    same->compute_units = std::max(same->compute_units, device.compute_units);
    same->take_clocks(device);
    same->take_meter(device.meter, device.meter_reason, device.idle_w);
    same->untimed.insert(same->untimed.end(), device.untimed.begin(), device.untimed.end());
    for (const auto& [name, rate] : device.peaks) same->peaks[name] = std::max(same->peaks[name], rate);
    same->quiet_peaks.insert(device.quiet_peaks.begin(), device.quiet_peaks.end());
    for (auto& more : device.cases) {
      CaseTimes& at = same->case_of(*more.name, more.tuned);
      if (at.rows == 0) {
        at = std::move(more);
        continue;
      }
      add_rows(at, more);
    }
  }
  figures.insert(figures.end(), other.figures.begin(), other.figures.end());
  for (auto& baseline : other.baselines) {
    baseline.run.file += file;
    baseline.run.run += runs;
  }
  baselines.insert(baselines.end(), other.baselines.begin(), other.baselines.end());
  files.insert(files.end(), other.files.begin(), other.files.end());
  notes.insert(notes.end(), other.notes.begin(), other.notes.end());
  for (const auto& [row, its] : other.met_in) met_in.try_emplace(row, its + file);
  names.insert(names.end(), other.names.begin(), other.names.end());
  runs += other.runs;
  rows += other.rows;
}

void ResultsSet::keep(const std::vector<std::string>& families) {
  if (families.empty()) return;
  std::set<std::string> here;
  for (auto& device : devices) {
    for (const auto& at : device.cases) here.insert(at.family());
    device.keep(families);
  }
  const auto is_left_out = [&](const CaseName& name) {
    return std::ranges::find(families, name.family) == families.end();
  };
  std::erase_if(figures, [&](const PublishedFigure& figure) { return is_left_out(*figure.of); });
  std::erase_if(baselines, [&](const BaselineTime& baseline) { return is_left_out(*baseline.of); });
  std::erase_if(devices,
                [](const DeviceResults& device) { return device.published && device.cases.empty(); });
  for (const auto& family : families) {
    if (!here.contains(family))
      throw Error(ErrorCode::usage,
                  fmt::format("no case of family '{}' in {}{}", family, fmt::join(files, ", "),
                              suggestion(family, {here.begin(), here.end()})));
  }
}

std::vector<const DeviceResults*> measured(const ResultsSet& set) {
  std::vector<const DeviceResults*> out;
  for (const auto& device : set.devices) {
    if (!device.published) out.push_back(&device);
  }
  return out;
}

namespace {

// Groups rows by api, case and, if `by_device`, device: the same hardware may have several names.
std::vector<BaselineTimes> grouped(const BaselineTimes& baselines, bool by_device) {
  std::vector<BaselineTimes> out;
  std::map<std::tuple<std::string, const CaseName*, std::string>, std::size_t> places;
  for (const auto* baseline : baselines) {
    const auto [place, is_new] = places.try_emplace(
        {baseline->api, baseline->of, by_device ? baseline->device.text() : ""}, out.size());
    if (is_new) out.emplace_back();
    out[place->second].push_back(baseline);
  }
  return out;
}

}  // namespace

std::vector<BaselineTimes> baseline_times(const ResultsSet& set) {
  BaselineTimes all;
  for (const auto& baseline : set.baselines) all.push_back(&baseline);
  return grouped(all, true);
}

std::vector<BaselineTimes> baseline_times(const ResultsSet& set, const DeviceResults& device) {
  BaselineTimes here;
  for (const auto& baseline : set.baselines) {
    if (baseline.runs_on(device)) here.push_back(&baseline);
  }
  return grouped(here, false);
}

BaselineTime typical(const BaselineTimes& looks) {
  std::vector<const RunTime*> runs;
  for (const auto* look : looks) runs.push_back(&look->run);
  BaselineTime out = *looks.front();
  out.run = middle_of(std::move(runs));
  return out;
}

}  // namespace clweave::results
