// SPDX-License-Identifier: Apache-2.0
// launch: kernels with their arguments, and what is said of a launch that fails.
#pragma once
#include <functional>
#include <string>

#include "device/cl.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

cl::NDRange nd_range(const Range&);

// Calls f; an OpenCL error that it throws gets `context()` in its message.
template <class F, class Context>
void with_error_context(const Context& context, const F& f) {
  try {
    f();
  } catch (const cl::Error& error) {
    throw cl_failure(error, context());
  }
}

// For messages: kernel, ranges, and the number of arguments.
std::string launch_text(const Launch&);

// Makes the kernel of a launch and sets its arguments; `bind` sets one that is a buffer. Throws an Error that
// names the kernel or the argument.
using BindBuffer = std::function<void(cl::Kernel&, cl_uint argument, Buffer)>;
cl::Kernel kernel_of(const cl::Program&, const Launch&, cl_uint build_number, const BindBuffer& bind);

}  // namespace clweave::device
