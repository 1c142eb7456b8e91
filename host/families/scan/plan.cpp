// SPDX-License-Identifier: Apache-2.0
#include "families/scan/plan.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "families/scan/config.hpp"
#include "families/scan/delta.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Method = ScanDesign::Method;
using Tuples = ScanDesign::Tuples;

// ---- Local memory that the kernels declare, so that a device with less is refused and not asked ---------

std::uint64_t look_back_bytes(const ScanConfig& s) {
  return s.states_in_local_memory() * (s.state_bytes + 8);
}

// Returns the bytes of a tile of that many elements in local memory, padded against bank conflicts.
std::uint64_t padded_bytes(const ScanConfig& s, std::uint64_t elements) {
  return s.bytes * (elements + elements / subgroup_size);
}

std::uint64_t bytes_with_tile_of(const ScanConfig& s, std::uint64_t elements) {
  return padded_bytes(s, elements) + 2 * s.group * s.state_bytes +
         (s.design->parallel_lookback ? look_back_bytes(s) : 0) + 2 * s.state_bytes + 32;
}

std::uint64_t register_tile_bytes(const ScanConfig& s) {
  const bool portable = s.subgroup_impl == SubgroupImpl::portable;
  if (s.components > 1) {
    const std::uint64_t of_subgroups = s.group / subgroup_size * s.components;
    return portable ? padded_bytes(s, s.tile) +
                          s.bytes * (of_subgroups * (s.vectors + 1) + s.group + s.components) + 32
                    : s.bytes * of_subgroups * (s.vectors + 2) + 1024;
  }
  if (s.interleaved) {
    const bool shuffles = s.ptx() || s.subgroup_impl == SubgroupImpl::amd;
    return s.bytes * s.group + s.state_bytes + 1024 +
           (shuffles ? 0 : padded_bytes(s, s.tile) + look_back_bytes(s));
  }
  if (portable) return bytes_with_tile_of(s, s.group * s.vectors);
  return 1024 + (s.ptx() ? 0 : 2 * s.group * s.bytes);
}

std::uint64_t local_bytes_of(const ScanConfig& s) {
  if (s.design->on_cpu()) return 1024;
  if (s.design->in_registers()) return register_tile_bytes(s);
  if (s.is(Tuples::strided))  // a run of a tile is padded by less than the banks
    return s.bytes * (s.shares * s.stage_values + s.shares / s.tuple * subgroup_size + 2 * s.group) +
           s.state_bytes + 32 + (s.ptx() ? 0 : look_back_bytes(s));
  if (!s.is(Tuples::in_state)) return bytes_with_tile_of(s, s.tile);
  const std::uint64_t vectors = s.group * (s.elements_per_work_item * s.bytes / vector_bytes | 1);
  return vectors * vector_bytes + 32 +
         (s.ptx() ? (s.group / subgroup_size + 2) * s.state_bytes
                  : s.group * s.state_bytes + look_back_bytes(s));
}

void check_supported(const ScanConfig& s, const DeviceInfo& device) {
  if ((s.design->in_registers() || s.ptx()) &&
      (s.group % subgroup_size != 0 || s.group > subgroup_size * subgroup_size))
    throw Error(ErrorCode::usage, "group must be a multiple of 32, up to 1024");
  Plan::need(!s.interleaved || std::has_single_bit(s.tuple),
             "tuple must be a power of two, so that lane i of every vector holds the same component; "
             "sam, binomial, strided and lookback_parallel take others");
  Plan::need(!s.has_value_per_lane() || s.state_values <= subgroup_size,
             "with subgroup_impl=ptx, scan_order times tuple must be 32 at most: a warp inspects one state "
             "per step");
  require_tiles(s, device, local_bytes_of(s));
}

// ---- Launches --------------------------------------------------------------------------------------------

// Returns the number of Hillis-Steele passes: ceil(log2 n), at least 1.
std::uint64_t passes_of(std::uint64_t n) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::bit_width(n - 1)));
}

// Returns how many elements one scan reads and writes, tile states and sums aside. Three phases leave the
// first tile as it is when they add carries.
std::uint64_t accesses_of(const ScanConfig& s) {
  if (s.design->method == Method::passes) return 2 * passes_of(s.n) * s.n;
  if (s.design->method == Method::three_phase) return 4 * s.n - 2 * std::min(s.n, s.tile);
  return (s.design->single_pass() ? 2 : 3) * s.n;
}

