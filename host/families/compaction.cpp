// SPDX-License-Identifier: Apache-2.0
// compaction: how fast are the keys that satisfy a predicate brought together, and what makes one design
// faster than another?
//
// After M. Billeter, O. Olsson, U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
// Architectures" (2009); D. M. Hughes, I. S. Lim, M. W. Jones, A. Knoll, B. Spencer, "InK-Compact" (2013); D.
// Spataro's cuStreamComp and Orange Owls' compactions (2015); and the series "Parallel Stream Compaction"
// (Crazy on Cuda, 2018), which compared these and asked which matters: loops, the volume of the counts, or
// wide loads?
//
// Rates count the same bytes for all designs: each key read once, each kept key (with its index, if that is
// an output) and the two counts written once. Column `traffic_bytes` has what a design really moves.
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "families/shared/kept.hpp"
#include "families/shared/search_values.hpp"
#include "families/shared/tiles.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

// ---- Designs -------------------------------------------------------------------------------------------

struct Design {
  enum class Method {
    three_pass,  // flags, their scan, scatter
    sequences,   // count, scan of the counts, move; each work-group or sub-group handles one sequence
    tiles,       // one launch, tile by tile
    cpu,         // one launch, a chunk per work-item
  };
  // Computes how many keys are kept before a tile.
  enum class PrefixSource { none, look_back, sections, counts_of_earlier_launch, atomic_addition };

  const char* name = "";
  const char* source = "";  // kernel file
  Method method = Method::tiles;
  PrefixSource prefix_source = PrefixSource::none;
  const char* prefix_file = "";  // kernel file that computes it
  const char* ranks = "sums";    // how keys of a tile are numbered; empty: axis ranks
  bool staged = false;           // collects kept keys in local memory
  bool persistent = false;       // work-groups loop over all tiles
  bool masks = false;            // the earlier launch leaves a bit per key
  bool keeps_order = true;

  bool on_cpu() const { return method == Method::cpu; }
  bool in_sequences() const { return method == Method::sequences; }
  bool by_tiles() const { return method == Method::tiles; }
  bool looks_back() const { return prefix_source == PrefixSource::look_back; }
  bool by_tile_states() const { return looks_back() || prefix_source == PrefixSource::sections; }
  // Tells whether a launch of its own scans counts or flags.
  bool scans_counts() const {
    return method == Method::three_pass || in_sequences() ||
           prefix_source == PrefixSource::counts_of_earlier_launch;
  }
  bool groups_per_cu() const { return persistent || in_sequences(); }
};

using Method = Design::Method;
using PrefixSource = Design::PrefixSource;

constexpr const char* look_back = "compaction/prefix_look_back.cl";
constexpr const char* counted = "compaction/prefix_counted.cl";
constexpr const char* compact = "compaction/compact";

constexpr std::array designs = {
    Design{.name = "three_pass", .source = "compaction/three_pass", .method = Method::three_pass},
    Design{.name = "billeter", .source = "compaction/sequences", .method = Method::sequences},
    Design{.name = "spataro",
           .source = compact,
           .prefix_source = PrefixSource::counts_of_earlier_launch,
           .prefix_file = counted,
           .ranks = "votes"},
    Design{.name = "orange_owls",
           .source = compact,
           .prefix_source = PrefixSource::counts_of_earlier_launch,
           .prefix_file = counted,
           .ranks = "votes",
           .masks = true},
    Design{.name = "hughes",
           .source = compact,
           .prefix_source = PrefixSource::sections,
           .prefix_file = "compaction/prefix_sections.cl"},
    Design{.name = "single_pass",
           .source = compact,
           .prefix_source = PrefixSource::look_back,
           .prefix_file = look_back},
    Design{.name = "ranked",
           .source = compact,
           .prefix_source = PrefixSource::look_back,
           .prefix_file = look_back,
           .ranks = ""},
    Design{.name = "staged",
           .source = compact,
           .prefix_source = PrefixSource::look_back,
           .prefix_file = look_back,
           .ranks = "",
           .staged = true},
    Design{.name = "pipelined",
           .source = compact,
           .prefix_source = PrefixSource::look_back,
           .prefix_file = look_back,
           .ranks = "",
           .staged = true,
           .persistent = true},
    Design{.name = "unordered",
           .source = compact,
           .prefix_source = PrefixSource::atomic_addition,
           .prefix_file = "compaction/prefix_unordered.cl",
           .ranks = "packed",
           .staged = true,
           .keeps_order = false},
    Design{.name = "cpu", .source = "compaction/cpu", .method = Method::cpu},
};

const Design& design_named(const std::string& name) {
  // Returned for kernels of baselines (CUB, ...), which claims refer to: no property is set.
  static constexpr Design other{};
  const auto* const it = std::ranges::find(designs, name, &Design::name);
  return it != designs.end() ? *it : other;
}
const Design& design_of(const Case& at) { return design_named(at.text("kernel")); }
// Makes a condition of a fact of the design.
template <class F>
auto design_is(F fact) {
  return [fact](const Case& at) { return static_cast<bool>(std::invoke(fact, design_of(at))); };
}
Values kernels() {
  Values names;
  for (const auto& design : designs) names.emplace_back(std::string(design.name));
  return names;
}

