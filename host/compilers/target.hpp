// SPDX-License-Identifier: Apache-2.0
// target: a device that need not be here, and the compilers that make kernels for it: clang and libclc for
// AMD's, clang and ptxas for NVIDIA's, ocloc for Intel's.
//
// No target needs OpenCL, and each does without the others' compilers.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compilers/figures.hpp"
#include "device/program.hpp"
#include "suite/device_info.hpp"

namespace clweave::compilers {

// One kernel of a program.
struct Kernel {
  std::string name;
  Figures figures;
  std::string isa;  // its instructions, a line each; empty where they cannot be read
};

struct Compiled {
  bool ok = false;
  std::string log;              // what the compilers said, in their words
  std::vector<Kernel> kernels;  // none of a program that does not compile

  const Kernel* kernel(const std::string& name) const;  // null without
};

struct Target {
  std::string name;        // gfx90a
  std::string meaning;     // AMD Instinct MI200
  std::string missing;     // what to install; empty: programs can be compiled
  std::string unread;      // the same for what can be done without: the rest of the figures, the instructions
  std::string compiler;    // names and versions: figures of others may differ
  bool stands_in = false;  // for the maker's own compiler: what it does not take is missing, not broken
  std::string language;    // of Kernel::isa: ISA, PTX or SPIR-V
  DeviceInfo device;       // as plans are to see it
  Unit unit;
  std::function<Compiled(const Source&)> compile;
};

// Returns the names in the order of tables.
const std::vector<std::string>& target_names();

// Looks for its compilers when it is first asked for. Throws `usage` that names those there are.
const Target& target_of(const std::string& name);

}  // namespace clweave::compilers
