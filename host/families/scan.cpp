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
// the column traffic_bytes.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>

#include "base/parallel.hpp"
#include "base/table.hpp"
#include "families/shared/photograph.hpp"
#include "families/shared/tile_states.hpp"
#include "suite/family.hpp"

namespace clweave {

namespace {

constexpr std::int64_t initial_value = 12345;  // of exclusive scans
constexpr std::uint64_t bundle = 32;           // items that share shuffles
constexpr std::uint64_t vector_bytes = 16;

// ---- Operators -----------------------------------------------------------------------------------------

enum class Op { sum = 1, max, xor_, affine };  // numbered as in elements.cl

Op op_of(const Case& at) {
  if (at.is("op", "sum")) return Op::sum;
  if (at.is("op", "max")) return Op::max;
  return at.is("op", "xor") ? Op::xor_ : Op::affine;
}

template <class T>
T combined(Op op, T l, T r) {
  if (op == Op::max) return std::max(l, r);
  if constexpr (std::is_integral_v<T>) {
    using Wraps = std::make_unsigned_t<T>;
    if (op == Op::xor_) return l ^ r;
    return static_cast<T>(static_cast<Wraps>(l) + static_cast<Wraps>(r));
  } else {
    return l + r;
  }
}

template <class T>
T identity_of(Op op) {
  return op == Op::max ? std::numeric_limits<T>::lowest() : T(0);
}

// ---- Inputs --------------------------------------------------------------------------------------------

template <class T>
struct Input {
  Random<T> random;
  Random<std::uint64_t> bits;
  Op op;
  std::uint64_t n;

  T operator()(std::uint64_t i) const {
    if (op == Op::max) {
      // It climbs: of plain random values the maximum would soon stand still, and hide a lost carry.
      if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(static_cast<double>(i + bits(i) % 64) / static_cast<double>(n) - 0.5);
      } else {
        using Wraps = std::make_unsigned_t<T>;
        const Wraps step = static_cast<Wraps>(std::numeric_limits<Wraps>::max() / (n + 64) / 2);
        const auto height =
            static_cast<Wraps>(static_cast<Wraps>(i) * step + bits(i) % (64 * std::uint64_t{step}));
        return static_cast<T>(height + static_cast<Wraps>(std::numeric_limits<T>::lowest()) + 1);
      }
    }
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(static_cast<int>(bits(i) % 128) * 2 - 127);
    return random(i);
  }
};

// What delta coding is for: TUPLE channels, each of two tones and a little noise, in 16 bits; or the pixels
// of a photograph over and over, from where the seed says.
template <class T>
struct Signal {
  Random<std::uint64_t> bits;
  std::uint64_t channels;
  std::string_view pixels;  // empty: tones
  std::uint64_t start = pixels.empty() ? 0 : bits(0) % pixels.size();

  T operator()(std::uint64_t i) const {
    if (!pixels.empty())
      return static_cast<T>(static_cast<unsigned char>(pixels[(start + i) % pixels.size()]));
    const auto time = static_cast<double>(i / channels), channel = static_cast<double>(i % channels);
    const double tones =
        20000 * std::sin(time * (0.01 + 0.002 * channel)) + 9000 * std::sin(time * 0.0731 + channel);
    return static_cast<T>(static_cast<std::int64_t>(tones) + static_cast<std::int64_t>(bits(i) % 64));
  }
};

template <class T>
Signal<T> signal_of(const Case& at, std::uint64_t channels) {
  return {Random<std::uint64_t>(at.seed, 2), channels,
          at.is("signal", "image") ? photograph().pixels : std::string_view()};
}

// ---- The reference -------------------------------------------------------------------------------------

// C(m + e - 1, e) for e below `order`, modulo 2^64, the coefficients of (1 - z)^-m: what m zeros make of the
// ends of the scans of all orders.
using Weights = std::vector<std::uint64_t>;

Weights product(const Weights& a, const Weights& b) {
  Weights out(a.size());
  for (std::size_t e = 0; e < out.size(); ++e) {
    for (std::size_t i = 0; i <= e; ++i) out[e] += a[i] * b[e - i];
  }
  return out;
}

Weights weights(std::int64_t m, std::uint64_t order) {
  Weights result(order), power(order, m < 0 ? 0 : 1);  // of 0, and of 1 or -1
  result[0] = power[0] = 1;
  if (m < 0 && order > 1) power[1] = ~std::uint64_t{0};
  for (m = std::abs(m); m > 0; m /= 2) {
    if (m % 2 == 1) result = product(result, power);
    power = product(power, power);
  }
  return result;
}

// Any value of the scan, from a table of the states at every `block` values. The table is made by the first
// check, on all threads. A state holds the last value of each order of each slot; that of an affine scan is
// the map's factor and shift.
template <class T>
class Reference {
 public:
  Reference(const Input<T>& input, bool exclusive, std::uint64_t n, std::uint64_t order, std::uint64_t tuple)
      : input_(input), exclusive_(exclusive), n_(n), order_(order), tuple_(tuple) {}

