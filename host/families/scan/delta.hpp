// SPDX-License-Identifier: Apache-2.0
// delta: plans of encode and encode_run, which compute the differences that a scan takes back.
#pragma once
#include "families/scan/config.hpp"

namespace clweave::families {

// Plans the delta coding of signed integers; is_valid excludes other types.
Plan encode_plan(const Case&, const DeviceInfo&);

}  // namespace clweave::families
