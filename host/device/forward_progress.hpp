// SPDX-License-Identifier: Apache-2.0
// forward_progress: does a work-group that has begun go on while others wait for it? OpenCL does not promise
// it.
#pragma once
#include <cstdint>
#include <string>

#include "device/cl.hpp"

namespace clweave::device {

// Runs kernel `ticket` of cl_kernels/lib/ticket.cl, out of `program`, in `groups` work-groups of one
// work-item, each of which looks at most `looks` times for the one that began before it. Returns how many saw
// nothing and gave up, out of how many; empty if none did in one of three tries, as a processor's thread may
// be kept waiting by other programs. Throws cl::Error.
std::string progress_problem(const cl::Context&, const cl::CommandQueue&, const cl::Program& program,
                             std::uint32_t groups, std::uint32_t looks);

}  // namespace clweave::device
