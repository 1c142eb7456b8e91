// SPDX-License-Identifier: Apache-2.0
// former_names: the words that earlier versions used, and today's. Results files, stores, and command lines
// may say either.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::suite {

// Each returns today's name of `name`, which is `name` itself unless the table has it. `family` and `axis`
// are today's.
std::string family_now(std::string_view name);
std::string axis_now(std::string_view family, std::string_view name);
std::string value_now(std::string_view family, std::string_view axis, std::string_view name);
std::string column_now(std::string_view name);
std::string finding_now(std::string_view name);
std::string preset_now(std::string_view name);
std::string command_now(std::string_view name);

// Returns a case id with today's family, axes, and values: "lanes/paths=2/trips=256" becomes
// "branch_divergence/paths=2/iterations=256".
std::string case_id_now(std::string_view id);

// Returns the former name of an option; empty if it had none.
std::string former_option(std::string_view now);

// Whether some family had an axis of this name, and calls it otherwise today.
bool is_former_axis(std::string_view name);

// Returns the former names of an axis, and those of its values with today's.
std::vector<std::string> former_axes(std::string_view family, std::string_view axis);
std::vector<std::pair<std::string, std::string>> former_values(std::string_view family,
                                                               std::string_view axis);

}  // namespace clweave::suite
