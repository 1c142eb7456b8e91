// SPDX-License-Identifier: Apache-2.0
// scan: how fast is a prefix scan, and what does each idea on the way to a single pass bring?
//
// After S. Maleki, A. Yang, M. Burtscher, "Higher-Order and Tuple-Based Massively-Parallel Prefix Sums"
// (2016), D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016), and T.
// Smith, R. Levien, J. Owens, "Decoupled Fallback" (2025).
//
// Floating inputs of sums are whole numbers of seven bits: every partial sum is exact, so the result does not
// depend on the order of the additions, and no error hides behind a tolerance.
//
// Counted bytes: each element once in and once out, whatever the design. What it really asks of memory is in
// the column traffic_bytes, and what it needs beside input and output in auxiliary_bytes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <boost/range/adaptor/reversed.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "families/shared/sample_image.hpp"
#include "families/shared/scanned.hpp"
#include "families/shared/search_values.hpp"
#include "families/shared/tiles.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

constexpr std::uint64_t vector_bytes = 16;

Op op_of(const Case& at) {
  if (at.is("op", "sum")) return Op::sum;
  if (at.is("op", "max")) return Op::max;
  return at.is("op", "xor") ? Op::xor_ : Op::affine;
}

template <class T>
Signal<T> signal_of(const Case& at, std::uint64_t channels) {
  return {Random<std::uint64_t>(at.seed, 2), channels,
          at.is("signal", "image") ? sample_image().pixels : std::string_view()};
}

// ---- Designs -------------------------------------------------------------------------------------------

bool takes_rows(const std::string& kernel) {
  return kernel == "register_tile" || kernel == "pipelined" || kernel == "sam";
}
bool chains(const std::string& kernel) {
  return kernel == "chained" || kernel.starts_with("lookback") || takes_rows(kernel) || kernel == "pascal" ||
         kernel == "cpu";
}
bool encodes(const std::string& kernel) { return kernel == "encode" || kernel == "encode_run"; }
// Whose items tell each other what they have, as axis lanes says.
bool exchanges(const std::string& kernel) {
  return kernel != "hillis_steele" && kernel != "cpu" && !encodes(kernel) && kernel != "copy";
}
// From tile to tile, in as many groups as axis groups_per_unit says.
bool is_persistent(const std::string& kernel) {
  return kernel == "sam" || kernel == "pipelined" || kernel == "cpu";
}
// Several tile states at once.
bool has_parallel_lookback(const std::string& kernel) {
  return kernel == "lookback_parallel" || kernel == "register_tile" || kernel == "pipelined" ||
         kernel == "pascal";
}
bool takes_per_item(const Case& at) {
  const std::string& kernel = at.text("kernel");
  return kernel == "three_phase" || kernel == "reduce_then_scan" || kernel == "batched" ||
         kernel == "chained" || kernel.starts_with("lookback") || kernel == "pascal";
}
// Tiles of pascal hand on states of many words: few and large ones are worth trying.
Values per_item_worth(const Case& at, const DeviceInfo&) {
  if (at.is("kernel", "pascal")) return {16, 32, 48, 64};
  return takes_per_item(at) ? Values{16, 4, 8, 32, 48} : Values{16};
}
bool waits(const std::string& kernel, bool ptx) {
  return kernel == "chained" || kernel == "lookback" || kernel == "sam" || ptx;
}

// What all plans know of their case.
struct Setting : Tiles {
  std::string kernel;
  Op op;
  bool exclusive, reorder, round_trip;
  std::uint64_t order, tuple, batch_bytes;
  std::uint64_t scans;               // one after the other
  std::uint64_t values, n;           // values; elements, which are tuples, maps, or values
  std::uint64_t bytes, known_bytes;  // of an element; of what is known of a stretch of them
  std::uint64_t parts;               // values of what is known
  std::uint64_t streams;             // of sam, which scans the values of tuples as they lie
  bool tuple_rows;                   // register_tile and pipelined, which do so, too
  std::uint64_t items, rows;

  // Whether items hand over what they hold without local memory, whichever they ask.
  bool in_registers() const { return ptx() || lanes == SubgroupImpl::amd; }
  // Whether each item of a bundle that looks back has a part of a state, as parts.cl has it.
  bool in_parts() const { return ptx() && (tuple_rows || kernel == "pascal"); }
};

// What an element is, and what is known of a stretch of them.
void set_elements(Setting& s, const Case& at, std::uint64_t value_bytes) {
  const bool pascal = s.kernel == "pascal", cpu = s.kernel == "cpu", affine = s.op == Op::affine;
  s.reorder = s.tuple > 1 && !pascal && at.is("tuple_by", "reorder");
  s.scans = pascal || cpu || s.kernel == "sam" ? 1 : s.order;
  s.streams = s.kernel == "sam" && !s.reorder ? s.tuple : 1;
  const bool tuples = s.tuple > 1 && !pascal && !s.reorder && s.streams == 1;
  s.tuple_rows = tuples && takes_rows(s.kernel);
  const bool structs = tuples && !s.tuple_rows;
  const std::uint64_t together = affine ? 2 : structs ? s.tuple : 1;
  s.parts = pascal ? s.order * s.tuple : cpu ? s.order : tuples ? s.tuple : 1;
  s.bytes = value_bytes * together;
  s.known_bytes = value_bytes * (affine ? 2 : s.parts);
  const std::uint64_t n = at.count("n", 1, std::int64_t{1} << 34);
  s.values = affine ? 2 * n : std::max(s.tuple, n - n % s.tuple);
  s.n = s.values / together;
  s.items = at.count("per_work_item", 1, 64);
  // pascal takes whole tuples and whole vectors.
  s.items = pascal    ? round_up(s.items, std::lcm(s.tuple, vector_bytes / value_bytes))
            : structs ? std::max<std::uint64_t>(1, s.items / s.tuple)
                      : s.items;
}

Setting setting_of(const Case& at, const DeviceInfo& device, std::uint64_t value_bytes) {
  const std::string& kernel = at.text("kernel");
  const bool cpu = kernel == "cpu";
  Setting s = {};
  static_cast<Tiles&>(s) = tiles_of(at, device, cpu);
  s.kernel = kernel;
  s.waits = waits(kernel, s.ptx());
  s.is_persistent = kernel == "sam" || cpu || (kernel == "pipelined" && s.groups_per_unit > 0);
  s.op = op_of(at);
  s.exclusive = at.is("form", "exclusive");
  s.round_trip = at.is("task", "round_trip");
  s.order = at.count("scan_order", 1, 8);
  s.tuple = at.count("tuple", 1, 32);
  s.batch_bytes = at.count("batch_kib", 1, 1 << 30) * 1024;
  s.rows = at.count("vectors_per_item", 1, 64);
  set_elements(s, at, value_bytes);
  s.tile = cpu ? round_up(at.count("chunk_kib", 1, 1 << 20) * 1024 / s.bytes, 16ULL * 16 * 16)
           : takes_rows(kernel) ? s.group * s.rows * (vector_bytes / s.bytes)
                                : s.group * s.items;
  s.tiles = ceil_div(s.n, s.tile);
  return s;
}

