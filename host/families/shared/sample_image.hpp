// SPDX-License-Identifier: Apache-2.0
// sample_image: an embedded photograph, for kernels whose result depends on correlated neighbouring values.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::families {

struct SampleImage {
  std::uint64_t width, height;
  std::string_view pixels;  // 8-bit gray, row by row
};

const SampleImage& sample_image();  // camera.pgm

}  // namespace clweave::families
