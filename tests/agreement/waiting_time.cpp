// SPDX-License-Identifier: Apache-2.0
// waiting_time: processors that ways to wait for a kernel keep busy, and how late they hear of its end, by a
// plain host program.
//
//   g++ -O2 -std=c++20 waiting_time.cpp -lOpenCL -o waiting_time
//   waiting_time PLATFORM DEVICE      prints "WAY PROCESSORS LATE_US" each; the kernel takes about 20 ms
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <sys/resource.h>
#include <CL/opencl.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr const char* source = R"(
kernel void busy(global uint* x, uint trips) {
  uint y = x[get_global_id(0)];
  for (uint i = 0; i < trips; ++i) y = y * 1664525u + 1013904223u;
  x[get_global_id(0)] = y;
}
)";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double median(std::vector<double> of) {
  std::ranges::sort(of);
  return of[of.size() / 2];
}

void measure(int platform_index, int device_index) {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(static_cast<std::size_t>(platform_index)).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const cl::Device device = devices.at(static_cast<std::size_t>(device_index));
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device, CL_QUEUE_PROFILING_ENABLE);
  cl::Program program(context, source);
  program.build();
  cl::Kernel kernel(program, "busy");
  const std::size_t items = 2048 * device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, items * 4);
  queue.enqueueFillBuffer(buffer, cl_uint{1}, 0, items * 4);
  kernel.setArg(0, buffer);
  const auto launch = [&](cl_uint trips, cl::Event& event) {
    kernel.setArg(1, trips);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(items), cl::NullRange, nullptr, &event);
    queue.flush();
  };
  const auto seconds_of = [](const cl::Event& event) {
    return 1e-9 * static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                                      event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
  };
  cl_uint trips = 1000;
  for (int i = 0; i < 20; ++i) {
    cl::Event event;
    launch(trips, event);
    event.wait();
    const double s = seconds_of(event);
    if (s > 0.018 && s < 0.022) break;
    trips = static_cast<cl_uint>(std::clamp(trips * 0.02 / s, 100.0, 4e9));
  }
  const auto asks = [](const cl::Event& event, bool sleeps) {
    while (event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() != CL_COMPLETE) {
      if (sleeps) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  };
  const std::vector<std::pair<const char*, std::function<void(cl::Event&)>>> ways = {
      {"finish", [&](cl::Event&) { queue.finish(); }},
      {"event", [&](cl::Event& event) { event.wait(); }},
      {"blocking_read",
       [&](cl::Event&) {
         cl_uint word = 0;
         queue.enqueueReadBuffer(buffer, CL_TRUE, 0, 4, &word);
       }},
      {"poll", [&](cl::Event& event) { asks(event, false); }},
      {"sleep", [&](cl::Event& event) { asks(event, true); }},
      {"callback", [&](cl::Event& event) {
         std::atomic<bool> ended = false;
         event.setCallback(
             CL_COMPLETE,
             [](cl_event, cl_int, void* to) {
               auto* const flag = static_cast<std::atomic<bool>*>(to);
               flag->store(true);
               flag->notify_one();
             },
             &ended);
         ended.wait(false);
       }}};
  for (const auto& [name, wait] : ways) {
    std::vector<double> late;
    const double began_s = now(), used_s = processor_s();
    for (int i = 0; i < 50; ++i) {
      cl::Event event;
      const double before = now();
      launch(trips, event);
      wait(event);
      late.push_back(now() - before);
      event.wait();
      late.back() -= seconds_of(event);
    }
    std::printf("%s %.3f %.4g\n", name, (processor_s() - used_s) / (now() - began_s), 1e6 * median(late));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("waiting_time PLATFORM DEVICE\n", stderr), 2;
  try {
    measure(std::stoi(argv[1]), std::stoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "waiting_time: %s\n", error.what());
    return 1;
  }
}
