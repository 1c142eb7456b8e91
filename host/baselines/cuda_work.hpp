// SPDX-License-Identifier: Apache-2.0
// cuda_work: whose work the CUDA baselines do. Apart from cuda.cu, so that a test holds its names against the
// families where nvcc's programs cannot run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "baselines/native.hpp"

namespace clweave::baselines {

inline bool scans(const Case& at) {
  const std::int64_t tuple = at.number("tuple");
  const bool tuples = tuple == 2 || tuple == 4 || tuple == 5 || tuple == 8;
  if (!at.is("task", "scan") || at.is("type", "float") || at.is("type", "double")) return false;
  if (tuples) return at.is("op", "sum") && at.is("form", "inclusive") && at.number("scan_order") == 1;
  return tuple == 1 && (at.is("op", "sum") || at.is("op", "max"));
}

inline bool scans_plain_sums(const Case& at) {
  return scans(at) && at.number("tuple") == 1 && at.is("op", "sum") && at.is("form", "inclusive");
}

constexpr int steps = 8;  // of each chain per turn of the loop

// Those that keep all units busy: what the peak is found by.
inline bool fills_the_device(const Case& at) {
  const std::int64_t ilp = at.number("ilp");
  return (at.is("type", "float") || at.is("type", "double")) && !at.is("operation", "mul_add") &&
         (ilp == 4 || ilp == 8 || ilp == 16) && at.number("groups_per_cu") >= 64 &&
         at.number("group") <= 1024 && at.number("iterations") % steps == 0;
}

// Returns the baselines of CUDA, CUB and Thrust, without what prepares them.
inline std::vector<Native> cuda_work(const std::string& api) {
  const auto words = [](const Case& at) {
    return at.is("op", "sum") && (at.is("type", "uint") || at.is("type", "int"));
  };
  const auto always = [](const Case&) { return true; };
  const auto keys = [](const Case& at) { return at.is("type", "uint") && at.is("output", "key"); };
  const auto floats = [](const Case& at) { return at.is("type", "float") || at.is("type", "double"); };
  const std::vector<std::string> scanned = {"type", "op", "form", "task", "scan_order", "tuple", "n"};
  return {{api, "copy", "cudaMemcpy", "kernel=no_loop width=1", {"type", "n"}, always, {}},
          {api, "reduction", "cub_sum", "kernel=atomic", {"type", "op", "n"}, words, {}},
          {api, "scan", "cub_scan", "kernel=lookback", scanned, scans, {}},
          {api, "scan", "thrust_scan", "kernel=lookback", scanned, scans_plain_sums, {}},
          {api,
           "compaction",
           "cub_select",
           "kernel=spataro",
           {"type", "predicate", "selectivity", "pattern", "output", "n"},
           keys,
           {}},
          {api,
           "matrix_access",
           "add_or_subtract",
           "kernel=grid group=16x16",
           {"type", "parity", "operands", "n"},
           floats,
           {}},
          {api,
           "arithmetic",
           "fma",
           "",
           {"operation", "type", "ilp", "group", "groups_per_cu", "iterations"},
           fills_the_device,
           {}}};
}

}  // namespace clweave::baselines
