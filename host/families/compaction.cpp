// SPDX-License-Identifier: Apache-2.0
// compaction: how fast are the keys that a predicate keeps brought together, and what makes one design faster
// than another?
//
// After M. Billeter, O. Olsson, U. Assarsson, "Efficient Stream Compaction on Wide SIMD Many-Core
// Architectures" (2009); D. M. Hughes, I. S. Lim, M. W. Jones, A. Knoll, B. Spencer, "InK-Compact" (2013); D.
// Spataro's cuStreamComp and Orange Owls' compactions (2015); and the series "Parallel Stream Compaction"
// (Crazy on Cuda, 2018), which measured these against each other and asked: loops, the volume of the counts,
// or wide loads?
//
// Counted bytes, the same for all designs: each key read once, each kept one (and its place, where that is
// asked for) and the two counts written once. What a design moves beyond that is in the column
// `traffic_bytes`.
#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

#include "base/parallel.hpp"
#include "families/shared/tile_states.hpp"
#include "suite/family.hpp"

namespace clweave {

namespace {

// ---- Inputs --------------------------------------------------------------------------------------------

constexpr unsigned key_bits = 29;  // so many keys, at most, are all different in their first words
constexpr std::uint64_t most = std::uint64_t{1} << key_bits;
constexpr std::uint64_t run_length = 1000;  // of pattern runs: no multiple of any tile

constexpr std::uint64_t inverse_of(std::uint64_t odd) {  // modulo 2^64
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}
constexpr std::array<std::uint64_t, 3> factors = {0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15};
constexpr std::array<std::uint64_t, 3> inverses = {inverse_of(factors[2]), inverse_of(factors[1]),
                                                   inverse_of(factors[0])};

// A random permutation of [0, n): of the next power of two, applied until it lands below n. Its steps are
// invertible modulo that power.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed, std::uint64_t stream)
      : n_(n),
        bits_(std::max(1, static_cast<int>(std::bit_width(n - 1)))),
        mask_((std::uint64_t{1} << bits_) - 1),
        key_(mix_bits(seed ^ mix_bits(stream))) {}

  std::uint64_t operator()(std::uint64_t x) const {
    do x = forward(x);
    while (x >= n_);
    return x;
  }
  std::uint64_t inverse(std::uint64_t x) const {
    do x = backward(x);
    while (x >= n_);
    return x;
  }

 private:
  std::uint64_t folded(std::uint64_t x) const { return x ^ x >> (bits_ + 1) / 2; }  // its own inverse

  std::uint64_t forward(std::uint64_t x) const {
    x = (x + key_) & mask_;
    for (const auto factor : factors) x = folded(x * factor & mask_);
    return x;
  }
  std::uint64_t backward(std::uint64_t x) const {
    for (const auto inverse : inverses) x = folded(x) * inverse & mask_;
    return (x - key_) & mask_;
  }

  std::uint64_t n_;
  int bits_;
  std::uint64_t mask_, key_;
};

enum class Pattern { random, alternating, runs, sorted };
enum class Predicate { nonzero = 1, even, less };  // numbered as in compaction.cl

// Which of n keys are kept. How many is exact and known beforehand.
class Choice {
 public:
  Choice(Pattern pattern, double fraction, std::uint64_t n, std::uint64_t seed)
      : pattern_(pattern),
        n_(n),
        units_(pattern == Pattern::runs ? ceil_div(n, run_length) : n),
        chosen_(static_cast<std::uint64_t>(std::llround(fraction * static_cast<double>(units_)))),
        order_(units_, seed, 2) {}

  bool keeps(std::uint64_t i) const {
    switch (pattern_) {
      case Pattern::random: return order_(i) < chosen_;
      case Pattern::runs: return order_(i / run_length) < chosen_;
      case Pattern::sorted: return i < chosen_;
      default: return ceil_div((i + 1) * chosen_, n_) > ceil_div(i * chosen_, n_);  // evenly spread
    }
  }
  std::uint64_t count() const {
    if (pattern_ != Pattern::runs) return chosen_;
    const std::uint64_t missing = units_ * run_length - n_;  // of the last run
    return chosen_ * run_length - (keeps(n_ - 1) ? missing : 0);
  }

 private:
  Pattern pattern_;
  std::uint64_t n_, units_, chosen_;
  Permutation order_;
};

using Key = std::array<std::uint32_t, 4>;  // as many words as the type has

// What the keys are made of: each kept key tells its place, so that no two are equal.
struct Type {
  const char* name;
  const char* cl;
  std::uint64_t words;
  const char *limit, *dropped_even;
};
constexpr std::array<Type, 4> types = {{{"uint", "uint", 1, "0x80000000u", "1"},
                                        {"ulong", "ulong", 2, "0x8000000000000000ul", "1"},
                                        {"float", "float", 1, "0.0f", ""},
                                        {"struct16", "uint4", 4, "0x80000000u", "1"}}};

class Keys {
 public:
  Keys(const Type& type, Predicate predicate, const Choice& choice, std::uint64_t n, std::uint64_t seed)
      : type_(type), predicate_(predicate), choice_(choice), n_(n), places_(most, seed, 3), noise_(seed, 4) {}

