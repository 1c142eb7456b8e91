// SPDX-License-Identifier: Apache-2.0
#include "device/heat.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "power/power_meter.hpp"
#include "results/disturbance.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

Heat::Heat() = default;
Heat::~Heat() = default;

std::string Heat::of(const DeviceInfo& device) {
  auto& its = sensors_[device.index()];
  if (!its) its = std::make_unique<Sensors>(sensors_of(device, sensor_places()));
  if (!its->meter) return {};
  const auto reasons = its->meter->conditions().throttle;
  const std::string heat = heat_in(fmt::format("{}", fmt::join(reasons, ";")));
  return heat.empty() ? "" : "the device is throttled: " + heat;
}

}  // namespace clweave::device
