// SPDX-License-Identifier: Apache-2.0
// probe: three verified launches, one line each, that show what the fault layer made of them.
//
// probe [LOCAL SIZE]...: rounds take the sizes in turn; exit code 0 and a last line "all right" only when
// everything was.
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr std::size_t items = 256;
constexpr cl_uint turns = 3000;  // makes the kernel long against a launch
constexpr std::size_t bytes = items * sizeof(cl_uint);

const char* source = R"(
kernel void add(global const uint* a, global const uint* b, global uint* c, uint turns) {
  size_t i = get_global_id(0);
  uint x = a[i];
  for (uint k = 0; k < turns; ++k) x = x * 1664525u + 1013904223u;
  c[i] = x + b[i];
})";

cl_uint expected(cl_uint a, cl_uint b) {
  for (cl_uint k = 0; k < turns; ++k) a = a * 1664525u + 1013904223u;
  return a + b;
}

struct Failed {
  const char* call;
  cl_int code;
};

void check(const char* call, cl_int code) {
  if (code != CL_SUCCESS) throw Failed{call, code};
}

template <class T>
unsigned long long info(cl_device_id device, cl_device_info name) {
  T value{};
  check("clGetDeviceInfo", clGetDeviceInfo(device, name, sizeof value, &value, nullptr));
  return value;
}

std::string timer_verdict(cl_event event, double host_ns) {
  constexpr cl_ulong unwritten = 0x5a5a5a5a5a5a5a5a;
  cl_ulong t[] = {unwritten, unwritten, unwritten, unwritten};  // queued, submit, start, end
  for (cl_uint i = 0; i < 4; ++i)
    check("clGetEventProfilingInfo",
          clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof t[i], &t[i], nullptr));
  const double ratio = static_cast<double>(t[3] - t[2]) / host_ns;
  if (std::ranges::count(t, unwritten) > 0) return "untouched";
  if (std::ranges::count(t, 0u) == 4) return "zero";
  if (t[0] == 0 && t[1] == 1 && t[2] == 2 && t[3] == 3) return "constant";
  if (t[3] < t[2]) return "backward from " + std::to_string(t[2]);
  // Time stolen by other processes makes small ratios real; none can be much above 1.
  return (ratio > 1.5 ? "slow " : "possible ") + std::to_string(ratio);
}

bool run(const std::vector<std::size_t>& locals) {
  cl_int code = CL_SUCCESS;
  cl_platform_id platform = nullptr;
  check("clGetPlatformIDs", clGetPlatformIDs(1, &platform, nullptr));
  cl_device_id device = nullptr;
  check("clGetDeviceIDs", clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  std::vector<char> extensions(1 << 14);
  clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, extensions.size() - 1, extensions.data(), nullptr);
  const std::string list = " " + std::string(extensions.data()) + " ";
  std::printf("extensions:%s, cl_khr_fp64 %s\n", list.c_str(),
              list.find(" cl_khr_fp64 ") != std::string_view::npos ? "yes" : "no");
  std::printf("device: fp64 %llu, group %llu, alloc %llu, global %llu, local %llu\n",
              info<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG),
              info<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE),
              info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE),
              info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE),
              info<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));

  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check("clCreateContext", code);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
  check("clCreateCommandQueue", code);
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  check("clCreateProgramWithSource", code);
  const cl_int built = clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  std::size_t log_bytes = 0;  // asked for after a failed build too, where PoCL may refuse it
  check("clGetProgramBuildInfo",
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &log_bytes));
  check("clBuildProgram", built);
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  check("clCreateKernel", code);
  std::size_t group = 0;
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, nullptr);
  std::printf("kernel: group %zu\n", group);

  std::vector<cl_uint> a(items), b(items, 7), c(items);
  cl_mem buffers[3] = {};
  for (cl_uint i = 0; i < 3; ++i) {
    const bool is_b = i == 1;  // so that one write a round, of `a`, is the Nth of the process
    buffers[i] = clCreateBuffer(context, is_b ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE, bytes,
                                is_b ? b.data() : nullptr, &code);
    check("clCreateBuffer", code);
    check("clSetKernelArg", clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]));
  }
  check("clSetKernelArg", clSetKernelArg(kernel, 3, sizeof turns, &turns));

  bool all_right = true;
  for (cl_uint round = 1; round <= 3; ++round) {
    try {
      const std::size_t local = locals[(round - 1) % locals.size()];
      for (cl_uint i = 0; i < items; ++i) a[i] = 1000 * round + i;
      check("clEnqueueWriteBuffer",
            clEnqueueWriteBuffer(queue, buffers[0], CL_TRUE, 0, bytes, a.data(), 0, nullptr, nullptr));
      cl_event event = nullptr;
      const auto begin = std::chrono::steady_clock::now();
      check("clEnqueueNDRangeKernel",
            clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &local, 0, nullptr, &event));
      check("clWaitForEvents", clWaitForEvents(1, &event));
      const Nanoseconds host = std::chrono::steady_clock::now() - begin;
      const bool blocking = round != 2;
      check("clEnqueueReadBuffer", clEnqueueReadBuffer(queue, buffers[2], blocking ? CL_TRUE : CL_FALSE, 0,
                                                       bytes, c.data(), 0, nullptr, nullptr));
      check("clFinish", clFinish(queue));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < items; ++i) wrong += c[i] != expected(a[i], b[i]) ? 1 : 0;
      const std::string timer = timer_verdict(event, host.count());
      std::printf("round %u: wrong %zu, timer %s\n", round, wrong, timer.c_str());
      all_right = all_right && wrong == 0 && timer.starts_with("possible");
    } catch (const Failed& failed) {
      std::printf("round %u: %s %d\n", round, failed.call, failed.code);
      all_right = false;
    }
  }
  return all_right;
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // what was printed survives a crash
  std::vector<std::size_t> locals;
  for (int i = 1; i < argc; ++i) locals.push_back(std::strtoul(argv[i], nullptr, 10));
  if (locals.empty()) locals.push_back(64);
  if (!run(locals)) return 1;
  std::puts("all right");
  return 0;
} catch (const Failed& failed) {
  std::printf("%s %d\n", failed.call, failed.code);
  return 1;
}
