// SPDX-License-Identifier: Apache-2.0
// t1: input files of Kernel Tuner, KTT and other tuners as descriptions.
//
// The format is T1, version 1.0.0, of J. O. Tørring et al., "FAIR Sharing of Data in Autotuning Research",
// 2024 (https://doi.org/10.1145/3629527.3651429), with what Kernel Tuner adds to it: ProblemSize, GridDivX ..
// GridDivZ, Default and Output. The search and its budget are not read: options of `clweave tune` say them.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "description/description.hpp"

namespace clweave::description {

inline constexpr const char* t1_ending = ".json";

struct FromT1 {
  std::string toml;  // a description
  std::vector<std::string>
      parts;  // by line of it: the part of the input that it says, as "Arguments[2].Size"
  std::filesystem::path kernel_file;  // as the input names it, in its own folder
};

// Translates the text of an input file; messages name the file as `shown`. Throws `usage` that names the part
// that is missing, or that no description can say.
FromT1 from_t1(const std::string& json, const std::string& shown);

// Reads an input file, and the kernel file that it names. Throws likewise, as parse_description does, with
// the part of the input that it is about, and `io`.
Description read_t1(const std::filesystem::path& file);

}  // namespace clweave::description
