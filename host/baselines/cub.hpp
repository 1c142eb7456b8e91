// SPDX-License-Identifier: Apache-2.0
// cub: what of CUDA's toolkit the baselines are about; hip.hpp has the same of HIP's.
#pragma once
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/version.h>
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <string>

namespace toolkit {

inline constexpr const char *api = "cuda", *name = "CUDA", *vendor = "NVIDIA Corporation",
                            *device_list = "CUDA_VISIBLE_DEVICES";

// Formats the number of cudaRuntimeGetVersion: "13.0".
inline std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

inline std::string compiler() {
  return "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__);
}

inline std::string library() {
  return "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + ", Thrust " +
         std::to_string(THRUST_MAJOR_VERSION) + "." + std::to_string(THRUST_MINOR_VERSION);
}

}  // namespace toolkit
