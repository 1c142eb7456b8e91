// SPDX-License-Identifier: Apache-2.0
#include "families/shared/subgroup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "suite/device_size.hpp"

namespace clweave::families {

namespace {

constexpr std::array<const char*, 4> names = {"portable", "ptx", "opencl", "amd"};

bool is_nvidias(const DeviceInfo& device) { return device.has_extension("cl_nv_pragma_unroll"); }

bool has_subgroups(const DeviceInfo& device) {
  return device.subgroups || device.has_extension("cl_intel_subgroups");
}

}  // namespace

Axis subgroup_axis(const std::string& what) {
  Values values;
  for (const char* name : names) values.emplace_back(std::string(name));
  return {.name = "subgroup_impl",
          .meaning =
              what +
              " portable: through local memory; ptx: shuffle and ballot by inline PTX (NVIDIA's assembly); "
              "opencl: OpenCL's sub-group functions, any sub-group size; amd: builtins of AMD's compiler, "
              "wavefronts of 32 or 64",
          .values = values,
          .implementation = true,
          .vendor_values = {"ptx", "opencl", "amd"}};
}

SubgroupImpl subgroup_impl_of(const Case& at) {
  return static_cast<SubgroupImpl>(
      std::ranges::find_if(names, [&](auto name) { return at.is("subgroup_impl", name); }) - names.begin());
}

std::string name_of(SubgroupImpl impl) { return names.at(static_cast<std::size_t>(impl)); }

SubgroupImpl subgroup_impl_of(const DeviceInfo& device) {
  if (is_nvidias(device)) return SubgroupImpl::ptx;
  if (device.platform.starts_with("AMD")) return SubgroupImpl::amd;
  return has_subgroups(device) ? SubgroupImpl::opencl : SubgroupImpl::portable;
}

void use_subgroup_impl(Plan& p, SubgroupImpl impl, const DeviceInfo& device, std::uint64_t group) {
  p.define("SUBGROUP_IMPL", fmt::format("lib/subgroup_{}.cl", name_of(impl)));
  p.may_fail_to_build = impl == SubgroupImpl::opencl || impl == SubgroupImpl::amd;
  if (impl == SubgroupImpl::ptx) Plan::need(is_nvidias(device), "subgroup_impl=ptx needs NVIDIA's compiler");
  if (impl == SubgroupImpl::amd) {
    Plan::need(device.type == "gpu" && !device.platform.starts_with("NVIDIA"),
               "subgroup_impl=amd needs AMD's compiler");
    Plan::need(group % 64 == 0,
               "with subgroup_impl=amd, group must be a multiple of 64: a wavefront has as many");
  }
  if (impl != SubgroupImpl::opencl) return;
  Plan::need(has_subgroups(device), "the driver reports no sub-groups");
  // Raises the language version: OpenCL C 1.2 has sub-groups only through Intel's extension.
  if (!device.has_extension("cl_intel_subgroups"))
    p.options = device.version.starts_with("OpenCL 2") ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
}

std::vector<Case> with_own_subgroup_impl(const std::vector<Outcome>& outcomes, const DeviceInfo& device,
                                         const std::function<bool(const Case&)>& is_valid,
                                         const std::function<bool(const Case&)>& counts) {
  const SubgroupImpl own = subgroup_impl_of(device);
  std::vector<Case> out;
  if (own == SubgroupImpl::portable || own == SubgroupImpl::ptx) return out;
  const auto n = common_size(outcomes, counts);
  for (const auto& o : outcomes) {
    if (!counts(o.at) || o.at.number("n") != n || !o.at.is("subgroup_impl", "portable")) continue;
    Case at = o.at.with("subgroup_impl", name_of(own));
    if (is_valid(at)) out.push_back(std::move(at));
  }
  return out;
}

}  // namespace clweave::families