// What the kernel declares, so that a device with less is refused and not asked.
std::uint64_t local_bytes_of(const Setting& s) {
  if (s.kernel == "cpu") return 1024;
  const bool portable = s.lanes == SubgroupImpl::portable, rows = takes_rows(s.kernel);
  if (!portable && s.streams > 1) return s.bytes * s.group / bundle * (s.rows + 2) * s.streams + 1024;
  const std::uint64_t seen = s.seen() * (s.known_bytes + 8);
  if (s.tuple_rows)
    return s.bytes * s.group + s.known_bytes + 1024 +
           (s.in_registers() ? 0 : s.bytes * (s.tile + s.tile / bundle) + seen);
  if (!portable && rows) return 1024 + (s.ptx() ? 0 : 2 * s.group * s.bytes);
  if (s.kernel == "pascal") {
    const std::uint64_t vectors = s.group * (s.items * s.bytes / vector_bytes | 1);
    return vectors * vector_bytes + 32 +
           (s.ptx() ? (s.group / bundle + 2) * s.known_bytes : s.group * s.known_bytes + seen);
  }
  const std::uint64_t sums = 2 * s.group * s.known_bytes;
  if (s.streams > 1)
    return s.bytes * (s.tile + s.tile / bundle + s.group / bundle * (s.rows + 1) * s.streams + s.group +
                      s.streams) +
           32;
  const std::uint64_t tile = rows ? s.group * s.rows : s.tile;
  return s.bytes * (tile + tile / bundle) + sums + (has_parallel_lookback(s.kernel) ? seen : 0) +
         2 * s.known_bytes + 32;
}

void refuse_what_cannot_be(const Setting& s, const DeviceInfo& device) {
  if ((takes_rows(s.kernel) || s.ptx()) && (s.group % bundle != 0 || s.group > bundle * bundle))
    throw Error(ErrorCode::usage, "group must be a multiple of 32, up to 1024");
  Plan::need(!s.tuple_rows || std::has_single_bit(s.tuple),
             "tuple must be a power of two, so that each place of a vector belongs to one value of a tuple; "
             "sam, pascal and lookback_parallel take others");
  Plan::need(
      !s.in_parts() || s.parts <= bundle,
      "with subgroup_impl=ptx, scan_order times tuple must be 32 at most: a warp looks at a state at once");
  need_tiles(s, device, local_bytes_of(s));
}

// Of Hillis and Steele.
std::uint64_t passes_of(std::uint64_t n) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::bit_width(n - 1)));
}

// How often one scan reads or writes each element, tile states and sums aside.
std::uint64_t accesses_of(const Setting& s) {
  if (s.kernel == "hillis_steele") return 2 * passes_of(s.n);
  if (s.kernel == "three_phase") return 4;
  return chains(s.kernel) ? 2 : 3;
}

// Adds the launches of one scan.
using Scan = std::function<void(Buffer to, Buffer from)>;

Scan hillis_steele(Plan& p, const Case& at, const Setting& s) {
  const std::uint64_t passes = passes_of(s.n);
  const std::optional<Buffer> other =
      passes > 1 ? std::optional(garbage(p, at.seed, s.n * s.bytes)) : std::nullopt;
  return [=, &p](Buffer to, Buffer from) {
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      const Buffer target = (passes - pass) % 2 == 1 ? to : *other;
      p.launch("hillis_steele", {round_up(s.n, s.group)}, {s.group}, target, from, s.n,
               std::uint64_t{1} << pass, pass == 0 ? 1U : 0U);
      from = target;
    }
  };
}

Scan three_phase(Plan& p, const Case& at, const Setting& s) {
  const Buffer sums = garbage(p, at.seed, s.tiles * s.bytes);
  return [=, &p](Buffer to, Buffer from) {
    p.launch("scan_tiles", {s.tiles * s.group}, {s.group}, to, sums, from, s.n);
    p.launch("scan_sums", {s.group}, {s.group}, sums, std::uint64_t{0}, s.tiles);
    if (s.tiles > 1) p.launch("add_carries", {(s.tiles - 1) * s.group}, {s.group}, to, sums, s.n);
  };
}

// In batches, the second reading of the input finds it in a cache.
Scan reduce_then_scan(Plan& p, const Case& at, const Setting& s) {
  const Buffer sums = garbage(p, at.seed, s.tiles * s.bytes);
  const std::uint64_t batch =
      s.kernel != "batched" ? s.tiles : std::max<std::uint64_t>(1, s.batch_bytes / (s.tile * s.bytes));
  Plan::need(ceil_div(s.tiles, batch) <= 4096, "more than 4096 batches");
  return [=, &p](Buffer to, Buffer from) {
    for (std::uint64_t first = 0; first < s.tiles; first += batch) {
      const std::uint64_t tiles = std::min(batch, s.tiles - first);
      p.launch("reduce_tiles", {tiles * s.group}, {s.group}, sums, from, s.n, first);
      p.launch("scan_sums", {s.group}, {s.group}, sums, first, first + tiles);
      p.launch("scan_tiles_onto", {tiles * s.group}, {s.group}, to, sums, from, s.n, first);
    }
  };
}

// Kernel cpu: the weights of a sixteenth of a tile and of a tile.
template <class T>
Buffer cpu_weights(Plan& p, const Setting& s) {
  return p.input<T>(2 * s.order,
                    [order = s.order, tile = static_cast<std::int64_t>(s.tile)](std::uint64_t i) {
                      return static_cast<T>(weights(i < order ? tile / 16 : tile, order)[i % order]);
                    });
}

