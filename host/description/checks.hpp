// SPDX-License-Identifier: Apache-2.0
// checks: the checks of a description as a plan's.
#pragma once
#include "base/namespaces.hpp"
#include "description/contents.hpp"
#include "description/description.hpp"
#include "suite/plan.hpp"

namespace clweave::description {

// Returns whether a check can tell the largest error, in ULP.
bool measures(const CheckOf&);

// Makes the check of a plan's buffer; `reference` is the launch of a check by a reference kernel, else
// empty. `is_measured`: its largest error is the row's value. Throws `usage` for a file of another size than
// the buffer.
suite::Check check_of(const CheckOf&, const Filled&, suite::Buffer, std::optional<suite::Launch> reference,
                      bool is_measured);

}  // namespace clweave::description
