// SPDX-License-Identifier: Apache-2.0
#include "device/staging.hpp"

#include <algorithm>

namespace clweave::device {

namespace {

constexpr std::uint64_t stretch_bytes = 32 << 20;

}  // namespace

std::span<std::byte> Staging::slot(std::size_t i, std::uint64_t bytes) {
  if (!pinned_) {
    if (pageable_.at(i).size() < bytes) pageable_.at(i).resize(bytes);
    return std::span(pageable_.at(i)).first(bytes);
  }
  if (mapped_.at(i) == nullptr) {
    // Stays mapped: drivers pin memory that they allocate themselves.
    pins_.at(i) = cl::Buffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, stretch_bytes);
    mapped_.at(i) = static_cast<std::byte*>(
        queue_.enqueueMapBuffer(pins_.at(i), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, stretch_bytes));
  }
  return {mapped_.at(i), bytes};
}

// Writes block, because rusticl 22.3 may end a queue before a write that nobody waits for. With pinned memory
// they are short nevertheless.
void Staging::upload(const cl::Buffer& buffer, std::uint64_t bytes, const Fill& fill) {
  for (std::uint64_t at = 0; at < bytes; at += stretch_bytes) {
    const auto stretch = slot(0, std::min(stretch_bytes, bytes - at));
    fill(at, stretch);
    queue_.enqueueWriteBuffer(buffer, CL_TRUE, at, stretch.size(), stretch.data());
  }
}

void Staging::upload(const cl::Image2D& image, const suite::ImageSpec& spec, const Fill& fill) {
  const std::uint64_t row_bytes = spec.row_bytes(), rows_at_once = stretch_bytes / row_bytes;
  for (std::uint64_t row = 0; row < spec.height; row += rows_at_once) {
    const std::uint64_t rows = std::min(rows_at_once, spec.height - row);
    const auto stretch = slot(0, rows * row_bytes);
    fill(row * row_bytes, stretch);
    const cl::array<cl::size_type, 3> origin = {0, row, 0}, region = {spec.width, rows, 1};
    queue_.enqueueWriteImage(image, CL_TRUE, origin, region, row_bytes, 0, stretch.data());
  }
}

void Staging::download(const cl::Buffer& buffer, std::uint64_t bytes, const Compare& compare) {
  struct Read {
    std::span<std::byte> stretch;
    cl::Event done;
  };
  std::array<Read, 2> reads;
  const auto begin = [&](std::size_t i, std::uint64_t at) {
    if (at >= bytes) return;
    auto& read = reads.at(i);
    read.stretch = slot(i, std::min(stretch_bytes, bytes - at));
    queue_.enqueueReadBuffer(buffer, pinned_ ? CL_FALSE : CL_TRUE, at, read.stretch.size(),
                             read.stretch.data(), nullptr, &read.done);
    queue_.flush();
  };
  std::size_t i = 0;
  begin(i, 0);
  for (std::uint64_t at = 0; at < bytes; at += stretch_bytes) {
    if (pinned_) begin(1 - i, at + stretch_bytes);
    if (pinned_) reads.at(i).done.wait();
    compare(at, reads.at(i).stretch);
    if (pinned_) {
      i = 1 - i;
    } else {
      begin(i, at + stretch_bytes);
    }
  }
}

}  // namespace clweave::device
