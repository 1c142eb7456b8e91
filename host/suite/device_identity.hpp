// SPDX-License-Identifier: Apache-2.0
// device_identity: which entries of a listing are the same device, and which entry of a later listing is it.
// Indices are no identity: devices vanish, change order between processes, and are listed twice where a
// driver is registered twice. Pure functions.
#pragma once
#include <optional>
#include <vector>

#include "suite/device_info.hpp"

namespace clweave::suite {

// Fills identity, listing, hardware and duplicate_of of every entry of a whole listing, and empties addresses
// that identify nothing: those of zeros, and those that another device of the platform or of the driver has.
// A platform that says of itself and its devices exactly what an earlier one says is that one again.
void resolve_identities(std::vector<DeviceInfo>&);

// Returns the place in a listing of a device that an earlier listing had. Everything that it says of itself
// must be equal; without an address of its own also all devices of its platform and its place among them, as
// nothing else tells equal devices apart. std::nullopt if it is not there or cannot be told from others.
std::optional<std::size_t> place_of(const DeviceInfo&, const std::vector<DeviceInfo>& listing);

}  // namespace clweave::suite
