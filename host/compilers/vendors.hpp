// SPDX-License-Identifier: Apache-2.0
// makers: how the devices of each maker are compiled for: AMD's and NVIDIA's by clang.cpp, Intel's by
// intel.cpp.
#pragma once
#include <map>

#include "compilers/target.hpp"
#include "compilers/tool.hpp"

namespace clweave::compilers {

// Returns those in PATH, newest first.
Texts clangs();

// Returns the command that compiles a program, which is written to the folder.
Texts clang_command(const std::string& clang, const Texts& options, const std::filesystem::path& folder,
                    const Source&);

// Assembles the kernels of a program, which clang or NVIDIA's driver compiled to PTX, for a processor
// (sm_90), if ptxas is installed. `options`: those of the program.
void assemble_ptx(Compiled&, const std::string& ptx, const std::string& processor,
                  const std::string& options);
std::string without_ptxas();  // what to install for what; empty: it is here
std::string version_of_ptxas();

// Reads what ptxas -v says into the kernels; returns the rest.
std::string take_ptxas(const std::string& log, std::vector<Kernel>&);

// Parses ocloc's dump of a binary, in either of its formats: PTM.txt or .ze_info.
std::map<std::string, Figures> figures_in(const std::filesystem::path& dump);

// These complete a target whose compilers are here: `compile`, `compiler`, `language`, and nothing `missing`.
void be_amd(Target&);     // gfx..: the processor's name
void be_nvidia(Target&);  // sm_..
void be_intel(Target&);   // the name that ocloc has for it
void be_spirv(Target&);

}  // namespace clweave::compilers
