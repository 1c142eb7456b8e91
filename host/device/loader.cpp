// SPDX-License-Identifier: Apache-2.0
#include "device/loader.hpp"

#include <fmt/format.h>

#include <boost/preprocessor/repetition/enum.hpp>
#include <boost/preprocessor/repetition/enum_params.hpp>
#include <tuple>
#include <type_traits>

#include "device/cl.hpp"
#include "os/drivers.hpp"
#include "os/library.hpp"

namespace clweave::device {

namespace {

const os::Library& library() {
  static const os::Library opened(os::opencl_library());
  return opened;
}

// A function that OpenCL's header declares, looked up at its first call.
template <auto declared>
struct Entry;
template <typename R, typename... A, R (*declared)(A...)>
struct Entry<declared> {
  using Result = R;
  template <std::size_t i>
  using Argument = std::tuple_element_t<i, std::tuple<A...>>;

  static R call(const char* name, A... given) {
    static const auto found = library().function<decltype(declared)>(name);
    if (found != nullptr) return found(given...);
    // The library is older than the function: return an error as OpenCL does.
    constexpr std::size_t last = sizeof...(A) - 1;
    if constexpr (std::is_same_v<R, cl_int>) return CL_INVALID_OPERATION;
    if constexpr (std::is_same_v<Argument<last>, cl_int*>) {
      if (cl_int* code = std::get<last>(std::tuple(given...)); code != nullptr) *code = CL_INVALID_OPERATION;
    }
    if constexpr (std::is_pointer_v<R>) return nullptr;
  }
};

}  // namespace

std::string why_no_opencl() { return library().why(); }

bool has_function(const char* name) { return library().function<void (*)()>(name) != nullptr; }

std::vector<std::string> why_no_driver() {
  std::vector<std::string> out;
  for (const auto& file : registered_drivers()) {
    const std::string name = os::library_of_driver(file);
    if (name.empty())
      out.push_back(fmt::format("driver {} names no library", file.string()));
    else if (const os::Library driver(name); !driver.is_open())
      out.push_back(fmt::format("driver {} cannot be loaded: {}", file.string(), driver.why()));
  }
  return out;
}

}  // namespace clweave::device

// Defines the functions of OpenCL that are called, by name and number of arguments, in place of the
// library's. A wrong number is a compiler error, a missing function a linker error.
// NOLINTBEGIN(bugprone-macro-parentheses): types and functions' names take none
#define ARGUMENT(z, i, name) clweave::device::Entry<&name>::Argument<i> a##i
#define ENTRY(name, count)                                                             \
  clweave::device::Entry<&name>::Result name(BOOST_PP_ENUM(count, ARGUMENT, name)) {   \
    return clweave::device::Entry<&name>::call(#name, BOOST_PP_ENUM_PARAMS(count, a)); \
  }
// NOLINTEND(bugprone-macro-parentheses)
ENTRY(clBuildProgram, 6)
ENTRY(clCreateBuffer, 5)
ENTRY(clCreateCommandQueue, 4)
ENTRY(clCreateContext, 6)
ENTRY(clCreateImage, 6)
ENTRY(clCreateImage2D, 8)
ENTRY(clCreateKernel, 3)
ENTRY(clCreateProgramWithBinary, 7)
ENTRY(clCreateProgramWithSource, 5)
ENTRY(clEnqueueBarrierWithWaitList, 4)
ENTRY(clEnqueueCopyBuffer, 9)
ENTRY(clEnqueueFillBuffer, 9)
ENTRY(clEnqueueMapBuffer, 10)
ENTRY(clEnqueueMarkerWithWaitList, 4)
ENTRY(clEnqueueNDRangeKernel, 9)
ENTRY(clEnqueueReadBuffer, 9)
ENTRY(clEnqueueReadBufferRect, 14)
ENTRY(clEnqueueSVMMap, 8)
ENTRY(clEnqueueSVMMemcpy, 8)
ENTRY(clEnqueueSVMUnmap, 5)
ENTRY(clEnqueueUnmapMemObject, 6)
ENTRY(clEnqueueWriteBuffer, 9)
ENTRY(clEnqueueWriteBufferRect, 14)
ENTRY(clEnqueueWriteImage, 11)
ENTRY(clFinish, 1)
ENTRY(clFlush, 1)
ENTRY(clGetContextInfo, 5)
ENTRY(clGetDeviceIDs, 5)
ENTRY(clGetDeviceInfo, 5)
ENTRY(clGetEventInfo, 5)
ENTRY(clGetEventProfilingInfo, 5)
ENTRY(clGetKernelWorkGroupInfo, 6)
ENTRY(clGetPlatformIDs, 3)
ENTRY(clGetPlatformInfo, 5)
ENTRY(clGetProgramBuildInfo, 6)
ENTRY(clGetProgramInfo, 5)
ENTRY(clReleaseCommandQueue, 1)
ENTRY(clReleaseContext, 1)
ENTRY(clReleaseDevice, 1)
ENTRY(clReleaseEvent, 1)
ENTRY(clReleaseKernel, 1)
ENTRY(clReleaseMemObject, 1)
ENTRY(clReleaseProgram, 1)
ENTRY(clRetainCommandQueue, 1)
ENTRY(clRetainContext, 1)
ENTRY(clRetainDevice, 1)
ENTRY(clRetainProgram, 1)
ENTRY(clSVMAlloc, 4)
ENTRY(clSVMFree, 2)
ENTRY(clSetEventCallback, 4)
ENTRY(clSetKernelArg, 4)
ENTRY(clSetKernelArgSVMPointer, 3)
ENTRY(clWaitForEvents, 2)

// Asks a library older than OpenCL 2.0 for the queue that its own function makes, where that has all
// properties.
cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties* properties, cl_int* error) {
  static const auto found =
      clweave::device::library().function<decltype(&clCreateCommandQueueWithProperties)>(
          "clCreateCommandQueueWithProperties");
  if (found != nullptr) return found(context, device, properties, error);
  cl_command_queue_properties flags = 0;
  for (const auto* p = properties; p != nullptr && *p != 0; p += 2) {
    if (*p != CL_QUEUE_PROPERTIES) {
      if (error != nullptr) *error = CL_INVALID_OPERATION;
      return nullptr;
    }
    flags = p[1];
  }
  return clCreateCommandQueue(context, device, flags, error);
}
