/* SPDX-License-Identifier: Apache-2.0
 * copy_time: an independent stopwatch: median device and host time of one plain copy kernel, in the fewest lines.
 *
 *   copy_time PLATFORM DEVICE BYTES     prints "event_s host_s"
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int ascending(const void* a, const void* b) { return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b); }
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  enum { launches = 201 };
  static double event_s[launches], host_s[launches];
  if (argc != 4) return 2;
  const size_t bytes = strtoull(argv[3], NULL, 10), items = bytes / 16, local = 256;
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  clGetPlatformIDs(16, platforms, NULL);
  clGetDeviceIDs(platforms[atoi(argv[1])], CL_DEVICE_TYPE_ALL, 16, devices, NULL);
  cl_device_id device = devices[atoi(argv[2])];
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
  const char* source = "__kernel void copy(__global uint4* out, __global const uint4* in) { out[get_global_id(0)] = in[get_global_id(0)]; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  clBuildProgram(program, 1, &device, "", NULL, NULL);
  cl_kernel kernel = clCreateKernel(program, "copy", NULL);
  unsigned* host = malloc(bytes);
  for (size_t i = 0; i < bytes / 4; ++i) host[i] = (unsigned)(i * 2654435761u) ^ (unsigned)(i >> 7);
  cl_mem in = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, host, NULL);
  cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, host, NULL);
  clSetKernelArg(kernel, 0, sizeof out, &out);
  clSetKernelArg(kernel, 1, sizeof in, &in);
  for (int i = -20; i < launches; ++i) {
    cl_event event;
    cl_ulong start = 0, end = 0;
    const double before = now();
    if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &local, 0, NULL, &event) != CL_SUCCESS) return 1;
    clFinish(queue);
    const double after = now();
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    clReleaseEvent(event);
    if (i < 0) continue;
    event_s[i] = 1e-9 * (double)(end - start);
    host_s[i] = after - before;
  }
  qsort(event_s, launches, sizeof *event_s, ascending);
  qsort(host_s, launches, sizeof *host_s, ascending);
  printf("%.9g %.9g\n", event_s[launches / 2], host_s[launches / 2]);
  return 0;
}