// ---- Plans ---------------------------------------------------------------------------------------------

constexpr std::uint64_t spare = 16;  // keys of the widest vector that cpu.cl writes past the end

double fraction_of(const Case& at) {
  const Value& value = at.at("selectivity");
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const double kept = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : -1;
  if (!(kept >= 0 && kept <= 1)) throw Error(ErrorCode::usage, "selectivity must be 0 to 1, such as 0.25");
  return kept;
}

const KeyType& type_of(const Case& at) {
  const auto* const it =
      std::ranges::find_if(key_types, [&](const KeyType& type) { return at.is("type", type.name); });
  if (it == key_types.end()) throw Error(ErrorCode::usage, "compaction has no type " + at.text("type"));
  return *it;
}
Predicate predicate_of(const Case& at) {
  if (at.is("predicate", "non_zero")) return Predicate::nonzero;
  return at.is("predicate", "even") ? Predicate::even : Predicate::less;
}
Pattern pattern_of(const Case& at) {
  if (at.is("pattern", "random")) return Pattern::random;
  if (at.is("pattern", "alternating")) return Pattern::alternating;
  return at.is("pattern", "runs") ? Pattern::runs : Pattern::sorted;
}

// Holds the axes of a case.
struct Config : Tiles {
  const Design* design = nullptr;
  bool index = false;
  std::uint64_t n = 0, key_bytes = 0, width = 0, vectors = 0, elements_per_work_item = 0;
  std::uint64_t sequence_work_items = 0;  // work-items that process a sequence
};

Config config_of(const Case& at, const DeviceInfo& device) {
  const Design& design = design_of(at);
  Config s = {};
  static_cast<Tiles&>(s) = tiles_of(at, device, design.on_cpu());
  s.design = &design;
  s.needs_forward_progress =
      design.prefix_source == PrefixSource::sections || (design.looks_back() && s.ptx());
  s.is_persistent = design.persistent;
  s.index = at.is("output", "key_index");
  s.n = at.count("n", 1, most_keys);
  s.key_bytes = 4 * type_of(at).words;
  s.width = at.count("width", 1, 4);
  s.vectors = design.in_sequences() ? 1 : at.count("vectors_per_item", 1, 32);
  s.elements_per_work_item = at.count("per_work_item", 1, 64);
  s.sequence_work_items = s.ptx() || at.is("sequence", "subgroup") ? subgroup_size : s.group;
  s.groups_per_cu = at.count("groups_per_cu", 1, 1024);
  s.tile = design.on_cpu() ? at.count("chunk_kib", 1, 1 << 16) * 1024 / s.key_bytes
                           : s.group * s.vectors * s.width;
  s.tiles = ceil_div(s.n, s.tile);
  return s;
}

// Returns the local memory that the kernels declare, so that a device with less is refused and not asked.
std::uint64_t local_bytes_of(const Config& s) {
  const std::uint64_t place_bytes = s.index ? 4 : 0;
  const Design& design = *s.design;
  if (design.on_cpu()) return (s.tile + spare) * (s.key_bytes + place_bytes) + 16;
  const std::uint64_t scan_sums = 4 * (s.group * s.elements_per_work_item * 33 / 32 + 2 * s.group);
  if (design.method == Method::three_pass) return scan_sums;
  if (design.in_sequences())
    return std::max(scan_sums, 2 * s.tile * (s.key_bytes + place_bytes) + 8 * s.group);
  const std::uint64_t vectors = s.subgroup_impl == SubgroupImpl::portable ? s.group * s.vectors * 33 / 32 : 1;
  const std::uint64_t masks = design.masks && !s.ptx() ? s.tile / 32 : 0;
  const std::uint64_t ranks =
      4 * (vectors + masks + 2 * s.group + (s.needs_forward_progress ? 2 * s.group : 0)) +
      12 * s.states_in_local_memory() + 64;
  return std::max(design.scans_counts() ? scan_sums : 0,
                  ranks + (design.staged ? s.tile * (s.key_bytes + (s.index ? 2 : 0)) : 0));
}

void check_supported(const Config& s, const DeviceInfo& device) {
  const bool on_cpu = s.design->on_cpu();
  if (!on_cpu && (s.group % subgroup_size != 0 || s.group > subgroup_size * subgroup_size))
    throw Error(ErrorCode::usage, "group must be a multiple of 32, up to 1024");
  if (s.tile > 65536 && !on_cpu)
    throw Error(ErrorCode::usage,
                "group * vectors_per_item * width must be 65536 at most: places in a tile have 16 bits");
  if (s.width == 3) throw Error(ErrorCode::usage, "width must be 1, 2 or 4");
  require_tiles(s, device, local_bytes_of(s));
}

// Buffers of a plan.
struct Memory {
  Buffer in, out, index, count;
};

