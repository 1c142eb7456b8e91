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

// A vendor's number, and why a pointer chase of one work-item measures another.
// Sources: NVIDIA H100 Tensor Core GPU Architecture; CUDA C++ Programming Guide 13, "Compute Capability 9.0";
// cudaDeviceProp::l2CacheSize of an H200.
struct VendorFigure {
  const char* device;  // a part of its name
  const char* trait;
  double value;
  const char* text;
};
constexpr std::array<VendorFigure, 2> vendor_figures = {
    {{"H200", "l1_bytes", 256 << 10,
      "NVIDIA specifies 256 KiB, of which local memory takes a part; "
      "the driver reserves some even for kernels without local memory"},
     {"H200", "l2_bytes", 60 << 20,
      "NVIDIA specifies 60 MiB in two halves, one per half of the compute "
      "units; one work-item uses one half"}}};

// Returns a finding as it was recorded with the rows; nothing where an older version wrote them.
std::optional<double> recorded(const DeviceRows& rows, const std::string& finding) {
  for (const auto& found : rows.results->findings) {
    if (!found.runs.empty() && found.typical().name == finding) return found.typical().value;
  }
  return {};
}

bool is_near(const Trait& trait, double said) {
  return trait.figure && std::abs(trait.figure->value - said) <= 0.1 * said;
}

// Compares the capacity of cache `level`, from 1, with what driver and system report. Drivers report only the
// last level.
std::string cache_note(const Trait& trait, int level, const DeviceRows& rows) {
  const auto driver = recorded(rows, "driver_cache_bytes");
  const auto host = recorded(rows, fmt::format("host_l{}_bytes", level));
  if (!trait.is_known() && !host) return "";  // not measured
  std::vector<std::string> said;
  bool near = false;
  for (const auto& vendor : vendor_figures) {
    if (trait.name != vendor.trait || rows.results->name.find(vendor.device) == std::string::npos) continue;
    said.emplace_back(vendor.text);
    near = true;  // the text explains the difference
  }
  if (host) {
    said.push_back("the operating system reports " + bytes_text(*host));
    near = near || is_near(trait, *host);
  }
  const bool last = !recorded(rows, fmt::format("l{}_bytes", level + 1));
  if (driver && last) {
    said.push_back("the driver reports " + bytes_text(*driver) + " as its last-level cache");
    near = near || is_near(trait, *driver);
  }
  if (said.empty()) return "";
  std::string text = fmt::format("{}", fmt::join(said, "; "));
  if (!trait.is_known())
    return text + ", but no pointer chase found its end: other cores leave little of a shared level";
  if (!near)
    text +=
        ", but latency rises from another size on: physical pages map to cache sets at random, so that some "
        "sets are full before others, and other cores take their part of a shared level";
  return text;
}

std::string simd_width_note(const Trait& trait, const DeviceRows& rows) {
  const auto driver = recorded(rows, "driver_simd_width");
  if (!driver || !trait.figure) return "";
  const std::string text = fmt::format("the driver's preferred work-group size multiple is {}", *driver);
  return trait.figure->value == *driver ? text : text + ", but the times show no such step";
}

// Explains an error as large as the value itself.
std::string error_note(const Trait& trait) {
  constexpr double all = 1 << 24;
  if (!trait.figure || trait.figure->value < all / 2) return "";
  return "2^24 ULP are the value itself: the function returns 0 for arguments near 0. OpenCL leaves native "
         "precision to the vendor, who bounds the absolute error, here by 2^-10";
}

}  // namespace

std::string note_on(const Trait& trait, const DeviceRows& rows) {
  for (int level = 1; level <= 3; ++level) {
    if (trait.name == fmt::format("l{}_bytes", level)) return cache_note(trait, level, rows);
  }
  if (trait.name == "simd_width") return simd_width_note(trait, rows);
  if (trait.unit == "ULP") return error_note(trait);
  return "";
}

}  // namespace clweave::profile
