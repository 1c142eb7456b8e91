// SPDX-License-Identifier: Apache-2.0
#include "families/shared/lanes.hpp"

#include <algorithm>
#include <array>

#include "suite/device_size.hpp"

namespace clweave {

namespace {

constexpr std::array<const char*, 4> names = {"portable", "ptx", "subgroup", "amd"};

bool is_nvidias(const DeviceInfo& device) { return device.has_extension("cl_nv_pragma_unroll"); }

bool has_subgroups(const DeviceInfo& device) {
  return device.subgroups || device.has_extension("cl_intel_subgroups");
}

}  // namespace

Axis lanes_axis(const std::string& what) {
  Values values;
  for (const char* name : names) values.emplace_back(std::string(name));
  return {"lanes",
          what +
              " portable: through local memory; ptx: by NVIDIA's shuffles and votes; subgroup: by OpenCL's "
              "sub-groups, of whatever size; amd: by the builtins of AMD's compiler, of 32 or 64 items",
          values};
}

Lanes lanes_of(const Case& at) {
  return static_cast<Lanes>(std::ranges::find_if(names, [&](auto name) { return at.is("lanes", name); }) -
                            names.begin());
}

std::string name_of(Lanes lanes) { return names.at(static_cast<std::size_t>(lanes)); }

Lanes lanes_of(const DeviceInfo& device) {
  if (is_nvidias(device)) return Lanes::ptx;
  if (device.platform.starts_with("AMD")) return Lanes::amd;
  return has_subgroups(device) ? Lanes::subgroup : Lanes::portable;
}

void take_lanes(Plan& p, Lanes lanes, const DeviceInfo& device, std::uint64_t group) {
  p.define("LANES", static_cast<int>(lanes));
  p.probe = lanes == Lanes::subgroup || lanes == Lanes::amd;
  if (lanes == Lanes::ptx) Plan::need(is_nvidias(device), "lanes=ptx needs NVIDIA's compiler");
  if (lanes == Lanes::amd)
    Plan::need(group % 64 == 0, "with lanes=amd, group must be a multiple of 64: a wavefront has as many");
  if (lanes != Lanes::subgroup) return;
  Plan::need(has_subgroups(device), "the driver reports no sub-groups");
  // Of OpenCL C 1.2 only Intel's extension has them.
  if (!device.has_extension("cl_intel_subgroups"))
    p.options = device.version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
}

std::vector<Case> by_own_lanes(const std::vector<Outcome>& outcomes, const DeviceInfo& device,
                               const std::function<bool(const Case&)>& makes_sense,
                               const std::function<bool(const Case&)>& counts) {
  const Lanes own = lanes_of(device);
  std::vector<Case> out;
  if (own == Lanes::portable || own == Lanes::ptx) return out;
  const auto n = common_size(outcomes, counts);
  for (const auto& o : outcomes) {
    if (!counts(o.at) || o.at.number("n") != n || !o.at.is("lanes", "portable")) continue;
    Case at = o.at;
    for (auto& [axis, value] : at.axes) {
      if (axis == "lanes") value = name_of(own);
    }
    if (makes_sense(at)) out.push_back(at);
  }
  return out;
}

}  // namespace clweave