  // Gives one scanned value after the other.
  class Walk {
   public:
    Walk(std::shared_ptr<const Reference> of, std::uint64_t first)
        : of_(std::move(of)),
          state_(of_->before_.at(first / of_->block())),
          i_(first / of_->block() * of_->block()) {
      while (i_ < first) (void)(*this)();
    }
    T operator()() {
      const T value = of_->step(state_, i_++, slot_);
      if (++slot_ == of_->tuple_) slot_ = 0;
      return value;
    }

   private:
    std::shared_ptr<const Reference> of_;
    std::vector<T> state_;
    std::uint64_t i_, slot_ = 0;
  };

  void tabulate() const {
    std::call_once(once_, [this] {
      before_.assign(n_ / block() + 1, neutral());
      for_stretches(before_.size(), 1, [this](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t b = begin; b < end; ++b) {
          for (std::uint64_t i = b * block(); i < std::min(n_, (b + 1) * block()); ++i)
            (void)step(before_[b], i, i % tuple_);
        }
      });
      const Weights across = weights(static_cast<std::int64_t>(block() / tuple_), order_);
      State carry = neutral();
      if (exclusive_) std::ranges::fill(carry, static_cast<T>(initial_value));
      for (auto& state : before_) {
        std::swap(state, carry);
        carry = joined(state, carry, across);
      }
    });
  }

 private:
  using State = std::vector<T>;

  std::uint64_t block() const { return 4096 / tuple_ * tuple_; }

  State neutral() const {
    if (input_.op == Op::affine) return {1, 0};
    return State(order_ * tuple_, identity_of<T>(input_.op));
  }
  State joined(const State& l, const State& r, const Weights& across) const {
    State both = r;
    if (input_.op == Op::affine) {
      both = {static_cast<T>(r[0] * l[0]), static_cast<T>(r[0] * l[1] + r[1])};
    } else if (order_ == 1) {
      for (std::size_t i = 0; i < both.size(); ++i) both[i] = combined(input_.op, l[i], r[i]);
    } else {
      for (std::size_t i = 0; i < both.size(); ++i) {
        for (std::size_t j = i / order_ * order_; j <= i; ++j)
          both[i] = static_cast<T>(static_cast<std::uint64_t>(both[i]) +
                                   across[i - j] * static_cast<std::uint64_t>(l[j]));
      }
    }
    return both;
  }
  // Scans value i; of an affine map, the values 2k and 2k + 1 are its factor and its shift.
  T step(State& state, std::uint64_t i, std::uint64_t slot) const {
    if (input_.op == Op::affine) {
      if (i % 2 == 0) state = joined(state, {input_(i), input_(i + 1)}, {});
      return state[i % 2];
    }
    T* const own = &state[slot * order_];
    const T before = own[order_ - 1];
    T x = input_(i);
    for (std::size_t k = 0; k < order_; ++k) x = own[k] = combined(input_.op, own[k], x);
    return exclusive_ ? before : x;
  }

  Input<T> input_;
  bool exclusive_;
  std::uint64_t n_, order_, tuple_;
  mutable std::once_flag once_;
  mutable std::vector<State> before_;
};

// ---- Plans ---------------------------------------------------------------------------------------------

bool takes_rows(const std::string& kernel) {
  return kernel == "register_tile" || kernel == "pipelined" || kernel == "sam";
}
bool chains(const std::string& kernel) {
  return kernel == "chained" || kernel.starts_with("lookback") || takes_rows(kernel) || kernel == "pascal" ||
         kernel == "cpu";
}
bool waits(const std::string& kernel, bool ptx) {
  return kernel == "chained" || kernel == "lookback" || kernel == "sam" || ptx;
}

