// SPDX-License-Identifier: Apache-2.0
// program: a plan's kernel source and build options. Needs no device: an offline compiler takes the same
// text.
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
      fingerprint;  // 16 hex digits over text and options: an edited kernel cannot pass as a shipped one
};

// `kernel_dir` empty: the embedded files; else read from there, so that a kernel is edited without a build.
// Throws `io` when a file cannot be read.
Source source_of(const std::vector<std::string>& stems, const std::map<std::string, std::string>& defines,
                 const std::string& kernel_dir, const std::string& options = "");
Source source_of(const Plan&, const std::string& kernel_dir);

// Why a program that does not compile is none, by its build log: a kernel refuses a compiler that lacks
// something by `#error "unsupported: what"`; of a `probe` any complaint is one, the first. Empty: the program
// is broken.
std::string refusal_in(const std::string& log, bool probe);

// The log of a compiler that counts the lines of the whole text, as NVIDIA's does ("<kernel>:115:"), with
// files' lines.
std::string with_files(const std::string& log, const std::string& text);

// The kernels that it launches, each once, in their order.
std::vector<std::string> launched_by(const Plan&);

}  // namespace clweave::device
