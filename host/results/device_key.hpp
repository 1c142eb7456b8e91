// SPDX-License-Identifier: Apache-2.0
// device_key: which device, behind which driver: the one identity that rows are grouped by.
#pragma once
#include <compare>
#include <string>

namespace clweave {

struct DeviceKey {
  std::string platform, name, id, driver;

  // On one line, for files and people.
  std::string text() const { return platform + ", " + name + ", " + id + ", driver " + driver; }

  auto operator<=>(const DeviceKey&) const = default;
};

}  // namespace clweave
