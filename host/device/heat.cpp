// SPDX-License-Identifier: Apache-2.0
#include "device/heat.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "power/power_meter.hpp"
#include "results/disturbance.hpp"
#include "suite/device_info.hpp"

namespace clweave::device {

Heat::Heat(std::optional<double> most_celsius) : most_celsius_(most_celsius) {}
Heat::~Heat() = default;

std::string Heat::of(const DeviceInfo& device) {
  auto& its = sensors_[device.index()];
  if (!its) its = std::make_unique<Sensors>(sensors_of(device, sensor_places()));
  if (!its->meter) return {};
  const auto now = its->meter->conditions();
  const std::string heat = heat_in(fmt::format("{}", fmt::join(now.throttle, ";")));
  if (!heat.empty()) return "the device is throttled: " + heat;
  if (most_celsius_ && now.celsius && *now.celsius > *most_celsius_)
    return fmt::format("the device has {:.0f} C", *now.celsius);
  return {};
}

}  // namespace clweave::device
