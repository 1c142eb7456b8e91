// SPDX-License-Identifier: Apache-2.0
// photograph: a real picture, built in, for kernels whose worth depends on what neighbouring values share.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/namespaces.hpp"

namespace clweave::families {

struct SampleImage {
  std::uint64_t width, height;
  std::string_view pixels;  // 8 bits of grey each, row by row
};

const SampleImage& sample_image();  // camera.pgm

}  // namespace clweave::families
