// SPDX-License-Identifier: Apache-2.0
#include "device/quick_copy.hpp"

#include <algorithm>
#include <limits>

#include "os/clock.hpp"

namespace clweave::device {

namespace {

constexpr std::uint64_t item_bytes = 16, least_bytes = 4096,
                        most_bytes = std::uint64_t{128} << 20;  // of a buffer
constexpr int rounds = 3;

}  // namespace

QuickCopy::QuickCopy(cl::Context context, cl::CommandQueue queue, const cl::Program& program)
    : context_(std::move(context)),
      queue_(std::move(queue)),
      kernels_{cl::Kernel(program, "move"), cl::Kernel(program, "move")} {}

double QuickCopy::rate(std::uint64_t bytes) {
  const std::uint64_t each = std::clamp(bytes / 2 / least_bytes * least_bytes, least_bytes, most_bytes);
  if (const auto it = known_.find(each); it != known_.end()) return it->second;
  for (auto& buffer : buffers_) buffer = cl::Buffer(context_, CL_MEM_READ_WRITE, each);
  for (int way = 0; way < 2; ++way) {
    kernels_[way].setArg(0, buffers_[way]);
    kernels_[way].setArg(1, buffers_[1 - way]);
  }
  // Small copies last no longer than their launch: many of them take turns.
  const int copies = each < (1 << 20) ? 64 : 4;
  double least_s = std::numeric_limits<double>::infinity();
  for (const bool by_kernel : {true, false}) {
    seconds(by_kernel, each, 2);  // may compile
    for (int round = 0; round < rounds; ++round)
      least_s = std::min(least_s, seconds(by_kernel, each, copies) / copies);
  }
  for (auto& buffer : buffers_) buffer = {};
  return known_[each] = 2 * static_cast<double>(each) / least_s;
}

double QuickCopy::seconds(bool by_kernel, std::uint64_t each, int copies) {
  cl::Event last;
  const double before = host_now();
  for (int i = 0; i < copies; ++i) {
    cl::Event* const event = i + 1 == copies ? &last : nullptr;
    if (by_kernel)
      queue_.enqueueNDRangeKernel(kernels_[i % 2], cl::NullRange, cl::NDRange(each / item_bytes),
                                  cl::NullRange, nullptr, event);
    else
      queue_.enqueueCopyBuffer(buffers_[1 - i % 2], buffers_[i % 2], 0, 0, each, nullptr, event);
  }
  finish(queue_, last);
  return host_now() - before;
}

}  // namespace clweave::device