// What all plans know of their case.
struct Setting {
  std::string kernel;
  Op op;
  bool exclusive, ptx, reorder, halves, round_trip;
  std::uint64_t order, tuple, drop, polls, batch_bytes, groups_per_unit;
  std::uint64_t scans;               // one after the other
  std::uint64_t values, n;           // values; elements, which are tuples, maps, or values
  std::uint64_t bytes, known_bytes;  // of an element; of what is known of a stretch of them
  std::uint64_t parts;               // values of what is known
  std::uint64_t group, items, rows, window;
  std::uint64_t tile, tiles;  // elements of a tile

  std::uint64_t state_bits() const { return halves ? 32 : 64; }
};

Setting setting_of(const Case& at, const DeviceInfo& device, std::uint64_t value_bytes) {
  Setting s = {};
  s.kernel = at.text("kernel");
  s.op = op_of(at);
  s.exclusive = at.is("form", "exclusive");
  s.ptx = at.is("lanes", "ptx");
  s.round_trip = at.is("task", "round_trip");
  s.halves = !device.int64_atomics || at.is("state", "halves");
  s.order = at.count("scan_order", 1, 8);
  s.tuple = at.count("tuple", 1, 32);
  s.drop = at.count("drop", 0, 1000000);
  s.polls = at.count("polls", 1, 60000);
  s.batch_bytes = at.count("batch_kib", 1, 1 << 30) * 1024;
  s.groups_per_unit = at.count("groups_per_unit", 0, 1024);
  const bool pascal = s.kernel == "pascal", cpu = s.kernel == "cpu";
  s.reorder = s.tuple > 1 && !pascal && at.is("tuple_by", "reorder");
  s.scans = pascal || cpu || s.kernel == "sam" ? 1 : s.order;
  const bool structs = s.tuple > 1 && !pascal && !s.reorder;
  const std::uint64_t together = s.op == Op::affine ? 2 : structs ? s.tuple : 1;
  s.parts = pascal ? s.order * s.tuple : cpu ? s.order : structs ? s.tuple : 1;
  s.bytes = value_bytes * together;
  s.known_bytes = value_bytes * (s.op == Op::affine ? 2 : s.parts);

  const std::uint64_t n = at.count("n", 1, std::int64_t{1} << 34);
  s.values = s.op == Op::affine ? 2 * n : std::max(s.tuple, n - n % s.tuple);
  s.n = s.values / together;
  s.group = cpu ? 1 : at.count("group", 1, 4096);
  s.window = at.count("window", 1, 4096);
  if (!s.ptx) s.window = std::min(s.window, s.group);
  s.items = at.count("per_item", 1, 64);
  // pascal takes whole tuples and whole vectors.
  s.items = pascal    ? round_up(s.items, std::lcm(s.tuple, vector_bytes / value_bytes))
            : structs ? std::max<std::uint64_t>(1, s.items / s.tuple)
                      : s.items;
  s.rows = at.count("rows", 1, 64);
  s.tile = cpu                    ? round_up(at.count("chunk_kib", 1, 1 << 20) * 1024 / s.bytes, 16 * 16 * 16)
           : takes_rows(s.kernel) ? s.group * s.rows * (vector_bytes / s.bytes)
                                  : s.group * s.items;
  s.tiles = ceil_div(s.n, s.tile);
  return s;
}

// What the kernel declares, so that a device with less is refused and not asked.
std::uint64_t local_bytes_of(const Setting& s) {
  if (s.kernel == "cpu" || (s.ptx && s.kernel != "pascal")) return 1024;
  const std::uint64_t seen = s.window * (s.known_bytes + 8);
  if (s.kernel == "pascal") {
    const std::uint64_t vectors = s.group * (s.items * s.bytes / vector_bytes | 1);
    return vectors * vector_bytes + 32 +
           (s.ptx ? (s.group / bundle + 2) * s.known_bytes : s.group * s.known_bytes + seen);
  }
  const bool rows = takes_rows(s.kernel);
  const std::uint64_t tile = rows ? s.group * (s.rows + (s.kernel == "sam" ? 2 : 0)) : s.tile;
  const std::uint64_t window = s.kernel == "lookback_wide" || rows ? seen : 0;
  const std::uint64_t sums = 2 * s.group * s.known_bytes;
  return s.bytes * (tile + tile / bundle) + sums + window + 2 * s.known_bytes + 32;
}

