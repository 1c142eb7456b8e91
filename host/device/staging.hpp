// SPDX-License-Identifier: Apache-2.0
// staging: host memory through which inputs and outputs of any size pass in parts.
//
// On a device with its own memory two parts are pinned: transfers are faster, and one part is read while the
// other is compared. Verification is most of a case's cost there.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "device/cl.hpp"
#include "suite/plan.hpp"

namespace clweave::device {

class Staging {
 public:
  // Allocates memory only when needed, and throws cl::Error then.
  Staging(cl::Context context, cl::CommandQueue queue, bool pinned)
      : context_(std::move(context)), queue_(std::move(queue)), pinned_(pinned) {}

  // fill(offset, part) makes the bytes from `offset` on; they are on the device when this returns.
  using Fill = std::function<void(std::uint64_t offset, std::span<std::byte>)>;
  void upload(const cl::Buffer&, std::uint64_t bytes, const Fill&);

  // Uploads an image row by row, without bytes between them.
  void upload(const cl::Image2D&, const suite::ImageSpec&, const Fill&);

  // compare(offset, part) gets the bytes of the buffer, in order.
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
