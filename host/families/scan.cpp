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
// Counted bytes: what the algorithm moves between launches or, in one launch, each element once in and out.
#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>

#include "family.hpp"
#include "parallel.hpp"

namespace clweave {

namespace {

constexpr std::int64_t initial_value = 12345;  // of exclusive scans
constexpr std::uint64_t bundle = 32;           // items that share shuffles
constexpr std::uint64_t vector_bytes = 16;

// ---- Operators -----------------------------------------------------------------------------------------

enum class Op { sum = 1, max, xor_, affine };  // numbered as in scan.cl

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

// ---- The reference -------------------------------------------------------------------------------------

// Any element of the scan, from a table of the states at every `block` elements. The table is made by the
// first check, on all threads.
template <class T>
class Reference {
 public:
  Reference(const Input<T>& input, bool exclusive, std::uint64_t n)
      : input_(input), exclusive_(exclusive), n_(n) {}

  // Gives one scanned element after the other.
  class Walk {
   public:
    Walk(std::shared_ptr<const Reference> of, std::uint64_t first) : of_(std::move(of)), i_(first) {
      state_ = of_->before_[first / block];
      for (i_ = first / block * block; i_ < first;) (void)(*this)();
    }
    T operator()() { return of_->step(state_, i_++); }

   private:
    std::shared_ptr<const Reference> of_;
    std::array<T, 2> state_;
    std::uint64_t i_;
  };

  void tabulate() const {
    std::call_once(once_, [this] {
      before_.resize(n_ / block + 1);
      for_stretches(before_.size(), 1, [this](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t b = begin; b < end; ++b) {
          before_[b] = neutral();
          for (std::uint64_t i = b * block; i < std::min(n_, (b + 1) * block); ++i) (void)step(before_[b], i);
        }
      });
      State carry = neutral();
      if (exclusive_) carry[0] = static_cast<T>(initial_value);
      for (auto& state : before_) {
        const State own = state;
        state = carry;
        carry = joined(carry, own);
      }
    });
  }

 private:
  using State = std::array<T, 2>;  // the second number is for affine maps
  static constexpr std::uint64_t block = 4096;

  State neutral() const {
    if (input_.op == Op::affine) return {1, 0};
    return {identity_of<T>(input_.op), 0};
  }
  State joined(const State& l, const State& r) const {
    if constexpr (std::is_same_v<T, std::uint32_t>) {
      if (input_.op == Op::affine) return {r[0] * l[0], r[0] * l[1] + r[1]};
    }
    return {combined(input_.op, l[0], r[0]), 0};
  }
  // Scans value i; of an affine map, the values 2k and 2k + 1 are its factor and its shift.
  T step(State& state, std::uint64_t i) const {
    if (input_.op == Op::affine) {
      if (i % 2 == 0) state = joined(state, {input_(i), input_(i + 1)});
      return state[i % 2];
    }
    const T before = state[0];
    state[0] = combined(input_.op, before, input_(i));
    return exclusive_ ? before : state[0];
  }

