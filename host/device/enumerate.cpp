// SPDX-License-Identifier: Apache-2.0
#include "device/enumerate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/text.hpp"
#include "device/loader.hpp"
#include "suite/device_identity.hpp"

namespace clweave::device {

namespace {

std::string type_text(cl_device_type type) {
  // Oclgrind reports every type at once; its simulator runs on the CPU.
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return "cpu";
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return "accelerator";
  return "custom";
}

// cl_khr_device_uuid
std::string uuid_of(const cl::Device& device) {
  constexpr cl_device_info device_uuid = 0x106A;
  std::array<unsigned char, 16> bytes{};
  if (clGetDeviceInfo(device(), device_uuid, bytes.size(), bytes.data(), nullptr) != CL_SUCCESS) return {};
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// cl_khr_pci_bus_info, else the vendors' own queries.
std::string pci_of(const cl::Device& device, const DeviceInfo& info) {
  if (info.has_extension("cl_khr_pci_bus_info")) {
    constexpr cl_device_info pci_bus_info_khr = 0x410F;
    std::array<cl_uint, 4> at{};
    if (clGetDeviceInfo(device(), pci_bus_info_khr, sizeof at, at.data(), nullptr) == CL_SUCCESS)
      return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", at[0], at[1], at[2], at[3]);
  }
  if (info.has_extension("cl_nv_device_attribute_query")) {
    constexpr cl_device_info pci_bus_id_nv = 0x4008, pci_slot_id_nv = 0x4009, pci_domain_id_nv = 0x400A;
    cl_uint bus = 0, slot = 0, domain = 0;
    if (clGetDeviceInfo(device(), pci_bus_id_nv, sizeof bus, &bus, nullptr) == CL_SUCCESS &&
        clGetDeviceInfo(device(), pci_slot_id_nv, sizeof slot, &slot, nullptr) == CL_SUCCESS) {
      clGetDeviceInfo(device(), pci_domain_id_nv, sizeof domain, &domain, nullptr);
      return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, slot >> 3U, slot & 7U);
    }
  }
  if (info.has_extension("cl_amd_device_attribute_query")) {
    constexpr cl_device_info topology_amd = 0x4037;
    std::array<unsigned char, 24>
        at{};  // type in the first four bytes, bus, device, function in the last three
    if (clGetDeviceInfo(device(), topology_amd, sizeof at, at.data(), nullptr) == CL_SUCCESS && at[0] == 1)
      return fmt::format("0000:{:02x}:{:02x}.{:x}", at[21], at[22], at[23]);
  }
  return {};
}

// Source: CUDA C++ Programming Guide 13, "Technical Specifications per Compute Capability"; AMD's is a query.
std::int64_t unit_local_bytes_of(const cl::Device& device, const DeviceInfo& info) {
  const auto asked = [&](cl_device_info what) {
    cl_uint value = 0;
    return clGetDeviceInfo(device(), what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : 0;
  };
  if (info.has_extension("cl_amd_device_attribute_query")) {
    constexpr cl_device_info local_mem_size_per_compute_unit_amd = 0x4047;
    return asked(local_mem_size_per_compute_unit_amd);
  }
  if (!info.has_extension("cl_nv_device_attribute_query")) return 0;
  constexpr cl_device_info compute_capability_major_nv = 0x4000, compute_capability_minor_nv = 0x4001;
  constexpr std::array<std::pair<cl_uint, std::int64_t>, 17> kib_by_capability = {{{50, 64},
                                                                                   {52, 96},
                                                                                   {53, 64},
                                                                                   {60, 64},
                                                                                   {61, 96},
                                                                                   {62, 64},
                                                                                   {70, 96},
                                                                                   {72, 96},
                                                                                   {75, 64},
                                                                                   {80, 164},
                                                                                   {86, 100},
                                                                                   {87, 164},
                                                                                   {89, 100},
                                                                                   {90, 228},
                                                                                   {100, 228},
                                                                                   {103, 228},
                                                                                   {120, 100}}};
  const cl_uint capability = 10 * asked(compute_capability_major_nv) + asked(compute_capability_minor_nv);
  const auto* const known =
      std::ranges::find(kib_by_capability, capability, &std::pair<cl_uint, std::int64_t>::first);
  return known != kib_by_capability.end() ? 1024 * known->second : 0;
}

// Returns the SIMD width as the driver reports it. It is a property of a kernel, so a trivial one is built.
std::int64_t lockstep_of(const cl::Device& device) {
  try {
    const cl::Context context(device);
    cl::Program program(
        context, std::string("__kernel void nothing(__global uint* out) { out[get_global_id(0)] = 1; }"));
    program.build(device);
    const cl::Kernel kernel(program, "nothing");
    return static_cast<std::int64_t>(
        kernel.getWorkGroupInfo<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device));
  } catch (const cl::Error&) {
    return 0;
  }
}

// Returns the caches of the first processor, by level; empty if the system does not report them.
std::vector<std::int64_t> host_caches() {
  std::vector<std::int64_t> out;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    std::string type, unit;
    std::size_t level = 0;
    std::int64_t size = 0;
    if (!(std::ifstream(folder + "type") >> type) || !(std::ifstream(folder + "level") >> level) ||
        !(std::ifstream(folder + "size") >> size >> unit))
      return out;
    if (type == "Instruction" || level != out.size() + 1) continue;
    out.push_back(size * (unit == "M" ? 1 << 20 : 1 << 10));
  }
}

// Returns MemAvailable of /proc/meminfo; 0 if there is none.
std::int64_t host_available_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    std::int64_t kib = 0;
    if (word == "MemAvailable:" && in >> kib) return kib * 1024;
  }
  return 0;
}