// How states are taken back to where a tile or everything begins, and onward, as pascal.cl says.
std::vector<std::uint64_t> pascal_weights(const Setting& s) {
  const auto per_item = static_cast<std::int64_t>(s.items / s.tuple);
  std::vector<std::uint64_t> table(2 * s.order * s.group);
  for (std::uint64_t item = 0; item < s.group; ++item) {
    const auto at = static_cast<std::int64_t>(item);
    const Weights back = weights(-(at + 1) * per_item, s.order), onward = weights(at * per_item, s.order);
    for (std::uint64_t e = 0; e < s.order; ++e) {
      table[e * s.group + item] = back[e];
      table[(s.order + e) * s.group + item] = onward[e];
    }
  }
  const auto per_tile = per_item * static_cast<std::int64_t>(s.group);
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
Buffer weight_table(Plan& p, const Setting& s) {
  // Made when first asked for: a plan that only says how large it is costs nothing.
  struct Table {
    std::once_flag once;
    std::vector<std::uint64_t> values;
  };
  return p.input<T>(2 * s.order * (s.group + s.tiles),
                    [s, table = std::make_shared<Table>()](std::uint64_t i) {
                      std::call_once(table->once, [&] { table->values = pascal_weights(s); });
                      return static_cast<T>(table->values[i]);
                    });
}

// Kernel sam keeps its states in a ring: as many whatever n. A group holds three tickets at most, and what
// another may still read lies no further back than six times as many.
struct Ring {
  std::uint64_t slots, rounds;
};
Ring ring_of(const Setting& s, const Dealt& dealt) {
  const std::uint64_t slots = s.kernel == "sam" ? std::bit_ceil(18 * dealt.groups) : s.tiles;
  return {slots, s.tiles / slots + 1};
}

Buffer states_of(Plan& p, const Case& at, const Setting& s, const Ring& ring) {
  // Sums and prefixes of each order, and of each value of a tuple.
  const std::uint64_t rings = s.kernel == "sam" ? 2 * s.order * s.streams : 1;
  std::uint64_t pitch = s.known_bytes * 16 / s.state_bits();
  // A bundle writes its state at once: in whole sectors of memory, of which nothing has to be read then.
  if (s.parts > 1 && s.ptx()) {
    pitch = round_up(pitch, 256 / s.state_bits());
    p.define("PITCH", pitch);
  }
  return stale_states(p, at.seed, s, rings * ring.slots * pitch, ring.rounds);
}

void define_chain(Plan& p, const Case& at, const DeviceInfo& device, const Setting& s,
                  std::uint64_t value_bytes) {
  define_states(p, s, device);
  limit_registers(p, at, device);
  // pascal looks at whole states, whose parts the items of a bundle share.
  if (s.in_parts())
    p.define("PARTS_AT_ONCE", s.kernel == "pascal" ? s.window * std::bit_ceil(s.parts) / bundle : s.window / bundle);
  if (takes_rows(s.kernel)) p.define("VECTORS", s.rows).define("VEC", vector_bytes / value_bytes);
  if (s.kernel == "pipelined") p.define("PERSISTENT", s.is_persistent ? 1 : 0);
  if (s.kernel == "sam") {
    p.define("STREAMS", s.streams).define("PREFETCH", at.is("prefetch", "yes") ? 1 : 0);
    // Of so many barriers behind each other, PoCL makes programs that take minutes to compile.
    p.define("UNROLL_ORDERS", device.type == "cpu" ? 0 : 1);
  }
  if (s.kernel != "cpu") return;
  need_turns(device, s.n / 8, s.tiles);  // vectors of 16, once to add them up and once to scan
  Plan::need(s.order == 1 || !device.is_llvmpipe(),
             "llvmpipe's compiler takes minutes for blocks of 256 values");
  p.define("CHUNK", s.tile);
  define_streaming(p, device, 2 * s.n * s.bytes);
}

template <class T>
Scan chain(Plan& p, const Case& at, const DeviceInfo& device, const Setting& s) {
  const bool sam = s.kernel == "sam", cpu = s.kernel == "cpu", pipelined = s.kernel == "pipelined";
  define_chain(p, at, device, s, sizeof(T));
  const std::uint64_t per_unit = s.groups_per_unit > 0 ? s.groups_per_unit : cpu ? 1 : 2;
  const Dealt dealt = s.is_persistent ? going_on(s, device, per_unit) : one_each(s);
  const Ring ring = ring_of(s, dealt);
  const Buffer states = states_of(p, at, s, ring);
  std::optional<Buffer> table;  // order 1 reads none
  if (s.order > 1 && cpu) table = cpu_weights<T>(p, s);
  if (s.order > 1 && s.kernel == "pascal") table = weight_table<T>(p, s);
  return [=, &p](Buffer to, Buffer from) {
    const Range global = {dealt.groups * s.group}, local = {s.group};
    if (sam) {
      p.launch("sam", global, local, to, states, from, s.n, dealt.tiles, dealt.tickets,
               static_cast<std::uint32_t>(std::countr_zero(ring.slots)),
               static_cast<std::uint32_t>(ring.rounds));
    } else if (s.kernel == "pascal") {
      p.launch("pascal", global, local, to, states, from, table.value_or(from), s.n, dealt.tiles);
    } else if (cpu) {
      p.launch("cpu", global, local, to, states, from, table.value_or(from), s.n, dealt.tiles, dealt.tickets);
    } else if (pipelined) {
      p.launch("pipelined", global, local, to, states, from, s.n, dealt.tiles, dealt.tickets);
    } else {
      p.launch(s.kernel, global, local, to, states, from, s.n, dealt.tiles);
    }
  };
}

// The encoder, then the scans of an order one after the other, between the two halves of a reordering: each
// out of place.
void plan_steps(Plan& p, const Case& at, const Setting& s, const Scan& scan, Buffer out, Buffer in) {
  std::vector<Scan> steps(s.scans, scan);
  const std::uint64_t length = s.values / s.tuple;
  const auto reorder = [&](const char* kernel) {
    return [=, &p, group = s.group](Buffer to, Buffer from) {
      p.launch(kernel, {round_up(length, group)}, {group}, to, from, length);
    };
  };
  if (s.reorder) {
    steps.insert(steps.begin(), reorder("gather_tuples"));
    steps.emplace_back(reorder("spread_tuples"));
  }
  if (s.round_trip) {
    steps.insert(steps.begin(), [&p, n = s.values](Buffer to, Buffer from) {
      p.launch("encode", {round_up(n, 256)}, {256}, to, from, n);
    });
  }
  const std::optional<Buffer> other =
      steps.size() > 1 ? std::optional(garbage(p, at.seed, s.n * s.bytes)) : std::nullopt;
  Buffer from = in;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const Buffer to = (steps.size() - step) % 2 == 1 ? out : *other;
    steps[step](to, from);
    from = to;
  }
  const std::uint64_t accesses = s.scans * accesses_of(s) + 2 * (steps.size() - s.scans);
  p.derive("traffic_bytes", static_cast<std::int64_t>(accesses * s.n * s.bytes));
}

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

const char* least_of(const std::string& type) {
  if (type == "int") return "INT_MIN";
  if (type == "long") return "LONG_MIN";
  return type == "float" || type == "double" ? "-INFINITY" : "0";
}

// What a prediction of that order misses on average, of so many values that a whole picture is among them.
template <class T>
double residue_of(const Signal<T>& signal, const Setting& s) {
  const std::uint64_t n = std::min<std::uint64_t>(s.values, 1 << 18);
  std::vector<std::int64_t> left(n);
  for (std::uint64_t i = 0; i < n; ++i) left[i] = static_cast<std::int64_t>(signal(i));
  for (std::uint64_t order = 0; order < s.order; ++order) {
    for (std::uint64_t i = n; i-- > s.tuple;) left[i] -= left[i - s.tuple];
  }
  double sum = 0;
  for (const auto value : left) sum += std::abs(static_cast<double>(value));
  return sum / static_cast<double>(n);
}

template <class T>
Plan plan_of_encode(const Case& at, const Setting& s) {
  const std::uint64_t width = at.count("width", 1, 16);
  const std::string type = type_name<typename Wraps<T>::Type>();
  Plan p;
  p.define("U", type).define("ORDER", s.order).define("TUPLE", s.tuple);
  p.define("WIDTH", width).define("V", width == 1 ? type : type + std::to_string(width));
  p.source = "scan/delta";
  const auto signal = signal_of<T>(at, s.tuple);
  const Buffer in = p.input<T>(s.values, signal), out = p.output<T>(s.values);
  if (s.kernel == "encode") {
    p.launch("encode", {round_up(ceil_div(s.values, width), s.group)}, {s.group}, out, in, s.values);
  } else {
    const std::uint64_t run = at.count("chunk_kib", 1, 1 << 20) * 1024 / sizeof(T);
    p.launch("encode_run", {ceil_div(s.values, run)}, {1}, out, in, s.values, run);
  }
  p.derived.emplace_back("residue", fmt::format("{:.6g}", residue_of(signal, s)));
  p.expect<T>(out, [=, order = s.order](std::uint64_t i) { return encoded(signal, i, order); });
  p.cost = {.read = s.values * sizeof(T), .written = s.values * sizeof(T), .flops = 0, .items = s.values};
  p.peak = Peak::copy;
  p.derive("traffic_bytes", static_cast<std::int64_t>(2 * s.values * sizeof(T)));
  p.derive("auxiliary_bytes", 0);
  return p;
}

// What the published curves stand beside.
template <class T>
Plan plan_of_copy(const Case& at, const Setting& s) {
  Plan p;
  const ScanInput<T> value{Random<T>(at.seed, 1), Random<std::uint64_t>(at.seed, 2), s.op, s.values};
  const Buffer in = p.input<T>(s.values, value), out = p.output<T>(s.values);
  p.source = "lib/harness";  // it needs no kernel
  p.steps.emplace_back(CopyBuffer{in, out, s.values * sizeof(T)});
  p.expect<T>(out, value);
  p.cost = {.read = s.values * sizeof(T), .written = s.values * sizeof(T), .flops = 0, .items = s.values};
  p.peak = Peak::copy;
  p.derive("traffic_bytes", static_cast<std::int64_t>(2 * s.values * sizeof(T)));
  p.derive("auxiliary_bytes", 0);
  return p;
}

