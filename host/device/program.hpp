// SPDX-License-Identifier: Apache-2.0
// program: a plan's kernel source and build options. It needs no device, so that offline compilers get the
// same text.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "suite/plan.hpp"

namespace clweave::device {

extern const std::map<std::string, std::string_view>
    embedded_kernels;  // generated from cl_kernels/, by path without .cl

struct Source {
  std::string text;     // a kernel file with all that it includes, and #line, so that messages name the files
  std::string options;  // " -D NAME=value ..." in the order of the names
  std::string
      kernel_hash;  // 16 hex digits over text and options: an edited kernel cannot pass as a shipped one
};

// Joins lib/prelude.cl, <stem>.cl and the files that they include, each once: the driver sees no #include. A
// file is named from the kernels' folder: #include "lib/elements.cl". #include NAME takes the file that the
// define NAME says; such a define is no macro of the program. An empty `kernel_dir` means the embedded files;
// otherwise those of that folder, so that kernels can be edited without a build. Throws `io`, with file and
// line, if a file is missing, includes itself, or is included within #if.
//
// An absolute `stem` is a user's own file, without a prelude. It includes files of its own folder, named from
// there, before those of ours; neither ".." nor a link leads out of that folder.
Source source_of(const std::string& stem, const std::map<std::string, std::string>& defines,
                 const std::string& kernel_dir, const std::string& options = "");
Source source_of(const Plan&, const std::string& kernel_dir);

// Returns from a build log why a program is unsupported: a kernel refuses a compiler that lacks something by
// `#error "unsupported: what"`, and for a kernel that `may_fail_to_build` the first error is the reason.
// Empty: the program is broken.
std::string refusal_in(const std::string& log, bool may_fail_to_build);

// Translates line numbers of the whole text in a build log, as NVIDIA's compiler writes ("<kernel>:115:"),
// into files and their lines.
std::string with_files(const std::string& log, const std::string& text);

// Lists the kernels that the plan launches, each once, in their order.
std::vector<std::string> launched_by(const Plan&);

}  // namespace clweave::device