// Adds the launches of a design. Returns the bytes of its metadata, and adds what these move to `moved`.
std::uint64_t three_pass(Plan& p, const Case& at, const Config& s, const Memory& m, std::uint64_t& moved) {
  const Buffer flags = random_scratch(p, at.seed, 4 * s.n), ranks = random_scratch(p, at.seed, 4 * s.n);
  const std::uint64_t scan_tiles = ceil_div(s.n, s.group * s.elements_per_work_item);
  const Buffer sums = random_scratch(p, at.seed, 4 * scan_tiles);
  const Range tiles = {s.tiles * s.group}, scans = {scan_tiles * s.group}, group = {s.group};
  p.launch("flags", tiles, group, flags, m.in, s.n);
  p.launch("reduce_tiles", scans, group, sums, flags, s.n, std::uint64_t{0});
  p.launch("scan_sums", group, group, sums, std::uint64_t{0}, scan_tiles);
  p.launch("scan_tiles_from_prefixes", scans, group, ranks, sums, flags, s.n, std::uint64_t{0});
  p.launch("scatter", tiles, group, m.out, m.index, m.count, ranks, m.in, s.n);
  moved += s.n * s.key_bytes + 20 * s.n + 16 * scan_tiles;
  return 4 * (2 * s.n + scan_tiles);
}

std::uint64_t sequences(Plan& p, const Case& at, const DeviceInfo& device, const Config& s, const Memory& m,
                        std::uint64_t& moved) {
  const std::uint64_t chunks = ceil_div(s.n, s.sequence_work_items * s.width);
  const std::uint64_t fixed = at.count("groups", 0, 1 << 20);
  const std::uint64_t least = ceil_div(chunks * s.sequence_work_items, device.most_turns() * s.group);
  const std::uint64_t wanted = fixed > 0 ? fixed : std::max(device.units() * s.groups_per_cu, least);
  Plan::need(wanted >= least,
             fmt::format("groups={}: the device leaves every loop after {} turns, for which it takes {}",
                         fixed, device.most_turns(), least));
  const std::uint64_t groups = std::min(wanted, ceil_div(chunks * s.sequence_work_items, s.group));
  const std::uint64_t num_sequences = groups * s.group / s.sequence_work_items;
  const Buffer sums = random_scratch(p, at.seed, 4 * num_sequences);
  const Range all = {groups * s.group}, group = {s.group};
  p.define("SEQUENCE_WORK_ITEMS", s.sequence_work_items);
  p.define("WRITE", at.is("write", "by_ratio") ? 0 : at.is("write", "scattered") ? 1 : 2);
  p.launch("count_sequences", all, group, sums, m.in, s.n, chunks / num_sequences, chunks % num_sequences);
  p.launch("scan_sums", group, group, sums, std::uint64_t{0}, num_sequences);
  p.launch("move_sequences", all, group, m.out, m.index, m.count, sums, m.in, s.n, chunks / num_sequences,
           chunks % num_sequences);
  moved += s.n * s.key_bytes + 16 * num_sequences;
  return 4 * num_sequences;
}

Buffer states_of(Plan& p, const Case& at, const Config& s) {
  return states_of_old_epochs(p, at.seed, s, s.tiles * (s.half_width ? 2 : 1));
}

std::uint64_t chunks(Plan& p, const Case& at, const DeviceInfo& device, const Config& s, const Memory& m,
                     std::uint64_t& moved) {
  define_states(p, s, device);
  require_iterations(device, 2 * s.n, s.tiles);  // to count, and to move
  p.define("CHUNK", s.tile).define("SPARE", spare).define("KEY_BYTES", s.key_bytes);
  const Buffer states = states_of(p, at, s);
  p.launch("cpu", {s.tiles}, {1}, m.out, m.index, m.count, states, m.in, s.n,
           static_cast<std::uint32_t>(s.tiles));
  moved += 24 * s.tiles;
  return 8 * s.tiles;
}

std::uint64_t tiles(Plan& p, const Case& at, const DeviceInfo& device, const Config& s, const Memory& m,
                    std::uint64_t& moved) {
  const Design& design = *s.design;
  const std::string ranks = *design.ranks != '\0' ? design.ranks : at.text("ranks");
  p.define("PREFIX_FILE", design.prefix_file);
  p.define("RANKS", ranks == "sums" ? 1 : ranks == "packed" ? 2 : 3);
  p.define("STAGED", design.staged ? 1 : 0)
      .define("PERSISTENT", design.persistent ? 1 : 0)
      .define("MASKS", design.masks ? 1 : 0);
  const auto count = static_cast<std::uint32_t>(s.tiles);
  const Range all = {s.tiles * s.group}, group = {s.group};
  if (design.scans_counts()) {
    const std::uint64_t mask_words = design.masks ? s.tiles * s.tile / 32 : 0;
    const Buffer sums = random_scratch(p, at.seed, 4 * s.tiles);
    const Buffer masks = design.masks ? random_scratch(p, at.seed, 4 * mask_words) : sums;
    p.launch("count_tiles", all, group, sums, masks, m.in, s.n);
    p.launch("scan_sums", group, group, sums, std::uint64_t{0}, s.tiles);
    p.launch("compact", all, group, m.out, m.index, m.count, sums, masks, m.in, s.n, count, count);
    moved += s.n * s.key_bytes + 16 * s.tiles +
             8 * mask_words;  // an upper bound: masks save loads of the second pass
    return 4 * (s.tiles + mask_words);
  }
  if (design.prefix_source == PrefixSource::atomic_addition) {
    p.define("STATE_BITS", s.state_bits());
    // Starts at zero, where the last work-group resets it.
    const Buffer word = p.input<std::uint64_t>(1, [](std::uint64_t) { return 0; });
    p.launch("compact", all, group, m.out, m.index, m.count, word, m.in, m.in, s.n, count, count);
    return 8;
  }
  define_states(p, s, device);
  limit_registers(p, at, device);
  const Buffer states = states_of(p, at, s);
  const TileAssignment assignment =
      s.is_persistent ? persistent_groups(s, device, s.groups_per_cu) : one_tile_per_group(s);
  p.launch("compact", {assignment.groups * s.group}, group, m.out, m.index, m.count, states, m.in, m.in, s.n,
           assignment.tiles, assignment.tickets);
  moved += 24 * s.tiles;
  return 8 * s.tiles;
}

