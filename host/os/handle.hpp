// SPDX-License-Identifier: Apache-2.0
// handle: an open file, pipe or folder, which is closed at the end.
#pragma once
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/namespaces.hpp"

namespace clweave::os {

class Handle {
 public:
  using Value = std::intptr_t;  // a descriptor; on Windows a HANDLE

  Handle() = default;
  explicit Handle(Value value) : value_(value) {}
  ~Handle() { close(); }
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, none)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  explicit operator bool() const { return value_ != none; }
  Value value() const { return value_; }
  int descriptor() const { return static_cast<int>(value_); }

  // Some file systems report a full disk only here. Idempotent.
  std::error_code close();

 private:
  static constexpr Value none = -1;

  Value value_ = none;
};

}  // namespace clweave::os
