// SPDX-License-Identifier: Apache-2.0
#include "suite/device_info.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace clweave::suite {

bool DeviceInfo::has_extension(const std::string& extension) const {
  return (" " + extensions + " ").find(" " + extension + " ") != std::string::npos;
}

std::uint64_t DeviceInfo::units() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(compute_units, 1));
}

bool DeviceInfo::is_llvmpipe() const { return name.find("llvmpipe") != std::string::npos; }

std::uint64_t DeviceInfo::most_turns() const { return is_llvmpipe() ? 65535 : UINT64_MAX; }

// Apple, Arm and Qualcomm GPUs do not: T. Sorensen et al., "Specifying and Testing GPU Workgroup Progress
// Models" (2021).
bool DeviceInfo::groups_make_progress() const {
  const auto made_by = [this](const char* who) { return vendor.find(who) != std::string::npos; };
  return !is_llvmpipe() && !made_by("Apple") && !made_by("ARM") && !made_by("Qualcomm");
}

std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo>& devices, const std::string& selector) {
  const std::string wanted = lower(selector);
  const auto keep = [&](auto matches) {
    std::vector<DeviceInfo> kept;
    std::ranges::copy_if(devices, std::back_inserter(kept), matches);
    return kept;
  };
  const auto is_index =
      wanted.find(':') != std::string::npos && wanted.find_first_not_of("0123456789:") == std::string::npos;
  if (is_index) return keep([&](const DeviceInfo& d) { return d.index() == wanted; });
  if (wanted == "cpu" || wanted == "gpu" || wanted == "accelerator")
    return keep([&](const DeviceInfo& d) { return d.type == wanted; });
  if (wanted.empty()) return {};
  std::string uuid = wanted;
  std::erase(uuid, '-');
  return keep([&](const DeviceInfo& d) {
    return (!d.uuid.empty() && d.uuid == uuid) || lower(d.name).find(wanted) != std::string::npos ||
           lower(d.vendor).find(wanted) != std::string::npos ||
           // Only the version contains "pocl".
           lower(d.platform + " " + d.platform_version).find(wanted) != std::string::npos;
  });
}

// One list of fields for both directions; the library's own macro would make the functions inline.
#define CLWEAVE_FIELDS                                                                                      \
  platform_index, device_index, platform, platform_version, vendor, name, type, driver, version, c_version, \
      extensions, uuid, pci, identity, listing, hardware, duplicate_of, compute_units, clock_mhz,           \
      fp32_lanes, memory_bytes, usable_bytes, max_alloc_bytes, local_bytes, unit_local_bytes, cache_bytes,  \
      constant_bytes, parameter_bytes, image_width, image_height, host_caches, max_group, max_group_dims,   \
      lockstep, timer_ns, fp64, fp16, int64_atomics, subgroups, local_is_dedicated

void to_json(nlohmann::json& nlohmann_json_j, const DeviceInfo& nlohmann_json_t) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, CLWEAVE_FIELDS))
}

void from_json(const nlohmann::json& nlohmann_json_j, DeviceInfo& nlohmann_json_t) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, CLWEAVE_FIELDS))
}

}  // namespace clweave::suite
