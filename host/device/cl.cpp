// SPDX-License-Identifier: Apache-2.0
#include "device/cl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "base/excerpt.hpp"

namespace clweave::device {

std::string cl_name(cl_int status) {
#define NAME(code) \
  { code, #code }
  static const std::map<cl_int, const char*> names = {NAME(CL_SUCCESS),
                                                      NAME(CL_DEVICE_NOT_FOUND),
                                                      NAME(CL_DEVICE_NOT_AVAILABLE),
                                                      NAME(CL_COMPILER_NOT_AVAILABLE),
                                                      NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
                                                      NAME(CL_OUT_OF_RESOURCES),
                                                      NAME(CL_OUT_OF_HOST_MEMORY),
                                                      NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
                                                      NAME(CL_MEM_COPY_OVERLAP),
                                                      NAME(CL_IMAGE_FORMAT_MISMATCH),
                                                      NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED),
                                                      NAME(CL_BUILD_PROGRAM_FAILURE),
                                                      NAME(CL_MAP_FAILURE),
                                                      NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
                                                      NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
                                                      NAME(CL_COMPILE_PROGRAM_FAILURE),
                                                      NAME(CL_LINKER_NOT_AVAILABLE),
                                                      NAME(CL_LINK_PROGRAM_FAILURE),
                                                      NAME(CL_DEVICE_PARTITION_FAILED),
                                                      NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
                                                      NAME(CL_INVALID_VALUE),
                                                      NAME(CL_INVALID_DEVICE_TYPE),
                                                      NAME(CL_INVALID_PLATFORM),
                                                      NAME(CL_INVALID_DEVICE),
                                                      NAME(CL_INVALID_CONTEXT),
                                                      NAME(CL_INVALID_QUEUE_PROPERTIES),
                                                      NAME(CL_INVALID_COMMAND_QUEUE),
                                                      NAME(CL_INVALID_HOST_PTR),
                                                      NAME(CL_INVALID_MEM_OBJECT),
                                                      NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
                                                      NAME(CL_INVALID_IMAGE_SIZE),
                                                      NAME(CL_INVALID_SAMPLER),
                                                      NAME(CL_INVALID_BINARY),
                                                      NAME(CL_INVALID_BUILD_OPTIONS),
                                                      NAME(CL_INVALID_PROGRAM),
                                                      NAME(CL_INVALID_PROGRAM_EXECUTABLE),
                                                      NAME(CL_INVALID_KERNEL_NAME),
                                                      NAME(CL_INVALID_KERNEL_DEFINITION),
                                                      NAME(CL_INVALID_KERNEL),
                                                      NAME(CL_INVALID_ARG_INDEX),
                                                      NAME(CL_INVALID_ARG_VALUE),
                                                      NAME(CL_INVALID_ARG_SIZE),
                                                      NAME(CL_INVALID_KERNEL_ARGS),
                                                      NAME(CL_INVALID_WORK_DIMENSION),
                                                      NAME(CL_INVALID_WORK_GROUP_SIZE),
                                                      NAME(CL_INVALID_WORK_ITEM_SIZE),
                                                      NAME(CL_INVALID_GLOBAL_OFFSET),
                                                      NAME(CL_INVALID_EVENT_WAIT_LIST),
                                                      NAME(CL_INVALID_EVENT),
                                                      NAME(CL_INVALID_OPERATION),
                                                      NAME(CL_INVALID_GL_OBJECT),
                                                      NAME(CL_INVALID_BUFFER_SIZE),
                                                      NAME(CL_INVALID_MIP_LEVEL),
                                                      NAME(CL_INVALID_GLOBAL_WORK_SIZE),
                                                      NAME(CL_INVALID_PROPERTY),
                                                      NAME(CL_INVALID_IMAGE_DESCRIPTOR),
                                                      NAME(CL_INVALID_COMPILER_OPTIONS),
                                                      NAME(CL_INVALID_LINKER_OPTIONS),
                                                      NAME(CL_INVALID_DEVICE_PARTITION_COUNT),
                                                      {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}};
#undef NAME
  const auto it = names.find(status);
  return it != names.end() ? it->second : "CL error " + std::to_string(status);
}

bool finish(const cl::CommandQueue& queue, const cl::Event& last) {
  queue.finish();
  if (last() == nullptr) return true;
  const auto status = [&] {
    const auto now = last.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
    if (now < 0) throw cl::Error(now, "a command");
    return now;
  };
  if (status() == CL_COMPLETE) return true;
  last.wait();
  while (status() != CL_COMPLETE) std::this_thread::sleep_for(std::chrono::microseconds(20));
  return false;
}

void build_program(const cl::Program& program, const cl::Device& device, const std::string& options) {
  const cl_int status = clBuildProgram(program(), 1, &device(), options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS) throw cl::Error(status, "clBuildProgram");
}

std::string build_log(const cl::Program& program, const cl::Device& device) {
  constexpr std::size_t most = std::size_t{1} << 18, most_read = std::size_t{1} << 28;
  std::size_t bytes = 0;
  cl_int status = clGetProgramBuildInfo(program(), device(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  if (status == CL_SUCCESS && bytes > most_read)
    return fmt::format("a build log of {} bytes, too long to be read", bytes);
  std::string log(bytes, '\0');
  if (status == CL_SUCCESS && bytes > 0)
    status = clGetProgramBuildInfo(program(), device(), CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  if (status != CL_SUCCESS) throw cl::Error(status, "clGetProgramBuildInfo");
  log.resize(std::min(log.size(), log.find_last_not_of('\0') + 1));
  return base::Excerpt(most).append(log).text();
}

Error cl_failure(const cl::Error& error, const std::string& what) {
  const std::string text = what + ": " + error.what() + " gave " + cl_name(error.err());
  switch (error.err()) {
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_INVALID_BUILD_OPTIONS:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_INVALID_PROGRAM_EXECUTABLE: return {ErrorCode::build, text};
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE: return {ErrorCode::unsupported, text};
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: return {ErrorCode::out_of_memory, text};
    case CL_INVALID_COMMAND_QUEUE:
    case CL_DEVICE_NOT_AVAILABLE: return {ErrorCode::device_lost, text};
    default: return {ErrorCode::launch, text};
  }
}

}  // namespace clweave::device