// Returns how often Hillis and Steele's scan of `n` values in `passes` passes applies the operator.
std::uint64_t applications_in_passes(std::uint64_t n, std::uint64_t passes) {
  std::uint64_t sum = 0;
  for (std::uint64_t pass = 0; pass < passes; ++pass) sum += n - std::min(n, std::uint64_t{1} << pass);
  return sum;
}

// Returns how often one scan applies the operator, without look-back, whose steps depend on time; of values
// of tiles that end behind the input, too, as the kernels do. Only for portable sub-groups and the designs
// whose kernels it follows; nothing for others.
std::optional<std::uint64_t> applications_of(const ScanConfig& s) {
  if (s.design->method == Method::passes) return applications_in_passes(s.n, passes_of(s.n));
  if (s.subgroup_impl != SubgroupImpl::portable || s.design->tile != ScanDesign::Storage::local ||
      s.design->binomial_weights || s.reorder)
    return {};
  const std::uint64_t of_group = applications_in_passes(
      s.group, std::bit_width(s.group - 1));                  // scan_group, of a value of each work-item
  const std::uint64_t reduced = s.tile - s.group + of_group;  // a tile, to its aggregate
  const std::uint64_t scanned = 2 * s.tile + of_group;        // a tile, from its prefix
  const std::uint64_t sums = ceil_div(s.tiles, s.tile) * (scanned + s.group);  // scan_sums, of a batch
  switch (s.design->method) {
    case Method::three_phase:  // no prefix in the first phase, that of a tile in the last
      return s.tiles * (scanned - s.group) + sums + (s.n - std::min(s.n, s.tile));
    case Method::reduce_then_scan:
      if (s.design->batches) return {};
      return s.tiles * (reduced + scanned) + sums;
    default: return s.tiles * scanned;
  }
}

// Adds the launches of one scan.
using Scan = std::function<void(Buffer to, Buffer from)>;

Scan hillis_steele(Plan& p, const Case& at, const ScanConfig& s) {
  const std::uint64_t passes = passes_of(s.n);
  const std::optional<Buffer> other =
      passes > 1 ? std::optional(random_scratch(p, at.seed, s.n * s.bytes)) : std::nullopt;
  return [=, &p](Buffer to, Buffer from) {
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      const Buffer target = (passes - pass) % 2 == 1 ? to : *other;
      p.launch("hillis_steele", {round_up(s.n, s.group)}, {s.group}, target, from, s.n,
               std::uint64_t{1} << pass, pass == 0 ? 1U : 0U);
      from = target;
    }
  };
}

Scan three_phase(Plan& p, const Case& at, const ScanConfig& s) {
  const Buffer sums = random_scratch(p, at.seed, s.tiles * s.bytes);
  return [=, &p](Buffer to, Buffer from) {
    p.launch("scan_tiles", {s.tiles * s.group}, {s.group}, to, sums, from, s.n);
    p.launch("scan_sums", {s.group}, {s.group}, sums, std::uint64_t{0}, s.tiles);
    if (s.tiles > 1) p.launch("add_carries", {(s.tiles - 1) * s.group}, {s.group}, to, sums, s.n);
  };
}

// Launches the tiles in batches, so that the second read of the input hits in a cache; or all in one batch.
Scan reduce_then_scan(Plan& p, const Case& at, const ScanConfig& s) {
  const Buffer sums = random_scratch(p, at.seed, s.tiles * s.bytes);
  const std::uint64_t batch_bytes = at.count("batch_kib", 1, 1 << 30) * 1024;
  const std::uint64_t batch =
      s.design->batches ? std::max<std::uint64_t>(1, batch_bytes / (s.tile * s.bytes)) : s.tiles;
  Plan::need(ceil_div(s.tiles, batch) <= 4096, "more than 4096 batches");
  return [=, &p](Buffer to, Buffer from) {
    for (std::uint64_t first = 0; first < s.tiles; first += batch) {
      const std::uint64_t tiles = std::min(batch, s.tiles - first);
      p.launch("reduce_tiles", {tiles * s.group}, {s.group}, sums, from, s.n, first);
      p.launch("scan_sums", {s.group}, {s.group}, sums, first, first + tiles);
      p.launch("scan_tiles_from_prefixes", {tiles * s.group}, {s.group}, to, sums, from, s.n, first);
    }
  };
}

// Returns the table of cpu.cl: the weights of a sixteenth of a tile, then of a tile.
template <class T>
Buffer cpu_weights(Plan& p, const ScanConfig& s) {
  return p.input<T>(2 * s.order,
                    [order = s.order, tile = static_cast<std::int64_t>(s.tile)](std::uint64_t i) {
                      return static_cast<T>(weights(i < order ? tile / 16 : tile, order)[i % order]);
                    });
}

