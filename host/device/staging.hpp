// SPDX-License-Identifier: Apache-2.0
// staging: host memory that inputs and outputs pass through, a stretch at a time, whatever a buffer's size.
//
// On a device with memory of its own two stretches are pinned: transfers are faster, and one is read while
// the other is compared. Verification is most of a case's cost there.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "device/cl.hpp"

namespace clweave::device {

class Staging {
 public:
  // Nothing is allocated before it is needed. Throws cl::Error then.
  Staging(cl::Context context, cl::CommandQueue queue, bool pinned)
      : context_(std::move(context)), queue_(std::move(queue)), pinned_(pinned) {}

  // fill(offset, stretch) makes the bytes from `offset` on; they are on the device when this returns.
  using Fill = std::function<void(std::uint64_t offset, std::span<std::byte>)>;
  void upload(const cl::Buffer&, std::uint64_t bytes, const Fill&);

  // compare(offset, stretch) gets the bytes of the buffer, in order.
  using Compare = std::function<void(std::uint64_t offset, std::span<const std::byte>)>;
  void download(const cl::Buffer&, std::uint64_t bytes, const Compare&);

 private:
  std::span<std::byte> slot(std::size_t i, std::uint64_t bytes);

  cl::Context context_;
  cl::CommandQueue queue_;
  bool pinned_;
  std::array<cl::Buffer, 2> pins_;
  std::array<std::byte*, 2> mapped_ = {};
  std::array<std::vector<std::byte>, 2> pageable_;
};

}  // namespace clweave::device
