// SPDX-License-Identifier: Apache-2.0
// compared_rows: rows of a family that never was, as files and as sets, and what complains about them.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "complaint.hpp"
#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::commands {

using Axes = std::vector<std::pair<std::string, std::string>>;

// A row of family loom, ok, of 1000 items.
inline Record row(const Axes& axes, double time_s, int run = 1, const std::string& family = "loom") {
  Record record;
  record.run_id = "R";
  record.run = run;
  record.platform = "Invented, OpenCL 3.0";
  record.device = "Loom 1";
  record.device_id = "0:0";
  record.driver = "1.2";
  record.family = family;
  record.case_id = family;
  record.axes = axes;
  for (const auto& [name, value] : axes) record.case_id += fmt::format("/{}={}", name, value);
  record.status = Status::ok;
  record.timer = Timer::event;
  record.cache = "warm";
  record.time_s = time_s;
  record.bytes = 8000;
  record.items = 1000;
  record.peak = Peak::copy;
  return record;
}

inline Record bad(Record record, const std::string& status, const std::string& reason = "") {
  record.status = enum_named<Status>(status).value();
  record.reason = reason;
  record.time_s.reset();
  return record;
}

inline Record on(Record record, const std::string& device, const std::string& driver = "1.2") {
  record.device = device;
  record.driver = driver;
  return record;
}

inline std::string csv_of(const std::vector<Record>& records, bool footer = true) {
  std::vector<std::string> axes;
  for (const auto& record : records) {
    for (const auto& [name, value] : record.axes) {
      if (std::ranges::find(axes, name) == axes.end()) axes.push_back(name);
    }
  }
  std::string text = csv_line(header_cells(axes));
  for (const auto& record : records) text += csv_line(cells_of(record, axes));
  if (footer) text += csv_line(footer_cells(records.size(), axes));
  return text;
}

inline ResultsSet set_of(const std::vector<Record>& records) {
  ResultsSet set;
  set.add(csv_of(records), "x.csv");
  return set;
}

inline std::string shown(const Report& report, const char* format) {
  return text_of(report, format, Screen{.ascii = false});
}

inline std::string complaint(const std::string& text, const std::string& samples = "") {
  return complaint_of([&] { ResultsSet().add(text, "x.csv", samples, "x.samples.csv"); }, ErrorCode::io);
}

// Times of one case, a run each.
inline std::vector<Record> runs_of(const std::string& kernel, const std::vector<double>& times) {
  std::vector<Record> out;
  for (std::size_t i = 0; i < times.size(); ++i)
    out.push_back(row({{"kernel", kernel}}, times[i], static_cast<int>(i) + 1));
  return out;
}

inline std::vector<Record> operator+(std::vector<Record> all, const std::vector<Record>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline const std::vector<double> five_old = {1.00, 1.02, 0.98, 1.01, 0.99};
inline const std::vector<double> five_new = {1.30, 1.33, 1.28, 1.31, 1.29};

inline std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), by);
}

}  // namespace clweave::commands