void check(Plan& p, const Config& s, const Memory& m, const Keys& keys, std::uint64_t words) {
  const std::uint64_t kept = keys.count();
  p.expect<std::uint32_t>(m.count, [=, n = s.n](std::uint64_t i) { return i == 0 ? kept : n - kept; });
  if (kept == 0) return;
  if (!s.design->keeps_order) {
    const auto found = std::make_shared<KeptMultiset>(keys, s.n, words);
    p.checks.push_back({m.out, [found](std::uint64_t offset, std::span<const std::byte> bytes) {
                          return found->compare(offset, bytes);
                        }});
    return;
  }
  const auto reference = std::make_shared<const KeptReference>(keys, s.n);
  p.expect_from<std::uint32_t>(m.out, [reference, words](std::uint64_t first) {
    return [reference, words, next = KeptReference::Iterator(reference, first / words), key = Key(),
            word = first % words]() mutable {
      if (word % words == 0) key = reference->keys().kept(next());
      return key[word++ % words];
    };
  });
  if (s.index) {
    p.expect_from<std::uint32_t>(
        m.index, [reference](std::uint64_t first) { return KeptReference::Iterator(reference, first); });
  }
}

void define_keys(Plan& p, const Config& s, const KeyType& type, Predicate predicate) {
  p.define("T", "uint").define("U", "uint").define("OP", 1).define("VALUE_BYTES", 4);
  p.define("EXCLUSIVE_SCAN", 1)
      .define("INITIAL", 0)
      .define("GROUP", s.group)
      .define("ELEMENTS_PER_WORK_ITEM", s.elements_per_work_item);
  p.define("KEY", type.cl).define("STRUCT", type.words == 4 ? 1 : 0).define("INDEX", s.index ? 1 : 0);
  p.define("PREDICATE", static_cast<int>(predicate)).define("LIMIT", type.limit);
  p.define("DROPPED", predicate == Predicate::nonzero ? "0"
                      : predicate == Predicate::even  ? type.dropped_even
                                                      : type.limit);
  if (!s.design->on_cpu()) p.define("VECTORS", s.vectors).define("VEC", s.width);
}

std::uint64_t add_launches(Plan& p, const Case& at, const DeviceInfo& device, const Config& s,
                           const Memory& m, std::uint64_t& moved) {
  switch (s.design->method) {
    case Method::three_pass: return three_pass(p, at, s, m, moved);
    case Method::sequences: return sequences(p, at, device, s, m, moved);
    case Method::cpu: return chunks(p, at, device, s, m, moved);
    default: return tiles(p, at, device, s, m, moved);
  }
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const Config s = config_of(at, device);
  Plan p;
  p.source = s.design->source;
  use_subgroup_impl(p, s.subgroup_impl, device, s.group);
  check_supported(s, device);
  const KeyType& type = type_of(at);
  const Predicate predicate = predicate_of(at);
  const Choice choice(pattern_of(at), fraction_of(at), s.n, at.seed);
  const Keys keys(type, predicate, choice, s.n, at.seed);
  const std::uint64_t kept = keys.count(), words = type.words;

  define_keys(p, s, type, predicate);
  const Buffer in = p.input<std::uint32_t>(
      s.n * words, [keys, words](std::uint64_t i) { return keys(i / words)[i % words]; });
  const Buffer out = p.output<std::uint32_t>(s.n * words, kept * words);
  const Buffer count = p.output<std::uint32_t>(2);
  const Buffer index = s.index ? p.output<std::uint32_t>(s.n, kept) : count;  // without, none is written
  const Memory m = {in, out, index, count};
  check(p, s, m, keys, words);

  p.cost = {.read = s.n * s.key_bytes,
            .written = kept * (s.key_bytes + (s.index ? 4 : 0)) + 8,
            .flops = s.n,  // the predicate
            .items = s.n};
  p.peak = Peak::copy;
  std::uint64_t moved = p.cost.read + p.cost.written;
  const std::uint64_t metadata = add_launches(p, at, device, s, m, moved);
  p.derive("metadata_bytes", static_cast<std::int64_t>(metadata));
  p.derive("traffic_bytes", static_cast<std::int64_t>(moved));
  p.derived.emplace_back("stable", s.design->keeps_order ? "yes" : "no");
  return p;
}

