// SPDX-License-Identifier: Apache-2.0
#include "device/driver_build.hpp"

#include "device/cl.hpp"
#include "device/listing.hpp"

namespace clweave::device {

namespace {

DriverBuild::Kernel described(const cl::Program& program, const cl::Device& device, const std::string& name) {
  const cl::Kernel kernel(program, name.c_str());
  const auto says = [&](auto ask) -> std::int64_t {
    try {
      return static_cast<std::int64_t>(ask());
    } catch (const cl::Error&) {
      return 0;
    }
  };
  return {.name = name,
          .group_limit = says([&] { return kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device); }),
          .width = says(
              [&] { return kernel.getWorkGroupInfo<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device); }),
          .local = says([&] { return kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device); }),
          .scratch = says([&] { return kernel.getWorkGroupInfo<CL_KERNEL_PRIVATE_MEM_SIZE>(device); })};
}

}  // namespace

DriverBuild driver_build(const DeviceInfo& info, const Source& source,
                         const std::vector<std::string>& kernels) {
  try {
    const cl::Device device = find_device(info);
    const cl::Context context(device);
    cl::Program program(context, source.text);
    DriverBuild out;
    // NVIDIA's compiler reports registers only with this option.
    const bool nvidia = info.has_extension("cl_nv_compiler_options");
    try {
      build_program(program, device, source.options + (nvidia ? " -cl-nv-verbose" : ""));
      out.ok = true;
    } catch (const cl::Error& error) {
      out.log = cl_name(error.err()) + "\n";
    }
    try {
      out.log += build_log(program, device);
    } catch (const cl::Error&) {  // then there is none
    }
    if (!out.ok) return out;
    for (const auto& name : kernels) out.kernels.push_back(described(program, device, name));
    try {
      const auto binaries = program.getInfo<CL_PROGRAM_BINARIES>();
      if (binaries.empty()) return out;
      out.binary_bytes = static_cast<std::int64_t>(binaries.front().size());
      const std::string binary(binaries.front().begin(), binaries.front().end());
      if (nvidia && binary.find(".entry") != std::string::npos) out.ptx = binary;
    } catch (const cl::Error&) {  // some drivers give none
    }
    return out;
  } catch (const cl::Error& error) {
    throw cl_failure(error, "building for " + info.name);
  }
}

}  // namespace clweave::device