void define_kernel(Plan& p, const Setting& s, const std::string& type, const std::string& wraps,
                   std::uint64_t value_bytes) {
  p.define("T", type).define("U", wraps);
  p.define("OP", static_cast<int>(s.op)).define("LEAST", least_of(type));
  p.define("EXCLUSIVE", s.exclusive ? 1 : 0).define("INITIAL", initial_value);
  p.define("GROUP", s.group).define("ITEMS", s.items).define("VALUE_BYTES", value_bytes);
  p.define("ORDER", s.order).define("TUPLE", s.tuple);
  if (s.op != Op::affine && s.bytes > value_bytes) p.define("PARTS", s.tuple);  // elements are structs
  if (s.reorder) p.define("REORDER", 1);
  if (s.round_trip) p.define("WIDTH", 1);
  if (takes_rows(s.kernel) && s.kernel != "sam")
    p.define("TILE_SCAN", s.tuple_rows ? "scan/tuple_scan.cl" : "scan/value_scan.cl");
  if (s.kernel == "pascal") p.define("VEC", vector_bytes / value_bytes);
}

template <class T>
void expect_scan(Plan& p, Buffer out, const ScanInput<T>& value, const Setting& s) {
  const auto reference = std::make_shared<const ScanReference<T>>(value, s.exclusive, s.values, s.order,
                                                                  s.op == Op::affine ? 2 : s.tuple);
  p.expect_from<T>(
      out, [reference](std::uint64_t first) { return typename ScanReference<T>::Walk(reference, first); });
}

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const Setting s = setting_of(at, device, sizeof(T));
  if (encodes(s.kernel)) return plan_of_encode<T>(at, s);
  if (s.kernel == "copy") return plan_of_copy<T>(at, s);

  Plan p;
  use_subgroup_impl(p, s.lanes, device, s.group);
  refuse_what_cannot_be(s, device);
  define_kernel(p, s, type_name<T>(), type_name<typename Wraps<T>::Type>(), sizeof(T));
  p.source = "scan/" + (s.kernel == "batched" ? "reduce_then_scan" : s.kernel);
  const ScanInput<T> value{Random<T>(at.seed, 1), Random<std::uint64_t>(at.seed, 2), s.op, s.values};
  const auto signal = signal_of<T>(at, s.tuple);
  const Buffer in = s.round_trip ? p.input<T>(s.values, signal) : p.input<T>(s.values, value);
  const Buffer out = p.output<T>(s.values);
  // An operator per value and order at least, of an affine map three operations.
  const std::uint64_t operations = s.op == Op::affine ? 3 * s.n : s.order * s.values;
  p.cost = {.read = s.n * s.bytes, .written = s.n * s.bytes, .flops = operations, .items = s.values};
  p.peak = Peak::copy;
  const Scan scan = s.kernel == "hillis_steele" ? hillis_steele(p, at, s)
                    : s.kernel == "three_phase" ? three_phase(p, at, s)
                    : chains(s.kernel)          ? chain<T>(p, at, device, s)
                                                : reduce_then_scan(p, at, s);
  plan_steps(p, at, s, scan, out, in);
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

bool polls(const Case& at) {
  return chains(at.text("kernel")) && !waits(at.text("kernel"), at.is("subgroup_impl", "ptx"));
}

// What is coded undoes differences of whole numbers; an image is there for nothing else.
bool codes_well(const Case& at, bool floating) {
  const bool encode = encodes(at.text("kernel")), round_trip = at.is("task", "round_trip");
  if (!encode && !round_trip) return !at.is("signal", "image");
  if (floating || !at.is("op", "sum") || !at.is("form", "inclusive")) return false;
  return !encode || !(round_trip || at.is("tuple_by", "reorder") || at.text("type").starts_with("u"));
}

bool is_valid(const Case& at) {
  const std::string& kernel = at.text("kernel");
  const bool floating = at.is("type", "float") || at.is("type", "double"),
             ptx = at.is("subgroup_impl", "ptx");
  const bool affine = at.is("op", "affine"), tuples = at.number("tuple") > 1, pascal = kernel == "pascal";
  const bool cpu = kernel == "cpu";
  if (at.is("op", "xor") && floating) return false;
  if (affine && (!at.is("type", "uint") || !at.is("form", "inclusive") || tuples || takes_rows(kernel) ||
                 cpu || pascal))
    return false;
  // A copy moves words of 4 or 8 bytes, whatever they mean.
  const bool words = at.is("type", "uint") || at.is("type", "ulong");
  if (kernel == "copy" && (!words || !at.is("op", "sum") || !at.is("form", "inclusive") || tuples ||
                           at.number("scan_order") > 1 || at.is("task", "round_trip")))
    return false;
  // Higher orders undo differences; a scan of exclusive scans undoes nothing.
  if (at.number("scan_order") > 1 && (floating || !at.is("op", "sum") || !at.is("form", "inclusive")))
    return false;
  if (!codes_well(at, floating)) return false;
  if (pascal && !tuples && at.number("scan_order") == 1) return false;
  if (tuples && cpu) return false;  // knows values alone, and its program none of the kernels that reorder
  if (at.is("tuple_by", "reorder") && (!tuples || pascal || at.number("scan_order") > 1 ||
                                       !at.is("op", "sum") || !at.is("form", "inclusive")))
    return false;
  // A single batch is reduce_then_scan.
  if (kernel == "batched" &&
      static_cast<double>(at.number("n")) <= 256.0 * static_cast<double>(at.number("batch_kib")))
    return false;
  if (!at.is("state_width", "widest") && !chains(kernel)) return false;
  if (!at.is("subgroup_impl", "portable") && (!exchanges(kernel) || affine)) return false;
  // OpenCL's sub-groups have no function for it.
  if (at.is("op", "xor") && at.is("subgroup_impl", "opencl")) return false;
  // A sub-group may have fewer items than a tuple has values.
  if (kernel == "sam" && tuples && !at.is("tuple_by", "reorder") && at.is("subgroup_impl", "opencl"))
    return false;
  if (ptx && (!(takes_rows(kernel) || pascal) || at.is("state_width", "half"))) return false;
  return at.number("fault_rate") == 0 || polls(at);
}