// Computes the table of binomial.cl. It has weights that move a state from a work-item back to where its tile
// begins, and from a tile back to where the input begins, each followed by the weights of the way onward.
std::vector<std::uint64_t> binomial_weights(const ScanConfig& s) {
  const auto per_work_item = static_cast<std::int64_t>(s.elements_per_work_item / s.tuple);
  std::vector<std::uint64_t> table(2 * s.order * s.group);
  for (std::uint64_t work_item = 0; work_item < s.group; ++work_item) {
    const auto at = static_cast<std::int64_t>(work_item);
    const Weights back = weights(-(at + 1) * per_work_item, s.order),
                  onward = weights(at * per_work_item, s.order);
    for (std::uint64_t e = 0; e < s.order; ++e) {
      table[e * s.group + work_item] = back[e];
      table[(s.order + e) * s.group + work_item] = onward[e];
    }
  }
  const auto per_tile = per_work_item * static_cast<std::int64_t>(s.group);
  const Weights one_back = weights(-per_tile, s.order), one_onward = weights(per_tile, s.order);
  Weights back = weights(0, s.order), onward = back;
  for (std::uint64_t tile = 0; tile < s.tiles; ++tile) {
    table.insert(table.end(), back.begin(), back.end());
    table.insert(table.end(), onward.begin(), onward.end());
    back = product(back, one_back);
    onward = product(onward, one_onward);
  }
  return table;
}

template <class T>
Buffer binomial_table(Plan& p, const ScanConfig& s) {
  // Computed on first use: a plan that is not executed costs nothing.
  struct Table {
    std::once_flag once;
    std::vector<std::uint64_t> values;
  };
  return p.input<T>(2 * s.order * (s.group + s.tiles),
                    [s, table = std::make_shared<Table>()](std::uint64_t i) {
                      std::call_once(table->once, [&] { table->values = binomial_weights(s); });
                      return static_cast<T>(table->values[i]);
                    });
}

// Returns the table of weights, if the design and the order need one.
template <class T>
std::optional<Buffer> weight_table(Plan& p, const ScanConfig& s) {
  if (s.order == 1 || !s.design->binomial_weights) return {};
  return s.design->on_cpu() ? cpu_weights<T>(p, s) : binomial_table<T>(p, s);
}

// Sizes the buffer of tile states: a state per tile, or a circular buffer. A work-group holds three tickets
// at most, and the oldest state that may still be read is at most six times as many tiles back, so that
// 6 * 3 states per work-group are enough.
struct StateSlots {
  std::uint64_t count, wraps;
};
StateSlots state_slots_of(const ScanConfig& s, const TileAssignment& assignment) {
  const std::uint64_t slots = s.design->circular_states ? std::bit_ceil(18 * assignment.groups) : s.tiles;
  return {slots, s.tiles / slots + 1};
}

Buffer states_of(Plan& p, const Case& at, const ScanConfig& s, const StateSlots& slots) {
  // Provides circular buffers of aggregates and of prefixes, for each order and each component.
  const std::uint64_t buffers = s.design->circular_states ? 2 * s.order * s.components : 1;
  std::uint64_t pitch = s.state_bytes * 16 / s.state_bits();
  // Pads states that a warp writes at once to whole sectors: a sector that is written in part must be read
  // first.
  if (s.state_values > 1 && s.ptx()) {
    pitch = round_up(pitch, 256 / s.state_bits());
    p.define("PITCH", pitch);
  }
  return states_of_old_epochs(p, at.seed, s, buffers * slots.count * pitch, slots.wraps);
}

