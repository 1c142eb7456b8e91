// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/trait_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/quantity.hpp"

namespace clweave::profile {

namespace {

// What a maker says of a device, and why a walk of one item finds another number.
// Sources: NVIDIA H100 Tensor Core GPU Architecture; CUDA C++ Programming Guide 13, "Compute Capability 9.0";
// cudaDeviceProp::l2CacheSize of an H200.
struct Said {
  const char* device;  // a part of its name
  const char* trait;
  double value;
  const char* text;
};
constexpr std::array<Said, 2> by_makers = {{{"H200", "l1_bytes", 256 << 10,
                                             "NVIDIA says 256 KiB, of which local memory takes a part, and "
                                             "the driver some even where a kernel has none"},
                                            {"H200", "l2_bytes", 60 << 20,
                                             "NVIDIA says 60 MiB, in two halves, each beside half of the "
                                             "compute units: what one item reads has room in one"}}};

// What the device's rows were written with; none where an older program wrote them.
std::optional<double> recorded(const DeviceRows& rows, const std::string& family,
                               const std::string& finding) {
  for (const auto& found : rows.results->findings) {
    if (found.family == family && !found.runs.empty() && found.typical().name == finding)
      return found.typical().value;
  }
  return {};
}

bool is_near(const Trait& trait, double said) {
  return trait.figure && std::abs(trait.figure->value - said) <= 0.1 * said;
}

// Of a cache, `level` from 1. The driver speaks of the last alone.
std::string of_cache(const Trait& trait, int level, const DeviceRows& rows) {
  const auto driver = recorded(rows, "cache", "driver_cache_bytes");
  const auto host = recorded(rows, "cache", fmt::format("host_l{}_bytes", level));
  if (!trait.is_known() && !host) return "";  // nobody looked
  std::vector<std::string> said;
  bool near = false;
  for (const auto& maker : by_makers) {
    if (trait.name != maker.trait || rows.results->name.find(maker.device) == std::string::npos) continue;
    said.emplace_back(maker.text);
    near = true;  // it says why it is another
  }
  if (host) {
    said.push_back("the operating system says " + bytes_text(*host));
    near = near || is_near(trait, *host);
  }
  const bool last = !recorded(rows, "cache", fmt::format("l{}_bytes", level + 1));
  if (driver && last) {
    said.push_back("the driver says " + bytes_text(*driver) + " of the last cache");
    near = near || is_near(trait, *driver);
  }
  if (said.empty()) return "";
  std::string text = fmt::format("{}", fmt::join(said, "; "));
  if (!trait.is_known())
    return text + ", but no walk found where it ends: neighbours leave little of what all share";
  if (!near)
    text +=
        ", but loads take longer from another size on: pages lie in a cache as they fall, so that some of "
        "its sets are full before others, and neighbours take their part of what all share";
  return text;
}

std::string of_lockstep(const Trait& trait, const DeviceRows& rows) {
  const auto driver = recorded(rows, "lanes", "driver_simd_width");
  if (!driver || !trait.figure) return "";
  const std::string text = fmt::format("the driver prefers groups of a multiple of {}", *driver);
  return trait.figure->value == *driver ? text : text + ", but their times show no such step";
}

// Of the largest error, in units of the last place.
std::string of_error(const Trait& trait) {
  constexpr double all = 1 << 24;
  if (!trait.figure || trait.figure->value < all / 2) return "";
  return "2^24 ULP are a value itself: it makes 0 of arguments near 0. OpenCL leaves native precision to the "
         "maker, and theirs is an absolute error, here of at most 2^-10";
}

}  // namespace

std::string note_on(const Trait& trait, const DeviceRows& rows) {
  for (int level = 1; level <= 3; ++level) {
    if (trait.name == fmt::format("l{}_bytes", level)) return of_cache(trait, level, rows);
  }
  if (trait.name == "simd_width") return of_lockstep(trait, rows);
  if (trait.unit == "ULP") return of_error(trait);
  return "";
}

}  // namespace clweave::profile
