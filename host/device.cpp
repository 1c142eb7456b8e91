// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cl.hpp"

namespace clweave {

namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(std::string("\0 \t\n", 4));
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(std::string("\0 \t\n", 4)) - first + 1);
}

std::string type_text(cl_device_type type) {
  // Oclgrind claims every type at once, as its simulator can stand for any: it runs on the CPU.
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

// The lock-step width as the driver sees it is a property of a kernel, so a trivial one is built.
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

// MemAvailable of /proc/meminfo; 0 where there is none.
std::int64_t host_available_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;) {
    std::int64_t kib = 0;
    if (word == "MemAvailable:" && in >> kib) return kib * 1024;
  }
  return 0;
}

DeviceInfo describe(const cl::Platform& platform, const cl::Device& device) {
  DeviceInfo info;
  info.platform = trimmed(platform.getInfo<CL_PLATFORM_NAME>());
  info.platform_version = trimmed(platform.getInfo<CL_PLATFORM_VERSION>());
  info.vendor = trimmed(device.getInfo<CL_DEVICE_VENDOR>());
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.type = type_text(device.getInfo<CL_DEVICE_TYPE>());
  info.driver = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.version = trimmed(device.getInfo<CL_DEVICE_VERSION>());
  info.c_version = trimmed(device.getInfo<CL_DEVICE_OPENCL_C_VERSION>());
  info.extensions = trimmed(device.getInfo<CL_DEVICE_EXTENSIONS>());
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.clock_mhz = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>();
  info.memory_bytes = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>());
  info.max_alloc_bytes = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>());
  // A tenth is left to the driver, the canaries and whoever shares the memory. Some CPU drivers accept
  // buffers far beyond the host's memory: the fill is what then ends the process.
  info.usable_bytes = info.memory_bytes / 10 * 9;
  if (const auto free = host_available_bytes(); info.type == "cpu" && free > 0)
    info.usable_bytes = std::min(info.usable_bytes, free / 4 * 3);
  info.local_bytes = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>());
  info.cache_bytes = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>());
  info.max_group = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
  for (auto extent : device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>())
    info.max_group_dims.push_back(static_cast<std::int64_t>(extent));
  info.timer_ns = static_cast<std::int64_t>(device.getInfo<CL_DEVICE_PROFILING_TIMER_RESOLUTION>());
  cl_device_fp_config fp64 = 0;  // optional before OpenCL 1.2: a failed query means none
  clGetDeviceInfo(device(), CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64, nullptr);
  info.fp64 = fp64 != 0;
  info.fp16 = info.has_extension("cl_khr_fp16");
  info.int64_atomics = info.has_extension("cl_khr_int64_base_atomics");
  cl_uint max_subgroups = 0;
  clGetDeviceInfo(device(), CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof max_subgroups, &max_subgroups, nullptr);
  info.subgroups = max_subgroups > 0 || info.has_extension("cl_khr_subgroups");
  info.local_is_dedicated = device.getInfo<CL_DEVICE_LOCAL_MEM_TYPE>() == CL_LOCAL;
  if (info.has_extension("cl_khr_device_uuid")) info.uuid = uuid_of(device);
  info.pci = pci_of(device, info);
  // A CPU device is this host's processor whatever the driver calls it.
  info.silicon = info.type == "cpu"   ? "host cpu"
                 : !info.pci.empty()  ? "pci " + info.pci
                 : !info.uuid.empty() ? "uuid " + info.uuid
                                      : "";
  info.lockstep = lockstep_of(device);
  return info;
}

}  // namespace

bool DeviceInfo::has_extension(const std::string& extension) const {
  return (" " + extensions + " ").find(" " + extension + " ") != std::string::npos;
}

std::uint64_t DeviceInfo::units() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(compute_units, 1));
}

bool DeviceInfo::is_llvmpipe() const { return name.find("llvmpipe") != std::string::npos; }

std::uint64_t DeviceInfo::most_turns() const { return is_llvmpipe() ? 65535 : UINT64_MAX; }

// Apple, ARM and Qualcomm: see T. Sorensen et al., "Specifying and Testing GPU Workgroup Progress Models"
// (2021).
bool DeviceInfo::groups_make_progress() const {
  const auto made_by = [this](const char* who) { return vendor.find(who) != std::string::npos; };
  return !is_llvmpipe() && !made_by("Apple") && !made_by("ARM") && !made_by("Qualcomm");
}

std::vector<DeviceInfo> enumerate_devices(std::vector<std::string>& complaints) {
  std::vector<DeviceInfo> out;
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    complaints.push_back("no OpenCL platform: " + cl_name(error.err()));
    return out;
  }
  for (int p = 0; p < static_cast<int>(platforms.size()); ++p) {
    try {
      std::vector<cl::Device> devices;
      platforms[p].getDevices(CL_DEVICE_TYPE_ALL, &devices);
      for (int d = 0; d < static_cast<int>(devices.size()); ++d) {
        out.push_back(describe(platforms[p], devices[d]));
        out.back().platform_index = p;
        out.back().device_index = d;
      }
    } catch (const cl::Error& error) {
      // A platform without devices is everyday: every vendor's driver may be installed.
      if (error.err() != CL_DEVICE_NOT_FOUND)
        complaints.push_back(fmt::format("platform {}: {} gave {}", p, error.what(), cl_name(error.err())));
    }
  }
  return out;
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
           // "pocl" stands in the version alone.
           lower(d.platform + " " + d.platform_version).find(wanted) != std::string::npos;
  });
}

std::string slug(const std::string& text) {
  std::string out;
  for (const char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "device" : out;
}

// One list of fields serves both directions; the library's own macro would make the functions inline.
#define CLWEAVE_FIELDS                                                                                       \
  platform_index, device_index, platform, platform_version, vendor, name, type, driver, version, c_version,  \
      extensions, uuid, pci, silicon, compute_units, clock_mhz, memory_bytes, usable_bytes, max_alloc_bytes, \
      local_bytes, cache_bytes, max_group, max_group_dims, lockstep, timer_ns, fp64, fp16, int64_atomics,    \
      subgroups, local_is_dedicated

void to_json(nlohmann::json& nlohmann_json_j, const DeviceInfo& nlohmann_json_t) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, CLWEAVE_FIELDS))
}

void from_json(const nlohmann::json& nlohmann_json_j, DeviceInfo& nlohmann_json_t) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, CLWEAVE_FIELDS))
}

}  // namespace clweave
