// SPDX-License-Identifier: Apache-2.0
// stream_time: STREAM's kernels in a plain host program, in the shape that BabelStream gives them in OpenCL.
//
//   g++ -O2 -std=c++20 stream_time.cpp -lOpenCL -o stream_time
//   stream_time PLATFORM DEVICE N NAME..     prints "NAME GB/s" each, by the median of up to 100 executions
//
// One double per work-item in work-groups of the driver's choice, each execution between two readings of the
// host's clock with a wait. dot is a grid-stride loop of few work-groups, whose sums the host reads and adds.
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace {

constexpr const char* source = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
constant double scalar = 0.4;
kernel void copy(global const double* restrict a, global double* restrict c) {
  const size_t i = get_global_id(0);
  c[i] = a[i];
}
kernel void scale(global double* restrict b, global const double* restrict c) {
  const size_t i = get_global_id(0);
  b[i] = scalar * c[i];
}
kernel void add(global const double* restrict a, global const double* restrict b, global double* restrict c) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + b[i];
}
kernel void triad(global double* restrict a, global const double* restrict b, global const double* restrict c) {
  const size_t i = get_global_id(0);
  a[i] = b[i] + scalar * c[i];
}
kernel void fill(global double* restrict a) { a[get_global_id(0)] = scalar; }
kernel void dot_sums(global const double* restrict a, global const double* restrict b, global double* restrict sums,
                     local double* restrict of_items, const uint n) {
  const size_t lane = get_local_id(0);
  of_items[lane] = 0;
  for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) of_items[lane] += a[i] * b[i];
  for (size_t apart = get_local_size(0) / 2; apart > 0; apart /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < apart) of_items[lane] += of_items[lane + apart];
  }
  if (lane == 0) sums[get_group_id(0)] = of_items[0];
}
)";

class Stream {
 public:
  Stream(cl::Device device, cl_uint n)
      : n_(n), context_(device), queue_(context_, device), program_(context_, source) {
    program_.build(device);
    const bool is_cpu = (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0;
    const auto units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
    groups_ = is_cpu ? units : 4 * units;
    group_ = is_cpu ? 2 * device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE>()
                    : device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
    for (cl::Buffer* buffer : {&a_, &b_, &c_}) {
      *buffer = cl::Buffer(context_, CL_MEM_READ_WRITE, sizeof(double) * n);
      queue_.enqueueFillBuffer(*buffer, 0.1, 0, sizeof(double) * n);
    }
    sums_ = cl::Buffer(context_, CL_MEM_WRITE_ONLY, sizeof(double) * groups_);
    queue_.finish();
  }

  // Returns GB/s by the median, 0 for a name that it does not know.
  double rate(const std::string& name) {
    if (name == "copy") return rate_of(2, elements("copy", {a_, c_}));
    if (name == "scale") return rate_of(2, elements("scale", {b_, c_}));
    if (name == "add") return rate_of(3, elements("add", {a_, b_, c_}));
    if (name == "triad") return rate_of(3, elements("triad", {a_, b_, c_}));
    if (name == "fill") return rate_of(1, elements("fill", {a_}));
    if (name == "dot") return rate_of(2, dot());
    return 0;
  }

 private:
  std::function<void()> elements(const char* name, const std::vector<cl::Buffer>& arrays) {
    cl::Kernel kernel(program_, name);
    for (cl_uint k = 0; k < arrays.size(); ++k) kernel.setArg(k, arrays[k]);
    return [this, kernel] {
      queue_.enqueueNDRangeKernel(kernel, cl::NullRange, n_);
      queue_.finish();
    };
  }

  std::function<void()> dot() {
    cl::Kernel kernel(program_, "dot_sums");
    kernel.setArg(0, a_);
    kernel.setArg(1, b_);
    kernel.setArg(2, sums_);
    kernel.setArg(3, cl::Local(sizeof(double) * group_));
    kernel.setArg(4, n_);
    return [this, kernel] {
      queue_.enqueueNDRangeKernel(kernel, cl::NullRange, groups_ * group_, group_);
      std::vector<double> sums(groups_);
      queue_.enqueueReadBuffer(sums_, true, 0, sizeof(double) * groups_, sums.data());
      total_ = std::accumulate(sums.begin(), sums.end(), 0.0);
    };
  }

  double rate_of(int arrays, const std::function<void()>& execute) const {
    using Clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    const auto begin = Clock::now();
    for (int i = 0; i < 100 && (i < 10 || Clock::now() - begin < std::chrono::seconds(2)); ++i) {
      const auto before = Clock::now();
      execute();
      if (i > 1) seconds.push_back(std::chrono::duration<double>(Clock::now() - before).count());
    }
    std::ranges::sort(seconds);
    return 1e-9 * arrays * sizeof(double) * n_ / seconds[seconds.size() / 2];
  }

  cl_uint n_;
  std::size_t groups_ = 0, group_ = 0;
  cl::Context context_;
  cl::CommandQueue queue_;
  cl::Program program_;
  cl::Buffer a_, b_, c_, sums_;
  double total_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 5) return 2;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(std::stoul(argv[1])).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  Stream stream(devices.at(std::stoul(argv[2])), static_cast<cl_uint>(std::stoul(argv[3])));
  for (int i = 4; i < argc; ++i) {
    const double rate = stream.rate(argv[i]);
    if (rate == 0) return 2;
    std::printf("%s %.6g\n", argv[i], rate);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
