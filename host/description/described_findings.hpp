// SPDX-License-Identifier: Apache-2.0
// described_findings: what a description concludes from measured cases: the best of them, a ratio, a slope.
#pragma once
#include <vector>

#include "base/namespaces.hpp"
#include "description/description.hpp"
#include "suite/outcome.hpp"

namespace clweave::description {

// Returns a finding for each that has the cases it needs.
std::vector<suite::Finding> findings_of(const Description&, const std::vector<suite::Outcome>&);

}  // namespace clweave::description
