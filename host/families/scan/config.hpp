// SPDX-License-Identifier: Apache-2.0
// config: reads the axes of a scan.
#pragma once
#include <cstdint>
#include <string_view>

#include "families/scan/designs.hpp"
#include "families/scan/reference.hpp"
#include "families/shared/sample_image.hpp"
#include "families/shared/tiles.hpp"

namespace clweave::families {

struct ScanConfig : Tiles {
  const ScanDesign* design = nullptr;
  Op op = Op::sum;
  bool exclusive = false, reorder = false, round_trip = false;
  std::uint64_t order = 0, tuple = 0;
  std::uint64_t scans = 0;                   // one after the other
  std::uint64_t values = 0, n = 0;           // numbers; elements: tuples, maps, or numbers
  std::uint64_t bytes = 0, state_bytes = 0;  // of an element; of the state of a run of them
  std::uint64_t state_values = 0;            // values of a state
  std::uint64_t components = 0;              // of a tuple, if each has states of its own; else 1
  bool interleaved = false;                  // scans tuples by Tuples::interleaved
  std::uint64_t shares = 0;                  // work-items of a group that have values of a tile
  std::uint64_t stage_values = 0;  // of Tuples::strided, those of a work-item in local memory at a time
  std::uint64_t elements_per_work_item = 0, vectors = 0;  // of a work-item, which has one or the other

  bool is(ScanDesign::Tuples tuples) const { return design->tuples == tuples; }
  // Tells whether each lane of a warp looks back with one value of a state: warp_state.cl.
  bool has_value_per_lane() const {
    return ptx() && (interleaved || is(ScanDesign::Tuples::in_state) || is(ScanDesign::Tuples::strided));
  }
};

inline constexpr std::uint64_t vector_bytes = 16;

ScanConfig scan_config(const Case&, const DeviceInfo&, std::uint64_t value_bytes);

// Returns the signal that is delta-coded, by axis `signal`.
template <class T>
Signal<T> signal_of(const Case& at, std::uint64_t channels) {
  return {Random<std::uint64_t>(at.seed, 2), channels,
          at.is("signal", "image") ? sample_image().pixels : std::string_view()};
}

// Unsigned type of the same width for integers, which wrap; T itself for floating types.
template <class T>
struct Wraps {
  using Type = T;
};
template <>
struct Wraps<std::int32_t> {
  using Type = std::uint32_t;
};
template <>
struct Wraps<std::int64_t> {
  using Type = std::uint64_t;
};

}  // namespace clweave::families