  Input<T> input_;
  bool exclusive_;
  std::uint64_t n_;
  mutable std::once_flag once_;
  mutable std::vector<State> before_;
};

// ---- Plans ---------------------------------------------------------------------------------------------

bool takes_rows(const std::string& kernel) {
  return kernel == "register_tile" || kernel == "pipelined" || kernel == "sam";
}

bool chains(const std::string& kernel) {
  return kernel == "chained" || kernel.starts_with("lookback") || takes_rows(kernel) || kernel == "cpu";
}

// Without a promise that OpenCL does not give: that a group which has started goes on while others wait.
bool starts_and_goes_on(const DeviceInfo& device) {
  return device.name.find("llvmpipe") == std::string::npos &&
         device.vendor.find("Apple") == std::string::npos && device.vendor.find("ARM") == std::string::npos &&
         device.vendor.find("Qualcomm") == std::string::npos;
}

// What all plans know of their case.
struct Setting {
  std::string kernel;
  Op op;
  bool exclusive, ptx;
  std::uint64_t n;      // elements
  std::uint64_t bytes;  // of an element
  std::uint64_t group, rows, window;
  std::uint64_t tile, tiles;  // elements of a tile
  unsigned state_bits;
};

Setting setting_of(const Case& at, const DeviceInfo& device, std::uint64_t value_bytes) {
  const auto natural = [&](const char* axis, std::int64_t least, std::int64_t most) {
    const std::int64_t value = at.number(axis);
    if (value < least || value > most)
      throw Error(Kind::usage,
                  std::string(axis) + " must be " + std::to_string(least) + " to " + std::to_string(most));
    return static_cast<std::uint64_t>(value);
  };
  Setting s;
  s.kernel = at.text("kernel");
  s.op = op_of(at);
  s.exclusive = at.is("form", "exclusive");
  s.ptx = at.is("lanes", "ptx");
  s.n = natural("n", 1, std::int64_t{1} << 34);
  s.bytes = value_bytes * (s.op == Op::affine ? 2 : 1);
  s.group = s.kernel == "cpu" ? 1 : natural("group", 1, 4096);
  s.window = natural("window", 1, 4096);
  if (!s.ptx) s.window = std::min(s.window, s.group);
  const std::uint64_t items = natural("items", 1, 64), chunk = natural("chunk_kib", 1, 1 << 20) * 1024;
  s.rows = natural("rows", 1, 64);
  s.tile = s.kernel == "cpu"      ? chunk / s.bytes
           : takes_rows(s.kernel) ? s.group * s.rows * (vector_bytes / s.bytes)
                                  : s.group * items;
  s.tiles = (s.n + s.tile - 1) / s.tile;
  s.state_bits = device.int64_atomics && at.is("state", "widest") ? 64 : 32;
  const std::uint64_t most_tiles = s.state_bits == 64 ? INT32_MAX : 1 << 18;
  Plan::need(s.tiles <= most_tiles,
             std::to_string(s.tiles) + " tiles: the state counts to " + std::to_string(most_tiles));
  return s;
}

// What lies in memory that a launch must not trust.
Buffer garbage(Plan& p, const Case& at, std::uint64_t bytes) {
  return p.input<std::uint32_t>((bytes + 3) / 4, Random<std::uint32_t>(at.seed, 3));
}

// Tile states as earlier launches of another scan leave them: all filled in, all stamped by another launch.
// The number of the launch is about to start from zero again, so that every run meets that, too.
template <class Word>
Buffer stale_states(Plan& p, const Case& at, std::uint64_t words, std::uint64_t rounds) {
  constexpr unsigned bits = 8 * sizeof(Word);
  constexpr unsigned epoch_bits = bits == 64 ? 30 : 14, ticket_bits = bits == 64 ? 32 : 18;
  constexpr std::uint64_t epochs = std::uint64_t{1} << epoch_bits;
  const std::uint64_t stamp = (epochs - 2) * rounds;  // of the first launch
  const Random<std::uint64_t> random(at.seed, 4);
  return p.input<Word>(words, [=](std::uint64_t i) {
    if (i == 0) return static_cast<Word>((epochs - 2) << ticket_bits);
    const std::uint64_t other = (stamp - 1 - random(i) % 8) % epochs;
    return static_cast<Word>(random(i) >> (64 - bits) << (bits / 2) | other << 2 | (1 + random(i) / 8 % 2));
  });
}

void plan_hillis_steele(Plan& p, const Case& at, const Setting& s, Buffer out, Buffer in) {
  std::uint64_t passes = 1;
  while ((std::uint64_t{1} << passes) < s.n) ++passes;
  const Buffer other = passes > 1 ? garbage(p, at, s.n * s.bytes) : out;
  Buffer from = in;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    const Buffer to = (passes - pass) % 2 == 1 ? out : other;
    p.launch("hillis_steele", {round_up(s.n, s.group)}, {s.group}, to, from, s.n, std::uint64_t{1} << pass,
             std::uint32_t{pass == 0});
    from = to;
  }
  p.cost.read = p.cost.written = passes * s.n * s.bytes;
}

void plan_three_phase(Plan& p, const Case& at, const Setting& s, Buffer out, Buffer in) {
  const Buffer sums = garbage(p, at, s.tiles * s.bytes);
  p.launch("scan_tiles", {s.tiles * s.group}, {s.group}, out, sums, in, s.n);
  p.launch("scan_sums", {s.group}, {s.group}, sums, std::uint64_t{0}, s.tiles);
  if (s.tiles > 1) p.launch("add_carries", {(s.tiles - 1) * s.group}, {s.group}, out, sums, s.n);
  p.cost.read = p.cost.written = 2 * s.n * s.bytes;
}

