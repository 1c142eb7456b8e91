// SPDX-License-Identifier: Apache-2.0
// remarks: what the driver, the operating system or the maker says beside a figure of a card, and why the
// figure is another where it is.
#pragma once
#include <string>

#include "analysis/profile/profile.hpp"

namespace clweave::profile {

// A sentence; empty: nothing is known of it.
std::string note_on(const Trait&, const DeviceRows&);

}  // namespace clweave::profile
