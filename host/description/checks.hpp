// SPDX-License-Identifier: Apache-2.0
// checks: the checks of a description as a plan's.
#pragma once
#include "base/namespaces.hpp"
#include "description/contents.hpp"
#include "description/description.hpp"
#include "suite/plan.hpp"

namespace clweave::description {

// Makes the check of a plan's buffer; `reference` is the launch of a check by a reference kernel, else
// empty. Throws `usage` for a file of another size than the buffer.
suite::Check check_of(const CheckOf&, const Filled&, suite::Buffer, std::optional<suite::Launch> reference);

}  // namespace clweave::description
