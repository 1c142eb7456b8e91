// SPDX-License-Identifier: Apache-2.0
// own_kernels: users' own kernels on the command line: the files that describe them, or options that do.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "description/arguments.hpp"
#include "suite/selection.hpp"

namespace CLI {
class App;
}

namespace clweave::commands {

struct OwnKernels {
  std::vector<std::string> files;    // as typed
  description::Arguments arguments;  // `set` is not filled: those of the selection are
  bool unchecked = false;
};

// Returns whether a word names a kernel file or its description by its ending.
bool is_own(const std::string& word);

// How help and messages call the words that name kernels.
inline constexpr const char* own_files = "FILE.cl";

// Adds these words; `use` says what for.
void add_own_files(CLI::App&, std::vector<std::string>& files, const std::string& use);
// Adds them, too, and the options that describe a kernel without a description.
void add_own(CLI::App&, OwnKernels&);

// Describes the files and adds their families; of a folder, every kernel file that is described. Returns the
// families' names. Throws `usage` and `io` that say what to type.
std::vector<std::string> load_own(const std::vector<std::string>& files);
// Does so and selects these families where no other is, with the peaks that bound them alone; values of a
// kernel that the command line describes are its axes, no longer the selection's.
void load_own(const OwnKernels&, Selection&);

// Loads the kernel files among the results files that a command was given, and removes them: of all its lists
// at once, before it reads any, as rows of families that nobody described make families, too. Throws `usage`
// if that leaves none of a list.
void take_own(std::initializer_list<std::vector<std::string>*> lists);

// Throws `usage` if an output of these families is not checked, with what to do instead.
void need_checks(const std::vector<std::string>& families, const std::string& instead);

}  // namespace clweave::commands
