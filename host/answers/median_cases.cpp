// SPDX-License-Identifier: Apache-2.0
#include "answers/median_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/csv.hpp"

namespace clweave {

namespace {

Look look_at(const Record& record) {
  Look look;
  look.status = record.status;
  look.exhibit = !record.exhibit.empty();
  look.cached = record.cached == "yes";
  look.disturbed = record.throttled.value_or(0) > 0.5;
  look.unsettled = record.converged == "no";
  look.ceiling = record.ceiling;
  look.time_s = record.time_s;
  look.gb_per_s = record.gb_per_s;
  look.gop_per_s = record.gflop_per_s;
  look.gitems_per_s = record.gitems_per_s;
  look.of_ceiling = record.of_ceiling;
  // Without a ceiling to tell: a row of few bytes a thousand operations measures these.
  look.of_operations =
      of_arithmetic(record.ceiling) ||
      (record.ceiling == Ceiling::none && record.flops.value_or(0) > 4 * record.bytes.value_or(0));
  look.value = record.value;
  look.reason = record.reason;
  return look;
}

}  // namespace

const std::string& MedianCase::axis(std::string_view name) const {
  static const std::string none;
  const auto it = std::ranges::find(axes, name, &std::pair<std::string, std::string>::first);
  return it == axes.end() ? none : it->second;
}

void MedianCases::add(const Record& record) {
  if (record.api != "opencl") return;
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}", record.platform, record.device, record.device_id, record.driver);
  auto device = std::ranges::find(devices_, key, &MedianDevice::key);
  if (device == devices_.end()) {
    devices_.emplace_back();
    device = devices_.end() - 1;
    device->key = key;
    device->name = record.device;
    device->platform = record.platform;
    device->driver = record.driver;
  }
  device->rows += record.finding.empty() ? 1 : 0;
  const bool cold = record.cache == "cold";
  const auto [known, is_new] = device->by_id.try_emplace(
      fmt::format("{}{}{}", record.case_id, record.tuned.empty() ? "" : "\ntuned", cold ? "\ncold" : ""),
      device->cases.size());
  if (is_new) {
    auto& made = device->cases.emplace_back();
    made.id = record.case_id;
    made.family = record.family;
    for (const auto& axis : record.axes) {
      if (!axis.second.empty()) made.axes.push_back(axis);
    }
    made.tuned = !record.tuned.empty();
    made.cold = cold;
    made.finding = record.finding;
    made.unit = record.unit;
  }
  const auto& look = device->cases[known->second].looks.emplace_back(look_at(record));
  if (record.family == "ceiling" && look.ok() && look.ceiling != Ceiling::none) {
    double& best = device->ceilings[look.ceiling];
    best = std::max(best, look.rate().value_or(0));
  }
}

void MedianCases::add_file(const std::string& path, const std::vector<Family>& families) {
  const std::string text = read_text(path);
  CsvReader csv(text, path);
  const RecordReader reader(csv.header(), path);
  Record record;
  bool finished = false;
  std::size_t rows = 0;
  for (CsvTable::Row row; csv.next(row);) {
    finished = !reader.read(row, record);
    if (finished) continue;
    add_later_axes(record, families);
    add(record);
    ++rows;
  }
  reader.check_header();
  if (!finished || !csv.complete_last_line())
    notes_.push_back(fmt::format("{} was interrupted after {} rows", path, rows));
}

void MedianCases::settle() {
  for (auto& device : devices_) {
    for (auto& one : device.cases) {
      std::vector<std::size_t> order(one.looks.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      const auto bad = std::ranges::find_if(one.looks, [](const Look& look) { return !look.ok(); });
      if (bad != one.looks.end()) {
        one.median = static_cast<std::size_t>(bad - one.looks.begin());
        continue;
      }
      std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return one.looks[i].time_s.value_or(one.looks[i].value.value_or(0));
      });
      one.median = order[order.size() / 2];
    }
  }
}

}  // namespace clweave
