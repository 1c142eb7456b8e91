// device_info: what is known of each OpenCL device, and which one the user means. Plain data, no OpenCL
// types.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

// As reported by the driver. Nothing here enters a formula for speed: reported compute units, clocks
// and cache sizes are wrong often enough (0 MHz, 1 compute unit) that only measurements are trusted.
struct DeviceInfo {
  int platform_index = 0;
  int device_index = 0;
  std::string platform;
  std::string platform_version;
  std::string vendor;
  std::string name;
  std::string type;  // cpu, gpu, accelerator or custom
  std::string driver;
  std::string version;    // "OpenCL 3.0 ..."
  std::string c_version;  // "OpenCL C 1.2 ..."
  std::string extensions;
  std::string uuid;     // 32 hex digits, empty where the driver does not say
  std::string pci;      // "0000:17:00.0", empty where the driver does not say
  std::string silicon;  // equal for two entries that are the same hardware
  std::int64_t compute_units = 0;
  std::int64_t clock_mhz = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t usable_bytes = 0;  // of memory_bytes, what a run may plan with: a CPU shares it with the host
  std::int64_t max_alloc_bytes = 0;
  std::int64_t local_bytes = 0;
  std::int64_t unit_local_bytes = 0;  // of a compute unit, for all its groups; 0 = not known
  std::int64_t cache_bytes = 0;
  std::vector<std::int64_t> host_caches;  // of a CPU: what the operating system says of each level of data
  std::int64_t max_group = 0;
  std::vector<std::int64_t> max_group_dims;
  std::int64_t lockstep = 0;  // preferred work-group multiple of a trivial kernel; 0 = not reported
  std::int64_t timer_ns = 0;  // resolution of event times; 0 = not reported
  bool fp64 = false;
  bool fp16 = false;
  bool int64_atomics = false;
  bool subgroups = false;
  bool local_is_dedicated = false;

  std::string index() const { return std::to_string(platform_index) + ":" + std::to_string(device_index); }
  bool has_extension(const std::string& extension) const;
  std::uint64_t units() const;  // compute_units, but at least one
  bool is_llvmpipe() const;     // Mesa's processor for machines without a GPU, behind rusticl
  // llvmpipe leaves a loop after 65535 turns and says nothing.
  std::uint64_t most_turns() const;
  // Whether a work-group that has started goes on while others wait for it. OpenCL does not promise it.
  bool groups_make_progress() const;
};

void to_json(nlohmann::json&, const DeviceInfo&);
void from_json(const nlohmann::json&, DeviceInfo&);

// The devices that `selector` means: "P:D" index, a type (cpu, gpu, accelerator), a UUID, or a part of
// the device's, vendor's or platform's name in any case. Empty when nothing matches.
std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo>&, const std::string& selector);

}  // namespace clweave::suite