// In batches, the second reading of the input finds it in a cache.
void plan_reduce_then_scan(Plan& p, const Case& at, const Setting& s, Buffer out, Buffer in) {
  const Buffer sums = garbage(p, at, s.tiles * s.bytes);
  const std::int64_t kib = at.number("batch_kib");
  if (kib < 1 || kib > (std::int64_t{1} << 30)) throw Error(Kind::usage, "batch_kib must be 1 to 1073741824");
  const std::uint64_t batch =
      s.kernel != "batched"
          ? s.tiles
          : std::max<std::uint64_t>(1, static_cast<std::uint64_t>(kib) * 1024 / (s.tile * s.bytes));
  Plan::need((s.tiles + batch - 1) / batch <= 4096, "more than 4096 batches");
  for (std::uint64_t first = 0; first < s.tiles; first += batch) {
    const std::uint64_t tiles = std::min(batch, s.tiles - first);
    p.launch("reduce_tiles", {tiles * s.group}, {s.group}, sums, in, s.n, first);
    p.launch("scan_sums", {s.group}, {s.group}, sums, first, first + tiles);
    p.launch("scan_tiles_onto", {tiles * s.group}, {s.group}, out, sums, in, s.n, first);
  }
  p.cost.read = 2 * s.n * s.bytes;
}

// Work-groups that go on from tile to tile.
std::uint64_t resident_groups(const Case& at, const DeviceInfo& device) {
  std::int64_t per_unit = at.number("groups_per_unit");
  if (per_unit < 0 || per_unit > 1024) throw Error(Kind::usage, "groups_per_unit must be 0 to 1024");
  if (at.is("kernel", "sam") && per_unit == 0) per_unit = 2;
  return static_cast<std::uint64_t>(per_unit * std::max<std::int64_t>(device.compute_units, 1));
}

void plan_chain(Plan& p, const Case& at, const DeviceInfo& device, const Setting& s, Buffer out, Buffer in) {
  const bool waits = s.kernel == "chained" || s.kernel == "lookback" || s.kernel == "sam" || s.ptx;
  Plan::need(!waits || starts_and_goes_on(device),
             "a group that has started may never go on while others wait for it");
  if (at.number("polls") < 1 || at.number("polls") > 60000)
    throw Error(Kind::usage, "polls must be 1 to 60000");
  if (at.number("drop") < 0 || at.number("drop") > 1000000)
    throw Error(Kind::usage, "drop must be 0 to 1000000");
  // Seconds: a wait that ends without its value makes a wrong result, not an endless run.
  const std::int64_t enough = device.type == "cpu" ? 1 << 28 : 1 << 20;
  p.define("STATE_BITS", s.state_bits).define("POLLS", waits ? enough : at.number("polls"));
  p.define("DROP", at.number("drop")).define("PTX", s.ptx ? 1 : 0);
  p.define("WINDOW", static_cast<std::int64_t>(s.window));
  if (s.kernel == "cpu") p.define("CHUNK", static_cast<std::int64_t>(s.tile));
  if (takes_rows(s.kernel)) p.define("ROWS", static_cast<std::int64_t>(s.rows));

  const bool persists = s.kernel == "sam" || s.kernel == "pipelined";
  const std::uint64_t resident = persists ? resident_groups(at, device) : 0;
  const bool ahead = resident > 0;
  const std::uint64_t groups = ahead ? std::min(resident, s.tiles) : s.tiles;
  if (persists) p.define("AHEAD", ahead ? 1 : 0);
  // A group holds three tickets at most, and what another may still read lies no further back than six times
  // as many.
  std::uint64_t slots = s.tiles;
  if (s.kernel == "sam") slots = std::bit_ceil(32 * groups);
  const std::uint64_t rounds = s.tiles / slots + 1;
  const std::uint64_t words =
      16 + slots * s.bytes * 8 / (s.state_bits / 2);  // tickets have a line of their own
  const Buffer states = s.state_bits == 64 ? stale_states<std::uint64_t>(p, at, words, rounds)
                                           : stale_states<std::uint32_t>(p, at, words, rounds);
  const auto tiles = static_cast<std::uint32_t>(s.tiles);
  // Who goes on from tile to tile draws one ticket too many.
  const auto tickets = static_cast<std::uint32_t>(ahead ? s.tiles + groups : s.tiles);
  const Range global = {groups * s.group}, local = {s.group};
  if (s.kernel == "sam") {
    p.launch("sam", global, local, out, states, in, s.n, tiles, tickets, static_cast<std::uint32_t>(slots),
             static_cast<std::uint32_t>(rounds));
  } else if (persists) {
    p.launch(s.kernel, global, local, out, states, in, s.n, tiles, tickets);
  } else {
    p.launch(s.kernel, global, local, out, states, in, s.n, tiles);
  }
}