// Reads properties one by one: a query that fails costs one property, whose default means unknown.
class Queries {
 public:
  Queries(const cl::Device& device, std::string index, std::vector<std::string>& errors)
      : device_(&device), index_(std::move(index)), errors_(&errors) {}

  template <cl_device_info Name>
  auto get(const char* name) {
    using Value = decltype(device_->getInfo<Name>());
    try {
      return device_->getInfo<Name>();
    } catch (const cl::Error& error) {
      errors_->push_back(fmt::format("device {}: {} gave {}", index_, name, cl_name(error.err())));
      return Value{};
    }
  }
  template <cl_device_info Name>
  std::string text(const char* name) {
    return trimmed(get<Name>(name));
  }
  template <cl_device_info Name>
  std::int64_t number(const char* name) {
    return static_cast<std::int64_t>(get<Name>(name));
  }

 private:
  const cl::Device* device_;
  std::string index_;
  std::vector<std::string>* errors_;
};

// Reads a property by its constant, whose name errors have.
#define CLWEAVE_GET(queries, kind, name) (queries).kind<name>(#name)

// Describes what identifies a device; the rest takes longer, as a program is built.
DeviceInfo identify(const cl::Platform& platform, Queries& queries, const cl::Device& device) {
  DeviceInfo info;
  info.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.platform_version = trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  info.vendor = CLWEAVE_GET(queries, text, CL_DEVICE_VENDOR);
  info.name = CLWEAVE_GET(queries, text, CL_DEVICE_NAME);
  if (info.name.empty()) info.name = "unnamed device";
  info.type = type_text(CLWEAVE_GET(queries, get, CL_DEVICE_TYPE));
  info.driver = CLWEAVE_GET(queries, text, CL_DRIVER_VERSION);
  info.version = CLWEAVE_GET(queries, text, CL_DEVICE_VERSION);
  info.extensions = CLWEAVE_GET(queries, text, CL_DEVICE_EXTENSIONS);
  if (info.has_extension("cl_khr_device_uuid")) info.uuid = uuid_of(device);
  info.pci = pci_of(device, info);
  return info;
}