void refuse_what_cannot_be(const Setting& s, const DeviceInfo& device) {
  const std::uint64_t local = local_bytes_of(s);
  Plan::need(
      local <= static_cast<std::uint64_t>(device.local_bytes),
      std::to_string(local) + " bytes of local memory, the device has " + std::to_string(device.local_bytes));
  Plan::need(!s.ptx || device.has_extension("cl_nv_pragma_unroll"), "lanes=ptx needs NVIDIA's compiler");
  Plan::need(!s.ptx || !s.halves, "lanes=ptx needs 64-bit atomics");
  Plan::need(!waits(s.kernel, s.ptx) || device.groups_make_progress(),
             "a group that has started may never go on while others wait for it");
  const std::uint64_t most_tiles = s.halves ? 1 << 17 : INT32_MAX / 2;
  Plan::need(s.tiles <= most_tiles,
             std::to_string(s.tiles) + " tiles, the tickets count to " + std::to_string(most_tiles));
  if ((takes_rows(s.kernel) || s.ptx) && (s.group % bundle != 0 || s.group > bundle * bundle))
    throw Error(Kind::usage, "group must be a multiple of 32, up to 1024");
  if (s.ptx && (s.window % bundle != 0 || s.window > 8 * bundle))
    throw Error(Kind::usage, "with lanes=ptx, window must be a multiple of 32, up to 256");
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
               std::uint64_t{1} << pass, std::uint32_t{pass == 0});
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

template <class T>
Scan chain(Plan& p, const Case& at, const DeviceInfo& device, const Setting& s) {
  // Seconds: a wait that ends without its value makes a wrong result, not an endless run.
  const std::uint64_t enough = device.type == "cpu" ? 1 << 28 : 1 << 20;
  p.define("STATE_BITS", s.state_bits()).define("POLLS", waits(s.kernel, s.ptx) ? enough : s.polls);
  p.define("DROP", s.drop).define("PTX", s.ptx ? 1 : 0).define("WINDOW", s.window);
  const bool sam = s.kernel == "sam", cpu = s.kernel == "cpu";
  if (cpu) {
    need_turns(device, s.n / 8, s.tiles);  // vectors of 16, once to add them up and once to scan
    Plan::need(s.order == 1 || !device.is_llvmpipe(),
               "llvmpipe's compiler takes minutes for blocks of 256 values");
    p.define("CHUNK", s.tile).define("PLAIN_WILL_DO", 1);
    p.define("STREAMING", 2 * s.n * s.bytes > static_cast<std::uint64_t>(device.cache_bytes) ? 1 : 0);
  }
  if (takes_rows(s.kernel)) p.define("ROWS", s.rows).define("VEC", vector_bytes / sizeof(T));

  const bool persists = sam || cpu || (s.kernel == "pipelined" && s.groups_per_unit > 0);
  const std::uint64_t resident = device.units() * (s.groups_per_unit > 0 ? s.groups_per_unit : cpu ? 1 : 2);
  const std::uint64_t groups = persists ? std::min(resident, s.tiles) : s.tiles;
  if (s.kernel == "pipelined") p.define("AHEAD", persists ? 1 : 0);
  // Of so many barriers behind each other, PoCL makes programs that take minutes to compile.
  if (sam) p.define("UNROLL_ORDERS", device.type == "cpu" ? 0 : 1);
  // A group holds three tickets at most, and what another may still read lies no further back than six times
  // as many.
  const std::uint64_t slots = sam ? std::bit_ceil(32 * groups) : s.tiles;
  const std::uint64_t rounds = s.tiles / slots + 1;
  const std::uint64_t rings = sam ? 2 * s.order : 1;  // sums and prefixes of each order
  const std::uint64_t words_of_state = s.known_bytes * 16 / s.state_bits();
  // A bundle writes its state at once: in whole sectors of memory, of which nothing has to be read then.
  const bool sectors = s.kernel == "pascal" && s.ptx;
  const std::uint64_t pitch = sectors ? round_up(words_of_state, 256 / s.state_bits()) : words_of_state;
  if (sectors) p.define("PITCH", pitch);
  const std::uint64_t words = 16 + rings * slots * pitch;  // tickets: a line alone
  const Buffer states = stale_states(p, at.seed, words, rounds, s.halves);
  std::optional<Buffer> table;
  if (s.order > 1 && cpu) table = cpu_weights<T>(p, s);
  if (s.order > 1 && s.kernel == "pascal") table = weight_table<T>(p, s);
  const auto tiles = static_cast<std::uint32_t>(s.tiles);
  // Who goes on from tile to tile draws one ticket too many.
  const auto tickets = static_cast<std::uint32_t>(persists ? s.tiles + groups : s.tiles);
  return [=, &p](Buffer to, Buffer from) {
    const Range global = {groups * s.group}, local = {s.group};
    if (sam) {
      p.launch("sam", global, local, to, states, from, s.n, tiles, tickets,
               static_cast<std::uint32_t>(std::countr_zero(slots)), static_cast<std::uint32_t>(rounds));
    } else if (s.kernel == "pascal") {
      p.launch("pascal", global, local, to, states, from, table.value_or(from), s.n,
               tiles);  // order 1 reads none
    } else if (cpu) {
      p.launch("cpu", global, local, to, states, from, table.value_or(from), s.n, tiles, tickets);
    } else if (s.kernel == "pipelined") {
      p.launch("pipelined", global, local, to, states, from, s.n, tiles, tickets);
    } else {
      p.launch(s.kernel, global, local, to, states, from, s.n, tiles);
    }
  };
}

