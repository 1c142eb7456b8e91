// SPDX-License-Identifier: Apache-2.0
#include "device/loader.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/preprocessor/repetition/enum.hpp>
#include <boost/preprocessor/repetition/enum_params.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <tuple>
#include <type_traits>

#include "device/cl.hpp"

namespace clweave::device {

namespace fs = std::filesystem;

namespace {

struct Library {
  void* handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  std::string why = handle == nullptr ? dlerror() : "";
};

// Never closed, because drivers have threads of their own.
const Library& library() {
  static const Library opened;
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
    static const auto found = library().handle == nullptr
                                  ? nullptr
                                  : reinterpret_cast<decltype(declared)>(dlsym(library().handle, name));
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

std::string why_no_opencl() { return library().why; }

std::vector<std::filesystem::path> registered_drivers() {
  const char* set = std::getenv("OCL_ICD_VENDORS");
  const fs::path place = set != nullptr && *set != '\0' ? set : "/etc/OpenCL/vendors";
  std::vector<fs::path> files;
  std::error_code missing;
  if (fs::is_directory(place, missing)) {
    for (const auto& entry : fs::directory_iterator(place, missing)) {
      if (entry.path().extension() == ".icd") files.push_back(fs::absolute(entry.path()));
    }
  } else if (fs::exists(place, missing)) {
    files.push_back(fs::absolute(place));
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> forbidden_nodes(const fs::path& root) {
  std::vector<fs::path> nodes;
  for (const auto& [folder, begin] : {std::pair{"dev/dri", "renderD"}, {"dev", "kfd"}, {"dev", "nvidia"}}) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(root / folder, missing)) {
      if (entry.path().filename().string().starts_with(begin) && !entry.is_directory(missing))
        nodes.push_back(entry.path());
    }
  }
  std::ranges::sort(nodes);
  std::vector<std::string> out;
  for (const auto& node : nodes) {
    if (faccessat(AT_FDCWD, node.c_str(), R_OK | W_OK, AT_EACCESS) == 0 || errno != EACCES) continue;
    struct stat about = {};
    const group* const owner = stat(node.c_str(), &about) == 0 ? getgrgid(about.st_gid) : nullptr;
    out.push_back(fmt::format(
        "this user may not open {}{}", node.string(),
        owner == nullptr || (about.st_mode & S_IWGRP) == 0
            ? ""
            : fmt::format(", which group {0} may: usermod -aG {0} USER, and log in again", owner->gr_name)));
  }
  return out;
}

std::vector<std::string> why_no_driver() {
  std::vector<std::string> out;
  for (const auto& file : registered_drivers()) {
    std::ifstream in(file);
    std::string name;
    in >> name;
    if (name.empty())
      out.push_back(fmt::format("driver {} names no library", file.string()));
    else if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
      out.push_back(fmt::format("driver {} cannot be loaded: {}", file.string(), dlerror()));
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
ENTRY(clCreateCommandQueueWithProperties, 4)
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
