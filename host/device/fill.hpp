// SPDX-License-Identifier: Apache-2.0
// fill: writes the poison pattern into device memory: by the driver's fill where that was seen to work, else
// by writes.
#pragma once
#include <cstdint>
#include <string>

#include "device/cl.hpp"

namespace clweave::device {

class Fill {
 public:
  explicit Fill(cl::CommandQueue queue) : queue_(std::move(queue)) {}

  // Fills parts of a buffer of `bytes`, a multiple of 16, of several sizes and at several offsets, and reads
  // them back. The driver's fill is used from then on if all are right. Throws cl::Error if the queue fails.
  void certify(const cl::Buffer&, std::uint64_t bytes);

  // Uses writes from now on.
  void refuse(std::string why) {
    by_driver_ = false;
    why_not_ = std::move(why);
  }
  bool by_driver() const { return by_driver_; }
  const std::string& why_not() const { return why_not_; }  // one sentence

  // Writes poison[i % 16] to each byte i from `begin` on. Both numbers are multiples of 16. Returns before
  // the device has done it. Throws cl::Error.
  void poison(const cl::Buffer&, std::uint64_t begin, std::uint64_t length) const;

 private:
  cl::CommandQueue queue_;
  bool by_driver_ = false;
  std::string why_not_ = "it was not certified";
};

}  // namespace clweave::device
