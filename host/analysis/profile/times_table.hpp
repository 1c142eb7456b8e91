// SPDX-License-Identifier: Apache-2.0
// times_table: the time of each variant of a device, where there are so few that one screen holds them.
#pragma once
#include <optional>
#include <vector>

#include "report/table.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::profile {

// Has a line for each case but the peaks', with its median time and the 95 % interval: task by task, the
// fastest variant first. Where these are more than 16, a line stands for each variant of each task, in its
// fastest launch configuration. Empty where these are more, too, or there is none.
std::optional<Table> times_table(const DeviceResults&, const std::vector<Family>&);

}  // namespace clweave::profile
