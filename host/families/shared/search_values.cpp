// SPDX-License-Identifier: Apache-2.0
#include "families/shared/search_values.hpp"

#include <algorithm>
#include <utility>

namespace clweave::families {

Values group_sizes(const Case& /*at*/, const DeviceInfo& device) {
  Values sizes;
  for (std::int64_t size = 32; size <= device.max_group; size *= 2) {
    sizes.emplace_back(size);
    if (size > 32 && size / 2 * 3 <= device.max_group) sizes.emplace_back(size / 2 * 3);
  }
  if (sizes.empty()) sizes.emplace_back(std::max<std::int64_t>(1, device.max_group));
  return sizes;
}

Values groups_by_unit(const Case& /*at*/, const DeviceInfo& device) {
  Values groups;
  for (std::int64_t each = 1; each <= 128; each *= 2)
    groups.emplace_back(each * static_cast<std::int64_t>(device.units()));
  return groups;
}

Worth where(std::function<bool(const Case&)> heeded, Values values) {
  return [heeded = std::move(heeded), values = std::move(values)](const Case& at, const DeviceInfo&) {
    return heeded(at) ? values : Values(values.front());
  };
}

}  // namespace clweave::families
