// SPDX-License-Identifier: Apache-2.0
// excerpt: the beginning and the end of a text that may be endless.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::base {

// Keeps half of `most` bytes of the beginning, where compilers name the first error, and as many of the end.
class Excerpt {
 public:
  explicit Excerpt(std::size_t most) : half_(most / 2) {}

  Excerpt& append(std::string_view more) {
    const std::size_t fits = std::min(half_ - std::min(half_, head_.size()), more.size());
    head_.append(more.substr(0, fits));
    more.remove_prefix(fits);
    if (more.size() > half_) {
      left_out_ += more.size() - half_;
      more.remove_prefix(more.size() - half_);
    }
    tail_.append(more);
    if (tail_.size() >= 2 * half_) {
      left_out_ += tail_.size() - half_;
      tail_.erase(0, tail_.size() - half_);
    }
    return *this;
  }

  std::string text() const {
    const std::size_t more = tail_.size() - std::min(tail_.size(), half_);
    if (left_out_ + more == 0) return head_ + tail_;
    return fmt::format("{}\n.. ({} bytes) ..\n{}", head_, left_out_ + more, tail_.substr(more));
  }

 private:
  std::size_t half_, left_out_ = 0;
  std::string head_, tail_;
};

}  // namespace clweave::base
