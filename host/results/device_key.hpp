// SPDX-License-Identifier: Apache-2.0
// device_key: which device, behind which driver: the one identity that rows are grouped by.
#pragma once
#include <compare>
#include <string>

#include "base/namespaces.hpp"

namespace clweave::results {

struct DeviceKey {
  std::string platform, name, id, driver;
  // Which card of all computers' equal ones: `id` tells those of one computer apart. Empty: not told.
  std::string uuid = {};
  std::string user_label = {};  // as its user calls it: column `label`

  // On one line, for files and people.
  std::string text() const {
    return platform + ", " + name + ", " + id + ", driver " + driver +
           (uuid.empty() ? "" : ", uuid " + uuid) + called();
  }
  // ", node07", behind a name; empty where its user calls it nothing.
  std::string called() const { return user_label.empty() ? "" : ", " + user_label; }

  // Whether rows of both may be of one device: a UUID that only one side tells, as files from before that
  // column do not, parts nothing.
  bool meets(const DeviceKey& other) const {
    DeviceKey same = other;
    if (uuid.empty() || other.uuid.empty()) same.uuid = uuid;
    return *this == same;
  }

  auto operator<=>(const DeviceKey&) const = default;
};

}  // namespace clweave::results
