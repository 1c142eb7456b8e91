// SPDX-License-Identifier: Apache-2.0
#include "families/scan/config.hpp"

#include <algorithm>
#include <numeric>

namespace clweave::families {

namespace {

using Tuples = ScanDesign::Tuples;

Op op_of(const Case& at) {
  if (at.is("op", "sum")) return Op::sum;
  if (at.is("op", "max")) return Op::max;
  return at.is("op", "xor") ? Op::xor_ : Op::affine;
}

// Sets what an element is, and the state of a run of them.
void set_elements(ScanConfig& s, const Case& at, std::uint64_t value_bytes) {
  const bool affine = s.op == Op::affine, in_state = s.is(Tuples::in_state);
  s.reorder = s.tuple > 1 && !in_state && at.is("tuple_by", "reorder");
  s.scans = s.design->any_scan_order ? 1 : s.order;
  s.components = s.is(Tuples::by_component) && !s.reorder ? s.tuple : 1;
  const bool tuples = s.tuple > 1 && !in_state && !s.reorder && s.components == 1;
  s.interleaved = tuples && s.is(Tuples::interleaved);
  const bool strided = s.is(Tuples::strided);
  const bool structs = tuples && !s.interleaved && !strided;
  const std::uint64_t together = affine ? 2 : structs ? s.tuple : 1;
  s.state_values = in_state ? s.order * s.tuple : s.is(Tuples::none) ? s.order : tuples ? s.tuple : 1;
  s.bytes = value_bytes * together;
  s.state_bytes = value_bytes * (affine ? 2 : s.state_values);
  const std::uint64_t n = at.count("n", 1, std::int64_t{1} << 34);
  s.values = affine ? 2 * n : std::max(s.tuple, n - n % s.tuple);
  s.n = s.values / together;
  s.elements_per_work_item = at.count("per_work_item", 1, 64);
  s.stage_values = std::min(4 * vector_bytes / value_bytes,
                            round_up(s.elements_per_work_item, vector_bytes / value_bytes));
  // A work-item with states of tuples takes whole tuples and whole vectors, one of a strided tile whole
  // stages.
  s.elements_per_work_item =
      in_state  ? round_up(s.elements_per_work_item, std::lcm(s.tuple, vector_bytes / value_bytes))
      : strided ? round_up(s.elements_per_work_item, s.stage_values)
      : structs ? std::max<std::uint64_t>(1, s.elements_per_work_item / s.tuple)
                : s.elements_per_work_item;
}

std::uint64_t tile_of(const ScanConfig& s, const Case& at) {
  if (s.design->on_cpu())
    return round_up(at.count("chunk_kib", 1, 1 << 20) * 1024 / s.bytes, 16ULL * 16 * 16);
  return s.shares *
         (s.design->in_registers() ? s.vectors * (vector_bytes / s.bytes) : s.elements_per_work_item);
}

}  // namespace

ScanConfig scan_config(const Case& at, const DeviceInfo& device, std::uint64_t value_bytes) {
  ScanConfig s = {};
  const ScanDesign& design = scan_design_of(at);
  static_cast<Tiles&>(s) = tiles_of(at, device, design.on_cpu());
  s.design = &design;
  s.needs_forward_progress = design.needs_forward_progress || s.ptx();  // PTX variants have no fallback
  s.is_persistent = design.persistence == ScanDesign::Persistence::always ||
                    (design.persistence == ScanDesign::Persistence::by_axis && s.groups_per_cu > 0);
  s.op = op_of(at);
  s.exclusive = at.is("form", "exclusive");
  s.round_trip = at.is("task", "round_trip");
  s.order = at.count("scan_order", 1, 8);
  s.tuple = at.count("tuple", 1, 32);
  s.vectors = at.count("vectors_per_item", 1, 64);
  set_elements(s, at, value_bytes);
  Plan::need(!s.is(Tuples::strided) || s.tuple <= s.group,
             "group must be at least tuple: a work-item has one component");
  s.shares = s.is(Tuples::strided) ? s.group - s.group % s.tuple : s.group;
  s.tile = tile_of(s, at);
  s.tiles = ceil_div(s.n, s.tile);
  return s;
}

}  // namespace clweave::families
