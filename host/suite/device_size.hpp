// SPDX-License-Identifier: Apache-2.0
// device_size: the size at which a family measures its best once more, chosen by the device.
//
// A preset's sizes are the same everywhere, so that files compare: on one device they fit a cache, on another
// the launch is all there is to see. At this size neither decides.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "suite/family.hpp"

namespace clweave::suite {

// The fastest of these outcomes that count, one for each of the `kernels` fastest kernels, at n = 3 * 2^k:
// the least by which the buffers of each are four times the last-level cache and half a GiB. Where half a GiB
// is too much, the most that is not: an eighth of the memory, or a case that would take seconds. Where that
// is less than four times the cache, the slowest of them is left out, until none is left. A size that no
// preset and no claim names: both count only what they name.
//
// The cache is DeviceInfo::cache_bytes, and the same for the same outcomes.
std::vector<Case> at_device_size(const std::vector<Outcome>&, const DeviceInfo&, std::size_t kernels,
                                 const std::function<Plan(const Case&, const DeviceInfo&)>& plan,
                                 const std::function<bool(const Case&)>& counts);

// The size at which `clweave tune` compares what does the same work: the least n = 3 * 2^k by which the
// buffers of each case that the device can run are four times the last-level cache and half a GiB, on a
// processor 128 MiB; or the most that is not if that takes seconds. 0: there is none, as of families without
// n.
std::int64_t tuning_size(const Family&, const std::vector<Case>&, const DeviceInfo&);

// The n of most of these cases that count, of several the largest; 0 without any. What the device chose for a
// few is not it.
std::int64_t common_size(const std::vector<Outcome>&, const std::function<bool(const Case&)>& counts);

}  // namespace clweave::suite