// The encoder, then the scans of an order one after the other, between the two halves of a reordering: each
// out of place.
void plan_steps(Plan& p, const Case& at, const Setting& s, const Scan& scan, Buffer out, Buffer in) {
  std::vector<Scan> steps(s.scans, scan);
  const std::uint64_t length = s.values / s.tuple;
  const auto reorder = [&](const char* kernel) {
    return [=, &p, tuple = s.tuple](Buffer to, Buffer from) {
      p.launch(kernel, {round_up(length, 64), tuple}, {64, 1}, to, from, length);
    };
  };
  if (s.reorder) {
    steps.insert(steps.begin(), reorder("gather_tuples"));
    steps.push_back(reorder("spread_tuples"));
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

// Differences to the order, with what lies a tuple before.
template <class T>
T encoded(const Signal<T>& signal, std::uint64_t i, std::uint64_t order) {
  std::uint64_t sum = 0, binomial = 1;  // C(order, k), of alternating sign
  for (std::uint64_t k = 0; k <= order && i >= k * signal.channels; ++k) {
    const auto value = static_cast<std::uint64_t>(signal(i - k * signal.channels));
    sum += k % 2 == 0 ? binomial * value : -(binomial * value);
    binomial = binomial * (order - k) / (k + 1);
  }
  return static_cast<T>(sum);
}

template <class T>
Plan plan_of_encode(const Case& at, const Setting& s) {
  Plan p;
  p.define("U", type_name<typename Wraps<T>::Type>()).define("ORDER", s.order).define("TUPLE", s.tuple);
  p.sources = {"shared/delta"};
  const auto signal = signal_of<T>(at, s.tuple);
  const Buffer in = p.input<T>(s.values, signal), out = p.output<T>(s.values);
  p.launch("encode", {round_up(s.values, s.group)}, {s.group}, out, in, s.values);
  p.expect<T>(out, [=, order = s.order](std::uint64_t i) { return encoded(signal, i, order); });
  p.cost = {.read = s.values * sizeof(T), .written = s.values * sizeof(T), .flops = 0, .items = s.values};
  p.ceiling = Ceiling::copy;
  p.derive("traffic_bytes", static_cast<std::int64_t>(2 * s.values * sizeof(T)));
  return p;
}

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const Setting s = setting_of(at, device, sizeof(T));
  if (s.kernel == "encode") return plan_of_encode<T>(at, s);
  refuse_what_cannot_be(s, device);

  Plan p;
  std::string rung = s.kernel == "batched" ? "reduce_then_scan" : s.kernel;
  std::ranges::transform(rung, rung.begin(), [](unsigned char c) { return std::toupper(c); });
  p.define("KERNEL_" + rung, 1).define("T", type_name<T>()).define("U", type_name<typename Wraps<T>::Type>());
  p.define("OP", static_cast<int>(s.op)).define("LEAST", least_of(type_name<T>()));
  p.define("EXCLUSIVE", s.exclusive ? 1 : 0).define("INITIAL", initial_value);
  p.define("GROUP", s.group).define("ITEMS", s.items).define("VALUE_BYTES", sizeof(T));
  p.define("PARTS", s.parts).define("ORDER", s.order).define("TUPLE", s.tuple);
  if (s.reorder) p.define("REORDER", 1);
  if (!chains(s.kernel)) p.define("PTX", 0);
  if (s.kernel == "pascal") {
    p.define("ITEM", "Value").define("VEC", vector_bytes / sizeof(T));
    p.sources = {"shared/elements", "shared/group_scan", "shared/tile_states", "shared/look_back",
                 "shared/pascal"};
  } else if (s.kernel == "cpu") {
    p.define("ITEM", "Value");
    p.sources = {"shared/elements", "shared/tile_states", "shared/streaming_store", "shared/scan_cpu"};
  } else {
    p.sources = {"shared/elements", "shared/group_scan"};
    if (takes_rows(s.kernel)) p.sources.emplace_back("shared/rows");
    if (chains(s.kernel)) p.sources.insert(p.sources.end(), {"shared/tile_states", "shared/look_back"});
    p.sources.emplace_back("scan");
  }
  if (s.round_trip) p.sources.emplace_back("shared/delta");

  const Input<T> value{Random<T>(at.seed, 1), Random<std::uint64_t>(at.seed, 2), s.op, s.values};
  const auto signal = signal_of<T>(at, s.tuple);
  const Buffer in = s.round_trip ? p.input<T>(s.values, signal) : p.input<T>(s.values, value);
  const Buffer out = p.output<T>(s.values);
  p.cost = {.read = s.n * s.bytes, .written = s.n * s.bytes, .flops = 0, .items = s.values};
  const Scan scan = s.kernel == "hillis_steele" ? hillis_steele(p, at, s)
                    : s.kernel == "three_phase" ? three_phase(p, at, s)
                    : chains(s.kernel)          ? chain<T>(p, at, device, s)
                                                : reduce_then_scan(p, at, s);
  plan_steps(p, at, s, scan, out, in);
  p.ceiling = Ceiling::copy;
  if (s.round_trip) {
    p.expect<T>(out, signal);
    return p;
  }
  const auto reference = std::make_shared<const Reference<T>>(value, s.exclusive, s.values, s.order,
                                                              s.op == Op::affine ? 2 : s.tuple);
  p.expect_from<T>(out, [reference](std::uint64_t first) {
    reference->tabulate();
    return typename Reference<T>::Walk(reference, first);
  });
  return p;
}

bool makes_sense(const Case& at) {
  const std::string& kernel = at.text("kernel");
  const bool floating = at.is("type", "float") || at.is("type", "double"), ptx = at.is("lanes", "ptx");
  const bool affine = at.is("op", "affine"), tuples = at.number("tuple") > 1, pascal = kernel == "pascal";
  const bool alone = takes_rows(kernel) || kernel == "cpu";  // knows values alone
  if (at.is("op", "xor") && floating) return false;
  if (affine && (!at.is("type", "uint") || !at.is("form", "inclusive") || tuples || alone || pascal))
    return false;
  // Higher orders undo differences; a scan of exclusive scans undoes nothing.
  if (at.number("scan_order") > 1 && (floating || !at.is("op", "sum") || !at.is("form", "inclusive")))
    return false;
  const bool coded = at.is("task", "round_trip") || kernel == "encode";
  if (at.is("signal", "image") && !coded) return false;
  if (coded && (floating || !at.is("op", "sum") || !at.is("form", "inclusive"))) return false;
  if (kernel == "encode" &&
      (at.is("task", "round_trip") || at.is("tuple_by", "reorder") || at.text("type").starts_with("u")))
    return false;
  if (pascal && !tuples && at.number("scan_order") == 1) return false;
  if (at.is("tuple_by", "reorder")) {
    if (!tuples || pascal || at.number("scan_order") > 1 || !at.is("op", "sum") ||
        !at.is("form", "inclusive"))
      return false;
  } else if (tuples && alone) {
    return false;
  }
  // A single batch is reduce_then_scan.
  if (kernel == "batched" &&
      static_cast<double>(at.number("n")) <= 256.0 * static_cast<double>(at.number("batch_kib")))
    return false;
  if (!at.is("state", "widest") && !chains(kernel)) return false;
  if (ptx && (!(takes_rows(kernel) || pascal) || at.is("state", "halves"))) return false;
  return at.number("drop") == 0 || (chains(kernel) && !waits(kernel, ptx));
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
                          "lookback_wide",
                          "register_tile",
                          "pipelined",
                          "sam",
                          "pascal",
                          "cpu",
                          "encode"};
  const Values types = {"uint", "int", "ulong", "long", "float", "double"};
  const Values ops = {"sum", "max", "xor", "affine"};
  const Values forms = {"inclusive", "exclusive"};
  const Values tile_kernels = {"hillis_steele", "three_phase", "reduce_then_scan",  "batched",
                               "chained",       "lookback",    "lookback_fallback", "lookback_wide"};
  const Values row_kernels = {"register_tile", "pipelined"};
  // The sizes of the published plots; `full` has the largest.
  const Values plotted = {"three_phase", "lookback_wide", "register_tile", "sam", "cpu"};
  const Values widths = {"uint", "ulong"};
  const Values sizes = {1 << 10, 1000,    1 << 12, 10000,   1 << 14,  1 << 16, 100000,
                        1 << 18, 1 << 20, 1000000, 1 << 22, 10000000, 1 << 24};
  // Tiles of nearly as much local memory as a device is sure to have.
  const auto pascal = [](const char* type, int group, const char* many, const Values& n) {
    return Sweep{{"kernel", {"pascal"}}, {"type", {type}},  {many, {2, 5, 8}}, {"n", n},
                 {"group", {group}},     {"per_item", {48}}};
  };
  const auto plots = [&](const Values& n) -> Sweeps {
    return {"kernel=" + plotted + " type=" + widths + " n=" + n + " per_item=16 rows=8",
            "kernel=register_tile,sam type=" + widths + " scan_order=2,5,8 n=" + n + " group=128 rows=8",
            "kernel=lookback_wide type=" + widths + " tuple=2,5,8 n=" + n + " group=128 per_item=16",
            pascal("uint", 192, "scan_order", n),
            pascal("ulong", 96, "scan_order", n),
            pascal("uint", 192, "tuple", n),
            pascal("ulong", 96, "tuple", n),
            "kernel=register_tile type=" + widths + " tuple=2,5,8,32 tuple_by=reorder n=" + n + " rows=8",
            "kernel=lookback_wide,pascal type=uint tuple=32 n=" + n + " group=64 per_item=32"};
  };
  return {
      .name = "scan",
      .question = "How fast is a prefix scan, and what does each idea on the way to a single pass bring?",
      .axes =
          {{"kernel",
            "hillis_steele: log n passes; three_phase: scan tiles, scan their sums, add; reduce_then_scan: "
            "reduce tiles, scan sums, scan tiles; batched: the same in parts that fit a cache; chained: one "
            "pass, each tile waits for the one before; lookback: it publishes its own sum first and walks "
            "back; lookback_fallback: what is not there it computes itself, so that nothing is waited for; "
            "lookback_wide: many look back at once; register_tile: vectors in registers; pipelined: its sum "
            "is out before it scans, the next tile's loads before it waits; sam: groups go on from tile to "
            "tile "
            "and add what lies between; pascal: one exchange for all orders and slots; cpu: one item, wide "
            "vectors; encode: the differences that a scan takes back",
            kernels},
           {"type", "type of the values", types},
           {"op", "sum, max, xor; affine: composition of maps x -> ax + b, which do not commute", ops},
           {"form", "inclusive; exclusive: element i is left out, an initial value comes first", forms},
           {"task",
            "scan; round_trip: a signal is delta-coded first, and the scan gives it back",
            {"scan", "round_trip"}},
           {"signal",
            "what is delta-coded: tones: with noise, in 16 bits; image: a photograph's pixels, over and over",
            {"tones", "image"}},
           {"scan_order",
            "how often: sam keeps its values in registers, pascal exchanges once, others scan again",
            {1}},
           {"tuple", "values of a tuple, each scanned by itself; pascal takes them as they lie", {1}},
           {"tuple_by",
            "struct: an operator on tuples; reorder: tuples are taken apart first",
            {"struct", "reorder"}},
           {"n", "values, or affine maps", {1 << 22}},
           {"group", "items of a work-group", {256}, false, true},
           {"per_item", "elements of a work-item", {16}, false, true},
           {"rows",
            "vectors of 16 bytes of a work-item of register_tile, pipelined and sam",
            {8},
            false,
            true},
           window_axis(),
           {"groups_per_unit",
            "work-groups per compute unit that go on from tile to tile; 0: pipelined one per tile, sam 2",
            {0},
            false,
            true},
           {"lanes",
            "how register_tile, pipelined, sam and pascal scan: portable: through local memory; ptx: "
            "NVIDIA's shuffles",
            {"portable", "ptx"}},
           chunk_axis(256),
           {"batch_kib", "kibibytes of a batch of batched", {8192}, false, true},
           polls_axis(),
           state_axis(),
           drop_axis()},
      .presets =
          {.smoke =
               {"kernel=" + tile_kernels + " n=1,255,257,4099 group=64 per_item=4 batch_kib=2 window=8",
                "kernel=" + row_kernels + " n=1,1023,1025,4099 group=64",
                "kernel=cpu scan_order=1,3 n=1,4095,12289 chunk_kib=1",
                "kernel=encode type=int scan_order=1,3 tuple=2 n=4099",
                "kernel=encode type=int signal=image n=4099",
                "kernel=three_phase type=float op=max form=exclusive n=1,1009 group=32 per_item=2",
                "kernel=reduce_then_scan type=ulong op=xor form=exclusive n=1009 group=32 per_item=2",
                "kernel=chained type=long form=exclusive n=1009 group=32 per_item=2 state=halves",
                "kernel=lookback_fallback,lookback_wide op=affine n=1009 group=32 per_item=2 state=halves "
                "drop=3",
                "kernel=lookback_wide op=xor tuple=3 n=4099 group=32 window=4",
                "kernel=register_tile tuple=3 tuple_by=reorder n=4099 group=32",
                "kernel=pipelined type=double form=exclusive n=4099 group=32 rows=2 groups_per_unit=1 drop=2",
                "kernel=sam scan_order=3 n=1,33001 group=32 rows=1 groups_per_unit=1 state=halves",
                "kernel=pascal scan_order=8 n=1,1025,4099 group=32 per_item=4 window=8",
                "kernel=pascal type=long scan_order=2 tuple=5 n=4099 group=32 per_item=4 window=4 "
                "state=halves drop=2",
                "kernel=pascal op=max form=exclusive tuple=3 n=4099 group=32 window=4",
                "kernel=lookback_fallback,pascal type=int task=round_trip scan_order=2 tuple=2 n=4099 "
                "group=32 per_item=4 window=4",
                "kernel=pascal type=int task=round_trip signal=image scan_order=2 n=4099 group=32 per_item=4 "
                "window=4",
                "kernel=cpu type=int op=max form=exclusive n=12299 chunk_kib=1 state=halves drop=2"},
           .quick =
               {"kernel=" + kernels + " n=4194304 per_item=16 rows=8",
                "kernel=register_tile,pascal,cpu scan_order=2,8 n=4194304 per_item=32 rows=8",
                "kernel=lookback_wide,pascal tuple=2,8 n=4194304 per_item=32",
                "kernel=encode type=int signal=image scan_order=2 n=4194304",
                "kernel=pascal,cpu type=int task=round_trip signal=image scan_order=2 n=4194304 per_item=32"},
           .paper = plots(sizes),
           .full =
               plots({1 << 26, 1 << 28}) +
               Sweeps{"kernel=" + kernels + " n=1048576,16777216,268435456 per_item=16 rows=8",
                      "kernel=register_tile,pipelined,sam lanes=ptx n=1048576,16777216,268435456 rows=8,12",
                      "kernel=" + kernels + " type=" + types + " op=" + ops + " form=" + forms + " n=1000003",
                      "kernel=pascal scan_order=1,2,3,4,5,6,7,8 tuple=1,2,3,4 n=1000003",
                      "kernel=lookback_fallback,pascal type=int task=round_trip scan_order=1,2,3,4,5,6,7,8 "
                      "tuple=1,2,3 n=4194304",
                      "kernel=encode type=int signal=tones,image scan_order=1,2 tuple=1,3 n=4194304",
                      "kernel=lookback_fallback,pascal type=int task=round_trip signal=image "
                      "scan_order=1,2,8 tuple=1,3 n=4194304",
                      "kernel=lookback_fallback n=16777216 drop=0,2,8,64,512"}},
      .view = {.rows = {"kernel"}, .columns = {"n"}, .quantity = "items"},
      .derived = {{"traffic_bytes", "bytes that the design asks of memory, tile states and sums aside"}},
      .makes_sense = makes_sense,
      .plan = for_types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); })};
}

}  // namespace clweave
