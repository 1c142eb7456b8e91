// SPDX-License-Identifier: Apache-2.0
// trait_notes: what driver, operating system or vendor say of a trait, and why the measurement differs.
#pragma once
#include <string>

#include "analysis/profile/profile.hpp"

namespace clweave::profile {

// Returns a sentence that compares a trait with what driver and system report, empty if they report nothing.
std::string note_on(const Trait&, const DeviceRows&);

}  // namespace clweave::profile
