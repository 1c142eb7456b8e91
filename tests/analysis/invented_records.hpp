// SPDX-License-Identifier: Apache-2.0
// invented_records: rows of families and devices that never were.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "results/record.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

// One family per quantity, as far as a summary looks at them.
inline std::vector<Family> invented() {
  Family peak;
  peak.name = "peak";
  peak.axes = {{"kernel", "", {"copy", "read", "arithmetic"}}, {"type", "", {"float", "int"}}};
  peak.view = {.rows = {"kernel"}, .columns = {"type"}, .quantity = "rate"};
  Family grid;
  grid.name = "grid";
  grid.axes = {{"kernel", "", {"plain", "clever"}},
               {"mapping", "", {"row", "column"}},
               {"n", "", {64, 1024}},
               {"local", "", {"16x16", "256"}},
               {"form", "", {"corrected", "known_incorrect"}}};
  grid.view = {.rows = {"kernel"}, .columns = {"mapping"}, .quantity = "rate"};
  Family lanes;
  lanes.name = "branch_divergence";
  lanes.axes = {{"paths", "", {1, 2, 16}}, {"granularity", "", {1, 2, 16}}};
  lanes.view = {.rows = {"paths"}, .columns = {"granularity"}, .quantity = "slowdown"};
  Family sort;
  sort.name = "sort";
  sort.axes = {{"n", "", {64}}};
  sort.view = {.rows = {"n"}, .columns = {}, .quantity = "items"};
  return {peak, grid, lanes, sort};
}

inline Record row(const std::string& family, const std::vector<std::pair<std::string, std::string>>& axes) {
  Record record;
  record.platform = "Invented, OpenCL 3.0";
  record.device = "Loom 1";
  record.device_id = "0:0";
  record.driver = "1.2";
  record.family = family;
  record.case_id = family;
  record.axes = axes;
  for (const auto& [name, value] : axes) record.case_id.append("/").append(name).append("=").append(value);
  record.status = Status::ok;
  record.time_s = 1e-3;
  return record;
}

inline Record grid_row(const std::string& kernel, const std::string& mapping, double gb_per_s,
                       const std::string& n = "64", const std::string& form = "corrected") {
  Record record = row("grid", {{"kernel", kernel},
                               {"mapping", mapping},
                               {"n", n},
                               {"local", kernel == "plain" ? "16x16" : "256"},
                               {"form", form}});
  record.peak = Peak::copy;
  record.gb_per_s = gb_per_s;
  record.gflop_per_s = 777;
  record.fraction_of_peak = gb_per_s / 200;
  return record;
}

inline Record lanes_row(int paths, int granularity, double time_s) {
  Record record = row("branch_divergence",
                      {{"paths", std::to_string(paths)}, {"granularity", std::to_string(granularity)}});
  record.time_s = time_s;
  return record;
}

inline Record ceiling_row(const std::string& kernel, const std::string& type, const std::string& peak,
                          double rate) {
  Record record = row("peak", {{"kernel", kernel}, {"type", type}});
  record.peak = enum_named<Peak>(peak).value();
  record.gb_per_s = peak.starts_with("arithmetic") ? 1 : rate;
  record.gflop_per_s = peak.starts_with("arithmetic") ? rate : 1;
  return record;
}

inline Record finding(const std::string& family, const std::string& name, double value,
                      const std::string& unit) {
  Record record = row(family, {});
  record.case_id = family + "/finding=" + name;
  record.time_s.reset();
  record.finding = name;
  record.value = value;
  record.unit = unit;
  record.reason = "because of " + name;
  return record;
}

// A record that is not ok: without a time.
inline Record broken(Record record, const std::string& status, const std::string& reason,
                     const std::string& known_incorrect = "") {
  record.status = enum_named<Status>(status).value();
  record.reason = reason;
  record.known_incorrect = known_incorrect;
  record.time_s.reset();
  record.gb_per_s.reset();
  record.gflop_per_s.reset();
  record.fraction_of_peak.reset();
  return record;
}

}  // namespace clweave::commands