  std::uint64_t count() const { return choice_.count(); }
  bool keeps(std::uint64_t i) const { return choice_.keeps(i); }

  Key operator()(std::uint64_t i) const { return key(i, choice_.keeps(i)); }
  Key kept(std::uint64_t i) const { return key(i, true); }

  // The place of a kept key; none where there is no such key.
  std::optional<std::uint64_t> place_of(const Key& found) const {
    const bool floating = type_.cl == std::string("float");
    std::uint32_t place = found[leading()];
    if (floating)
      place = (place & 0x7FFFFFFF) - float_base;
    else if (predicate_ == Predicate::nonzero)
      place -= 1;
    else if (predicate_ == Predicate::even && leading() == 0)
      place /= 2;
    if (place >= most) return {};
    const std::uint64_t i = places_.inverse(place);
    if (i >= n_ || !keeps(i) || kept(i) != found) return {};
    return i;
  }

 private:
  static constexpr std::uint32_t float_base = 0x20000000, sign = 0x80000000;  // normal numbers

  std::size_t leading() const { return type_.words == 2 ? 1 : 0; }  // the word that tells the place

  Key key(std::uint64_t i, bool kept) const {
    const std::uint64_t noise = noise_(i);
    const auto place = static_cast<std::uint32_t>(places_(i)), low = static_cast<std::uint32_t>(noise);
    Key out = {};
    if (type_.words == 4) out = {0, low, low ^ 0x5A5A5A5A, static_cast<std::uint32_t>(noise >> 32)};
    if (type_.cl == std::string("float")) {
      // Half of the zeros are negative: they are zeros all the same.
      if (predicate_ == Predicate::nonzero)
        out[0] = (kept ? float_base + place : 0) | (low & sign);
      else
        out[0] = (float_base + place) | (kept ? sign : 0);
      return out;
    }
    std::uint32_t& leads = out[leading()];
    if (predicate_ == Predicate::nonzero) {
      leads = kept ? place + 1 : 0;
      if (type_.words == 2) out[0] = kept ? low : 0;
    } else if (predicate_ == Predicate::less) {
      leads = kept ? place : sign | place;
      if (type_.words == 2) out[0] = low;
    } else if (type_.words == 2) {
      leads = place;
      out[0] = (low & ~1U) | (kept ? 0 : 1);
    } else {
      leads = 2 * place | (kept ? 0 : 1);
    }
    return out;
  }

  const Type& type_;
  Predicate predicate_;
  Choice choice_;
  std::uint64_t n_;
  Permutation places_;
  Random<std::uint64_t> noise_;
};

// ---- Checks --------------------------------------------------------------------------------------------

// The places of the kept keys in order, from a table of how many there are before each block. The table is
// made by the first check, on all threads.
class Reference {
 public:
  Reference(const Keys& keys, std::uint64_t n) : keys_(keys), n_(n) {}

  // Gives the place of one kept key after the other; behind the last, n.
  class Walk {
   public:
    Walk(std::shared_ptr<const Reference> of, std::uint64_t rank) : of_(std::move(of)) {
      of_->tabulate();
      const auto& before = of_->before_;
      const auto block = std::ranges::upper_bound(before, rank) - before.begin() - 1;
      next_ = static_cast<std::uint64_t>(block) * block_size;
      for (std::uint64_t skip = rank - before[static_cast<std::size_t>(block)]; skip > 0; --skip)
        (void)(*this)();
    }
    std::uint64_t operator()() {
      while (next_ < of_->n_ && !of_->keys_.keeps(next_)) ++next_;
      return next_ < of_->n_ ? next_++ : of_->n_;
    }

   private:
    std::shared_ptr<const Reference> of_;
    std::uint64_t next_ = 0;
  };

  const Keys& keys() const { return keys_; }

 private:
  static constexpr std::uint64_t block_size = 4096;

  void tabulate() const {
    std::call_once(once_, [this] {
      before_.resize(ceil_div(n_, block_size));
      for_stretches(before_.size(), 1, [this](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t b = begin; b < end; ++b) {
          for (std::uint64_t i = b * block_size; i < std::min(n_, (b + 1) * block_size); ++i)
            before_[b] += keys_.keeps(i) ? 1 : 0;
        }
      });
      std::uint64_t sum = 0;
      for (auto& count : before_) sum += std::exchange(count, sum);
    });
  }

  Keys keys_;
  std::uint64_t n_;
  mutable std::once_flag once_;
  mutable std::vector<std::uint64_t> before_;
};

// Every kept key once, in any order. What was seen is kept from stretch to stretch until all of the buffer
// was.
class Multiset {
 public:
  Multiset(const Keys& keys, std::uint64_t n, std::uint64_t words)
      : keys_(keys), count_(keys.count()), n_(n), words_(words) {}

