// SPDX-License-Identifier: Apache-2.0
// examples_time: kernels of examples/ in a plain host program: what a user would write who has no harness.
//
//   g++ -O2 -std=c++20 examples_time.cpp -lOpenCL -o examples_time
//   examples_time PLATFORM DEVICE FOLDER BATCH NAME..     prints "NAME event_s host_s" each: medians of one
//   execution, of BATCH that are enqueued back to back
//
// Compiles a kernel file of FOLDER as it is, with the defines that its description has at the case's values.
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

using Seconds = std::chrono::duration<double>;

struct Times {
  double event_s, host_s;
};

double median(std::vector<double> all) {
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  return all[all.size() / 2];
}

class Host {
 public:
  Host(cl::Device device, std::string folder, int batch)
      : device_(std::move(device)),
        folder_(std::move(folder)),
        batch_(batch),
        context_(device_),
        queue_(context_, device_, CL_QUEUE_PROFILING_ENABLE) {}

  cl::Kernel kernel(const std::string& file, const std::string& name, const std::string& options) const {
    std::ifstream in(folder_ + "/" + file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    cl::Program program(context_, text);
    program.build(device_, options.c_str());
    return {program, name.c_str()};
  }

  cl::Buffer random_floats(std::size_t count) const {
    std::vector<float> values(count);
    std::minstd_rand generator;
    std::uniform_real_distribution<float> of(-1, 1);
    for (float& value : values) value = of(generator);
    return {context_, values.begin(), values.end(), false};
  }

  cl::Buffer output(std::size_t bytes) const { return {context_, CL_MEM_READ_WRITE, bytes}; }

  // Warms up for some tenths of a second, then takes the median of at least 25 batches.
  Times time(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local) const {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 3 || std::chrono::steady_clock::now() - begin < Seconds(0.3); ++i)
      execute(kernel, global, local);
    std::vector<double> events, hosts;
    while (events.size() < 25 ||
           (events.size() < 501 && std::chrono::steady_clock::now() - begin < Seconds(1))) {
      const Times one = execute(kernel, global, local);
      events.push_back(one.event_s);
      hosts.push_back(one.host_s);
    }
    return {median(std::move(events)), median(std::move(hosts))};
  }

 private:
  Times execute(const cl::Kernel& kernel, const cl::NDRange& global, const cl::NDRange& local) const {
    cl::Event first, last;
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < batch_; ++i) {
      cl::Event* const event = i == 0 ? &first : i == batch_ - 1 ? &last : nullptr;
      queue_.enqueueNDRangeKernel(kernel, cl::NullRange, global, local, nullptr, event);
    }
    queue_.finish();
    const Seconds host = std::chrono::steady_clock::now() - before;
    const auto start = first.getProfilingInfo<CL_PROFILING_COMMAND_START>();
    const auto end = (batch_ == 1 ? first : last).getProfilingInfo<CL_PROFILING_COMMAND_END>();
    return {1e-9 * static_cast<double>(end - start) / batch_, host.count() / batch_};
  }

  cl::Device device_;
  std::string folder_;
  int batch_;
  cl::Context context_;
  cl::CommandQueue queue_;
};

Times saxpy(const Host& host) {
  const cl_uint n = 16777216;
  const cl::Buffer z = host.output(sizeof(float) * n), x = host.random_floats(n), y = host.random_floats(n);
  cl::Kernel kernel = host.kernel("saxpy.cl", "one_each", "-DWIDTH=1");
  kernel.setArg(0, z);
  kernel.setArg(1, x);
  kernel.setArg(2, y);
  kernel.setArg(3, 2.5F);
  kernel.setArg(4, n);
  return host.time(kernel, n, 256);
}

Times transpose(const Host& host) {
  const cl_uint n = 4096;
  const std::size_t elements = std::size_t{n} * n;
  const cl::Buffer out = host.output(sizeof(float) * elements), in = host.random_floats(elements);
  cl::Kernel kernel = host.kernel("transpose.cl", "tiled", "-DTILE=32 -DPADDING=1");
  kernel.setArg(0, out);
  kernel.setArg(1, in);
  kernel.setArg(2, n);
  return host.time(kernel, {n, n / 4}, {32, 8});
}

Times matrix_product(const Host& host) {
  const cl_uint n = 1024;
  const std::size_t elements = std::size_t{n} * n;
  const cl::Buffer c = host.output(sizeof(float) * elements), a = host.random_floats(elements),
                   b = host.random_floats(elements);
  cl::Kernel kernel = host.kernel("matrix_product.cl", "registers", "-DTILE=16 -DBLOCK=64 -DDEPTH=16");
  kernel.setArg(0, c);
  kernel.setArg(1, a);
  kernel.setArg(2, b);
  kernel.setArg(3, n);
  return host.time(kernel, {n / 4, n / 4}, {16, 16});
}

struct Example {
  std::string name;
  Times (*run)(const Host&);
};

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<Example> all = {
      {"saxpy", saxpy}, {"transpose", transpose}, {"matrix_product", matrix_product}};
  if (argc < 6) return 2;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(std::stoul(argv[1])).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const Host host(devices.at(std::stoul(argv[2])), argv[3], std::stoi(argv[4]));
  for (int i = 5; i < argc; ++i) {
    const auto found = std::ranges::find(all, std::string(argv[i]), &Example::name);
    if (found == all.end()) return 2;
    const Times times = found->run(host);
    std::printf("%s %.9g %.9g\n", argv[i], times.event_s, times.host_s);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