void define_single_pass(Plan& p, const Case& at, const DeviceInfo& device, const ScanConfig& s,
                        std::uint64_t value_bytes) {
  const ScanDesign& design = *s.design;
  define_states(p, s, device);
  limit_registers(p, at, device);
  // Converts the window, which counts states, to states per lane where each lane reads one value of a state.
  if (s.has_value_per_lane())
    p.define("STATES_PER_LANE",
             s.window * (s.is(Tuples::in_state) ? std::bit_ceil(s.state_values) : std::uint64_t{1}) /
                 subgroup_size);
  if (design.in_registers() || s.is(Tuples::in_state) || s.is(Tuples::strided))
    p.define("VEC", vector_bytes / value_bytes);
  if (s.is(Tuples::strided)) p.define("STAGE_VALUES", s.stage_values);
  if (design.in_registers()) p.define("VECTORS", s.vectors);
  if (s.is(Tuples::interleaved))
    p.define("TILE_SCAN", s.interleaved ? "scan/tuple_scan.cl" : "scan/value_scan.cl");
  if (design.persistence == ScanDesign::Persistence::by_axis) p.define("PERSISTENT", s.is_persistent ? 1 : 0);
  if (s.is(Tuples::by_component)) {
    p.define("COMPONENTS", s.components).define("PREFETCH", at.is("prefetch", "yes") ? 1 : 0);
    // Keeps the loop for CPUs, because PoCL would compile so many barriers in sequence for minutes.
    p.define("UNROLL_ORDERS", device.type == "cpu" ? 0 : 1);
  }
  if (!design.on_cpu()) return;
  require_iterations(device, s.n / 8, s.tiles);  // vectors of 16, once to add them up and once to scan
  Plan::need(s.order == 1 || !device.is_llvmpipe(),
             "llvmpipe's compiler takes minutes for blocks of 256 elements");
  p.define("CHUNK", s.tile);
  define_streaming(p, device, 2 * s.n * s.bytes);
}

template <class T>
Scan single_pass(Plan& p, const Case& at, const DeviceInfo& device, const ScanConfig& s) {
  define_single_pass(p, at, device, s, sizeof(T));
  const std::uint64_t per_cu = s.groups_per_cu > 0 ? s.groups_per_cu : s.design->on_cpu() ? 1 : 2;
  const TileAssignment assignment =
      s.is_persistent ? persistent_groups(s, device, per_cu) : one_tile_per_group(s);
  const StateSlots slots = state_slots_of(s, assignment);
  const Buffer states = states_of(p, at, s, slots);
  const std::optional<Buffer> table = weight_table<T>(p, s);
  return [=, &p](Buffer to, Buffer from) {
    p.launch(s.design->name, {assignment.groups * s.group}, {s.group}, to, states, from);
    if (s.design->binomial_weights) p.pass(table.value_or(from));
    p.pass(s.n).pass(assignment.tiles);
    if (s.design->persistent()) p.pass(assignment.tickets);
    if (s.design->circular_states)
      p.pass(static_cast<std::uint32_t>(std::countr_zero(slots.count)))
          .pass(static_cast<std::uint32_t>(slots.wraps));
  };
}

template <class T>
Scan scan_of(Plan& p, const Case& at, const DeviceInfo& device, const ScanConfig& s) {
  switch (s.design->method) {
    case Method::passes: return hillis_steele(p, at, s);
    case Method::three_phase: return three_phase(p, at, s);
    case Method::single_pass: return single_pass<T>(p, at, device, s);
    default: return reduce_then_scan(p, at, s);
  }
}

// Adds the encoder of a round trip, then the scans that a higher order repeats, between deinterleaving and
// interleaving if tuples are reordered. Each step reads one buffer and writes another.
void plan_steps(Plan& p, const Case& at, const ScanConfig& s, const Scan& scan, Buffer out, Buffer in) {
  std::vector<Scan> steps(s.scans, scan);
  const std::uint64_t length = s.values / s.tuple;
  const auto reorder = [&](const char* kernel) {
    return [=, &p, group = s.group](Buffer to, Buffer from) {
      p.launch(kernel, {round_up(length, group)}, {group}, to, from, length);
    };
  };
  if (s.reorder) {
    steps.insert(steps.begin(), reorder("deinterleave"));
    steps.emplace_back(reorder("interleave"));
  }
  if (s.round_trip) {
    steps.insert(steps.begin(), [&p, n = s.values](Buffer to, Buffer from) {
      p.launch("encode", {round_up(n, 256)}, {256}, to, from, n);
    });
  }
  const std::optional<Buffer> other =
      steps.size() > 1 ? std::optional(random_scratch(p, at.seed, s.n * s.bytes)) : std::nullopt;
  Buffer from = in;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const Buffer to = (steps.size() - step) % 2 == 1 ? out : *other;
    steps[step](to, from);
    from = to;
  }
  if (const auto applications = applications_of(s))
    p.derive("operator_applications", static_cast<std::int64_t>(s.scans * *applications));
  const std::uint64_t accesses = s.scans * accesses_of(s) + 2 * (steps.size() - s.scans) * s.n;
  p.derive("traffic_bytes", static_cast<std::int64_t>(accesses * s.bytes));
}

