// SPDX-License-Identifier: Apache-2.0
// cl: the one place that includes OpenCL's C++ bindings.
//
// Target 3.0 with minimum 1.1 is the pair that compiles with every release of opencl.hpp tried; it
// declares newer entry points, which are called only after the device said that it has them.
#pragma once
#define CL_TARGET_OPENCL_VERSION 300
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 110
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <string>

#include "base/error.hpp"

namespace clweave::device {

std::string cl_name(cl_int status);  // "CL_OUT_OF_RESOURCES", or "CL error -9999"

// Waits until the queue is finished and its last command has ended by its own status, as some drivers'
// clFinish returns before. Returns whether clFinish had waited. `last` may be null. Throws cl::Error, too, if
// the command failed.
bool finish(const cl::CommandQueue&, const cl::Event& last);

// Builds a program. Throws cl::Error, without the log, which the bindings' own call reads and copies however
// long it is.
void build_program(const cl::Program&, const cl::Device&, const std::string& options);

// Returns what the compiler wrote about a program: beginning and end of what is too long to be read, as are
// the logs of compilers that repeat a warning for each line. Throws cl::Error.
std::string build_log(const cl::Program&, const cl::Device&);

// Translates a failed call into the error of the case; `what` names what was tried.
Error cl_failure(const cl::Error&, const std::string& what);

}  // namespace clweave::device