std::vector<Axis> axes_of(const Values& kernels, const Values& types, const Values& ops,
                          const Values& forms) {
  const Values per_item = {16, 4, 8, 32, 48, 64};
  const Values batch_kib = {8192, 1024, 2048, 4096, 16384, 32768};
  std::vector<Axis> axes = {
      {"kernel",
       "hillis_steele: log n passes; three_phase: scan tiles, scan their sums, add; reduce_then_scan: "
       "reduce tiles, scan sums, scan tiles; batched: the same in parts that fit a cache; chained: one "
       "pass, each tile waits for the one before; lookback: it publishes its own sum first and walks "
       "back; lookback_fallback: what is not there it computes itself, so that nothing is waited for; "
       "lookback_parallel: many look back at once; register_tile: vectors in registers; pipelined: its sum "
       "is out before it scans, the next tile's loads before it waits; sam: groups go on from tile to "
       "tile and add what lies between, in a ring of sums; pascal: one exchange for all orders and slots; "
       "cpu: one item, wide vectors; encode: the differences that a scan takes back; encode_run: the same, "
       "an item of each group for a run; copy: the driver's, of as many bytes",
       kernels},
      {.name = "type",
       .meaning = "type of the values",
       .values = types,
       .alike = alike_within({{"uint", "int", "float"}, {"ulong", "long", "double"}})},
      {.name = "op",
       .meaning = "sum, max, xor; affine: composition of maps x -> ax + b, which do not commute",
       .values = ops,
       .alike = alike_within({{"sum", "max", "xor"}})},
      {.name = "form",
       .meaning = "inclusive; exclusive: element i is left out, an initial value comes first",
       .values = forms,
       .alike = all_alike},
      {"task",
       "scan; round_trip: a signal is delta-coded first, and the scan gives it back",
       {"scan", "round_trip"}},
      {"signal",
       "what is delta-coded: tones: with noise, in 16 bits; image: a photograph's pixels, over and over",
       {"tones", "image"}},
      {.name = "scan_order",
       .meaning = "how often: sam keeps its values in registers, pascal exchanges once, others scan again",
       .values = {1},
       .domain = whole(1, 8)},
      {.name = "tuple",
       .meaning =
           "values of a tuple, each scanned by itself; sam and pascal take them as they lie, powers of "
           "two register_tile and pipelined, too",
       .values = {1},
       .domain = whole(1, 32)},
      {"tuple_by",
       "struct: an operator on tuples; reorder: tuples are taken apart first",
       {"struct", "reorder"}},
      {.name = "n",
       .meaning = "values, or affine maps",
       .values = {1 << 22},
       .domain = whole(1, std::int64_t{1} << 34)},
      {.name = "group",
       .meaning = "items of a work-group",
       .values = {256, 64, 128, 512, 1024},
       .tunable = true,
       .domain = whole(1, 4096),
       .when = [](const Case& at) { return !at.is("kernel", "cpu") && !at.is("kernel", "encode_run"); },
       .search_values = group_sizes},
      {.name = "per_work_item",
       .meaning = "elements of a work-item",
       .values = per_item,
       .tunable = true,
       .domain = whole(1, 64),
       .search_values = per_item_worth},
      {.name = "width",
       .meaning = "neighbouring values, as a vector, that an item of encode has, and of encode_run at a time",
       .values = {1, 4},
       .tunable = true,
       .domain = powers_of_two(1, 16),
       .when = [](const Case& at) { return encodes(at.text("kernel")); }},
      {.name = "vectors_per_item",
       .meaning = "vectors of 16 bytes of a work-item of register_tile, pipelined and sam",
       .values = {8, 1, 2, 4, 6, 12, 16},
       .tunable = true,
       .domain = whole(1, 64),
       .when = [](const Case& at) { return takes_rows(at.text("kernel")); }},
      window_axis([](const Case& at) { return has_parallel_lookback(at.text("kernel")); }),
      {.name = "groups_per_cu",
       .meaning =
           "work-groups per compute unit that go on from tile to tile; 0: pipelined one per tile, sam 2",
       .values = {0, 1, 2, 3, 4, 8},
       .tunable = true,
       .domain = whole(0, 1024),
       .when = [](const Case& at) { return is_persistent(at.text("kernel")); },
       .per_compute_unit =
           [](const Case& at) { return at.number("groups_per_cu") > 0 || at.is("kernel", "sam"); }},
      {.name = "prefetch",
       .meaning = "whether sam asks for the next tile's values before it waits, for which it needs registers",
       .values = {"yes", "no"},
       .tunable = true,
       .when = [](const Case& at) { return at.is("kernel", "sam"); }},
      registers_axis(
          "register_tile, pipelined, sam and pascal",
          [](const Case& at) { return takes_rows(at.text("kernel")) || at.is("kernel", "pascal"); }),
      subgroup_axis("how items scan, with ptx those of register_tile, pipelined, sam and pascal alone:"),
      chunk_axis("a tile of cpu, or of a run of encode_run", {256, 16, 32, 64, 128, 512, 1024, 2048},
                 1 << 20),
      {.name = "batch_kib",
       .meaning = "kibibytes of a batch of batched",
       .values = batch_kib,
       .tunable = true,
       .domain = whole(1, 1 << 30),
       .search_values = where([](const Case& at) { return at.is("kernel", "batched"); }, batch_kib)},
      spin_limit_axis(polls),
      state_axis(),
      fault_rate_axis()};
  // The driver's own copy has nothing to tune.
  for (auto& axis : axes) {
    if (axis.tunable)
      axis.when = [when = axis.when](const Case& at) {
        return !at.is("kernel", "copy") && (!when || when(at));
      };
  }
  return axes;
}

// ---- What the authors of SAM found, here ------------------------------------------------------------------

// The least time of a design, by type, order, tuple and n; and the launch that took it.
struct Best {
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>, const Outcome*> at;

  void update_min(const Outcome& o) {
    const Outcome*& best =
        at[{o.at.text("type"), o.at.number("scan_order"), o.at.number("tuple"), o.at.number("n")}];
    if (best == nullptr || o.time_s < best->time_s) best = &o;
  }
  const Outcome* of(const std::string& type, std::int64_t order, std::int64_t tuple, std::int64_t n) const {
    const auto it = at.find({type, order, tuple, n});
    return it == at.end() ? nullptr : it->second;
  }
};

bool is_plain_scan(const Case& at) {
  return at.is("op", "sum") && at.is("form", "inclusive") && at.is("task", "scan") &&
         at.is("state_width", "widest") && at.number("fault_rate") == 0;
}

// SAM, with what its article launched and at its best; the single-pass scans that are repeated for orders,
// and scan structs of tuples or reorder them; three-phase scans; and copies.
struct Designs {
  Best sam, as_published, rival, three_phase, copy;

  explicit Designs(const std::vector<Outcome>& outcomes) {
    for (const auto& o : outcomes) {
      const std::string& kernel = o.at.text("kernel");
      if (!is_plain_scan(o.at)) continue;
      if (kernel == "copy") copy.update_min(o);
      if (kernel == "three_phase") three_phase.update_min(o);
      if (kernel == "sam") sam.update_min(o);
      if (kernel == "sam" && o.at.number("group") == 1024 && o.at.is("prefetch", "no"))
        as_published.update_min(o);
      const bool as_they_lie = o.at.number("tuple") > 1 && o.at.is("tuple_by", "struct");
      if (kernel == "chained" || kernel.starts_with("lookback") ||
          (takes_rows(kernel) && kernel != "sam" && !as_they_lie))
        rival.update_min(o);
    }
  }
};

std::string launch_of(const Outcome& o) {
  return fmt::format("{} group {} rows {} {}", o.at.text("kernel"), o.at.number("group"),
                     o.at.number("vectors_per_item"), o.at.text("subgroup_impl"));
}

// SAM as order or tuple grows and nothing else changes that it heeds.
struct Growth {
  std::int64_t n = 0;
  std::map<std::int64_t, const Outcome*> by_size;

  double seconds() const {
    double sum = 0;
    for (const auto& [size, o] : by_size) sum += o->time_s;
    return sum;
  }
  // More sizes, then a larger n, then less time.
  bool operator<(const Growth& other) const {
    return std::tuple(by_size.size(), n, -seconds()) <
           std::tuple(other.by_size.size(), other.n, -other.seconds());
  }
};

Growth growth_of(const std::vector<Outcome>& outcomes, const std::string& type, const std::string& axis) {
  const std::string grows = axis == "order" ? "scan_order" : "tuple",
                    stays = axis == "order" ? "tuple" : "scan_order";
  std::map<std::string, Growth> by_launch;
  for (const auto& o : outcomes) {
    if (!o.at.is("kernel", "sam") || !o.at.is("type", type) || o.at.number(stays) != 1 ||
        !is_plain_scan(o.at))
      continue;
    std::string launch;
    for (const char* axis_name : {"n", "subgroup_impl", "group", "vectors_per_item", "groups_per_cu",
                                  "prefetch", "registers", "tuple_by"})
      launch += text_of(o.at.at(axis_name)) + " ";
    Growth& growth = by_launch[launch];
    growth.n = o.at.number("n");
    const Outcome*& best = growth.by_size[o.at.number(grows)];
    if (best == nullptr || o.time_s < best->time_s) best = &o;
  }
  Growth most;
  for (const auto& [launch, growth] : by_launch) most = std::max(most, growth);
  return most;
}

