// SPDX-License-Identifier: Apache-2.0
// hip: the names of CUDA that the baselines use, as HIP has them, and hipCUB's by those of CUB.
//
// tests/baselines/check_hip_names looks that none is missing.
#pragma once
#include <hip/hip_runtime.h>

#include <hipcub/device/device_reduce.hpp>
#include <hipcub/device/device_scan.hpp>
#include <hipcub/device/device_select.hpp>
#include <hipcub/hipcub_version.hpp>
#include <string>

#define cudaDeviceGetByPCIBusId hipDeviceGetByPCIBusId
#define cudaDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cudaDeviceProp hipDeviceProp_t
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaError_t hipError_t
#define cudaEventCreate hipEventCreate
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaEventRecord hipEventRecord
#define cudaEventSynchronize hipEventSynchronize
#define cudaEvent_t hipEvent_t
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaMalloc hipMalloc
#define cudaMallocHost hipHostMalloc
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemset hipMemset
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaSetDevice hipSetDevice
#define cudaStreamCreate hipStreamCreate
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess

namespace cub {
using hipcub::DeviceReduce;
using hipcub::DeviceScan;
using hipcub::DeviceSelect;
}  // namespace cub

namespace cuda {
template <class = void>
struct maximum {
  template <class T>
  __host__ __device__ T operator()(const T& l, const T& r) const {
    return l < r ? r : l;
  }
};
namespace std {
template <class = void>
struct plus {
  template <class T>
  __host__ __device__ T operator()(const T& l, const T& r) const {
    return l + r;
  }
};
}  // namespace std
}  // namespace cuda

namespace toolkit {

inline constexpr const char *api = "hip", *name = "HIP", *vendor = "Advanced Micro Devices, Inc.",
                            *device_list = "HIP_VISIBLE_DEVICES";

// Formats the number of hipRuntimeGetVersion: "6.2".
inline std::string version(int number) {
  return std::to_string(number / 10000000) + "." + std::to_string(number / 100000 % 100);
}

inline std::string compiler() {
  return "HIP " + std::to_string(HIP_VERSION_MAJOR) + "." + std::to_string(HIP_VERSION_MINOR);
}

inline std::string library() {
  return "hipCUB " + std::to_string(HIPCUB_VERSION_MAJOR) + "." + std::to_string(HIPCUB_VERSION_MINOR);
}

}  // namespace toolkit
