// SPDX-License-Identifier: Apache-2.0
// arguments: a description from the words of a command line, for a first try of a kernel.
//
//   --kernel scale --global n --local 64 --arg 'x=float[n]:random' --arg 'y=float[n]:out' --arg a=2.0f
//   --set n=1e6,1e7 --check 'y=2*x[i]'
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "description/description.hpp"

namespace clweave::description {

struct Arguments {
  std::string kernel;                // empty: the kernel file has a description of its own
  std::string global, local;         // expressions, up to three, separated by commas
  std::vector<std::string> args;     // in the order of the kernel's parameters
  std::vector<std::string> set;      // "n=1e6,1e7": the axes
  std::vector<std::string> checks;   // "y=2*x[i]", "y=sorted", "y=expected.npy"
  std::string within;                // of all checks: "2ulp", or relative "1e-5"; empty: the same value
  std::vector<std::string> defines;  // "GROUP=group": macros
  std::string bytes, operations;     // expressions, of one execution; empty: not known
  std::string bound;                 // one of bound_names(): the peak it is held against; empty: none

  // Returns the first of these options that was given, besides --set; empty if none was.
  std::string first_given() const;
};

// Returns the description as TOML, and for each of its lines the option that it comes from. Throws `usage`
// for words that are of no form that an option takes.
struct Written {
  std::string toml;
  std::vector<WrittenAs> written_as;
};
Written written(const Arguments&, const std::filesystem::path& file);

// Makes the description of a kernel file that has none. Throws `usage` that names the option and the place
// in its value, as all does that is wrong with a case of it.
Description description_of(const Arguments&, const std::filesystem::path& file);

}  // namespace clweave::description
