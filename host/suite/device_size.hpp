// SPDX-License-Identifier: Apache-2.0
// device_size: a size chosen per device, at which a family measures its best kernels again.
//
// A preset's sizes are the same everywhere, so that files compare; on one device they fit a cache, on another
// launch overhead dominates. At this size neither does.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "suite/family.hpp"

namespace clweave::suite {

// Returns the best case of each of the `kernels` fastest kernels among the outcomes that count, at n = 3 *
// 2^k: the least n whose buffers hold four times the last-level cache and half a GiB. If half a GiB is too
// much (an eighth of the memory, or a case that takes seconds), the largest n that is not. If that is less
// than four times the cache, drops the slowest kernel, until none is left. No preset and no claim names a
// size of this form, as they count only the sizes that they name.
//
// Uses DeviceInfo::cache_bytes, so equal outcomes give equal sizes.
std::vector<Case> at_device_size(const std::vector<Outcome>&, const DeviceInfo&, std::size_t kernels,
                                 const std::function<Plan(const Case&, const DeviceInfo&)>& plan,
                                 const std::function<bool(const Case&)>& counts);

// Returns the size at which `clweave tune` compares kernels of the same task: the least n = 3 * 2^k at which
// the buffers of each case that the device can run hold four times the last-level cache and half a GiB (CPU:
// 128 MiB), or the largest that does not take seconds. 0 if there is none, as for families without n.
std::int64_t tuning_size(const Family&, const std::vector<Case>&, const DeviceInfo&);

// Returns the most frequent n of the cases that count, the largest if several are; 0 without any. It is never
// a device size, which few cases have.
std::int64_t common_size(const std::vector<Outcome>&, const std::function<bool(const Case&)>& counts);

}  // namespace clweave::suite
