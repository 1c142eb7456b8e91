// SPDX-License-Identifier: Apache-2.0
#include "suite/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace clweave {

const Axis* Family::axis(const std::string& axis_name) const {
  const auto it = std::ranges::find(axes, axis_name, &Axis::name);
  return it == axes.end() ? nullptr : &*it;
}

std::vector<Case> cases_of(const Family& family, const std::vector<Sweep>& sweeps, std::uint64_t seed) {
  std::vector<Case> out;
  std::set<std::string> seen;
  for (const auto& sweep : sweeps) {
    std::vector<Case> grown{{family.name, {}, seed}};
    for (const auto& axis : family.axes) {
      const auto named = sweep.find(axis.name);
      const Values& values = named != sweep.end() ? named->second : Values(axis.values.front());
      std::vector<Case> wider;
      wider.reserve(grown.size() * values.size());
      for (const auto& at : grown) {
        for (const auto& value : values) {
          wider.push_back(at);
          wider.back().axes.emplace_back(axis.name, value);
        }
      }
      grown = std::move(wider);
    }
    for (auto& at : grown) {
      if ((!family.makes_sense || family.makes_sense(at)) && seen.insert(at.id()).second)
        out.push_back(std::move(at));
    }
  }
  return out;
}

Plan plan_of(const Family& family, const Case& at, const DeviceInfo& device) {
  Plan plan = family.plan(at, device);
  if (plan.sources.empty()) plan.sources = {family.name};
  std::uint64_t total = 0;
  for (const auto& buffer : plan.buffers) {
    total += buffer.bytes;
    Plan::need(
        buffer.bytes + guard_bytes + poison.size() <= static_cast<std::uint64_t>(device.max_alloc_bytes),
        fmt::format("needs a buffer of {} bytes and {} behind it, the device allows {}", buffer.bytes,
                    guard_bytes + poison.size(), device.max_alloc_bytes));
  }
  Plan::need(total <= static_cast<std::uint64_t>(device.usable_bytes),
             fmt::format("needs {} bytes of device memory, {} of {} are usable", total, device.usable_bytes,
                         device.memory_bytes));
  for (const auto& step : plan.steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    Plan::need(items_in(launch->local) <= static_cast<std::size_t>(device.max_group),
               fmt::format("needs a work-group of {} items, the device allows {}", items_in(launch->local),
                           device.max_group));
    for (std::size_t d = 0; d < std::min(launch->local.size(), device.max_group_dims.size()); ++d) {
      Plan::need(launch->local[d] <= static_cast<std::size_t>(device.max_group_dims[d]),
                 fmt::format("needs {} items in dimension {} of a work-group, the device allows {}",
                             launch->local[d], d, device.max_group_dims[d]));
    }
  }
  return plan;
}

}  // namespace clweave