void add_growth(std::vector<Finding>& out, const std::vector<Outcome>& outcomes, const std::string& type,
                const std::string& axis) {
  const Growth growth = growth_of(outcomes, type, axis);
  if (growth.by_size.size() < 2) return;
  std::vector<std::string> rates;
  std::vector<double> all;
  for (const auto& [size, o] : growth.by_size) {
    all.push_back(1e-9 * as_double(o->items) / o->time_s);
    rates.push_back(fmt::format("{}: {:.3g}", size, all.back()));
  }
  const bool falls = std::ranges::adjacent_find(all, std::less_equal<>()) == all.end();
  out.push_back({fmt::format("sam_by_{}_{}", axis, type), all.back() / all.front(), "ratio",
                 fmt::format("G items/s of {} {} {} with {}, {}, all {}: that of {} over the first", growth.n,
                             type, falls ? "fall" : "do not fall steadily", axis, fmt::join(rates, ", "),
                             launch_of(*growth.by_size.begin()->second), growth.by_size.rbegin()->first)});
}

// Its lead over the rival, each at its best, of the size that most of them have.
void add_gains(std::vector<Finding>& out, const Designs& designs, const std::string& type,
               const std::string& axis, std::int64_t n) {
  for (std::int64_t size = 2; size <= 32; ++size) {
    const std::int64_t order = axis == "order" ? size : 1, tuple = axis == "tuple" ? size : 1;
    const Outcome* sam = designs.sam.of(type, order, tuple, n);
    const Outcome* rival = designs.rival.of(type, order, tuple, n);
    if (sam == nullptr || rival == nullptr) continue;
    const double gain = rival->time_s / sam->time_s;
    const std::string text = fmt::format("{} {} of {} {}: time of {} over that of {}", axis, size, n, type,
                                         launch_of(*rival), launch_of(*sam));
    out.push_back({.name = fmt::format("sam_gain_{}_{}_{}", axis, size, type),
                   .value = gain,
                   .unit = "ratio",
                   .text = text,
                   .published = fmt::format("sam_gain_{}_{}", axis, size)});
  }
}

// Compares three phases with the best single pass, at the largest size that both were measured at.
void add_single_pass_gain(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  std::map<std::int64_t, std::array<const Outcome*, 2>> fastest;  // by n: three phases, and a single pass
  for (const auto& o : outcomes) {
    const bool three = o.at.is("kernel", "three_phase");
    if (!is_plain_scan(o.at) || !o.at.is("type", "uint") || o.at.number("scan_order") != 1 ||
        o.at.number("tuple") != 1 || !(three || chains(o.at.text("kernel"))))
      continue;
    const Outcome*& entry = fastest[o.at.number("n")][three ? 0 : 1];
    if (entry == nullptr || o.time_s < entry->time_s) entry = &o;
  }
  std::erase_if(fastest, [](const auto& of_n) { return !of_n.second[0] || !of_n.second[1]; });
  if (fastest.empty()) return;
  const auto& [n, both] = *fastest.rbegin();
  const std::string& kernel = both[1]->at.text("kernel");
  out.push_back({.name = "single_pass_gain",
                 .value = both[0]->time_s / both[1]->time_s,
                 .unit = "ratio",
                 .text = fmt::format("time of three phases over that of {}, n={}", kernel, n),
                 .note = fmt::format("{}, n={}", kernel, n),
                 .from = {both[0], both[1]}});
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const Designs designs(outcomes);
  std::map<std::string, std::map<std::int64_t, int>> sizes;  // by type and n, how many orders and tuples
  for (const auto& [key, best] : designs.sam.at) ++sizes[std::get<0>(key)][std::get<3>(key)];
  std::vector<Finding> out;
  for (const auto& entry : sizes) {
    const std::string& type = entry.first;
    const auto& counts = entry.second;
    std::int64_t fullest = 0;  // the largest of those with the most
    for (const auto& [n, count] : counts)
      fullest = !counts.contains(fullest) || count >= counts.at(fullest) ? n : fullest;
    // At the largest size that both were measured at.
    const auto ratio = [&](const std::string& name, const Best& of, const Best& over, const char* text) {
      for (const auto& [n, count] : boost::adaptors::reverse(counts)) {
        const Outcome* one = of.of(type, 1, 1, n);
        const Outcome* other = over.of(type, 1, 1, n);
        if (one == nullptr || other == nullptr) continue;
        out.push_back(
            {.name = fmt::format("{}_{}", name, type),
             .value = one->time_s / other->time_s,
             .unit = "ratio",
             .text = fmt::format("{}, {} {}: {} over {}", text, n, type, launch_of(*one), launch_of(*other)),
             .published = name});
        return;
      }
    };
    ratio("sam_of_copy", designs.copy, designs.sam, "time of a copy over that of SAM");
    ratio("sam_published_launch", designs.as_published, designs.sam,
          "time with the published launch over that with the best");
    ratio("sam_over_three_phase", designs.three_phase, designs.sam,
          "time of three phases, 4n accesses, over that of SAM, 2n");
    ratio("sam_over_rival", designs.rival, designs.sam,
          "time of the best other single pass over that of SAM");
    for (const char* axis : {"order", "tuple"}) {
      add_gains(out, designs, type, axis, fullest);
      add_growth(out, outcomes, type, axis);
    }
  }
  add_single_pass_gain(out, outcomes);
  return out;
}

// Not of the kernels that compute nothing, or work in vain.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto counts = [](const Case& at) {
    return is_plain_scan(at) && at.is("type", "uint") && at.number("scan_order") == 1 &&
           at.number("tuple") == 1 && !at.is("kernel", "copy") && !encodes(at.text("kernel")) &&
           !at.is("kernel", "hillis_steele");
  };
  auto out = with_own_subgroup_impl(outcomes, device, is_valid, counts);
  std::ranges::move(at_device_size(outcomes, device, 2, plan<std::uint32_t>, counts),
                    std::back_inserter(out));
  return out;
}

