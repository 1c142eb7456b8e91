// SPDX-License-Identifier: Apache-2.0
#include "results/row.hpp"

#include <fmt/format.h>

#include "base/number.hpp"
#include "suite/family.hpp"

namespace clweave::results {

namespace {

constexpr std::size_t most_reason = 4096;  // bytes in a row

}  // namespace

void describe_device(Record& record, const DeviceInfo& device) {
  record.platform = device.platform + ", " + device.platform_version;
  record.vendor = device.vendor;
  record.device = device.name;
  record.device_id = !device.pci.empty() ? device.pci : !device.uuid.empty() ? device.uuid : device.index();
  // CPU drivers give the same UUID to all CPUs.
  if (device.type != "cpu") record.uuid = device.uuid;
  record.device_type = device.type;
  record.driver = device.driver;
  if (device.compute_units > 0) record.compute_units = static_cast<std::int64_t>(device.compute_units);
  if (device.clock_mhz > 0) record.clock_mhz = static_cast<double>(device.clock_mhz);
  const auto fmas = device.compute_units * device.fp32_lanes * device.clock_mhz;  // millions per second
  if (fmas > 0) record.theoretical_gflop_per_s = 2e-3 * static_cast<double>(fmas);
}

Record named_record(const DeviceInfo& device, const Family& family, const Case& at) {
  Record record;
  record.family = family.name;
  record.case_id = at.id();
  for (const auto& [name, value] : at.axes) record.axes.emplace_back(name, text_of(value));
  describe_device(record, device);
  return record;
}

std::shared_ptr<const std::vector<double>> steps_of(const Record& record) {
  if (record.steps_s.empty()) return nullptr;
  auto out = std::make_shared<std::vector<double>>();
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = record.steps_s.find(';', at);
    const auto seconds = number_of<double>(std::string_view(record.steps_s).substr(at, end - at));
    if (!seconds) return nullptr;
    out->push_back(*seconds);
    at = end == std::string::npos ? end : end + 1;
  }
  return out;
}

bool has_interval(const Record& record) { return record.time_low_s || record.samples != 1; }

Outcome outcome_of(const Case& at, const Record& record) {
  // Samples whose median has no interval tell no less than their range, as where a file is read.
  Outcome out(at, *record.time_s, record.time_low_s ? record.time_low_s : record.min_s,
              record.time_high_s ? record.time_high_s : record.p95_s);
  if (!has_interval(record)) out.low_s = out.high_s = {};
  static_cast<Measurement&>(out) = static_cast<const Measurement&>(record);
  out.converged = record.converged != "no";
  out.disturbed = !record.disturbed.empty();
  out.idle_w = record.idle_w;
  out.steps_s = steps_of(record);
  return out;
}

void add_reason(Record& record, const std::string& reason) {
  if (!record.reason.empty() && !reason.empty()) record.reason += "; ";
  record.reason += reason;
}

void fail(Record& record, ErrorCode code, std::string why) {
  // One line, because a file cut within a quoted line break could not be read back.
  for (auto at = why.find('\n'); at != std::string::npos; at = why.find('\n', at)) why.replace(at, 1, " | ");
  // A compiler may write megabytes.
  if (why.size() > most_reason) {
    std::size_t end = most_reason;
    while (end > 0 && (static_cast<unsigned char>(why[end]) & 0xC0) == 0x80)
      --end;  // not within a UTF-8 character
    why = fmt::format("{} .. ({} more bytes)", why.substr(0, end), why.size() - end);
  }
  record.status = status_of(code);
  add_reason(record, why);
  if (code == ErrorCode::wrong_result) record.verified = Verified::no;
}

Record failed_record(const DeviceInfo& device, const Family& family, const Case& at, ErrorCode code,
                     const std::string& why) {
  Record record = named_record(device, family, at);
  fail(record, code, why);
  return record;
}

}  // namespace clweave::results