void describe(DeviceInfo& info, Queries& queries, const cl::Device& device) {
  info.c_version = CLWEAVE_GET(queries, text, CL_DEVICE_OPENCL_C_VERSION);
  info.compute_units = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.clock_mhz = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  info.memory_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_alloc_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  // A tenth is left to the driver, the guards and other users of the memory. Some CPU drivers accept buffers
  // far larger than the host's memory, and filling them ends the process.
  info.usable_bytes = info.memory_bytes / 10 * 9;
  if (const auto free = host_available_bytes(); info.type == "cpu" && free > 0)
    info.usable_bytes = std::min(info.usable_bytes, free / 4 * 3);
  info.local_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_LOCAL_MEM_SIZE);
  info.unit_local_bytes = unit_local_bytes_of(device, info);
  info.cache_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  if (info.type == "cpu") info.host_caches = host_caches();
  info.max_group = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  for (auto extent : CLWEAVE_GET(queries, get, CL_DEVICE_MAX_WORK_ITEM_SIZES))
    info.max_group_dims.push_back(static_cast<std::int64_t>(extent));
  info.timer_ns = CLWEAVE_GET(queries, number, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
  cl_device_fp_config fp64 = 0;  // optional before OpenCL 1.2: a failed query means none
  clGetDeviceInfo(device(), CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64, nullptr);
  info.fp64 = fp64 != 0;
  info.fp16 = info.has_extension("cl_khr_fp16");
  info.int64_atomics = info.has_extension("cl_khr_int64_base_atomics");
  cl_uint max_subgroups = 0;
  clGetDeviceInfo(device(), CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof max_subgroups, &max_subgroups, nullptr);
  info.subgroups = max_subgroups > 0 || info.has_extension("cl_khr_subgroups");
  info.local_is_dedicated = CLWEAVE_GET(queries, get, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  info.lockstep = lockstep_of(device);
}

// The devices of all platforms, and what identifies them, at equal places.
struct Listing {
  std::vector<DeviceInfo> infos;
  std::vector<cl::Device> devices;
};

// Skips a platform that fails, naming it in `errors`.
Listing list_devices(std::vector<std::string>& errors) {
  Listing out;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (int p = 0; p < static_cast<int>(platforms.size()); ++p) {
    try {
      std::vector<cl::Device> devices;
      platforms[p].getDevices(CL_DEVICE_TYPE_ALL, &devices);
      for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
        Queries queries(devices[d], fmt::format("{}:{}", p, d), errors);
        DeviceInfo info = identify(platforms[p], queries, devices[d]);
        info.platform_index = p;
        info.device_index = d;
        out.infos.push_back(std::move(info));
        out.devices.push_back(devices[d]);
      }
    } catch (const cl::Error& error) {
      // A platform without devices is common, as drivers of several vendors may be installed.
      if (error.err() != CL_DEVICE_NOT_FOUND)
        errors.push_back(fmt::format("platform {}: {} gave {}", p, error.what(), cl_name(error.err())));
    }
  }
  resolve_identities(out.infos);
  return out;
}

}  // namespace

std::vector<DeviceInfo> enumerate_devices(std::vector<std::string>& driver_errors) {
  if (const auto why = why_no_opencl(); !why.empty()) {
    driver_errors.push_back("OpenCL's library cannot be loaded: " + why);
    return {};
  }
  try {
    Listing listing = list_devices(driver_errors);
    for (std::size_t i = 0; i < listing.infos.size(); ++i) {
      DeviceInfo& info = listing.infos[i];
      Queries queries(listing.devices[i], info.index(), driver_errors);
      if (info.duplicate_of.empty()) describe(info, queries, listing.devices[i]);
    }
    // The driver's entry again: its properties are those of the first.
    for (auto& info : listing.infos) {
      if (info.duplicate_of.empty()) continue;
      DeviceInfo copy = *std::ranges::find(listing.infos, info.duplicate_of, &DeviceInfo::index);
      copy.platform_index = info.platform_index;
      copy.device_index = info.device_index;
      copy.duplicate_of = info.duplicate_of;
      info = std::move(copy);
    }
    return std::move(listing.infos);
  } catch (const cl::Error& error) {
    driver_errors.push_back("no OpenCL platform: " + cl_name(error.err()));
    for (auto& why : why_no_driver()) driver_errors.push_back(std::move(why));
    return {};
  }
}

cl::Device find_device(const DeviceInfo& info) {
  std::vector<std::string> errors;
  const Listing listing = list_devices(errors);
  if (const auto place = place_of(info, listing.infos)) return listing.devices[*place];
  const bool is_there = std::ranges::any_of(listing.infos, [&](const DeviceInfo& one) {
    return one.name == info.name && one.driver == info.driver;
  });
  throw Error(
      ErrorCode::device_lost,
      fmt::format("device {} ({}) is gone: of {} entries listed now, {}", info.index(), info.name,
                  listing.infos.size(),
                  is_there ? info.has_address() ? "those of its name have another UUID or PCI address"
                                                : "none can be told to be it, as it has no address of its "
                                                  "own and the listing has changed"
                           : "none has its name and driver"));
}

}  // namespace clweave::device
