// SPDX-License-Identifier: Apache-2.0
// device_key: the identity of a device and its driver, by which rows are grouped.
#pragma once
#include <compare>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::results {

struct DeviceKey {
  std::string platform, name, id, driver;
  // Distinguishes identical devices of all computers, `id` only those of one. Empty: unknown.
  std::string uuid = {};
  std::string user_label = {};  // column `label`

  // Formats it on one line, for files and people.
  std::string text() const {
    return platform + ", " + name + ", " + id + ", driver " + driver +
           (uuid.empty() ? "" : ", uuid " + uuid) + called();
  }
  // Returns the label behind a name, ", node07"; empty without a label.
  std::string called() const { return user_label.empty() ? "" : ", " + user_label; }

  // Returns whether both may be the same device: a UUID counts only if both have one, because older files
  // have none.
  bool meets(const DeviceKey& other) const {
    DeviceKey same = other;
    if (uuid.empty() || other.uuid.empty()) same.uuid = uuid;
    return *this == same;
  }

  auto operator<=>(const DeviceKey&) const = default;
};

}  // namespace clweave::results
