// SPDX-License-Identifier: Apache-2.0
#include "device/builder.hpp"

#include <fmt/format.h>

#include "device/open_device.hpp"
#include "os/unseen_number.hpp"

namespace clweave::device {

void Builder::build(Build::From from) {
  if (from == Build::From::binary) {
    if (binary_.empty()) keep_binary();
    program_ = from_binary();
    return;
  }
  // Defeats kernel caches, which outlive the process.
  if (from == Build::From::new_source || !has_built()) build_number_ = unseen_number();
  program_ = from_source();
}

cl::Program Builder::from_source() const {
  cl::Program program(device_.context(), source_.text);
  device_.build(program, fmt::format("{} -D BUILD_NUMBER={}u", source_.options, build_number_));
  return program;
}

cl::Program Builder::from_binary() const {
  try {
    cl::Program program(device_.context(), {device_.device()}, binary_);
    device_.build(program, source_.options);
    return program;
  } catch (const cl::Error& error) {
    throw Error(ErrorCode::unsupported,
                "the driver does not take the binary that it gave: " + cl_name(error.err()));
  } catch (const Error& error) {
    throw Error(ErrorCode::unsupported,
                std::string("the driver does not take the binary that it gave: ") + error.what());
  }
}

void Builder::keep_binary() {
  build_number_ = unseen_number();
  try {
    binary_ = from_source().getInfo<CL_PROGRAM_BINARIES>();
  } catch (const cl::Error& error) {
    throw Error(ErrorCode::unsupported, "the driver gives no binary of a program: " + cl_name(error.err()));
  }
  if (binary_.empty() || binary_.front().empty())
    throw Error(ErrorCode::unsupported, "the driver gives no binary of a program");
}

}  // namespace clweave::device