const char* lowest_of(const std::string& type) {
  if (type == "int") return "INT_MIN";
  if (type == "long") return "LONG_MIN";
  return type == "float" || type == "double" ? "-INFINITY" : "0";
}

// Plans the driver's copy, the bound of the published curves.
template <class T>
Plan copy_plan(const Case& at, const ScanConfig& s) {
  Plan p;
  const ScanInput<T> value{Random<T>(at.seed, 1), Random<std::uint64_t>(at.seed, 2), s.op, s.values};
  const Buffer in = p.input<T>(s.values, value), out = p.output<T>(s.values);
  p.source = s.design->source;
  p.steps.emplace_back(CopyBuffer{in, out, s.values * sizeof(T)});
  p.expect<T>(out, value);
  p.cost = {.read = s.values * sizeof(T), .written = s.values * sizeof(T), .flops = 0, .items = s.values};
  p.peak = Peak::copy;
  p.derive("traffic_bytes", static_cast<std::int64_t>(2 * s.values * sizeof(T)));
  p.derive("auxiliary_bytes", 0);
  return p;
}

void define_kernel(Plan& p, const ScanConfig& s, const std::string& type, const std::string& wraps,
                   std::uint64_t value_bytes) {
  p.define("T", type).define("U", wraps);
  p.define("OP", static_cast<int>(s.op));
  if (s.op == Op::max) p.define("IDENTITY", lowest_of(type));
  p.define("EXCLUSIVE_SCAN", s.exclusive ? 1 : 0).define("INITIAL", initial_value);
  p.define("GROUP", s.group)
      .define("ELEMENTS_PER_WORK_ITEM", s.elements_per_work_item)
      .define("VALUE_BYTES", value_bytes);
  p.define("ORDER", s.order).define("TUPLE", s.tuple);
  if (s.op != Op::affine && s.bytes > value_bytes)
    p.define("ELEMENT_VALUES", s.tuple);  // elements are structs
  if (s.reorder) p.define("REORDER", 1);
  if (s.round_trip) p.define("WIDTH", 1);
}

template <class T>
void expect_scan(Plan& p, Buffer out, const ScanInput<T>& value, const ScanConfig& s) {
  const auto reference = std::make_shared<const ScanReference<T>>(value, s.exclusive, s.values, s.order,
                                                                  s.op == Op::affine ? 2 : s.tuple);
  p.expect_from<T>(out, [reference](std::uint64_t first) {
    return typename ScanReference<T>::Iterator(reference, first);
  });
}

template <class T>
Plan plan_of_type(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const ScanConfig s = scan_config(at, device, sizeof(T));
  if (s.design->copies()) return copy_plan<T>(at, s);

  Plan p;
  p.source = s.design->source;
  use_subgroup_impl(p, s.subgroup_impl, device, s.group);
  check_supported(s, device);
  define_kernel(p, s, type_name<T>(), type_name<typename Wraps<T>::Type>(), sizeof(T));
  const ScanInput<T> value{Random<T>(at.seed, 1), Random<std::uint64_t>(at.seed, 2), s.op, s.values};
  const auto signal = signal_of<T>(at, s.tuple);
  const Buffer in = s.round_trip ? p.input<T>(s.values, signal) : p.input<T>(s.values, value);
  const Buffer out = p.output<T>(s.values);
  // Counts one operator per value and order, of an affine map three operations.
  const std::uint64_t operations = s.op == Op::affine ? 3 * s.n : s.order * s.values;
  p.cost = {.read = s.n * s.bytes, .written = s.n * s.bytes, .flops = operations, .items = s.values};
  p.peak = Peak::copy;
  plan_steps(p, at, s, scan_of<T>(p, at, device, s), out, in);
  std::uint64_t held = 0;
  for (const auto& buffer : p.buffers) held += buffer.bytes;
  p.derive("auxiliary_bytes",
           static_cast<std::int64_t>(held - p.buffers[in.index].bytes - p.buffers[out.index].bytes));
  if (s.round_trip)
    p.expect<T>(out, signal);
  else
    expect_scan(p, out, value, s);
  return p;
}

}  // namespace

Plan scan_plan(const Case& at, const DeviceInfo& device) {
  if (scan_design_of(at).encodes()) return encode_plan(at, device);
  static const auto plan = for_types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>(
      []<class T>(const Case& of, const DeviceInfo& on) { return plan_of_type<T>(of, on); });
  return plan(at, device);
}

}  // namespace clweave::families