// Tells whether a work-group computes a state itself that stays invalid for `spin_limit` polls.
bool falls_back(const Case& at) {
  const Design& design = design_of(at);
  return design.on_cpu() || (design.looks_back() && !at.is("subgroup_impl", "ptx"));
}

// Accepts vectors of four words alone, which is what cpu.cl compacts.
bool is_valid_on_cpu(const Case& at) {
  return at.is("subgroup_impl", "portable") && at.number("width") == (at.is("type", "struct16") ? 1 : 4);
}

// Rejects other values than the default of axes that do not affect a design.
bool is_valid(const Case& at) {
  const Design& design = design_of(at);
  const bool widest = at.is("state_width", "widest");
  const double kept = fraction_of(at);
  if ((kept == 0 || kept == 1) && !at.is("pattern", "random")) return false;
  if (at.is("type", "float") && at.is("predicate", "even")) return false;
  if (at.is("type", "struct16") && at.number("width") != 1) return false;  // a key is a vector
  if (design.on_cpu() && !is_valid_on_cpu(at)) return false;
  if (at.is("subgroup_impl", "ptx") && (design.method == Method::three_pass || !widest)) return false;
  if (*design.ranks != '\0' && !at.is("ranks", "packed")) return false;
  if (*design.ranks == '\0' && !design.staged && at.is("ranks", "sums")) return false;  // is single_pass
  if (!design.in_sequences() && !at.is("write", "by_ratio")) return false;
  if (at.number("fault_rate") != 0 && !falls_back(at)) return false;
  if (at.is("output", "key_index") && !design.keeps_order)
    return false;  // an unordered key tells its own index
  return widest || design.on_cpu() || design.by_tile_states() || !design.keeps_order;
}

// ---- Findings ------------------------------------------------------------------------------------------

constexpr double no_time = std::numeric_limits<double>::infinity();

struct Best {
  double time_s = no_time;
  void update_min(double t) { time_s = std::min(time_s, t); }
};

// Compares, at each selectivity of the size with the most cases, every design with the best, and concludes
// what wide loads, few counts and staging in local memory gain.
std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const auto counts = [](const Case& at) {
    return at.is("pattern", "random") && at.is("type", "uint") && at.is("predicate", "non_zero") &&
           at.is("output", "key");
  };
  std::map<std::int64_t, std::size_t> measured;
  for (const auto& o : outcomes) measured[o.at.number("n")] += counts(o.at) ? 1 : 0;
  std::int64_t n = 0;
  for (const auto& [size, cases] : measured) n = cases >= measured[n] ? size : n;
  std::map<double, std::map<std::string, std::map<std::int64_t, Best>>> by_kept;  // then kernel, width
  for (const auto& o : outcomes) {
    if (o.at.number("n") == n && counts(o.at))
      by_kept[fraction_of(o.at)][o.at.text("kernel")][o.at.number("width")].update_min(o.time_s);
  }
  std::vector<Finding> out;
  for (const auto& [kept, by_kernel] : by_kept) {
    std::map<std::string, double> best;
    double all = no_time;
    for (const auto& [kernel, by_width] : by_kernel) {
      double& own = best.emplace(kernel, no_time).first->second;
      for (const auto& [width, time] : by_width) own = std::min(own, time.time_s);
      if (design_named(kernel).keeps_order) all = std::min(all, own);
    }
    if (best.size() < 2 || all == no_time) continue;
    const std::string at = fmt::format("kept_{:g}", 100 * kept);
    const std::string where = fmt::format("of {} uint, {:g} % kept: ", n, 100 * kept);
    std::vector<std::string> ratios;
    for (const auto& design : designs) {
      const auto it = best.find(design.name);
      if (it != best.end()) ratios.push_back(fmt::format("{} {:.2f}", design.name, it->second / all));
    }
    out.push_back(
        {at + "_best", 1e-9 * (4 + 4 * kept) * static_cast<double>(n) / all, "GB/s",
         fmt::format("{}time / time of the best that keeps the order: {}", where, fmt::join(ratios, ", "))});
    const auto ratio = [&](const char* name, const char* slow, const char* fast, const char* what) {
      if (best.contains(slow) && best.contains(fast))
        out.push_back(
            {at + "_" + name, best[slow] / best[fast], "ratio",
             fmt::format("{}{}: {:.2f}x ({} / {})", where, what, best[slow] / best[fast], slow, fast)});
    };
    ratio("few_counts", "spataro", "billeter", "one count per sequence instead of one per tile");
    ratio("one_pass", "spataro", "ranked", "counts by look-back instead of by a launch of their own");
    ratio("staging", "ranked", "staged", "kept elements collected in local memory before they are written");
    ratio("loads_ahead", "staged", "pipelined", "next tile loaded before the wait for the carry");
    for (const auto& [kernel, by_width] : by_kernel) {
      if (by_width.contains(1) && by_width.contains(4)) {
        const double gain = by_width.at(1).time_s / by_width.at(4).time_s;
        out.push_back(
            {fmt::format("{}_vectors_{}", at, kernel), gain, "ratio",
             fmt::format("{}{} by loads of four elements instead of one: {:.2f}x", where, kernel, gain)});
      }
    }
  }
  return out;
}