// What the kernel declares, so that a device with less is refused and not asked.
std::uint64_t local_bytes_of(const Setting& s) {
  if (s.kernel == "cpu" || s.ptx) return 1024;
  const std::uint64_t held = takes_rows(s.kernel) ? s.group * (s.rows + (s.kernel == "sam" ? 2 : 0)) : s.tile;
  const std::uint64_t window =
      s.kernel == "lookback_wide" || takes_rows(s.kernel) ? s.window * (s.bytes + 8) : 0;
  return s.bytes * (held + held / bundle + 2 * s.group + 2) + window + 16;
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

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  Plan::need_type<T>(device);
  const Setting s = setting_of(at, device, sizeof(T));
  const std::uint64_t local = local_bytes_of(s);
  Plan::need(
      local <= static_cast<std::uint64_t>(device.local_bytes),
      std::to_string(local) + " bytes of local memory, the device has " + std::to_string(device.local_bytes));

  Plan::need(!s.ptx || device.has_extension("cl_nv_pragma_unroll"), "lanes=ptx needs NVIDIA's compiler");
  Plan::need(!s.ptx || s.state_bits == 64, "lanes=ptx needs 64-bit atomics");
  if (takes_rows(s.kernel) && (s.group % bundle != 0 || s.group > bundle * bundle))
    throw Error(Kind::usage, "group must be a multiple of 32, up to 1024");
  if (s.ptx && (s.window % bundle != 0 || s.window > 8 * bundle))
    throw Error(Kind::usage, "with lanes=ptx, window must be a multiple of 32, up to 256");

  Plan p;
  const std::string rung = s.kernel == "batched" ? "reduce_then_scan" : s.kernel;
  p.define("KERNEL_" + rung, 1).define("T", type_name<T>()).define("U", type_name<typename Wraps<T>::Type>());
  p.define("OP", static_cast<int>(s.op)).define("LEAST", least_of(type_name<T>()));
  p.define("EXCLUSIVE", s.exclusive ? 1 : 0).define("INITIAL", initial_value);
  p.define("GROUP", static_cast<std::int64_t>(s.group)).define("ITEMS", at.number("items"));
  p.define("VALUE_BYTES", sizeof(T));

  const std::uint64_t values = s.n * s.bytes / sizeof(T);
  const Input<T> value{Random<T>(at.seed, 1), Random<std::uint64_t>(at.seed, 2), s.op, values};
  const Buffer in = p.input<T>(values, value);
  const Buffer out = p.output<T>(values);
  p.cost = {.read = s.n * s.bytes, .written = s.n * s.bytes, .flops = 0, .items = s.n};
  if (s.kernel == "hillis_steele") {
    plan_hillis_steele(p, at, s, out, in);
  } else if (s.kernel == "three_phase") {
    plan_three_phase(p, at, s, out, in);
  } else if (rung == "reduce_then_scan") {
    plan_reduce_then_scan(p, at, s, out, in);
  } else {
    plan_chain(p, at, device, s, out, in);
  }
  const auto reference = std::make_shared<const Reference<T>>(value, s.exclusive, values);
  p.expect_from<T>(out, [reference](std::uint64_t first) {
    reference->tabulate();
    return typename Reference<T>::Walk(reference, first);
  });
  p.ceiling = "copy";
  return p;
}

bool makes_sense(const Case& at) {
  const std::string& kernel = at.text("kernel");
  const bool floating = at.is("type", "float") || at.is("type", "double");
  if (at.is("op", "xor") && floating) return false;
  if (at.is("op", "affine") && (!at.is("type", "uint") || !at.is("form", "inclusive"))) return false;
  if (at.is("op", "affine") && (takes_rows(kernel) || kernel == "cpu")) return false;
  if (!at.is("state", "widest") && !chains(kernel)) return false;
  if (!at.is("lanes", "portable") && !takes_rows(kernel)) return false;
  if (at.is("state", "halves") && at.is("lanes", "ptx")) return false;
  const bool waits = kernel == "chained" || kernel == "lookback" || kernel == "sam" || at.is("lanes", "ptx");
  if (at.number("drop") != 0 && (!chains(kernel) || waits)) return false;
  return true;
}

}  // namespace

