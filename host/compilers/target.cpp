// SPDX-License-Identifier: Apache-2.0
#include "compilers/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/near_word.hpp"
#include "compilers/vendors.hpp"

namespace clweave::compilers {

namespace {

constexpr std::int64_t kib = 1024, gib = 1 << 30;

// Processors as their makers describe them: a unit is AMD's compute unit, of RDNA the pair of two that a
// group may use together, NVIDIA's multiprocessor, and Intel's subslice or Xe core. Sources: LLVM's AMDGPU
// guide, the CUDA programming guide's table of compute capabilities, Intel's oneAPI optimization guide.
constexpr Unit cdna = {.simds = 4,
                       .waves = 8,
                       .registers = 512,
                       .granule = 8,
                       .scalars = 800,
                       .scalar_granule = 16,
                       .local_bytes = 64 * kib};
constexpr Unit rdna(int registers, int granule) {
  return {.simds = 4, .waves = 16, .registers = registers, .granule = granule, .local_bytes = 128 * kib};
}
constexpr Unit intel(int engines, int threads, std::int64_t local_bytes) {
  // Gives a thread 128 registers; with half as many threads each may have 256.
  return {.simds = engines, .waves = threads, .registers = 1024, .granule = 128, .local_bytes = local_bytes};
}

struct Known {
  const char* name;
  const char* meaning;
  void (*be)(Target&);
  int lockstep;  // of AMD and NVIDIA; Intel's compiler chooses for each kernel
  bool fp64;
  Unit unit;
  const char* install;
};
const std::vector<Known> known = {
    {"gfx90a", "AMD Instinct MI200", be_amd, 64, true, cdna, "clang-15"},
    {"gfx942", "AMD Instinct MI300", be_amd, 64, true, cdna, "clang-17"},
    {"gfx1030", "AMD Radeon RX 6000", be_amd, 32, true, rdna(1024, 16), "clang-15"},
    {"gfx1100", "AMD Radeon RX 7000", be_amd, 32, true, rdna(1536, 24), "clang-15"},
    {"gfx1200", "AMD Radeon RX 9000", be_amd, 32, true, rdna(1536, 24), "clang-19"},
    {"skl", "Intel, 6th to 10th generation", be_intel, 0, true, intel(8, 7, 64 * kib), "22"},
    {"tgllp", "Intel, 11th to 14th generation", be_intel, 0, false, intel(16, 7, 128 * kib), "22"},
    {"dg2", "Intel Arc A", be_intel, 0, false, intel(16, 8, 128 * kib), "22.43"},
    {"pvc", "Intel Data Center GPU Max", be_intel, 0, true, intel(8, 8, 128 * kib), "22.43"},
    {"bmg", "Intel Arc B", be_intel, 0, true, intel(8, 8, 128 * kib), "24.35"},
    {"sm_90",
     "NVIDIA H100, H200",
     be_nvidia,
     32,
     true,
     {.simds = 4,
      .waves = 16,
      .registers = 512,
      .granule = 8,
      .local_bytes = 228 * kib,
      .reserved = kib,
      .groups = 32},
     "clang-15"},
    {"spirv", "SPIR-V, for any device that takes it", be_spirv, 0, false, {}, "22"},
};

DeviceInfo device_of(const Known& one) {
  DeviceInfo device;
  device.name = one.meaning;
  device.type = "gpu";
  device.compute_units = 32;
  device.memory_bytes = device.usable_bytes = 16 * gib;
  device.max_alloc_bytes = 4 * gib;
  device.max_group = 1024;
  device.max_group_dims = {1024, 1024, 1024};
  device.lockstep = one.lockstep > 0 ? one.lockstep : 16;
  device.fp64 = one.fp64;
  device.fp16 = device.int64_atomics = device.subgroups = device.local_is_dedicated = true;
  device.unit_local_bytes = one.unit.local_bytes;
  device.local_bytes = device.constant_bytes = 64 * kib;
  device.parameter_bytes = kib;
  if (one.be == be_amd) {
    device.vendor = "Advanced Micro Devices, Inc.";
  } else if (one.be == be_nvidia) {
    device.vendor = "NVIDIA Corporation";
    device.extensions = "cl_nv_pragma_unroll cl_nv_compiler_options";
    device.fp16 = false;  // nor has NVIDIA's OpenCL
    device.local_bytes = 48 * kib;
  } else {
    device.vendor = "Intel(R) Corporation";
    device.extensions = "cl_intel_subgroups";
    // The others' are compiled with libclc, which has no functions of images.
    device.image_width = device.image_height = 16384;
  }
  return device;
}

std::string what_to_install(const Known& one) {
  if (one.be == be_amd || one.be == be_nvidia)
    return fmt::format("{} or later, and a libclc that is no newer (Debian: {} libclc-15)", one.install,
                       one.install);
  return fmt::format("an ocloc of release {} or later (Debian: intel-ocloc or intel-opencl-icd)",
                     one.install);
}

}  // namespace

const Kernel* Compiled::kernel(const std::string& name) const {
  const auto it = std::ranges::find(kernels, name, &Kernel::name);
  return it != kernels.end() ? &*it : nullptr;
}

const std::vector<std::string>& target_names() {
  static const auto names = [] {
    std::vector<std::string> out;
    for (const auto& one : known) out.emplace_back(one.name);
    return out;
  }();
  return names;
}

const Target& target_of(const std::string& name) {
  static std::map<std::string, Target> made;
  if (const auto it = made.find(name); it != made.end()) return it->second;
  const auto one = std::ranges::find(known, name, &Known::name);
  if (one == known.end())
    throw Error(ErrorCode::usage, fmt::format("--target {}: there is no such target{}", name,
                                              suggestion(name, target_names())));
  Target target;
  target.name = name;
  target.meaning = one->meaning;
  target.missing = what_to_install(*one);
  target.device = device_of(*one);
  target.unit = one->unit;
  one->be(target);
  return made.emplace(name, std::move(target)).first->second;
}

}  // namespace clweave::compilers
