// SPDX-License-Identifier: Apache-2.0
// former_names: names of earlier versions and their successors. Results files, stores and command lines may
// use either.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

// Return the current name of `name`: itself unless the table has it. `family` and `axis` are current names.
std::string family_now(std::string_view name);
std::string axis_now(std::string_view family, std::string_view name);
std::string value_now(std::string_view family, std::string_view axis, std::string_view name);
std::string column_now(std::string_view name);
std::string finding_now(std::string_view name);
std::string preset_now(std::string_view name);
std::string command_now(std::string_view name);

// Returns a case id with current family, axes and values: "lanes/paths=2/trips=256" becomes
// "branch_divergence/paths=2/iterations=256".
std::string case_id_now(std::string_view id);

// Returns the former name of an option; empty if it had none.
std::string former_option(std::string_view now);

// Returns whether some family renamed an axis of this name.
bool is_former_axis(std::string_view name);

// Return the former names of an axis, and former values with their successors.
std::vector<std::string> former_axes(std::string_view family, std::string_view axis);
std::vector<std::pair<std::string, std::string>> former_values(std::string_view family,
                                                               std::string_view axis);

}  // namespace clweave::suite
