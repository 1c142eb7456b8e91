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
  std::string text;     // prelude.cl, then each <stem>.cl, with #line so that messages name the files
  std::string options;  // " -D NAME=value ..." in the order of the names
  std::string
      kernel_hash;  // 16 hex digits over text and options: an edited kernel cannot pass as a shipped one
};

// Joins the sources: the embedded ones or, if `kernel_dir` is not empty, the files there, so that kernels can
// be edited without a build. Throws `io` if a file cannot be read.
Source source_of(const std::vector<std::string>& stems, const std::map<std::string, std::string>& defines,
                 const std::string& kernel_dir, const std::string& options = "");
Source source_of(const Plan&, const std::string& kernel_dir);

// Returns from a build log why a program is unsupported: a kernel refuses a compiler that lacks something by
// `#error "unsupported: what"`, and for a `probe` the first error is the reason. Empty: the program is
// broken.
std::string refusal_in(const std::string& log, bool probe);

// Translates line numbers of the whole text in a build log, as NVIDIA's compiler writes ("<kernel>:115:"),
// into files and their lines.
std::string with_files(const std::string& log, const std::string& text);

// Lists the kernels that the plan launches, each once, in their order.
std::vector<std::string> launched_by(const Plan&);

}  // namespace clweave::device