  Tally compare(std::uint64_t offset, std::span<const std::byte> bytes) {
    std::call_once(once_, [this] { seen_ = std::vector<std::atomic<std::uint64_t>>(n_ / 64 + 1); });
    Tally tally;
    const std::uint64_t key_bytes = 4 * words_, first = offset / key_bytes;
    for (std::uint64_t i = 0; i < bytes.size() / key_bytes; ++i) {
      Key got = {};
      std::memcpy(got.data(), &bytes[i * key_bytes], key_bytes);
      const auto place = keys_.place_of(got);
      const bool twice =
          place && (seen_[*place / 64].fetch_or(std::uint64_t{1} << *place % 64) >> *place % 64 & 1) != 0;
      ++tally.elements;
      tally.written +=
          std::memcmp(got.data(), &poison[i * key_bytes % poison.size()], key_bytes) != 0 ? 1 : 0;
      if (place && !twice) continue;
      if (tally.wrong++ == 0) {
        tally.first_wrong = first + i;
        tally.first_text = fmt::format("[{}] is {}", first + i,
                                       twice ? fmt::format("key {} a second time", *place) : "no kept key");
      }
    }
    if (compared_.fetch_add(tally.elements) + tally.elements == count_) {
      for (auto& word : seen_) word = 0;
      compared_ = 0;
    }
    return tally;
  }

 private:
  Keys keys_;
  std::uint64_t count_, n_, words_;
  std::once_flag once_;
  std::vector<std::atomic<std::uint64_t>> seen_;
  std::atomic<std::uint64_t> compared_ = 0;
};

// ---- Plans ---------------------------------------------------------------------------------------------

constexpr std::uint64_t bundle = 32;  // items that vote together

enum class Before { look_back = 1, sections, counted, unordered };  // numbered as in compaction.cl

// How a design works.
struct Form {
  const char* name = "";
  std::optional<Before> before = {};  // of those that go by tiles
  const char* ranks = "";             // empty: as the axis says
  bool staged = false, ahead = false, masks = false;
};
constexpr std::array<Form, 11> forms = {{{"three_pass", {}, "sums", false, false, false},
                                         {"billeter", {}, "sums", false, false, false},
                                         {"spataro", Before::counted, "votes", false, false, false},
                                         {"orange_owls", Before::counted, "votes", false, false, true},
                                         {"hughes", Before::sections, "sums", false, false, false},
                                         {"single_pass", Before::look_back, "sums", false, false, false},
                                         {"ranked", Before::look_back, "", false, false, false},
                                         {"staged", Before::look_back, "", true, false, false},
                                         {"pipelined", Before::look_back, "", true, true, false},
                                         {"unordered", Before::unordered, "packed", true, false, false},
                                         {"cpu", {}, "sums", false, false, false}}};

const Form& form_of(const Case& at) {
  return *std::ranges::find_if(forms, [&](const Form& form) { return at.is("kernel", form.name); });
}
Values kernels() {
  Values names;
  for (const auto& form : forms) names.emplace_back(std::string(form.name));
  return names;
}

double fraction_of(const Case& at) {
  const Value& value = at.at("kept");
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const double kept = whole != nullptr ? static_cast<double>(*whole) : real != nullptr ? *real : -1;
  if (!(kept >= 0 && kept <= 1)) throw Error(Kind::usage, "kept must be 0 to 1, such as 0.25");
  return kept;
}

