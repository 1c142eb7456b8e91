// device_info: properties of an OpenCL device, and the selection of devices. Plain data, no OpenCL types.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

// Properties as the driver reports them. They enter no formula for speed: reported compute units, clocks and
// cache sizes are wrong too often (0 MHz, 1 compute unit), so only measurements are trusted.
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
  std::string uuid;  // 32 hex digits; empty: none, or not of this device alone
  std::string pci;   // "0000:17:00.0"; likewise
  // By device_identity:
  std::string identity;      // what the entry says of itself, as a hash
  std::string listing;       // what all devices of its platform say, likewise, and its place among them
  std::string hardware;      // equal for two entries that are the same hardware; empty: unknown
  std::string duplicate_of;  // index of an earlier entry that is this driver and device; empty: none
  std::int64_t compute_units = 0;
  std::int64_t clock_mhz = 0;
  std::int64_t fp32_lanes = 0;    // FP32 multiply-adds per compute unit and clock; 0: unknown
  std::int64_t memory_bytes = 0;  // 0: unknown
  std::int64_t usable_bytes =
      0;  // the part of memory_bytes that a run may use: a CPU shares it with the host
  std::int64_t max_alloc_bytes = 0;  // of one buffer; unlimited where it is unknown
  std::int64_t local_bytes = 0;
  std::int64_t unit_local_bytes = 0;  // of a compute unit, for all its work-groups; 0: unknown
  std::int64_t cache_bytes = 0;
  std::int64_t constant_bytes = 0;                 // of one __constant argument; 0: unknown
  std::int64_t parameter_bytes = 0;                // of all arguments of a kernel; 0: unknown
  std::int64_t image_width = 0, image_height = 0;  // of a 2-D image, at most; 0: the device has no images
  std::vector<std::int64_t>
      host_caches;  // of a CPU: data caches by level, as the operating system reports them
  std::int64_t max_group = 0;
  std::vector<std::int64_t> max_group_dims;
  std::int64_t lockstep = 0;  // preferred work-group size multiple of a trivial kernel; 0: not reported
  std::int64_t timer_ns = 0;  // resolution of event times; 0: not reported
  bool fp64 = false;
  bool fp16 = false;
  bool int64_atomics = false;
  bool subgroups = false;
  bool local_is_dedicated = false;

  std::string index() const { return std::to_string(platform_index) + ":" + std::to_string(device_index); }
  bool has_address() const { return !pci.empty() || !uuid.empty(); }
  bool has_extension(const std::string& extension) const;
  std::uint64_t units() const;  // compute_units, but at least one
  bool is_llvmpipe() const;     // Mesa's CPU device behind rusticl
  // Returns the iterations that a loop may have: llvmpipe silently leaves a loop after 65535.
  std::uint64_t most_turns() const;
  // Returns whether a started work-group makes progress while others wait for it, which OpenCL does not
  // promise.
  bool groups_make_progress() const;
};

void to_json(nlohmann::json&, const DeviceInfo&);
void from_json(const nlohmann::json&, DeviceInfo&);

// Returns the devices that match `selector`: "P:D" index, a type (cpu, gpu, accelerator), a UUID, or part of
// the device's, vendor's or platform's name in any case.
std::vector<DeviceInfo> select_devices(const std::vector<DeviceInfo>&, const std::string& selector);

}  // namespace clweave::suite
