// SPDX-License-Identifier: Apache-2.0
// peer: a device together with another one of its platform, both opened in one context.
#pragma once
#include <cstddef>
#include <memory>

#include "device/open_device.hpp"

namespace clweave::device {

struct Pair {
  // Opens both in a context of theirs. Throws as OpenDevice does.
  Pair(const OpenDevice& device, const DeviceInfo& other, const cl::Context& both);

  OpenDevice own, peer;
};

// Opens the device once more, and with it the one that is `distance` places further in the platform's list,
// around its end; entries of the same hardware count once. Throws `unsupported` if there is none, and as
// OpenDevice does.
std::unique_ptr<Pair> open_pair(const OpenDevice&, std::size_t distance);

}  // namespace clweave::device
