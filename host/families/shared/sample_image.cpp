// SPDX-License-Identifier: Apache-2.0
#include "families/shared/sample_image.hpp"

#include <limits>
#include <sstream>
#include <string>

namespace clweave::families {

extern const std::string_view embedded_photograph;  // generated from host/families/shared/camera.pgm

namespace {

// Parses a binary PGM of 8 bits: "P5", comments, width, height, 255, one white space, the pixels.
SampleImage parse_pgm(std::string_view file) {
  std::istringstream in{std::string(file)};
  std::string magic;
  in >> magic >> std::ws;
  while (in.peek() == '#') in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  SampleImage out = {};
  int white = 0;
  in >> out.width >> out.height >> white;
  out.pixels = file.substr(static_cast<std::size_t>(in.tellg()) + 1);
  return out;
}

}  // namespace

const SampleImage& sample_image() {
  static const SampleImage parsed = parse_pgm(embedded_photograph);
  return parsed;
}

}  // namespace clweave::families