Family scan() {
  const Values kernels = {
      "hillis_steele",     "three_phase",   "reduce_then_scan", "batched",   "chained", "lookback",
      "lookback_fallback", "lookback_wide", "register_tile",    "pipelined", "sam",     "cpu"};
  const Values types = {"uint", "int", "ulong", "long", "float", "double"};
  const Values ops = {"sum", "max", "xor", "affine"};
  const Values forms = {"inclusive", "exclusive"};
  const Values tile_kernels = {"hillis_steele", "three_phase", "reduce_then_scan",  "batched",
                               "chained",       "lookback",    "lookback_fallback", "lookback_wide"};
  const Values row_kernels = {"register_tile", "pipelined"};
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
            "and add what lies between; cpu: one item, wide vectors",
            kernels},
           {"type", "type of the values", types},
           {"op", "sum, max, xor; affine: composition of maps x -> ax + b, which do not commute", ops},
           {"form", "inclusive; exclusive: element i is left out, an initial value comes first", forms},
           {"n", "elements", {1 << 22}},
           {"group", "items of a work-group", {256}, false, true},
           {"items", "elements of a work-item", {8}, false, true},
           {"rows", "vectors of 16 bytes of a work-item of register_tile and pipelined", {4}, false, true},
           {"window", "tile states looked at at once", {32}, false, true},
           {"groups_per_unit",
            "work-groups per compute unit that go on from tile to tile; 0: pipelined one per tile, sam 2",
            {0},
            false,
            true},
           {"lanes",
            "how register_tile and pipelined scan: portable: through local memory; ptx: NVIDIA's shuffles",
            {"portable", "ptx"}},
           {"chunk_kib", "kibibytes of a tile of cpu", {64}, false, true},
           {"batch_kib", "kibibytes of a batch of batched", {8192}, false, true},
           {"polls", "how often a state is asked for before it is computed", {64}, false, true},
           {"state",
            "words of a tile state: the widest the device has atomics for, or halves of them",
            {"widest", "halves"}},
           {"drop",
            "one publication in so many is lost, where nothing is waited for: fault injection; 0: none",
            {0}}},
      .presets =
          {{"smoke",
            {{{"kernel", tile_kernels},
              {"n", {1, 255, 257, 4099}},
              {"group", {64}},
              {"items", {4}},
              {"batch_kib", {2}},
              {"window", {8}}},
             {{"kernel", row_kernels}, {"n", {1, 1023, 1025, 8209}}, {"group", {64}}},
             {{"kernel", {"sam"}}, {"n", {1, 1023, 1025, 8209}}, {"group", {64}}, {"groups_per_unit", {1}}},
             {{"kernel", {"sam"}},
              {"n", {33001}},
              {"group", {32}},
              {"rows", {1}},
              {"groups_per_unit", {1}},
              {"state", {"halves"}}},
             {{"kernel", {"cpu"}}, {"n", {1, 255, 257, 4099}}, {"chunk_kib", {1}}},
             {{"kernel", {"hillis_steele", "three_phase"}},
              {"type", {"float"}},
              {"op", {"max"}},
              {"form", {"exclusive"}},
              {"n", {1, 1009}},
              {"group", {32}},
              {"items", {2}}},
             {{"kernel", {"reduce_then_scan"}},
              {"type", {"ulong"}},
              {"op", {"xor"}},
              {"form", {"exclusive"}},
              {"n", {1009}},
              {"group", {32}},
              {"items", {2}}},
             {{"kernel", {"chained"}},
              {"type", {"long"}},
              {"form", {"exclusive"}},
              {"n", {1009}},
              {"group", {32}},
              {"items", {2}},
              {"state", {"halves"}}},
             {{"kernel", {"three_phase", "lookback", "lookback_wide"}},
              {"op", {"affine"}},
              {"n", {1009}},
              {"group", {32}},
              {"items", {2}}},
             {{"kernel", {"pipelined"}},
              {"type", {"double"}},
              {"form", {"exclusive"}},
              {"n", {4099}},
              {"group", {32}},
              {"rows", {2}},
              {"groups_per_unit", {1}},
              {"drop", {2}}},
             {{"kernel", {"cpu"}},
              {"type", {"int"}},
              {"op", {"max"}},
              {"form", {"exclusive"}},
              {"n", {4099}},
              {"chunk_kib", {1}},
              {"state", {"halves"}},
              {"drop", {2}}},
             {{"kernel", {"lookback_fallback", "lookback_wide"}},
              {"op", {"affine"}},
              {"n", {1009}},
              {"group", {32}},
              {"items", {2}},
              {"state", {"halves"}},
              {"drop", {3}}}}},
           {"quick", {{{"kernel", kernels}, {"n", {65536, 1 << 22}}}}},
           {"paper", {}},
           {"full",
            {{{"kernel", kernels}, {"n", {1 << 20, 1 << 24, 1 << 28}}},
             {{"kernel", kernels}, {"type", types}, {"op", ops}, {"form", forms}, {"n", {1 << 24}}},
             {{"kernel", {"lookback_fallback"}}, {"n", {1 << 24}}, {"drop", {0, 2, 8, 64, 512}}}}}},
      .view = {.rows = {"kernel"}, .columns = {"n"}, .quantity = "items"},
      .makes_sense = makes_sense,
      .plan = for_types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); })};
}

}  // namespace clweave
