// SPDX-License-Identifier: Apache-2.0
// kernel_source: which kernels a file of OpenCL C has, and with what parameters, as far as its text alone
// tells.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"
#include "description/description.hpp"

namespace clweave::description {

struct Parameter {
  enum class Kind {
    buffer,   // global or constant
    local,    // bytes of local memory
    scalar,   // by value
    refused,  // an image or a sampler, which no description gives
    unknown   // a macro hides it
  };
  Kind kind = Kind::unknown;
  // Of a scalar, or of a buffer's elements, if it is one of OpenCL's own.
  std::optional<ElementType> type = {};
  std::string text;       // as written
  bool is_const = false;  // of a buffer: its elements are const or constant, so that no kernel writes them
};

struct Kernel {
  std::string name;
  std::optional<std::vector<Parameter>> parameters;  // empty: macros hide them
};

struct KernelSource {
  std::vector<Kernel> kernels;  // one of several of a name, in different branches of an #if, may be the one
  bool has_more = false;        // macros make kernels, too
};

// Words that a define may be: #include NAME takes a file that the define NAME says.
using WordDefines = std::map<std::string, std::vector<std::string>>;

// Reads the text of a kernel file and of the files that it includes from its folder; "lib/.." are the suite's
// own. Throws `usage` with a line for an #include that leads out of the folder, or that this reader and a
// compiler could understand differently. Messages name the file as `shown`. `known` are names
// that are macros though no line of the file says so.
KernelSource kernels_in(const std::string& text, const std::string& shown,
                        const std::filesystem::path& folder, const WordDefines& known);

// Returns the canonical path of a file within a folder. Throws `usage` at the place if it leads out of the
// folder, or is no file there.
std::filesystem::path path_within(const std::filesystem::path& folder, const std::string& name, const Place&);

// Bytes that a kernel file and those that it includes may have in all.
inline constexpr std::uintmax_t most_source_bytes = 4 << 20;

// Reads a whole file of at most so many bytes. Throws `io`.
std::string file_text(const std::filesystem::path& file, std::uintmax_t most_bytes);

}  // namespace clweave::description
