// SPDX-License-Identifier: Apache-2.0
#include "device/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "suite/plan.hpp"

namespace clweave::device {

namespace {

struct Pattern {
  std::array<unsigned char, suite::poison.size()> bytes;
};

// A fill or write is of at most this size, which is certified, as some drivers fail above another.
constexpr std::uint64_t most_at_once = std::uint64_t{4} << 20;

struct Part {
  std::uint64_t begin, length;
};

// Returns where a buffer differs from the repeated pattern; `part.length` if nowhere.
std::uint64_t first_difference(const cl::CommandQueue& queue, const cl::Buffer& buffer, const Part& part,
                               const Pattern& pattern) {
  std::vector<unsigned char> got(part.length);
  queue.enqueueReadBuffer(buffer, CL_TRUE, part.begin, got.size(), got.data());
  const auto same = [&](std::size_t i) { return got[i] == pattern.bytes.at(i % pattern.bytes.size()); };
  std::size_t right = 0;
  while (right < pattern.bytes.size() && same(right)) ++right;
  // If the first pattern is right, comparing the rest with it is far faster.
  if (right == pattern.bytes.size() && std::memcmp(got.data(), got.data() + right, got.size() - right) == 0)
    return part.length;
  while (right < got.size() && same(right)) ++right;
  return right;
}

}  // namespace

void Fill::certify(const cl::Buffer& buffer, std::uint64_t bytes) {
  const std::uint64_t large = std::min(most_at_once, bytes / 4 / suite::poison.size() * suite::poison.size());
  const std::array<Part, 4> parts = {{{0, suite::poison.size()},
                                      {3 * suite::poison.size(), 4096 + suite::poison.size()},
                                      {large, 65536},
                                      {bytes - large, large}}};
  // Two patterns, as what an earlier process left may be one of them.
  Pattern inverse{suite::poison};
  for (auto& byte : inverse.bytes) byte = static_cast<unsigned char>(~byte);
  for (const Pattern& pattern : {inverse, Pattern{suite::poison}}) {
    for (const Part& part : parts) {
      try {
        queue_.enqueueFillBuffer(buffer, pattern, part.begin, part.length);
      } catch (const cl::Error& error) {
        return refuse(
            fmt::format("clEnqueueFillBuffer of {} bytes gave {}", part.length, cl_name(error.err())));
      }
      queue_.finish();
      const std::uint64_t right = first_difference(queue_, buffer, part, pattern);
      if (right < part.length)
        return refuse(fmt::format("clEnqueueFillBuffer of {} bytes at offset {} left byte {} wrong",
                                  part.length, part.begin, right));
    }
  }
  by_driver_ = true;
  why_not_.clear();
}

void Fill::poison(const cl::Buffer& buffer, std::uint64_t begin, std::uint64_t length) const {
  if (by_driver_) {
    for (std::uint64_t at = 0; at < length; at += most_at_once)
      queue_.enqueueFillBuffer(buffer, Pattern{suite::poison}, begin + at,
                               std::min(most_at_once, length - at));
    return;
  }
  const std::vector<Pattern> patterns(std::min(most_at_once, length) / suite::poison.size(),
                                      Pattern{suite::poison});
  for (std::uint64_t at = 0; at < length; at += most_at_once)
    queue_.enqueueWriteBuffer(buffer, CL_TRUE, begin + at, std::min(most_at_once, length - at),
                              patterns.data());
}

}  // namespace clweave::device