const Type& type_of(const Case& at) {
  return *std::ranges::find_if(types, [&](const Type& type) { return at.is("type", type.name); });
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

// What all plans know of their case.
struct Setting {
  const Form* form;
  bool ptx, index, halves, sequences, three_pass, cpu;
  std::uint64_t n, key_bytes, width, group, rows, items, window, polls, per_unit, drop;
  std::uint64_t tile, tiles;
};

Setting setting_of(const Case& at, const DeviceInfo& device) {
  Setting s = {};
  s.form = &form_of(at);
  s.ptx = at.is("lanes", "ptx");
  s.index = at.is("output", "key_index");
  s.halves = !device.int64_atomics || at.is("state", "halves");
  s.sequences = at.is("kernel", "billeter");
  s.three_pass = at.is("kernel", "three_pass");
  s.cpu = at.is("kernel", "cpu");
  s.n = at.count("n", 1, most);
  s.key_bytes = 4 * type_of(at).words;
  s.width = at.count("width", 1, 4);
  s.group = s.cpu ? 1 : at.count("group", 1, 1024);
  s.rows = s.sequences ? 1 : at.count("rows", 1, 32);
  s.items = at.count("per_item", 1, 64);
  s.window = at.count("window", 1, 1024);
  if (!s.ptx) s.window = std::min(s.window, s.group);
  s.polls = at.count("polls", 1, 60000);
  s.per_unit = at.count("groups_per_unit", 1, 1024);
  s.drop = at.count("drop", 0, 1000000);
  s.tile = s.cpu ? at.count("chunk_kib", 1, 1 << 16) * 1024 / s.key_bytes : s.group * s.rows * s.width;
  s.tiles = ceil_div(s.n, s.tile);
  return s;
}

bool waits(const Setting& s) {
  return s.form->before == Before::sections || (s.form->before == Before::look_back && s.ptx);
}

// What the kernels declare, so that a device with less is refused and not asked.
std::uint64_t local_bytes_of(const Setting& s) {
  const std::uint64_t place_bytes = s.index ? 4 : 0;
  if (s.cpu) return s.tile * (s.key_bytes + place_bytes) + 16;
  const std::uint64_t scan_sums = 4 * (s.group * s.items * 33 / 32 + 2 * s.group);
  if (s.three_pass) return scan_sums;
  if (s.sequences) return std::max(scan_sums, 2 * s.tile * (s.key_bytes + place_bytes) + 8 * s.group);
  const std::uint64_t vectors = s.ptx ? 1 : s.group * s.rows * 33 / 32;
  const std::uint64_t ranks = 4 * (vectors + 2 * s.group + (waits(s) ? 2 * s.group : 0)) + 12 * s.window + 64;
  return std::max(s.form->before == Before::counted ? scan_sums : 0,
                  ranks + (s.form->staged ? s.tile * (s.key_bytes + (s.index ? 2 : 0)) : 0));
}

void refuse_what_cannot_be(const Setting& s, const DeviceInfo& device) {
  if (!s.cpu && s.group % bundle != 0) throw Error(Kind::usage, "group must be a multiple of 32");
  if (s.tile > 65536 && !s.cpu)
    throw Error(Kind::usage, "group * rows * width must be 65536 at most: places in a tile have 16 bits");
  if (s.ptx && (s.window % bundle != 0 || s.window > 8 * bundle))
    throw Error(Kind::usage, "with lanes=ptx, window must be a multiple of 32, up to 256");
  if (s.width == 3) throw Error(Kind::usage, "width must be 1, 2 or 4");
  const std::uint64_t local = local_bytes_of(s);
  Plan::need(local <= static_cast<std::uint64_t>(device.local_bytes),
             fmt::format("{} bytes of local memory, the device has {}", local, device.local_bytes));
  Plan::need(!s.ptx || device.has_extension("cl_nv_pragma_unroll"), "lanes=ptx needs NVIDIA's compiler");
  Plan::need(!s.ptx || !s.halves, "lanes=ptx needs 64-bit atomics");
  Plan::need(!waits(s) || device.groups_make_progress(),
             "a group that has started may never go on while others wait for it");
  const std::uint64_t most_tiles = s.halves ? 1 << 17 : INT32_MAX / 2;
  Plan::need(s.tiles <= most_tiles, fmt::format("{} tiles, the tickets count to {}", s.tiles, most_tiles));
}

// The buffers of a plan.
struct Memory {
  Buffer in, out, index, count;
};

// Returns the bytes that the design's own data take, and adds what reading and writing them moves to `moved`.
std::uint64_t three_pass(Plan& p, const Case& at, const Setting& s, const Memory& m, std::uint64_t& moved) {
  const Buffer flags = garbage(p, at.seed, 4 * s.n), ranks = garbage(p, at.seed, 4 * s.n);
  const std::uint64_t scan_tiles = ceil_div(s.n, s.group * s.items);
  const Buffer sums = garbage(p, at.seed, 4 * scan_tiles);
  const Range tiles = {s.tiles * s.group}, scans = {scan_tiles * s.group}, group = {s.group};
  p.define("KERNEL_THREE_PASS", 1).define("KERNEL_REDUCE_THEN_SCAN", 1);
  p.launch("flags", tiles, group, flags, m.in, s.n);
  p.launch("reduce_tiles", scans, group, sums, flags, s.n, std::uint64_t{0});
  p.launch("scan_sums", group, group, sums, std::uint64_t{0}, scan_tiles);
  p.launch("scan_tiles_onto", scans, group, ranks, sums, flags, s.n, std::uint64_t{0});
  p.launch("scatter", tiles, group, m.out, m.index, m.count, ranks, m.in, s.n);
  moved += s.n * s.key_bytes + 20 * s.n + 16 * scan_tiles;
  return 4 * (2 * s.n + scan_tiles);
}

std::uint64_t billeter(Plan& p, const Case& at, const DeviceInfo& device, const Setting& s, const Memory& m,
                       std::uint64_t& moved) {
  const std::uint64_t unit = s.ptx ? bundle : s.group;
  const std::uint64_t chunks = ceil_div(s.n, unit * s.width);
  const std::uint64_t groups =
      std::min(std::max(device.units() * s.per_unit, ceil_div(chunks * unit, device.most_turns() * s.group)),
               ceil_div(chunks * unit, s.group));
  const std::uint64_t units = groups * s.group / unit;
  const Buffer sums = garbage(p, at.seed, 4 * units);
  const Range all = {groups * s.group}, group = {s.group};
  p.define("KERNEL_SEQUENCES", 1).define("KERNEL_SCAN_SUMS", 1);
  p.define("WRITE", at.is("write", "by_ratio") ? 0 : at.is("write", "scattered") ? 1 : 2);
  p.launch("count_sequences", all, group, sums, m.in, s.n, chunks / units, chunks % units);
  p.launch("scan_sums", group, group, sums, std::uint64_t{0}, units);
  p.launch("move_sequences", all, group, m.out, m.index, m.count, sums, m.in, s.n, chunks / units,
           chunks % units);
  moved += s.n * s.key_bytes + 16 * units;
  return 4 * units;
}

Buffer stale_states(Plan& p, const Case& at, const Setting& s) {
  const std::uint64_t words = 16 + s.tiles * (s.halves ? 2 : 1);  // the tickets have a line of their own
  return clweave::stale_states(p, at.seed, words, 1, s.halves);
}

void define_states(Plan& p, const Setting& s, const DeviceInfo& device, bool waiting) {
  // Seconds: a wait that ends without its value makes a wrong result, not an endless run.
  const std::uint64_t enough = device.type == "cpu" ? 1 << 28 : 1 << 20;
  p.define("STATE_BITS", s.halves ? 32 : 64).define("DROP", s.drop).define("WINDOW", s.window);
  p.define("POLLS", waiting ? enough : s.polls);
}

std::uint64_t cpu(Plan& p, const Case& at, const DeviceInfo& device, const Setting& s, const Memory& m,
                  std::uint64_t& moved) {
  define_states(p, s, device, false);
  need_turns(device, 2 * s.n, s.tiles);  // to count, and to move
  p.define("KERNEL_CPU", 1).define("CHUNK", s.tile);
  const Buffer states = stale_states(p, at, s);
  p.launch("cpu", {s.tiles}, {1}, m.out, m.index, m.count, states, m.in, s.n,
           static_cast<std::uint32_t>(s.tiles));
  moved += 24 * s.tiles;
  return 8 * s.tiles;
}

std::uint64_t tiles(Plan& p, const Case& at, const DeviceInfo& device, const Setting& s, const Memory& m,
                    std::uint64_t& moved) {
  const std::string ranks = *s.form->ranks != '\0' ? s.form->ranks : at.text("ranks");
  p.define("KERNEL_COMPACT", 1).define("BEFORE", static_cast<int>(*s.form->before));
  p.define("RANKS", ranks == "sums" ? 1 : ranks == "packed" ? 2 : 3);
  p.define("STAGED", s.form->staged ? 1 : 0)
      .define("AHEAD", s.form->ahead ? 1 : 0)
      .define("MASKS", s.form->masks ? 1 : 0);
  const auto count = static_cast<std::uint32_t>(s.tiles);
  const Range all = {s.tiles * s.group}, group = {s.group};
  if (s.form->before == Before::counted) {
    const std::uint64_t mask_words = s.form->masks ? s.tiles * s.tile / 32 : 0;
    const Buffer sums = garbage(p, at.seed, 4 * s.tiles);
    const Buffer masks = s.form->masks ? garbage(p, at.seed, 4 * mask_words) : sums;
    p.define("KERNEL_COUNT_TILES", 1).define("KERNEL_SCAN_SUMS", 1);
    p.launch("count_tiles", all, group, sums, masks, m.in, s.n);
    p.launch("scan_sums", group, group, sums, std::uint64_t{0}, s.tiles);
    p.launch("compact", all, group, m.out, m.index, m.count, sums, masks, m.in, s.n, count, count);
    moved += s.n * s.key_bytes + 16 * s.tiles + 8 * mask_words;  // with masks, the second n at most
    return 4 * (s.tiles + mask_words);
  }
  if (s.form->before == Before::unordered) {
    p.define("STATE_BITS", s.halves ? 32 : 64);
    const Buffer word = p.input<std::uint64_t>(1, [](std::uint64_t) { return 0; });  // and left so
    p.launch("compact", all, group, m.out, m.index, m.count, word, m.in, m.in, s.n, count, count);
    return 8;
  }
  define_states(p, s, device, waits(s));
  const Buffer states = stale_states(p, at, s);
  const std::uint64_t groups = s.form->ahead ? std::min(device.units() * s.per_unit, s.tiles) : s.tiles;
  // Who goes on from tile to tile draws one ticket too many.
  const auto tickets = static_cast<std::uint32_t>(s.form->ahead ? s.tiles + groups : s.tiles);
  p.launch("compact", {groups * s.group}, group, m.out, m.index, m.count, states, m.in, m.in, s.n, count,
           tickets);
  moved += 24 * s.tiles;
  return 8 * s.tiles;
}

void check(Plan& p, const Setting& s, const Memory& m, const Keys& keys, std::uint64_t words) {
  const std::uint64_t kept = keys.count();
  p.expect<std::uint32_t>(m.count, [=, n = s.n](std::uint64_t i) { return i == 0 ? kept : n - kept; });
  if (kept == 0) return;
  if (s.form->before == Before::unordered) {
    const auto seen = std::make_shared<Multiset>(keys, s.n, words);
    p.checks.push_back({m.out, [seen](std::uint64_t offset, std::span<const std::byte> bytes) {
                          return seen->compare(offset, bytes);
                        }});
    return;
  }
  const auto reference = std::make_shared<const Reference>(keys, s.n);
  p.expect_from<std::uint32_t>(m.out, [reference, words](std::uint64_t first) {
    return [reference, words, walk = Reference::Walk(reference, first / words), key = Key(),
            word = first % words]() mutable {
      if (word % words == 0) key = reference->keys().kept(walk());
      return key[word++ % words];
    };
  });
  if (s.index) {
    p.expect_from<std::uint32_t>(
        m.index, [reference](std::uint64_t first) { return Reference::Walk(reference, first); });
  }
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const Setting s = setting_of(at, device);
  refuse_what_cannot_be(s, device);
  const Type& type = type_of(at);
  const Predicate predicate = predicate_of(at);
  const Choice choice(pattern_of(at), fraction_of(at), s.n, at.seed);
  const Keys keys(type, predicate, choice, s.n, at.seed);
  const std::uint64_t kept = keys.count(), words = type.words;

  Plan p;
  p.define("T", "uint").define("U", "uint").define("OP", 1).define("PARTS", 1).define("VALUE_BYTES", 4);
  p.define("EXCLUSIVE", 1).define("INITIAL", 0).define("GROUP", s.group).define("ITEMS", s.items);
  p.define("KEY", type.cl).define("STRUCT", words == 4 ? 1 : 0).define("INDEX", s.index ? 1 : 0);
  p.define("PREDICATE", static_cast<int>(predicate)).define("LIMIT", type.limit);
  p.define("DROPPED", predicate == Predicate::nonzero ? "0"
                      : predicate == Predicate::even  ? type.dropped_even
                                                      : type.limit);
  p.define("PTX", s.ptx ? 1 : 0);
  if (!s.cpu) p.define("ROWS", s.rows).define("VEC", s.width);
  p.sources = {"shared/elements", "shared/group_scan"};
  const bool states = s.cpu || s.form->before == Before::look_back || s.form->before == Before::sections;
  if (!s.cpu) p.sources.emplace_back("shared/rows");
  if (states) p.sources.emplace_back("shared/tile_states");
  if (states && !s.cpu) p.sources.emplace_back("shared/look_back");
  if (!states && s.form->before != Before::unordered) p.sources.emplace_back("scan");
  p.sources.emplace_back("compaction");

  const Buffer in = p.input<std::uint32_t>(
      s.n * words, [keys, words](std::uint64_t i) { return keys(i / words)[i % words]; });
  const Buffer out = p.output<std::uint32_t>(s.n * words, kept * words);
  const Buffer count = p.output<std::uint32_t>(2);
  const Buffer index = s.index ? p.output<std::uint32_t>(s.n, kept) : count;  // without, none is written
  const Memory m = {in, out, index, count};
  check(p, s, m, keys, words);

  p.cost = {.read = s.n * s.key_bytes,
            .written = kept * (s.key_bytes + (s.index ? 4 : 0)) + 8,
            .flops = 0,
            .items = s.n};
  p.ceiling = Ceiling::copy;
  std::uint64_t moved = p.cost.read + p.cost.written;
  const std::uint64_t metadata = s.three_pass  ? three_pass(p, at, s, m, moved)
                                 : s.sequences ? billeter(p, at, device, s, m, moved)
                                 : s.cpu       ? cpu(p, at, device, s, m, moved)
                                               : tiles(p, at, device, s, m, moved);
  p.derive("metadata_bytes", static_cast<std::int64_t>(metadata));
  p.derive("traffic_bytes", static_cast<std::int64_t>(moved));
  p.derived.emplace_back("stable", s.form->before == Before::unordered ? "no" : "yes");
  return p;
}

// An axis that a design does not heed stays at its default.
bool makes_sense(const Case& at) {
  const Form& form = form_of(at);
  const bool sequences = at.is("kernel", "billeter"), cpu = at.is("kernel", "cpu");
  const bool chained = form.before == Before::look_back || form.before == Before::sections;
  const double kept = fraction_of(at);
  if ((kept == 0 || kept == 1) && !at.is("pattern", "random")) return false;
  if (at.is("type", "float") && at.is("predicate", "even")) return false;
  if (at.is("type", "struct16") && at.number("width") != 1) return false;  // has the width of a vector
  if (cpu && !(at.is("type", "struct16") ? at.number("width") == 1 : at.number("width") == 4)) return false;
  if (at.is("lanes", "ptx") && (cpu || at.is("kernel", "three_pass") || at.is("state", "halves")))
    return false;
  if (*form.ranks != '\0' && !at.is("ranks", "packed")) return false;
  if (at.is("kernel", "ranked") && at.is("ranks", "sums")) return false;  // is single_pass
  if (!sequences && !at.is("write", "by_ratio")) return false;
  if (at.number("drop") != 0 && !cpu && (form.before != Before::look_back || at.is("lanes", "ptx")))
    return false;
  if (at.is("output", "key_index") && form.before == Before::unordered) return false;  // the keys tell
  return at.is("state", "widest") || cpu || chained || form.before == Before::unordered;
}

// ---- The series' question ------------------------------------------------------------------------------

struct Best {
  double time_s = 1e300;
  void heed(double t) { time_s = std::min(time_s, t); }
};

// At each kept ratio, of the size with the most cases: every design over the best, and what wide loads, few
// counts and collecting in local memory bring.
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
      by_kept[fraction_of(o.at)][o.at.text("kernel")][o.at.number("width")].heed(o.time_s);
  }
  std::vector<Finding> out;
  for (const auto& [kept, by_kernel] : by_kept) {
    std::map<std::string, double> best;
    double all = 1e300;
    for (const auto& [kernel, by_width] : by_kernel) {
      double& own = best.emplace(kernel, 1e300).first->second;
      for (const auto& [width, time] : by_width) own = std::min(own, time.time_s);
      if (kernel != "unordered") all = std::min(all, own);
    }
    if (best.size() < 2 || all == 1e300) continue;
    const std::string at = fmt::format("kept_{:g}", 100 * kept);
    const std::string where = fmt::format("of {} uint, {:g} % kept: ", n, 100 * kept);
    std::vector<std::string> ratios;
    for (const auto& form : forms) {
      const auto it = best.find(form.name);
      if (it != best.end()) ratios.push_back(fmt::format("{} {:.2f}", form.name, it->second / all));
    }
    out.push_back({at + "_best", 1e-9 * (4 + 4 * kept) * static_cast<double>(n) / all, "GB/s",
                   fmt::format("{}time over that of the best that keeps the order: {}", where,
                               fmt::join(ratios, ", "))});
    const auto ratio = [&](const char* name, const char* slow, const char* fast, const char* what) {
      if (best.contains(slow) && best.contains(fast))
        out.push_back(
            {at + "_" + name, best[slow] / best[fast], "ratio",
             fmt::format("{}{}: {:.2f}x ({} over {})", where, what, best[slow] / best[fast], slow, fast)});
    };
    ratio("few_counts", "spataro", "billeter", "a count per sequence instead of one per tile");
    ratio("one_pass", "spataro", "ranked", "counts through look-back instead of a launch of their own");
    ratio("staging", "ranked", "staged", "kept keys collected before they are written");
    ratio("loads_ahead", "staged", "pipelined", "the next tile's loads before the wait");
    for (const auto& [kernel, by_width] : by_kernel) {
      if (by_width.contains(1) && by_width.contains(4)) {
        const double gain = by_width.at(1).time_s / by_width.at(4).time_s;
        out.push_back({fmt::format("{}_vectors_{}", at, kernel), gain, "ratio",
                       fmt::format("{}{} loads four keys at once: {:.2f}x", where, kernel, gain)});
      }
    }
  }
  return out;
}

}  // namespace

