// SPDX-License-Identifier: Apache-2.0
#include "results/row.hpp"

namespace clweave {

void describe_device(Record& record, const DeviceInfo& device) {
  record.platform = device.platform + ", " + device.platform_version;
  record.vendor = device.vendor;
  record.device = device.name;
  record.device_id = !device.pci.empty() ? device.pci : !device.uuid.empty() ? device.uuid : device.index();
  record.device_type = device.type;
  record.driver = device.driver;
  if (device.clock_mhz > 0) record.clock_mhz = static_cast<double>(device.clock_mhz);
}

Record named_record(const DeviceInfo& device, const Family& family, const Case& at) {
  Record record;
  record.family = family.name;
  record.case_id = at.id();
  for (const auto& [name, value] : at.axes) record.axes.emplace_back(name, text_of(value));
  describe_device(record, device);
  return record;
}

void fail(Record& record, Kind kind, std::string why) {
  // One line: a file cut within a quoted line end could not be read back.
  for (auto at = why.find('\n'); at != std::string::npos; at = why.find('\n', at)) why.replace(at, 1, " | ");
  record.status = status_of(kind);
  record.reason += why;
  if (kind == Kind::wrong_result) record.verified = Verified::no;
}

Record failed_record(const DeviceInfo& device, const Family& family, const Case& at, Kind kind,
                     const std::string& why) {
  Record record = named_record(device, family, at);
  fail(record, kind, why);
  return record;
}

}  // namespace clweave
