// SPDX-License-Identifier: Apache-2.0
#include "device/launch.hpp"

#include <fmt/format.h>

#include <variant>

namespace clweave::device {

cl::NDRange nd_range(const Range& range) {
  switch (range.size()) {
    case 0: return cl::NullRange;
    case 1: return {range[0]};
    case 2: return {range[0], range[1]};
    default: return {range[0], range[1], range[2]};
  }
}

std::string launch_text(const Launch& launch) {
  return fmt::format("launch of kernel {}<{} by {}> with {} arguments", launch.kernel, text_of(launch.global),
                     launch.local.empty() ? "driver" : text_of(launch.local), launch.args.size());
}

cl::Kernel kernel_of(const cl::Program& program, const Launch& launch, cl_uint build_number,
                     const BindBuffer& bind_buffer) {
  cl::Kernel kernel;
  with_error_context([&] { return "kernel " + launch.kernel; },
                     [&] { kernel = cl::Kernel(program, launch.kernel.c_str()); });
  for (cl_uint i = 0; i < launch.args.size(); ++i) {
    std::string kind;
    const auto bind = Overloaded{[&](Buffer buffer) {
                                   kind = fmt::format("buffer {}", buffer.index);
                                   bind_buffer(kernel, i, buffer);
                                 },
                                 [&](LocalBytes local) {
                                   kind = fmt::format("{} bytes of local memory", local.bytes);
                                   kernel.setArg(i, cl::Local(local.bytes));
                                 },
                                 [&](BuildNumber) {
                                   kind = "the number that makes each build's source new";
                                   kernel.setArg(i, build_number);
                                 },
                                 [&](const Scalar& scalar) {
                                   kind = fmt::format("a value of {} bytes", scalar.size());
                                   kernel.setArg(i, scalar.size(), scalar.data());
                                 }};
    with_error_context([&] { return fmt::format("argument {} of kernel {}, {}", i, launch.kernel, kind); },
                       [&] { std::visit(bind, launch.args[i]); });
  }
  return kernel;
}

}  // namespace clweave::device
