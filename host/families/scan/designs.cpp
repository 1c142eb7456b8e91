// SPDX-License-Identifier: Apache-2.0
#include "families/scan/designs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace clweave::families {

namespace {

using Method = ScanDesign::Method;
using Storage = ScanDesign::Storage;
using Tuples = ScanDesign::Tuples;
using Persistence = ScanDesign::Persistence;

constexpr std::array designs = {
    ScanDesign{.name = "hillis_steele", .source = "scan/hillis_steele", .method = Method::passes},
    ScanDesign{.name = "three_phase",
               .source = "scan/three_phase",
               .method = Method::three_phase,
               .tile = Storage::local,
               .subgroups = true},
    ScanDesign{.name = "reduce_then_scan",
               .source = "scan/reduce_then_scan",
               .method = Method::reduce_then_scan,
               .tile = Storage::local,
               .subgroups = true},
    ScanDesign{.name = "batched",
               .source = "scan/reduce_then_scan",
               .method = Method::reduce_then_scan,
               .tile = Storage::local,
               .batches = true,
               .subgroups = true},
    ScanDesign{.name = "chained",
               .source = "scan/chained",
               .method = Method::single_pass,
               .tile = Storage::local,
               .subgroups = true,
               .needs_forward_progress = true},
    ScanDesign{.name = "lookback",
               .source = "scan/lookback",
               .method = Method::single_pass,
               .tile = Storage::local,
               .subgroups = true,
               .needs_forward_progress = true},
    ScanDesign{.name = "lookback_fallback",
               .source = "scan/lookback_fallback",
               .method = Method::single_pass,
               .tile = Storage::local,
               .subgroups = true},
    ScanDesign{.name = "lookback_parallel",
               .source = "scan/lookback_parallel",
               .method = Method::single_pass,
               .tile = Storage::local,
               .subgroups = true,
               .parallel_lookback = true},
    ScanDesign{.name = "register_tile",
               .source = "scan/register_tile",
               .method = Method::single_pass,
               .tile = Storage::registers,
               .tuples = Tuples::interleaved,
               .subgroups = true,
               .ptx = true,
               .parallel_lookback = true},
    ScanDesign{.name = "pipelined",
               .source = "scan/pipelined",
               .method = Method::single_pass,
               .tile = Storage::registers,
               .tuples = Tuples::interleaved,
               .persistence = Persistence::by_axis,
               .subgroups = true,
               .ptx = true,
               .parallel_lookback = true},
    ScanDesign{.name = "sam",
               .source = "scan/sam",
               .method = Method::single_pass,
               .tile = Storage::registers,
               .tuples = Tuples::by_component,
               .persistence = Persistence::always,
               .subgroups = true,
               .ptx = true,
               .needs_forward_progress = true,
               .any_scan_order = true,
               .circular_states = true,
               .prefetch = true},
    ScanDesign{.name = "binomial",
               .source = "scan/binomial",
               .method = Method::single_pass,
               .tile = Storage::local,
               .tuples = Tuples::in_state,
               .subgroups = true,
               .ptx = true,
               .parallel_lookback = true,
               .any_scan_order = true,
               .binomial_weights = true},
    ScanDesign{.name = "strided",
               .source = "scan/strided",
               .method = Method::single_pass,
               .tile = Storage::local,
               .tuples = Tuples::strided,
               .subgroups = true,
               .ptx = true,
               .parallel_lookback = true},
    ScanDesign{.name = "cpu",
               .source = "scan/cpu",
               .method = Method::single_pass,
               .tile = Storage::cache,
               .tuples = Tuples::none,
               .persistence = Persistence::always,
               .any_scan_order = true,
               .binomial_weights = true},
    ScanDesign{.name = "encode", .source = "scan/delta", .method = Method::encode},
    ScanDesign{.name = "encode_run", .source = "scan/delta", .method = Method::encode},
    ScanDesign{.name = "copy", .source = "lib/harness", .method = Method::copy},  // it needs no kernel
};

}  // namespace

std::span<const ScanDesign> scan_designs() { return designs; }

const ScanDesign& scan_design_of(const Case& one_case) {
  // Returned for kernels of baselines (CUB, ...), which claims refer to: no property is set.
  static constexpr ScanDesign other{};
  const auto* const it =
      std::ranges::find(designs, std::string_view(one_case.text("kernel")), &ScanDesign::name);
  return it != designs.end() ? *it : other;
}

}  // namespace clweave::families
