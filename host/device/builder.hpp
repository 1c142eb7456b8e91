// SPDX-License-Identifier: Apache-2.0
// builder: builds the program of a plan repeatedly, as its Build steps say.
#pragma once
#include "device/cl.hpp"
#include "device/program.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

class OpenDevice;

class Builder {
 public:
  // Builds nothing yet. Both arguments must outlive it.
  Builder(const OpenDevice& device, const Source& source) : device_(device), source_(source) {}

  // Throws cl::Error, `build`, and `unsupported` if the driver gives no binary or rejects its own.
  void build(Build::From);

  bool has_built() const { return program_() != nullptr; }
  const cl::Program& program() const { return program_; }
  cl_uint build_number() const { return build_number_; }  // of program()

 private:
  cl::Program from_source() const;
  cl::Program from_binary() const;
  void keep_binary();

  const OpenDevice& device_;
  const Source& source_;
  cl::Program program_;
  cl_uint build_number_ = 0;
  cl::Program::Binaries binary_;  // of a program with this number, made when first needed
};

}  // namespace clweave::device
