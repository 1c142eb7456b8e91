// SPDX-License-Identifier: Apache-2.0
#include "device/enumerate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "device/listing.hpp"
#include "device/loader.hpp"
#include "os/drivers.hpp"
#include "os/host.hpp"
#include "os/memory_limit.hpp"

namespace clweave::device {

namespace {

// Fills in what vendors' attributes tell of a compute unit. NVIDIA's give the compute capability alone.
// Source: CUDA C++ Programming Guide 13, "Technical Specifications" and "Throughput of Native Arithmetic
// Instructions".
void describe_compute_unit(DeviceInfo& info, const cl::Device& device) {
  const auto asked = [&](cl_device_info what) {
    cl_uint value = 0;
    return clGetDeviceInfo(device(), what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : 0;
  };
  if (info.has_extension("cl_amd_device_attribute_query")) {
    constexpr cl_device_info simd_per_compute_unit_amd = 0x4040, simd_width_amd = 0x4041,
                             simd_instruction_width_amd = 0x4042,
                             local_mem_size_per_compute_unit_amd = 0x4047;
    info.unit_local_bytes = asked(local_mem_size_per_compute_unit_amd);
    info.fp32_lanes = std::int64_t{asked(simd_per_compute_unit_amd)} * asked(simd_width_amd) *
                      asked(simd_instruction_width_amd);
  }
  if (!info.has_extension("cl_nv_device_attribute_query")) return;
  struct Capability {
    cl_uint number;
    std::int64_t local_kib, fp32_lanes;
  };
  constexpr cl_device_info compute_capability_major_nv = 0x4000, compute_capability_minor_nv = 0x4001;
  static constexpr std::array<Capability, 17> capabilities = {{{50, 64, 128},
                                                               {52, 96, 128},
                                                               {53, 64, 128},
                                                               {60, 64, 64},
                                                               {61, 96, 128},
                                                               {62, 64, 128},
                                                               {70, 96, 64},
                                                               {72, 96, 64},
                                                               {75, 64, 64},
                                                               {80, 164, 64},
                                                               {86, 100, 128},
                                                               {87, 164, 128},
                                                               {89, 100, 128},
                                                               {90, 228, 128},
                                                               {100, 228, 128},
                                                               {103, 228, 128},
                                                               {120, 100, 128}}};
  const cl_uint number = 10 * asked(compute_capability_major_nv) + asked(compute_capability_minor_nv);
  const auto* const known = std::ranges::find(capabilities, number, &Capability::number);
  if (known == capabilities.end()) return;
  info.unit_local_bytes = 1024 * known->local_kib;
  info.fp32_lanes = known->fp32_lanes;
}

// Returns the SIMD width as the driver reports it. It is a property of a kernel, so a trivial one is built.
std::int64_t lockstep_of(const cl::Device& device) {
  try {
    const cl::Context context(device);
    cl::Program program(
        context, std::string("__kernel void nothing(__global uint* out) { out[get_global_id(0)] = 1; }"));
    build_program(program, device, "");
    const cl::Kernel kernel(program, "nothing");
    return static_cast<std::int64_t>(
        kernel.getWorkGroupInfo<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device));
  } catch (const cl::Error&) {
    return 0;
  }
}

// What is unknown limits nothing: a buffer that does not fit is an error of the driver then, and said.
void describe_memory(DeviceInfo& info, Queries& queries, bool shares_host_memory) {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  info.memory_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_alloc_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  if (info.memory_bytes <= 0) queries.note("the size of its memory is unknown, so no case is too large");
  if (info.max_alloc_bytes <= 0) {
    queries.note("the size of its largest buffer is unknown, so none is too large");
    info.max_alloc_bytes = info.memory_bytes > 0 ? info.memory_bytes : unlimited;
  }
  // A tenth is left to the driver, the guards and other users of the memory. Some CPU drivers accept buffers
  // far larger than the host's memory, and filling them ends the process.
  info.usable_bytes = info.memory_bytes > 0 ? info.memory_bytes / 10 * 9 : unlimited;
  if (const auto free = os::available_memory_bytes(); info.type == "cpu" && free > 0)
    info.usable_bytes = std::min(info.usable_bytes, free / 4 * 3);
  // A process that exceeds the limit is killed. A GPU's own memory is no part of it, and what the host
  // compares it with is staged in pieces.
  if (const auto limit = memory_limit(); limit && (info.type == "cpu" || shares_host_memory)) {
    const auto left = static_cast<std::int64_t>(limit->left() / 4 * 3);
    if (left < info.usable_bytes)
      queries.note(fmt::format("cgroup {} allows {} of memory, so larger cases are refused",
                               limit->group.string(), bytes_text(static_cast<double>(limit->left()))));
    info.usable_bytes = std::min(info.usable_bytes, left);
  }
}

void describe(DeviceInfo& info, Queries& queries, const cl::Device& device) {
  info.c_version = CLWEAVE_GET(queries, text, CL_DEVICE_OPENCL_C_VERSION);
  info.compute_units = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.clock_mhz = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  cl_bool shares_host_memory = CL_FALSE;  // deprecated since OpenCL 2.0, so a failed query means no
  clGetDeviceInfo(device(), CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof shares_host_memory, &shares_host_memory,
                  nullptr);
  describe_memory(info, queries, shares_host_memory == CL_TRUE);
  info.local_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_LOCAL_MEM_SIZE);
  describe_compute_unit(info, device);
  info.cache_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  info.constant_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
  info.parameter_bytes = CLWEAVE_GET(queries, number, CL_DEVICE_MAX_PARAMETER_SIZE);
  if (CLWEAVE_GET(queries, get, CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE) {
    info.image_width = CLWEAVE_GET(queries, number, CL_DEVICE_IMAGE2D_MAX_WIDTH);
    info.image_height = CLWEAVE_GET(queries, number, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  }
  if (info.type == "cpu") info.host_caches = os::processor_caches();
  info.max_group = std::max<std::int64_t>(1, CLWEAVE_GET(queries, number, CL_DEVICE_MAX_WORK_GROUP_SIZE));
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

// A platform without devices is told where that is no other vendor's driver beside a device that works.
void add_empty_platforms(std::vector<std::string>& errors, const Listing& listing) {
  const auto forbidden = forbidden_nodes();
  if (!listing.infos.empty() && forbidden.empty()) return;
  for (const auto& name : listing.empty)
    errors.push_back(fmt::format("platform {} has no device{}{}", name, forbidden.empty() ? "" : ": ",
                                 fmt::join(forbidden, ", ")));
}

}  // namespace

std::vector<DeviceInfo> enumerate_devices(std::vector<std::string>& driver_errors) {
  if (const auto why = why_no_opencl(); !why.empty()) {
    driver_errors.push_back("OpenCL's library cannot be loaded: " + why);
    return {};
  }
  try {
    Listing listing = list_devices();
    driver_errors = listing.errors();
    add_empty_platforms(driver_errors, listing);
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

}  // namespace clweave::device
