// SPDX-License-Identifier: Apache-2.0
// loader: OpenCL's library, opened when it is first called: a program that is linked with it would not even
// start where there is none, and says nothing that helps.
#pragma once
#include <string>

namespace clweave {

// Why OpenCL cannot be called at all: what the system says of libOpenCL.so.1. Empty where it can.
std::string why_no_opencl();

}  // namespace clweave
