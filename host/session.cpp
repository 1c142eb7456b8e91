// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>

#include <chrono>

namespace clweave {

Session::Session(DeviceInfo info, std::string kernel_dir)
    : info_(std::move(info)), kernel_dir_(std::move(kernel_dir)) {
  try {
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    std::vector<cl::Device> devices;
    platforms.at(info_.platform_index).getDevices(CL_DEVICE_TYPE_ALL, &devices);
    device_ = devices.at(info_.device_index);
    context_ = cl::Context(device_);
    queue_ = cl::CommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE);
  } catch (const cl::Error& error) {
    throw cl_failure(error, "cannot open " + info_.name);
  } catch (const std::out_of_range&) {
    throw Error(Kind::no_device, "device " + info_.index() + " (" + info_.name + ") is gone");
  }
  timer_ = certify_timer();
}

const Session::Built& Session::build(const Source& source) {
  if (const auto it = built_.find(source.fingerprint); it != built_.end()) return it->second;
  cl::Program program(context_, source.text);
  const double before = host_now();
  try {
    program.build(device_, source.options.c_str());
  } catch (const cl::Error& error) {
    // CL_INVALID_BUILD_OPTIONS and compilers that crash leave no log.
    std::string log;
    if (error.err() == CL_BUILD_PROGRAM_FAILURE)
      log = "\n" + program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_);
    throw Error(Kind::build, "options" + source.options + " gave " + cl_name(error.err()) + log);
  }
  return built_.emplace(source.fingerprint, Built{program, host_now() - before}).first->second;
}

TimerCertificate Session::certify_timer() {
  try {
    const std::size_t items = 4096;
    const Source source = source_of("harness", {}, kernel_dir_);
    cl::Kernel spin(build(source).program, "spin");
    cl::Buffer out(context_, CL_MEM_READ_WRITE, items * sizeof(cl_uint));
    spin.setArg(0, out);
    const auto probe = [&](double work, cl_uint trips) {
      spin.setArg(1, trips);
      cl::Event event;
      const double before = host_now();
      queue_.enqueueNDRangeKernel(spin, cl::NullRange, cl::NDRange(items), cl::NullRange, nullptr, &event);
      queue_.finish();
      const double host_s = host_now() - before;
      const Stamps stamps = stamps_of(event);
      return TimerProbe{work, stamps.touched, stamps.start, stamps.end, host_s};
    };
    probe(1, 1);  // may compile
    // Work enough that the launch itself does not matter, but under the trip limit that llvmpipe puts on
    // every loop (65535): twice the trips must really be done.
    cl_uint trips = 256;
    while (trips < 16384 && probe(1, trips).host_s < 10e-3) trips *= 2;
    std::vector<TimerProbe> probes;
    for (int i = 0; i < 8; ++i) {
      probes.push_back(probe(1, trips));
      probes.push_back(probe(2, 2 * trips));
    }
    return certify(probes);
  } catch (const cl::Error& error) {
    return {
        .event = false, .slope = 0, .reason = std::string(error.what()) + " gave " + cl_name(error.err())};
  } catch (const Error& error) {
    return {.event = false, .slope = 0, .reason = error.what()};
  }
}

Stamps stamps_of(const cl::Event& event) {
  constexpr cl_ulong sentinel = 0xDEADBEEFDEADBEEFull;
  cl_ulong start = sentinel;
  cl_ulong end = sentinel;
  const bool known =
      clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr) ==
          CL_SUCCESS &&
      clGetEventProfilingInfo(event(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) == CL_SUCCESS;
  return {known && start != sentinel && end != sentinel, start, end};
}

double host_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace clweave
