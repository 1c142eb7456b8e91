// SPDX-License-Identifier: Apache-2.0
// same_bits: which devices gave the same bits for the same arguments.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "results/results_set.hpp"

namespace clweave::compare {

// An output that at least two devices hashed, such as the sines of a fixed grid.
struct SameBits {
  std::string case_id, output;
  // Devices by their place, in groups that agree bit by bit; the largest group first.
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::size_t> unsteady;  // devices that did not give the same bits in every run; in no group
};

// Reads column output_hash of all cases. Cases and outputs are in the order met.
std::vector<SameBits> same_bits_of(const std::vector<const DeviceResults*>&);

}  // namespace clweave::compare
