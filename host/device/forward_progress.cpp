// SPDX-License-Identifier: Apache-2.0
#include "device/forward_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace clweave::device {

std::string progress_problem(const cl::Context& context, const cl::CommandQueue& queue,
                             const cl::Program& program, std::uint32_t groups, std::uint32_t looks) {
  constexpr int tries = 3;
  constexpr cl_uint not_set = 0, set = 1, first_ticket = 0;
  const std::vector<cl_uint> nothing(groups, not_set);
  const std::size_t bytes = groups * sizeof(cl_uint);
  const cl::Buffer out(context, CL_MEM_READ_WRITE, bytes), flags(context, CL_MEM_READ_WRITE, bytes),
      tickets(context, CL_MEM_READ_WRITE, sizeof first_ticket);
  cl::Kernel kernel(program, "ticket");
  kernel.setArg(0, out);
  kernel.setArg(1, flags);
  kernel.setArg(2, tickets);
  kernel.setArg(3, set);
  kernel.setArg(4, cl_uint{looks});
  kernel.setArg(5, first_ticket);
  std::ptrdiff_t fewest = groups;
  for (int i = 0; i < tries && fewest > 0; ++i) {
    for (const auto* buffer : {&out, &flags})
      queue.enqueueWriteBuffer(*buffer, CL_TRUE, 0, bytes, nothing.data());
    queue.enqueueWriteBuffer(tickets, CL_TRUE, 0, sizeof first_ticket, &first_ticket);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(groups), cl::NDRange(1));
    std::vector<cl_uint> looked(groups);
    queue.enqueueReadBuffer(out, CL_TRUE, 0, bytes, looked.data());
    fewest = std::min(
        fewest, std::ranges::count_if(looked, [&](cl_uint times) { return times == 0 || times > looks; }));
  }
  if (fewest == 0) return {};
  return fmt::format("{} of {} work-groups gave up waiting for one that had begun, after {} looks", fewest,
                     groups, looks);
}

}  // namespace clweave::device