std::vector<Axis> axes_of(const Values& patterns, const Values& predicates) {
  const Values rows = {8, 1, 2, 4, 6, 12, 16}, per_item = {8, 2, 4, 16}, per_cu = {4, 1, 2, 3, 6, 8, 16};
  return {
      {"kernel",
       "three_pass: a 0/1 flag per element, prefix sum (scan) of the flags, scatter; billeter: each "
       "sub-group or work-group counts one long sequence, the counts are scanned, each moves its sequence "
       "(Billeter 2009); spataro: each tile (elements of one work-group) is counted, the counts are "
       "scanned, elements are ranked by ballots (bit masks of one predicate over the sub-group; Spataro "
       "2015); orange_owls: the ballots are stored, and only elements they keep are read again (Orange Owls "
       "2015); hughes: one pass in sections of 32 tiles, a tile waits for its predecessors in the section "
       "and for the previous section's total (InK-Compact, Hughes 2013); single_pass: one pass, counts by "
       "look-back (a tile publishes its count in its tile state, a word in global memory, and adds up those "
       "of the tiles before it); ranked: the same with ranks of axis `ranks`; staged: the same, kept "
       "elements are collected in local memory; pipelined: the same by persistent work-groups (each loops "
       "over many tiles), which load the next tile before they wait; unordered: one atomic addition per "
       "work-group, the order is not kept; cpu: one work-item per work-group appends without branches",
       kernels()},
      {.name = "type",
       .meaning = "element type; struct16: four 32-bit words, of which the predicate tests one",
       .values = {"uint", "ulong", "float", "struct16"},
       .alike = alike_within({{"uint", "float"}})},
      {.name = "predicate",
       .meaning = "which elements are kept; less_than: those below half of the type's range",
       .values = predicates,
       .alike = all_alike},
      {.name = "selectivity",
       .meaning = "fraction of the elements that is kept",
       .values = {0.5, 0.0, 0.01, 0.1, 0.25, 0.75, 0.9, 1.0},
       .domain = fractions(0, 1),
       .alike = all_alike},
      {.name = "pattern",
       .meaning = "where the kept elements are: random; alternating: spread evenly, as in 1,0,3,0,5; runs: "
                  "runs of a thousand elements, kept or dropped together; sorted: all kept ones first",
       .values = patterns,
       .alike = all_alike},
      {.name = "output",
       .meaning = "key: the kept elements; key_index: also their indices in the input",
       .values = {"key", "key_index"},
       .alike = all_alike},
      {.name = "n", .meaning = "keys", .values = {1 << 22}, .domain = whole(1, most_keys)},
      {.name = "width",
       .meaning = "vector width of a load, in elements",
       .values = {4, 1, 2},
       .domain = powers_of_two(1, 4)},
      {.name = "group",
       .meaning = "work-items per work-group",
       .values = {256, 32, 64, 128, 512, 1024},
       .tunable = true,
       .domain = multiples_of(subgroup_size, subgroup_size, 1024),
       .search_values =
           [](const Case& at, const DeviceInfo& device) {
             return design_of(at).on_cpu() ? Values{256} : group_sizes(at, device);
           }},
      {.name = "vectors_per_item",
       .meaning = "vectors per work-item and tile",
       .values = rows,
       .tunable = true,
       .domain = whole(1, 32),
       .search_values = where(
           [](const Case& at) { return !design_of(at).in_sequences() && !design_of(at).on_cpu(); }, rows)},
      {.name = "per_work_item",
       .meaning = "counts per work-item in the scan of the counts",
       .values = per_item,
       .tunable = true,
       .domain = whole(1, 64),
       .search_values = where(design_is(&Design::scans_counts), per_item)},
      window_axis(design_is(&Design::looks_back)),
      {.name = "groups_per_cu",
       .meaning = "work-groups per compute unit of pipelined and billeter",
       .values = per_cu,
       .tunable = true,
       .domain = whole(1, 1024),
       .search_values = where(design_is(&Design::groups_per_cu), per_cu),
       .per_compute_unit = more_than_zero("groups_per_cu")},
      {.name = "groups",
       .meaning = "total work-groups of billeter, whatever the device (published: 120); those without an "
                  "element are left out; 0: groups_per_cu decides",
       .values = {0, 120, 480},
       .tunable = true,
       .domain = whole(0, 1 << 20),
       .when = design_is(&Design::in_sequences)},
      registers_axis("hughes, single_pass, ranked, staged and pipelined", design_is(&Design::by_tile_states)),
      {"ranks",
       "how ranked, staged and pipelined count the kept elements before one in its tile: packed: four counts "
       "in one 32-bit word; votes: ballots; sums: one 32-bit count per vector",
       {"packed", "votes", "sums"}},
      {"write",
       "how billeter writes: scattered: directly; collected: through local memory; by_ratio: either, by the "
       "fraction that a sequence keeps",
       {"by_ratio", "scattered", "collected"}},
      {.name = "sequence",
       .meaning = "what processes one of billeter's sequences: group: a work-group; subgroup: 32 work-items, "
                  "as published and always with ptx",
       .values = {"group", "subgroup"},
       .when =
           [](const Case& at) { return design_of(at).in_sequences() && at.is("subgroup_impl", "portable"); }},
      subgroup_axis("how work-items count the elements they keep:"),
      chunk_axis("a tile of cpu", {16, 4, 8, 32, 64, 128}, 1 << 16),
      spin_limit_axis("single_pass, ranked, staged, pipelined and cpu", falls_back),
      state_axis(),
      fault_rate_axis()};
}

