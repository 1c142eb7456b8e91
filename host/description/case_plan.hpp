// SPDX-License-Identifier: Apache-2.0
// case_plan: the plan of one case of a description.
#pragma once
#include <memory>

#include "base/namespaces.hpp"
#include "description/contents.hpp"
#include "suite/case.hpp"
#include "suite/device_info.hpp"
#include "suite/plan.hpp"

namespace clweave::description {

// Makes the plan: of the buffers those that a step of the case uses, or the reference of a check of one of
// these. `tries_elements` computes the first and the last element of what expressions say, so that one that
// reads beyond an end is found before anything runs. Throws `unsupported` for what the device lacks, and
// `usage` at the place in the description for a number that cannot be.
suite::Plan plan_of_case(const std::shared_ptr<const Model>&, const suite::Case&, const suite::DeviceInfo&,
                         bool tries_elements = false);

}  // namespace clweave::description