Presets presets_of(const Values& kernels, const Values& types, const Values& ops, const Values& forms) {
  const Values tile_kernels = {"hillis_steele", "three_phase", "reduce_then_scan",  "batched",
                               "chained",       "lookback",    "lookback_fallback", "lookback_parallel"};
  const Values row_kernels = {"register_tile", "pipelined"};
  // The sizes of the published plots.
  Values sizes;
  for (std::int64_t n = 1 << 10; n <= 1 << 30; n *= 2) sizes.emplace_back(n);
  for (std::int64_t n = 1000; n <= 1000000000; n *= 10) sizes.emplace_back(n);
  const Values few = {1 << 16, 1 << 20, 1 << 24, 1 << 28};
  const Values widths = {"uint", "ulong"};
  const std::string own = " subgroup_impl=ptx,opencl,amd";
  const Values orders = {2, 5, 8}, tuples = {2, 5, 8};
  const Values all_orders = {1, 2, 3, 4, 5, 6, 7, 8};
  const Values all_tuples = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32};
  // As published: groups of 1024, two per compute unit, whose values leave an item 32 registers. Where the
  // compiler takes no such word, it may give more, and then fewer groups fit.
  const std::string launch = " group=1024 vectors_per_item=2 groups_per_cu=2 prefetch=no";
  const std::string best = " group=512 vectors_per_item=8", best_tuples = " group=512 vectors_per_item=4";
  // Its installer chose how many values an item takes; and what was the fastest of an H200.
  // Of tuples no local memory holds four rows of such groups.
  const auto chosen = [&](const Values& n, const std::string& what) -> Sweeps {
    const std::string all = "kernel=sam type=" + widths + what + " n=" + n;
    const std::string published = " group=1024 groups_per_cu=2 prefetch=no";
    return {all + published + (what.starts_with(" tuple") ? " vectors_per_item=1" : " vectors_per_item=1,4"),
            all + published + " vectors_per_item=1,4 registers=32 subgroup_impl=ptx",
            all + " group=256 vectors_per_item=8 groups_per_cu=4 subgroup_impl=portable,ptx"};
  };
  const auto sam = [&](const Values& n, const std::string& what, const std::string& tuned) -> Sweeps {
    return {"kernel=sam type=" + widths + what + " n=" + n + launch,
            "kernel=sam type=" + widths + what + " n=" + n + tuned};
  };
  const auto sam_ptx = [&](const Values& n, const std::string& what, const std::string& tuned) -> Sweeps {
    return {"kernel=sam type=" + widths + what + " n=" + n + launch + " registers=32 subgroup_impl=ptx",
            "kernel=sam type=" + widths + what + " n=" + n + tuned + " subgroup_impl=ptx"};
  };
  const auto plots = [&](const Values& n) -> Sweeps {
    const std::string by_order = " scan_order=" + orders, by_tuple = " tuple=" + tuples;
    return Sweeps{"kernel=copy,three_phase,lookback_parallel,register_tile,pipelined,cpu type=" + widths +
                      " n=" + n,
                  "kernel=register_tile type=" + widths + by_order + " n=" + n + " vectors_per_item=8",
                  "kernel=lookback_parallel type=" + widths + by_tuple + " n=" + n + " group=128",
                  "kernel=sam type=uint n=" + n + launch + " registers=32 subgroup_impl=ptx",
                  "kernel=sam type=uint n=" + n + best + " subgroup_impl=ptx",
                  "kernel=sam type=uint n=" + n +
                      " group=256 vectors_per_item=8 groups_per_cu=4 subgroup_impl=portable,ptx"} +
           sam(n, "", best) + sam(n, by_order, best) + sam(n, by_tuple, best_tuples);
  };
  // What is beside the plots: what else there is for orders and tuples, and what one device's own lanes
  // bring them. pascal: tiles of nearly as much local memory as a device is sure to have.
  const auto beside = [&](const Values& n) -> Sweeps {
    return Sweeps{"kernel=pascal type=uint scan_order=" + orders + " n=" + n + " group=192 per_work_item=48",
                  "kernel=pascal type=ulong scan_order=" + orders + " n=" + n + " group=96 per_work_item=48",
                  "kernel=pascal type=uint tuple=" + tuples + " n=" + n + " group=192 per_work_item=48",
                  "kernel=pascal type=ulong tuple=" + tuples + " n=" + n + " group=96 per_work_item=48",
                  "kernel=pascal type=uint scan_order=" + orders + " n=" + n +
                      " group=128 per_work_item=64 subgroup_impl=ptx",
                  "kernel=pascal type=ulong scan_order=" + orders + " n=" + n +
                      " group=128 per_work_item=32 subgroup_impl=ptx",
                  "kernel=pipelined type=" + widths + " tuple=2,8 n=" + n +
                      " group=128 vectors_per_item=12 subgroup_impl=portable,ptx",
                  "kernel=register_tile type=" + widths + " tuple=" + tuples + " tuple_by=reorder n=" + n,
                  "kernel=register_tile,pipelined type=" + widths + " n=" + n +
                      " vectors_per_item=8 subgroup_impl=ptx",
                  "kernel=pipelined type=" + widths + " scan_order=" + orders + " n=" + n +
                      " vectors_per_item=8 subgroup_impl=ptx"} +
           sam_ptx(n, "", best) + sam_ptx(n, " scan_order=" + orders, best) +
           sam_ptx(n, " tuple=" + tuples, best_tuples) + chosen(n, "") + chosen(n, " scan_order=" + orders) +
           chosen(n, " tuple=" + tuples);
  };
  // Every order and tuple that SAM knows, and both together.
  const auto grown = [&](const Values& n) -> Sweeps {
    return Sweeps{"kernel=register_tile type=" + widths + " scan_order=" + all_orders + " n=" + n,
                  "kernel=lookback_parallel,pascal type=uint tuple=" + all_tuples + " n=" + n +
                      " group=64 per_work_item=32",
                  "kernel=pipelined type=uint tuple=2,4,8,16,32 n=" + n +
                      " group=128 vectors_per_item=12 subgroup_impl=ptx"} +
           sam(n, " scan_order=" + all_orders, best) +
           Sweeps{"kernel=sam type=" + widths + " tuple=" + all_tuples + " n=" + n +
                  " group=512 vectors_per_item=2"} +
           sam(n, " scan_order=2,5,8 tuple=2,5,8", best_tuples);
  };
  return {
      .smoke =
          {"kernel=" + tile_kernels + " n=1,255,257,4099 group=64 per_work_item=4 batch_kib=2 window=8",
           "kernel=" + row_kernels + " n=1,1023,1025,4099 group=64",
           "kernel=cpu scan_order=1,3 n=1,4095,12289 chunk_kib=1",
           "kernel=encode type=int scan_order=1,3 tuple=1,2,4 width=1,4 n=1,4099",
           "kernel=encode type=long scan_order=2 tuple=3 width=2,4 n=4099",
           "kernel=encode type=int signal=image n=4099",
           "kernel=encode_run type=int scan_order=1,3 tuple=1,2 width=1,16 n=1,4099 chunk_kib=1",
           "kernel=encode_run type=long scan_order=2 tuple=3 width=4 n=4099 chunk_kib=3",
           "kernel=three_phase type=float op=max form=exclusive n=1,1009 group=32 per_work_item=2",
           "kernel=reduce_then_scan type=ulong op=xor form=exclusive n=1009 group=32 per_work_item=2",
           "kernel=chained type=long form=exclusive n=1009 group=32 per_work_item=2 state_width=half",
           "kernel=lookback_fallback,lookback_parallel op=affine n=1009 group=32 per_work_item=2 "
           "state_width=half "
           "fault_rate=3",
           "kernel=lookback_parallel op=xor tuple=3 n=4099 group=32 window=4",
           "kernel=register_tile tuple=3 tuple_by=reorder n=4099 group=32",
           "kernel=pipelined type=double form=exclusive n=4099 group=32 vectors_per_item=2 groups_per_cu=1 "
           "fault_rate=2",
           "kernel=register_tile,pipelined tuple=2,4,32 n=1,4099 group=64 vectors_per_item=2 window=8",
           "kernel=register_tile,pipelined type=long op=max form=exclusive tuple=8 n=9001 group=32 "
           "vectors_per_item=1 groups_per_cu=1 window=8 state_width=half fault_rate=3",
           "kernel=sam scan_order=3 n=1,33001 group=32 vectors_per_item=1 groups_per_cu=1 state_width=half",
           "kernel=sam tuple=2,3,32 n=4099,33001 group=64 vectors_per_item=1 groups_per_cu=1",
           "kernel=sam type=long scan_order=2 tuple=5 n=33001 group=96 vectors_per_item=2 prefetch=no",
           "kernel=sam op=max form=exclusive tuple=3 n=9001 group=32 vectors_per_item=2 groups_per_cu=3",
           "kernel=sam type=int task=round_trip scan_order=2 tuple=3 n=4099 group=64 vectors_per_item=2",
           "kernel=register_tile,pipelined,sam,pascal n=9001 group=64 vectors_per_item=2 groups_per_cu=1 "
           "registers=48 subgroup_impl=portable,ptx",
           "kernel=pipelined tuple=4 n=9001 group=64 vectors_per_item=2 registers=48 "
           "subgroup_impl=portable,ptx",
           "kernel=copy n=1,4099",
           "kernel=pascal scan_order=8 n=1,1025,4099 group=32 per_work_item=4 window=8",
           "kernel=pascal type=long scan_order=2 tuple=5 n=4099 group=32 per_work_item=4 window=4 "
           "state_width=half fault_rate=2",
           "kernel=pascal op=max form=exclusive tuple=3 n=4099 group=32 window=4",
           "kernel=lookback_fallback,pascal type=int task=round_trip scan_order=2 tuple=2 n=4099 "
           "group=32 per_work_item=4 window=4",
           "kernel=pascal type=int task=round_trip signal=image scan_order=2 n=4099 group=32 per_work_item=4 "
           "window=4",
           "kernel=cpu type=int op=max form=exclusive n=12299 chunk_kib=1 state_width=half fault_rate=2",
           "kernel=three_phase,reduce_then_scan,chained,lookback,lookback_fallback,lookback_parallel "
           "n=1,4099 group=64 per_work_item=4" +
               own,
           "kernel=register_tile,pipelined,sam n=1,9001 group=64 vectors_per_item=2 groups_per_cu=1" + own,
           "kernel=register_tile,lookback_parallel type=long op=max,xor form=exclusive n=4099 group=192 "
           "per_work_item=2 vectors_per_item=2" +
               own,
           "kernel=lookback_parallel tuple=3 n=4099 group=64 fault_rate=2 state_width=half" + own,
           "kernel=pipelined type=double n=9001 group=128 vectors_per_item=2 groups_per_cu=1 fault_rate=2" +
               own,
           "kernel=pascal scan_order=3 tuple=2 n=1,4099 group=64 per_work_item=4" + own,
           "kernel=pascal type=long scan_order=2 n=4099 group=192 per_work_item=4 state_width=half "
           "fault_rate=2" +
               own,
           "kernel=pipelined,register_tile type=uint,ulong tuple=2,8,32 n=9001 group=64 vectors_per_item=2" +
               own,
           "kernel=pipelined op=max form=exclusive tuple=2,4 n=9001 group=128 vectors_per_item=3" + own,
           "kernel=sam type=ulong scan_order=2 tuple=3 n=9001 group=64 vectors_per_item=2" + own},
      .quick = {"kernel=" + kernels + " n=4194304 per_work_item=16 vectors_per_item=8",
                "kernel=register_tile,sam scan_order=2,8 n=4194304 per_work_item=32 vectors_per_item=8",
                "kernel=pascal,cpu scan_order=2,8 n=4194304 per_work_item=32 vectors_per_item=8",
                "kernel=lookback_parallel,pascal tuple=8 n=4194304 per_work_item=32",
                "kernel=pascal scan_order=8 n=4194304 group=128 per_work_item=48 subgroup_impl=ptx",
                "kernel=pipelined tuple=8 n=4194304 group=128 vectors_per_item=12 subgroup_impl=portable,ptx",
                "kernel=sam tuple=1,2,8 n=4194304 vectors_per_item=4",
                "kernel=encode type=int signal=image scan_order=2 n=4194304",
                "kernel=cpu type=int task=round_trip signal=image scan_order=2 n=4194304 per_work_item=32"},
      .profile = {"kernel=three_phase,lookback,lookback_fallback,lookback_parallel,pascal,cpu n=4194304 "
                  "per_work_item=16 "
                  "vectors_per_item=8"},
      .paper = plots(sizes) + beside(few) + grown({1 << 24}) +
               Sweeps{"kernel=encode type=int signal=tones,image scan_order=1,2,3,8 width=1,4 n=16777216"},
      .full =
          Sweeps{"kernel=" + kernels + " n=1048576,16777216,268435456 per_work_item=16 vectors_per_item=8",
                 "kernel=register_tile,pipelined,sam subgroup_impl=ptx n=1048576,16777216,268435456 "
                 "vectors_per_item=8,12",
                 "kernel=" + kernels + " type=" + types + " op=" + ops + " form=" + forms + " n=1000003",
                 "kernel=pascal,sam scan_order=1,2,3,4,5,6,7,8 tuple=1,2,3,4 n=1000003",
                 "kernel=lookback_fallback,pascal,sam type=int task=round_trip "
                 "scan_order=1,2,3,4,5,6,7,8 tuple=1,2,3 n=4194304 vectors_per_item=4",
                 "kernel=encode type=int signal=tones,image scan_order=1,2,3 tuple=1,3 width=1,4 n=4194304",
                 "kernel=lookback_fallback,pascal type=int task=round_trip signal=image "
                 "scan_order=1,2,8 tuple=1,3 n=4194304",
                 "kernel=lookback_fallback n=16777216 fault_rate=0,2,8,64,512"} +
          grown({1 << 26, 1 << 28}),
      // Of orders and tuples pascal, too.
      .tune = {"kernel=pipelined,register_tile,lookback_parallel,lookback_fallback,three_phase,cpu",
               "kernel=pipelined,register_tile subgroup_impl=ptx group=128,256 window=64",
               "kernel=pascal group=128 per_work_item=48 subgroup_impl=portable,ptx"}};
}

}  // namespace