std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  const auto counts = [](const Case& at) {
    return at.is("pattern", "random") && at.is("type", "uint") && at.is("predicate", "non_zero") &&
           at.is("output", "key") && at.at("selectivity") == Value(0.5);
  };
  auto out = with_own_subgroup_impl(outcomes, device, is_valid, counts);
  std::ranges::move(at_device_size(outcomes, device, 2, plan,
                                   [&](const Case& at) { return counts(at) && design_of(at).keeps_order; }),
                    std::back_inserter(out));
  return out;
}

Presets presets_of(const Values& patterns, const Values& predicates) {
  const Values writes = {"by_ratio", "scattered", "collected"};
  const std::string own = " groups_per_cu=2 subgroup_impl=ptx,opencl,amd";
  const Values ratios = {0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0};
  const Values tile_kernels = {"spataro", "orange_owls", "hughes",    "single_pass",
                               "ranked",  "staged",      "pipelined", "unordered"};
  const Values of_series = {"billeter", "spataro", "orange_owls", "hughes", "staged", "pipelined"};
  const Values on_lanes = {"billeter", "spataro", "orange_owls", "hughes",   "single_pass",
                           "ranked",   "staged",  "pipelined",   "unordered"};
  const Values sizes = {1 << 10, 1 << 12, 1 << 14, 1 << 16,  100000,  1 << 18,
                        1 << 20, 1000000, 1 << 22, 10000000, 1 << 24, 1 << 26};
  return {
      .smoke =
          {"kernel=" + tile_kernels + " n=1,4099 group=64 vectors_per_item=2 per_work_item=2",
           "kernel=three_pass,billeter n=1,4099 group=64 vectors_per_item=1 per_work_item=2 groups_per_cu=2",
           "kernel=cpu n=1,4099 chunk_kib=1",
           "kernel=billeter n=20011 width=2 group=128 per_work_item=2 groups=120 sequence=group,subgroup",
           "kernel=billeter selectivity=0.1,0.9 n=9001 group=96 per_work_item=2 groups=3 sequence=subgroup "
           "write=" +
               writes,
           "kernel=billeter type=ulong selectivity=0.75 output=key_index pattern=runs n=3001 width=2 "
           "group=64 "
           "per_work_item=2 groups_per_cu=1 sequence=subgroup",
           "kernel=billeter,staged,pipelined,cpu predicate=less_than selectivity=0,1 n=2053 group=32 "
           "vectors_per_item=3 per_work_item=2 groups_per_cu=1 chunk_kib=1",
           "kernel=staged type=ulong predicate=even pattern=alternating selectivity=0.75 output=key_index "
           "n=3001 width=2 group=64 vectors_per_item=4 ranks=votes state_width=half fault_rate=2",
           "kernel=ranked,billeter type=float pattern=runs selectivity=0.25 output=key_index n=5003 "
           "width=1 group=64 vectors_per_item=2 per_work_item=2 groups_per_cu=1",
           "kernel=single_pass,pipelined,cpu n=9001 group=32 vectors_per_item=2 groups_per_cu=1 chunk_kib=1 "
           "fault_rate=2",
           "kernel=orange_owls,pipelined,unordered,cpu type=struct16 pattern=sorted selectivity=0.1 "
           "n=2503 width=1 group=32 vectors_per_item=4 per_work_item=2 groups_per_cu=1 chunk_kib=2",
           "kernel=three_pass,billeter," + tile_kernels +
               " n=1,9001 group=64 vectors_per_item=2 per_work_item=2" + own,
           "kernel=hughes,single_pass,ranked,staged,pipelined n=9001 group=64 vectors_per_item=2 "
           "groups_per_cu=1 "
           "registers=48 subgroup_impl=portable,ptx",
           "kernel=ranked ranks=votes,packed selectivity=1 n=9001 group=192 vectors_per_item=5" + own,
           "kernel=staged,pipelined type=ulong output=key_index n=9001 width=2 group=64 vectors_per_item=4 "
           "ranks=votes state_width=half fault_rate=2" +
               own,
           "kernel=orange_owls selectivity=0.1 n=9001 width=1 group=192 vectors_per_item=3 per_work_item=2" +
               own},
      .quick = {"kernel=" + kernels(), "kernel=billeter,staged width=1"},
      .profile = {"kernel=billeter,staged,pipelined,cpu"},
      // Begins with the published launches: 480 sequences in 120 work-groups of 128, and 1024 keys per count,
      // one per work-item. Then come launches that suit today's devices, and NVIDIA's sub-group
      // implementation.
      .paper = {"kernel=" + kernels() + " selectivity=" + ratios + " n=16777216",
                "kernel=" + of_series + " selectivity=" + ratios + " n=16777216 width=1",
                "kernel=billeter selectivity=" + ratios +
                    " n=16777216 width=1,2 group=128 groups=120 sequence=group,subgroup",
                "kernel=billeter selectivity=" + ratios + " n=16777216 width=1,2 group=32 groups=480",
                "kernel=spataro,orange_owls selectivity=" + ratios +
                    " n=16777216 width=1 group=128,512,1024 vectors_per_item=1",
                "kernel=billeter selectivity=" + ratios + " n=16777216 groups_per_cu=8,16",
                "kernel=" + of_series + " n=" + sizes,
                "kernel=billeter n=" + sizes + " width=2 group=128 groups=120 sequence=group,subgroup",
                "kernel=spataro,orange_owls n=" + sizes + " width=1 group=128,1024 vectors_per_item=1",
                "kernel=" + of_series + " pattern=" + patterns + " n=16777216",
                "kernel=billeter pattern=" + patterns +
                    " n=16777216 width=2 group=128 groups=120 sequence=group,subgroup",
                "kernel=spataro,orange_owls pattern=" + patterns +
                    " n=16777216 width=1 group=128,1024 vectors_per_item=1",
                "kernel=" + on_lanes + " selectivity=" + ratios + " n=16777216 subgroup_impl=ptx,amd",
                "kernel=" + of_series + " selectivity=" + ratios +
                    " n=16777216 width=1 subgroup_impl=ptx,amd",
                "kernel=billeter selectivity=" + ratios +
                    " n=16777216 width=1,2 group=128 groups=120 subgroup_impl=ptx,amd",
                "kernel=spataro,orange_owls selectivity=" + ratios +
                    " n=16777216 width=1 group=128,512,1024 vectors_per_item=1 subgroup_impl=ptx,amd",
                "kernel=" + of_series + " n=" + sizes + " subgroup_impl=ptx,amd",
                "kernel=billeter n=" + sizes + " width=2 group=128 groups=120 subgroup_impl=ptx,amd"},
      .full = {"kernel=" + kernels() + " selectivity=" + ratios + " n=1048576,16777216,268435456",
               "kernel=" + on_lanes + " selectivity=" + ratios +
                   " n=1048576,16777216,268435456 subgroup_impl=ptx,amd",
               "kernel=" + on_lanes + " selectivity=" + ratios +
                   " n=16777216 width=1,2 subgroup_impl=ptx,amd",
               "kernel=ranked,staged,pipelined selectivity=" + ratios +
                   " n=16777216 ranks=packed,votes,sums subgroup_impl=portable,ptx,amd",
               "kernel=billeter selectivity=" + ratios + " n=16777216 write=" + writes +
                   " sequence=group,subgroup subgroup_impl=portable,ptx,amd",
               "kernel=" + kernels() + " type=uint,ulong,float predicate=" + predicates + " pattern=" +
                   patterns + " selectivity=0.1,0.5,0.9 output=key,key_index n=1000003 vectors_per_item=4",
               "kernel=" + kernels() + " type=struct16 predicate=" + predicates + " selectivity=" + ratios +
                   " output=key,key_index n=1000003 width=1"},
      .tune = {"kernel=staged,pipelined,ranked,billeter,cpu width=4",
               "kernel=staged,pipelined,ranked width=4 subgroup_impl=ptx,amd ranks=packed,votes"}};
}

}  // namespace

Family compaction() {
  const Values patterns = {"random", "alternating", "runs", "sorted"};
  const Values predicates = {"non_zero", "even", "less_than"};
  return {
      .name = "compaction",
      .question =
          "How fast is stream compaction, which gathers the elements that satisfy a predicate, and what "
          "makes it fast?",
      .brief = "stream compaction (copy_if)",
      .axes = axes_of(patterns, predicates),
      .presets = presets_of(patterns, predicates),
      .view = {.rows = {"kernel"},
               .columns = {"selectivity"},
               .quantity = "rate",
               .chapter = "Scan and compaction",
               .graphs =
                   {{.name = "size", .x = {"n"}, .series = {"kernel"}, .quantity = "items"},
                    {.name = "selectivity", .x = {"selectivity"}, .series = {"kernel"}, .quantity = "rate"}},
               .headline = true},
      .derived = {{"metadata_bytes", "bytes of counts, flags, masks or tile states"},
                  {"traffic_bytes", "bytes that the kernel reads and writes in total"},
                  {"stable", "yes: the kept elements stay in order"}},
      .is_valid = is_valid,
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .for_comparison = [](const Case& at) { return !design_of(at).keeps_order; },
      .memory_bound = true};
}

}  // namespace clweave::families
