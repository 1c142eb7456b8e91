// SPDX-License-Identifier: Apache-2.0
// new: writes a kernel file with a description, to begin a kernel of one's own with.
#include <fmt/format.h>
#include <re2/re2.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/shell_word.hpp"
#include "base/terminal.hpp"
#include "commands/command.hpp"
#include "os/replacement.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

// NAME stands for the family's name, which is the file's.
constexpr std::string_view form = R"form(/* clweave

# The description, in TOML; docs/description.md lists every key. Texts in quotes are expressions where a number
# is meant: they name axes, and know + - * / ( ) ?: && || == < round_up(a,b) ceil_div(a,b) min max log2 and more.

question = "Which way of y = a x + y is fastest?"

# What is varied. The first value is the default; `tunable` axes change how, not what is computed:
# clweave tune searches them.
[axes]
kernel = { values = ["simple", "blocked"], meaning = "implementation" }
n = { values = [1048576, 4194304], meaning = "elements" }
group = { values = [64, 128, 256], tunable = true, meaning = "work-items per work-group" }

# Memory on the device. A buffer without contents is an output, which must be written whole.
[buffers]
x = { type = "float", count = "n", contents = { random = [-1, 1] } }
y = { type = "float", count = "n", contents = { random = [-1, 1] } }
z = { type = "float", count = "n" }

# Macros of the program: expressions of the axes.
[defines]
GROUP = "group"

# What is timed: launches, in order. {kernel} stands for the value of that axis.
[[launches]]
kernel = "NAME_{kernel}"
global = "round_up(kernel == 'blocked' ? ceil_div(n, 4) : n, group)"
local = "group"
args = ["x", "y", "z", { float = "2.5" }, { uint = "n" }]

# For GB/s, Gop/s and elements per second: what one execution must move and compute at least.
[cost]
read = "8 * n"
written = "4 * n"
operations = "2 * n"
items = "n"
bound = "memory"

# What every element of the output must be. Reference kernels, .npy files and properties serve as well.
[[checks]]
buffer = "z"
expression = "2.5 * x[i] + y[i]"
absolute = 1e-6

[view]
rows = ["kernel"]
columns = ["n"]
*/

kernel void NAME_simple(global const float* x, global const float* y, global float* z, float a, uint n) {
  const uint i = get_global_id(0);
  if (i < n) z[i] = a * x[i] + y[i];
}

// Each work-group takes a block of 4 * GROUP elements, so that neighbours still read neighbours.
kernel void NAME_blocked(global const float* x, global const float* y, global float* z, float a, uint n) {
  const uint first = get_group_id(0) * 4 * GROUP + get_local_id(0);
  for (uint k = 0; k < 4; ++k) {
    const uint i = first + k * GROUP;
    if (i < n) z[i] = a * x[i] + y[i];
  }
}
)form";

// Throws `usage` for a name that no family can have.
void check_name(const std::string& name) {
  static const RE2 valid("[a-z][a-z0-9_]*");
  constexpr std::size_t longest = 64;
  if (!RE2::FullMatch(name, valid) || name.size() > longest)
    throw Error(
        ErrorCode::usage,
        fmt::format("'{}': a name has small letters, digits and _, and begins with a letter: clweave new "
                    "my_kernel",
                    name));
  if (std::ranges::find(all_families(), name, &Family::name) != all_families().end())
    throw Error(ErrorCode::usage,
                fmt::format("there is a family {} already: choose another name, such as my_{}", name, name));
}

int write_new(const std::string& word) {
  namespace fs = std::filesystem;
  const std::string path = word.ends_with(".cl") ? word : word + ".cl";
  const std::string name = fs::path(path).stem().string();
  check_name(name);
  std::error_code none;
  if (fs::exists(fs::symlink_status(path, none)))
    throw Error(ErrorCode::usage, path + " is there already: choose another name, or remove it");
  std::string text(form);
  RE2::GlobalReplace(&text, R"(\bNAME(_|\b))", name + R"(\1)");
  replace_file(path, text);
  put(stdout, fmt::format("{} has two variants of a small kernel, and its description. Try\n"
                          "  clweave run {}\n  clweave tune {}\nand put your own kernels in their "
                          "place.\n",
                          path, shell_word(path), shell_word(path)));
  return success;
}

}  // namespace

Command new_kernel(CLI::App& app) {
  auto* command = app.add_subcommand(
      "new",
      "Write NAME.cl: a small kernel with the description that makes it measurable, to begin your own with");
  const auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "Of the file, with or without .cl, and of the family")->required();
  return {command, [name](const auto&) { return write_new(*name); }};
}

}  // namespace clweave::commands