Family scan() {
  const Values kernels = {"hillis_steele",
                          "three_phase",
                          "reduce_then_scan",
                          "batched",
                          "chained",
                          "lookback",
                          "lookback_fallback",
                          "lookback_parallel",
                          "register_tile",
                          "pipelined",
                          "sam",
                          "pascal",
                          "cpu",
                          "encode",
                          "encode_run",
                          "copy"};
  const Values types = {"uint", "int", "ulong", "long", "float", "double"};
  const Values ops = {"sum", "max", "xor", "affine"};
  const Values forms = {"inclusive", "exclusive"};
  return {
      .name = "scan",
      .question = "How fast is a prefix scan, and what does each idea on the way to a single pass bring?",
      .axes = axes_of(kernels, types, ops, forms),
      .presets = presets_of(kernels, types, ops, forms),
      .view = {.rows = {"kernel", "scan_order", "tuple", "group", "subgroup_impl"},
               .columns = {"n"},
               .quantity = "items",
               .chapter = "Scan and compaction",
               .graphs = {{.name = "size", .x = {"n"}, .series = {"kernel"}, .quantity = "items"},
                          {.name = "order", .x = {"scan_order"}, .series = {"kernel"}, .quantity = "items"},
                          {.name = "tuple", .x = {"tuple"}, .series = {"kernel"}, .quantity = "items"}},
               .headline = true},
      .derived = {{"traffic_bytes", "bytes that the design asks of memory, tile states and sums aside"},
                  {"auxiliary_bytes", "of memory that the design needs beside input and output"},
                  {"residue",
                   "what encode leaves of a value, on average: by how much predictions of its order miss"}},
      .is_valid = is_valid,
      .plan = for_types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); }),
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::algorithms,
      .traits = {{.finding = "single_pass_gain",
                  .unit = "x",
                  .meaning = "time of a scan in three phases over the best in one",
                  .with_tuned = true}},
      .for_comparison = [](const Case& at) { return at.is("kernel", "copy"); },
      .no_merit =
          [](const Case& at) {
            return at.is("kernel", "hillis_steele") || encodes(at.text("kernel")) ||
                   at.is("task", "round_trip") || at.number("tuple") > 1 || at.number("scan_order") > 1;
          },
      .memory_bound = true};
}

}  // namespace clweave::families