Family compaction() {
  const Values ratios = {0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0};
  const Values patterns = {"random", "alternating", "runs", "sorted"};
  const Values predicates = {"non_zero", "even", "less_than"};
  const Values tile_kernels = {"spataro", "orange_owls", "hughes",    "single_pass",
                               "ranked",  "staged",      "pipelined", "unordered"};
  const Values of_series = {"billeter", "spataro", "orange_owls", "hughes", "staged", "pipelined"};
  const Values on_lanes = {"billeter", "spataro", "orange_owls", "hughes",   "single_pass",
                           "ranked",   "staged",  "pipelined",   "unordered"};
  const Values sizes = {1 << 10, 1 << 12, 1 << 14, 1 << 16,  100000,  1 << 18,
                        1 << 20, 1000000, 1 << 22, 10000000, 1 << 24, 1 << 26};
  return {
      .name = "compaction",
      .question =
          "How fast are the keys that a predicate keeps brought together, and what makes a design fast?",
      .axes =
          {{"kernel",
            "three_pass: flags, their scan, scatter; billeter: few units of lanes count and move a sequence "
            "each; spataro: tiles are counted, the counts scanned, keys ranked by votes; orange_owls: the "
            "votes are kept as masks, and only what they keep is read again; hughes: one pass, tiles wait "
            "for their section and the one before; single_pass: counts by look-back; ranked: with packed "
            "ranks or votes; staged: kept keys are collected in local memory; pipelined: the next tile's "
            "loads before the wait; unordered: an atomic add per group, the order is not kept; cpu: one "
            "item appends without a branch",
            kernels()},
           {"type",
            "of the keys; struct16: four words, of which the predicate looks at one",
            {"uint", "ulong", "float", "struct16"}},
           {"predicate", "what is kept; less_than: half of the type's range", predicates},
           {"kept", "fraction of the keys that is kept", {0.5, 0.0, 0.01, 0.1, 0.25, 0.75, 0.9, 1.0}},
           {"pattern",
            "where they are: random; alternating: spread evenly, as in 1,0,3,0,5; runs: a thousand keys "
            "share "
            "their lot; sorted: the kept ones first",
            patterns},
           {"output", "key: the keys; key_index: and where they were", {"key", "key_index"}},
           {"n", "keys", {1 << 22}},
           {"width", "keys of a load", {4, 1, 2}},
           {"group", "items of a work-group", {256}, false, true},
           {"rows", "vectors of a work-item and a tile", {8}, false, true},
           {"per_item", "counts of a work-item that scans them", {8}, false, true},
           window_axis(),
           {"groups_per_unit", "work-groups per compute unit, of pipelined and billeter", {4}, false, true},
           {"ranks",
            "how ranked, staged and pipelined count the keys before one: packed: four sums in a word; votes: "
            "a "
            "bit per key; sums: a word per vector",
            {"packed", "votes", "sums"}},
           {"write",
            "how billeter writes: scattered; collected in local memory; by_ratio: as a sequence keeps few or "
            "many",
            {"by_ratio", "scattered", "collected"}},
           {"lanes",
            "how items exchange: portable: through local memory; ptx: NVIDIA's shuffles and votes",
            {"portable", "ptx"}},
           chunk_axis(16),
           polls_axis(),
           state_axis(),
           drop_axis()},
      .presets =
          {.smoke = {"kernel=" + tile_kernels + " n=1,4099 group=64 rows=2 per_item=2",
                     "kernel=three_pass,billeter n=1,4099 group=64 rows=1 per_item=2 groups_per_unit=2",
                     "kernel=cpu n=1,4099 chunk_kib=1",
                     "kernel=billeter,staged,pipelined,cpu predicate=less_than kept=0,1 n=2053 group=32 "
                     "rows=3 per_item=2 groups_per_unit=1 chunk_kib=1",
                     "kernel=staged type=ulong predicate=even pattern=alternating kept=0.75 output=key_index "
                     "n=3001 width=2 group=64 rows=4 ranks=votes state=halves drop=2",
                     "kernel=ranked,billeter type=float pattern=runs kept=0.25 output=key_index n=5003 "
                     "width=1 group=64 rows=2 per_item=2 groups_per_unit=1",
                     "kernel=single_pass,pipelined,cpu n=9001 group=32 rows=2 groups_per_unit=1 chunk_kib=1 "
                     "drop=2",
                     "kernel=orange_owls,pipelined,unordered,cpu type=struct16 pattern=sorted kept=0.1 "
                     "n=2503 width=1 group=32 rows=4 per_item=2 groups_per_unit=1 chunk_kib=2"},
           .quick = {"kernel=" + kernels(), "kernel=billeter,staged width=1", "kernel=cpu kept=0,1"},
           .paper = {"kernel=" + kernels() + " kept=" + ratios + " n=16777216",
                     "kernel=" + on_lanes + " kept=" + ratios + " n=16777216 lanes=ptx",
                     "kernel=" + of_series + " kept=" + ratios + " n=16777216 width=1 lanes=portable,ptx",
                     "kernel=billeter kept=" + ratios + " n=16777216 groups_per_unit=8,16 lanes=ptx",
                     "kernel=" + of_series + " n=" + sizes + " lanes=ptx",
                     "kernel=" + of_series + " pattern=" + patterns + " n=16777216 lanes=ptx"},
           .full = {"kernel=" + kernels() + " kept=" + ratios + " n=1048576,16777216,268435456",
                    "kernel=" + on_lanes + " kept=" + ratios + " n=1048576,16777216,268435456 lanes=ptx",
                    "kernel=" + on_lanes + " kept=" + ratios + " n=16777216 width=1,2 lanes=ptx",
                    "kernel=ranked,staged,pipelined kept=" + ratios +
                        " n=16777216 ranks=packed,votes,sums lanes=portable,ptx",
                    "kernel=billeter kept=" + ratios +
                        " n=16777216 write=by_ratio,scattered,collected lanes=portable,ptx",
                    "kernel=" + kernels() + " type=uint,ulong,float predicate=" + predicates +
                        " pattern=" + patterns + " kept=0.1,0.5,0.9 output=key,key_index n=1000003 rows=4",
                    "kernel=" + kernels() + " type=struct16 predicate=" + predicates + " kept=" + ratios +
                        " output=key,key_index n=1000003 width=1"}},
      .view = {.rows = {"kernel"}, .columns = {"kept"}, .quantity = "rate"},
      .derived = {{"metadata_bytes", "counts, flags, masks or tile states of the design"},
                  {"traffic_bytes", "what the design reads and writes in all"},
                  {"stable", "yes: the kept keys are in their order"}},
      .makes_sense = makes_sense,
      .plan = plan,
      .findings = findings};
}

}  // namespace clweave
