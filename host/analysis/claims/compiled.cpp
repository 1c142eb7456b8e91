// SPDX-License-Identifier: Apache-2.0
#include "analysis/claims/compiled.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "analysis/claims/selection.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "suite/selection.hpp"

namespace clweave::claims {

extern const std::string_view embedded_registers;  // generated from results/compilers/registers.csv

namespace {

struct Compiled {
  std::string target, compiler, api, id;
  std::vector<std::string> devices;  // words in the names of devices of this target
  double registers = 0;
};

std::vector<Compiled> read_compiled() {
  const CsvTable table = parse_csv(embedded_registers, "registers.csv");
  const auto column = [&](const char* name) {
    const auto it = std::ranges::find(table.header, name);
    if (it == table.header.end())
      throw Error(ErrorCode::io, fmt::format("registers.csv: no column {}", name));
    return static_cast<std::size_t>(it - table.header.begin());
  };
  const std::size_t target = column("target"), devices = column("devices"), compiler = column("compiler"),
                    api = column("api"), id = column("case"), registers = column("registers");
  std::vector<Compiled> out;
  for (const auto& row : table.rows) {
    const auto number = number_of<double>(row.cells[registers]);
    if (!number)
      throw Error(ErrorCode::io, fmt::format("registers.csv:{}: registers is no number", row.line));
    out.push_back({row.cells[target], row.cells[compiler], row.cells[api], row.cells[id],
                   split(row.cells[devices], ';'), *number});
  }
  return out;
}

const std::vector<Compiled>& all_compiled() {
  static const auto all = read_compiled();
  return all;
}

bool is_of(const Compiled& one, const DeviceResults& device) {
  const auto is_in_name = [&](const std::string& word) {
    return device.name.find(word) != std::string::npos;
  };
  return is_in_name(one.target) || std::ranges::any_of(one.devices, is_in_name);
}

// Sets the case of a row: of a baseline the axes that its id has, of a kernel here all.
void set_case(Record& row, const Compiled& one, const std::vector<Family>& families) {
  if (one.api.empty()) {
    const Job job = job_named(families, one.id);
    row.case_id = job.at.id();
    for (const auto& [axis, value] : job.at.axes) row.axes.emplace_back(axis, text_of(value));
    return;
  }
  row.api = one.api;
  row.case_id = one.id;
  for (const auto& part : split(one.id, '/')) {
    const auto sign = part.find('=');
    if (sign != std::string::npos) row.axes.emplace_back(part.substr(0, sign), part.substr(sign + 1));
  }
}

}  // namespace

std::optional<CompiledRows> compiled_rows_of(const DeviceResults& device,
                                             const std::vector<Family>& families) {
  std::vector<Record> rows;
  std::map<std::string, std::string> compilers;
  for (const auto& one : all_compiled()) {
    const std::string family = one.id.substr(0, one.id.find('/'));
    if (!is_of(one, device) || family_named(families, family) == nullptr) continue;
    Record& row = rows.emplace_back();
    row.platform = device.platform;
    row.device = device.name;
    row.driver = device.driver;
    row.device_type = device.type;
    row.family = family;
    set_case(row, one, families);
    row.status = Status::ok;
    row.timer = Timer::event;
    row.cache = "warm";
    row.time_s = row.time_low_s = row.time_high_s = 1;
    row.value = one.registers;
    compilers[row.case_id] = fmt::format("{}, {}", one.target, one.compiler);
  }
  if (rows.empty()) return {};
  return CompiledRows{results_of(rows, families), std::move(compilers)};
}

std::string compiled_targets() {
  std::vector<std::string> out;
  for (const auto& one : all_compiled()) {
    if (std::ranges::find(out, one.target) == out.end()) out.push_back(one.target);
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace clweave::claims
