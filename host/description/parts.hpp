// SPDX-License-Identifier: Apache-2.0
// parts: the parts of a description, each read from its entry of the TOML text. A file per part.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/namespaces.hpp"
#include "description/description.hpp"
#include "description/field.hpp"
#include "description/kernel_source.hpp"

namespace clweave::description {

// What is read so far.
struct Parts {
  Description made;
  Names names;                   // axes; then buffers
  std::filesystem::path folder;  // of the kernel file; empty: there is none
  KernelSource source;

  std::size_t buffer(const Field& name) const;  // throws `usage` for an unknown one
};

// In this order. All throw `usage` at the place.
void read_axes(const Field& axes, Parts&);
void read_conditions(const Table& all, Parts&);  // valid, needs
void read_buffers(const Field& buffers, Parts&);
void read_defines(const Field& defines, Parts&);
void read_launches(const Field& launches, Parts&);
void read_checks(const Field& checks, Parts&);
void read_presets(const Field& presets, Parts&);
void read_cost(const Field& cost, Parts&);
void read_view(const Field& view, Parts&);
void read_findings(const Field& findings, Parts&);

// Reads kernel, global, local and args, and holds them against the kernels of the file.
LaunchOf launch_in(const Table&, const Names&, const Parts&, const std::optional<Expression>& when = {},
                   const std::vector<Loop>& loops = {});

// Names that a launch may have, and whether it has each for sure.
using KernelNames = std::map<std::string, bool>;
// Returns those of all values of the axes in the launch's name, with other axes at their defaults.
KernelNames kernels_of(const LaunchOf&, const std::optional<Expression>& when, const std::vector<Loop>& loops,
                       const Parts&);

// Returns the kernels of a name in the file that the launch's arguments fit.
std::vector<const Kernel*> kernels_named(const std::string& name, const LaunchOf&, const Parts&);

// Refuses an output, and a buffer with contents that a check read so far compares, which no kernel can write.
void check_writes(const Parts&);

// Returns the parameter of a launch's kernel that takes the buffer as const, as written, if the kernel so
// named takes it by no other; empty if it can write the buffer, or if macros hide whether it can.
std::string const_parameter(const std::string& kernel, const LaunchOf&, std::size_t buffer, const Parts&);

// Returns the axes and the names of what a device has.
Names plan_names(const Parts&);

// Refuses a file of values for a buffer whose type an axis decides.
void need_one_type(const Field& file, const TypeOf&);

// Reads an expression of i, the axes, and elements of the buffers read so far, which have contents.
Expression element_in(const Field&, const Parts&);

bool is_own_define(const std::string& name);  // whether programs have a macro of this name already

// Refuses a name that is not lower-case letters, digits and _, or that means something else already.
void check_name(const std::string& name, const Place&, const std::string& what, const Parts&);

// Reads "kernel=tiled n=1024,4096" and refuses axes and values that there are not.
suite::Sweep sweep_in(const Field&, const Parts&);

// Returns a case for each combination of values of the axes that {..} in a text stands for, with the others
// at their defaults. Throws `usage` for what is no axis, and for more than 1000.
std::vector<suite::Case> cases_of_text(const std::string& text, const Place&, const Parts&);

// Reads an element type, in which {axis} may stand for the axis's value.
TypeOf type_in(const std::string& text, const Place&, const Parts&);

const suite::Axis* axis_named(const Parts&, const std::string& name);
std::vector<std::string> axis_names(const Parts&);

}  // namespace clweave::description
