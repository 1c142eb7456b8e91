// SPDX-License-Identifier: Apache-2.0
// matrix_units: throughput of the matrix units (tensor cores) in each number format, by the instructions of
// each maker.
//
// A sub-group holds some tiles of sums and adds products A * B to each. A is one of two matrices, by a random
// sequence of bits, and each tile has a B of its own: where an instruction is emulated by others, no compiler
// can compute a product once and use it again, as they do where all factors are the same (factors=fixed, as
// in other programs).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

// ---- Formats ---------------------------------------------------------------------------------------------

struct Format {
  const char* name;
  std::uint64_t per_word;  // elements; of double per word of 64 bits
  const char* unit;
  const char* meaning;
};
constexpr std::array<Format, 9> formats = {{{"half", 2, "GFLOP/s", "FP16 matrix unit, sums in FP32"},
                                            {"half_half", 2, "GFLOP/s", "FP16 matrix unit, sums in FP16"},
                                            {"bf16", 2, "GFLOP/s", "BF16 matrix unit"},
                                            {"tf32", 1, "GFLOP/s", "TF32 matrix unit"},
                                            {"e4m3", 4, "GFLOP/s", "FP8 (E4M3) matrix unit"},
                                            {"e5m2", 4, "GFLOP/s", "FP8 (E5M2) matrix unit"},
                                            {"double", 1, "GFLOP/s", "FP64 matrix unit"},
                                            {"int8", 4, "GOP/s", "INT8 matrix unit"},
                                            {"int4", 8, "GOP/s", "INT4 matrix unit"}}};

const Format& format_of(const Case& at) {
  return *std::ranges::find(formats, at.text("format"), &Format::name);
}

// Returns the bits of a small integer as a floating-point number with so many bits of exponent and fraction.
Word bits_of_float(int value, unsigned exponent_bits, unsigned fraction_bits) {
  if (value == 0) return 0;
  const auto magnitude = static_cast<Word>(value < 0 ? -value : value);
  const auto exponent = static_cast<Word>(std::bit_width(magnitude)) - 1;
  const Word bias = (1U << (exponent_bits - 1)) - 1;
  const Word fraction = (magnitude << fraction_bits >> exponent) & ((1U << fraction_bits) - 1);
  const Word sign = value < 0 ? 1U << (exponent_bits + fraction_bits) : 0;
  return sign | (exponent + bias) << fraction_bits | fraction;
}

Word bits_of(const std::string& format, int value) {
  if (format == "half" || format == "half_half") return bits_of_float(value, 5, 10);
  if (format == "bf16") return bits_of_float(value, 8, 7);
  if (format == "tf32") return bits_of_float(value, 8, 23);
  if (format == "e4m3") return bits_of_float(value, 4, 3);
  if (format == "e5m2") return bits_of_float(value, 5, 2);
  return static_cast<Word>(value) & (format == "int8" ? 0xFFU : 0xFU);
}

// ---- Instructions ----------------------------------------------------------------------------------------

// Product that one instruction adds, or a few that follow each other.
struct Shape {
  std::uint64_t lanes = 32, rows = 16, columns = 16;
  std::uint64_t words = 8;  // of a row of A

  Shape(const Case& at) {
    const std::string &path = at.text("path"), &format = at.text("format");
    if (path == "ptx") {
      columns = 8;
      if (format == "double") words = 16;
    } else if (path == "mfma") {
      lanes = 64;
      if (format == "double") words = 4;
    } else if (path == "wmma") {
      if (format != "half" && format != "bf16") words = format == "int4" ? 2 : 4;
    } else {
      rows = 8;
      lanes = columns = path == "subgroup8" ? 8 : 16;
    }
  }
};

bool has_path(const std::string& path, const std::string& format, bool sparse) {
  if (path == "ptx") return !sparse || (format != "half_half" && format != "double" && format != "int4");
  if (format == "half_half") return false;
  if (path == "mfma") return format != "int4" && !(sparse && (format == "double" || format == "tf32"));
  if (sparse) return false;
  if (path == "wmma") return format != "double" && format != "tf32";
  const bool of_sixteen = path == "subgroup16";
  return format == "half" || format == "bf16" || format == "int8" || format == "int4" ||
         (of_sixteen && format == "tf32");
}

// ---- Plan ------------------------------------------------------------------------------------------------

// Elements of the factors: small integers, as products and their sums are exact then.
class Factors {
 public:
  Factors(const Case& at, const Shape& shape)
      : sparse_(at.is("zeros", "structured")),
        most_b_(at.is("format", "half_half") ? 4 : 8),
        group_(at.is("format", "tf32") ? 2 : 4),
        stored_(shape.words * format_of(at).per_word),
        columns_(shape.columns),
        a_(at.seed, 1),
        b_(at.seed, 2),
        changed_(at.seed, 3) {
    const Random<Word> choice(at.seed, 4);
    if (group_ == 2) {
      kept_ = {choice(0) % 2, 0};
    } else {
      constexpr std::array<std::array<std::uint64_t, 2>, 6> pairs = {
          {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
      kept_ = pairs[choice(0) % pairs.size()];
    }
    // A bit of each two is set, so that sums stay small.
    const Word bits = choice(1);
    for (unsigned pair = 0; pair < 16; ++pair) pattern_ |= (bits >> pair & 1 ? 2U : 1U) << 2 * pair;
  }

  std::uint64_t stored() const { return stored_; }  // elements of a row of A
  std::uint64_t depth() const { return sparse_ ? 2 * stored_ : stored_; }
  Word pattern() const { return pattern_; }

  // Returns what tells mma.sp and SMFMAC the elements kept: two bits for each, the same for all groups. That
  // of one element of two is the place of its halves among four.
  Word places() const {
    const auto nibble =
        group_ == 2 ? (kept_[0] == 0 ? 0x4U : 0xEU) : static_cast<Word>(kept_[0] | kept_[1] << 2);
    return nibble * 0x11111111U;
  }

  // The second A is the first with the other sign, but for an element of each row that is larger or smaller
  // by 1: sums grow slowly, so that those in FP16 stay exact, and each product counts.
  int a(bool second, std::uint64_t row, std::uint64_t place) const {
    const int first = static_cast<int>(a_(row * stored_ + place) % 7) - 3;
    if (!second) return first;
    const Word change = changed_(row);
    return -first + ((change >> 1) % stored_ == place ? (change & 1 ? 1 : -1) : 0);
  }
  int b(std::uint64_t tile, std::uint64_t column, std::uint64_t k) const {
    return static_cast<int>(b_((tile * columns_ + column) * depth() + k) % (2 * most_b_)) -
           static_cast<int>(most_b_);
  }
  std::uint64_t place_in_b(std::uint64_t place_in_a) const {
    if (!sparse_) return place_in_a;
    return group_ == 2 ? place_in_a * 2 + kept_[0] : place_in_a / 2 * 4 + kept_[place_in_a % 2];
  }
  int product(bool second, std::uint64_t tile, std::uint64_t row, std::uint64_t column) const {
    int sum = 0;
    for (std::uint64_t place = 0; place < stored_; ++place)
      sum += a(second, row, place) * b(tile, column, place_in_b(place));
    return sum;
  }
  std::int64_t products_with_second(std::uint64_t iterations) const {
    const auto rest = static_cast<unsigned>(iterations % 32);
    return static_cast<std::int64_t>(iterations / 32 * 16) + std::popcount(pattern_ & ((1U << rest) - 1));
  }

 private:
  bool sparse_;
  std::uint64_t most_b_;                    // magnitude; less where sums are in FP16
  std::uint64_t group_, stored_, columns_;  // elements of which some are kept
  Random<Word> a_, b_, changed_;
  std::array<std::uint64_t, 2> kept_ = {};
  Word pattern_ = 0;
};

// Adds A, the bits that differ in its second value, and the B of each tile.
Buffer add_factors(Plan& p, const Case& at, const Shape& shape, const Factors& factors, std::uint64_t tiles) {
  const std::string& format = at.text("format");
  const std::uint64_t per_word = format_of(at).per_word, words_of_a = shape.rows * shape.words,
                      words_of_row = shape.words, words_of_column = factors.depth() / per_word;
  const auto element = [=](std::uint64_t word, std::uint64_t i, bool second) {
    const std::uint64_t in_b = word - 2 * words_of_a;
    return word < 2 * words_of_a
               ? factors.a(second, word % words_of_a / words_of_row, word % words_of_row * per_word + i)
               : factors.b(in_b / words_of_column / shape.columns, in_b / words_of_column % shape.columns,
                           in_b % words_of_column * per_word + i);
  };
  const std::uint64_t words = 2 * words_of_a + tiles * shape.columns * words_of_column;
  const auto is_change = [=](std::uint64_t word) { return word >= words_of_a && word < 2 * words_of_a; };
  if (format == "double") {
    const auto bits = [=](std::uint64_t word, bool second) {
      return std::bit_cast<std::uint64_t>(static_cast<double>(element(word, 0, second)));
    };
    return p.input<std::uint64_t>(words, [=](std::uint64_t word) {
      return is_change(word) ? bits(word, false) ^ bits(word, true) : bits(word, false);
    });
  }
  const auto bits = [=](std::uint64_t word, bool second) {
    Word all = 0;
    for (std::uint64_t i = 0; i < per_word; ++i)
      all |= bits_of(format, element(word, i, second)) << 32 / per_word * i;
    return all;
  };
  return p.input<Word>(words, [=](std::uint64_t word) {
    return is_change(word) ? bits(word, false) ^ bits(word, true) : bits(word, false);
  });
}

struct Launched {
  std::uint64_t group, items, ilp, trips;
};

template <class Sum>
void products(Plan& p, const Case& at, const Launched& l) {
  const Shape shape(at);
  const Factors factors(at, shape);
  const bool fixed = at.is("factors", "fixed");
  const std::uint64_t kinds = fixed ? 1 : l.ilp, tile = shape.rows * shape.columns;
  // Sums that a sub-group adds to its tiles, the same for all sub-groups.
  const auto added = std::make_shared<std::vector<std::int64_t>>(l.ilp * tile);
  const std::int64_t second = fixed ? 0 : factors.products_with_second(l.trips);
  for (std::uint64_t i = 0; i < l.ilp * tile; ++i) {
    const std::uint64_t k = i / tile, row = i % tile / shape.columns, column = i % shape.columns;
    const auto of = [&](bool with_second) {
      return static_cast<std::int64_t>(factors.product(with_second, fixed ? 0 : k, row, column));
    };
    (*added)[i] = (static_cast<std::int64_t>(l.trips) - second) * of(false) +
                  (second > 0 ? second * of(true) : 0) + static_cast<std::int64_t>(k) + 1;
  }
  const Buffer in = add_factors(p, at, shape, factors, kinds);
  const std::uint64_t tiles = l.items / shape.lanes * l.ilp;
  const Buffer out = p.output<Sum>(tiles * tile);
  p.launch("products", {l.items}, {l.group}, out, in, factors.pattern(), factors.places(),
           static_cast<Word>(l.trips));
  p.expect<Sum>(out, [added](std::uint64_t i) { return static_cast<Sum>((*added)[i % added->size()]); });
  // Counts products with the zeros that are not stored, as makers do.
  p.cost = {.read = p.buffers[in.index].bytes,
            .written = tiles * tile * sizeof(Sum),
            .flops = tiles * l.trips * 2 * tile * factors.depth(),
            .items = l.items};
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::string &path = at.text("path"), &format = at.text("format");
  const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(65536, device.most_turns()));
  const Launched l = {.group = at.count("group"),
                      .items = device.units() * at.count("groups_per_cu") * at.count("group"),
                      .ilp = at.count("ilp"),
                      .trips = at.count("iterations", 1, most)};
  Plan::need(device.type == "gpu", "matrix units of processors have no such instructions");
  Plan::need(path != "ptx" || device.has_extension("cl_nv_pragma_unroll"),
             "path=ptx needs NVIDIA's compiler");
  // Oclgrind accepts what its compiler refuses, and then has no kernel.
  Plan::need(device.platform != "Oclgrind", "Oclgrind has no matrix units");
  if (format == "double") Plan::need_type<double>(device);
  Plan::need(l.group % Shape(at).lanes == 0,
             fmt::format("path={} needs a multiple of {} work-items per work-group", path, Shape(at).lanes));
  // Larger sums are not exact.
  Plan::need(format != "half_half" || l.trips <= 768, "sums in FP16 are exact up to 768 products");
  Plan::need(at.is("factors", "changing") || l.trips <= 16384,
             "factors=fixed adds up at most 16384 products");
  Plan p;
  p.source = "matrix_units/products";
  p.may_fail_to_build = true;
  p.define("INSTRUCTIONS",
           fmt::format("matrix_units/{}.cl", path.starts_with("subgroup") ? "subgroup" : path));
  if (path.starts_with("subgroup")) p.define("SUBGROUP", Shape(at).lanes);
  p.define("FORMAT_" + upper(format), 1).define("GROUP", l.group).define("ILP", l.ilp);
  p.define("SPARSE", at.is("zeros", "structured") ? 1 : 0).define("FIXED", at.is("factors", "fixed") ? 1 : 0);
  if (format == "double")
    products<double>(p, at, l);
  else if (format == "int8" || format == "int4")
    products<std::int32_t>(p, at, l);
  else
    products<float>(p, at, l);
  return p;
}

// ---- Findings --------------------------------------------------------------------------------------------

double rate_of(const Outcome& o) { return 1e-9 * as_double(o.flops) / o.time_s; }

// Returns the fastest outcome of a format; null if there is none.
const Outcome* best(const std::vector<Outcome>& outcomes, const std::string& format, const char* zeros,
                    const char* factors = "changing") {
  const Outcome* found = nullptr;
  for (const auto& o : outcomes) {
    if (o.at.is("format", format) && o.at.is("zeros", zeros) && o.at.is("factors", factors) &&
        (found == nullptr || rate_of(o) > rate_of(*found)))
      found = &o;
  }
  return found;
}

Finding rate_finding(const std::string& name, const Format& format, const Outcome& o) {
  Finding out =
      throughput_of(name, rate_of(o) * o.time_s, o, format.unit,
                    fmt::format("{} by path {}{}: {:.4g} {}", format.meaning, o.at.text("path"),
                                o.at.is("zeros", "structured") ? ", half of A zeros and counted" : "",
                                rate_of(o), format.unit));
  out.from = {&o};
  return out;
}

// Makes a finding of the ratio of two rates: first over second.
Finding rates_finding(const std::string& name, const Outcome& first, const Outcome& second,
                      const std::string& text) {
  return throughput_ratio_of(name, first, second, as_double(first.flops) / as_double(second.flops), text);
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  for (const Format& format : formats) {
    const std::string name = format.name;
    const Outcome *dense = best(outcomes, name, "none"), *sparse = best(outcomes, name, "structured");
    const Outcome* fixed = best(outcomes, name, "none", "fixed");
    if (dense != nullptr) out.push_back(rate_finding("matrix_" + name + "_rate", format, *dense));
    if (sparse != nullptr) out.push_back(rate_finding("matrix_sparse_" + name + "_rate", format, *sparse));
    if (dense != nullptr && sparse != nullptr)
      out.push_back(rates_finding("matrix_sparse_" + name + "_gain", *sparse, *dense,
                                  fmt::format("rate of {} with half of A zeros / without", name)));
    if (dense != nullptr && fixed != nullptr)
      out.push_back(
          rates_finding("matrix_" + name + "_fixed", *fixed, *dense,
                        fmt::format("rate of {} with the same factors for all products / with others "
                                    "each time; more than 1: the compiler makes up for a missing "
                                    "instruction and computes repeated products once",
                                    name)));
  }
  const Outcome* half = best(outcomes, "half", "none");
  for (const char* other : {"half_half", "e4m3"}) {
    const Outcome* o = best(outcomes, other, "none");
    if (half != nullptr && o != nullptr)
      out.push_back(rates_finding(fmt::format("matrix_{}_over_half", other), *o, *half,
                                  fmt::format("rate of {} / rate of half with sums in FP32", other)));
  }
  return out;
}

Values names_of_formats() {
  Values out;
  for (const Format& format : formats) out.emplace_back(std::string(format.name));
  return out;
}

}  // namespace

Family matrix_units() {
  const std::string all = "format=" + names_of_formats() + " path=ptx,mfma,wmma,subgroup8,subgroup16";
  std::vector<TraitSpec> traits;
  for (const Format& format : formats)
    traits.push_back({fmt::format("matrix_{}_rate", format.name), format.unit, format.meaning});
  traits.push_back(
      {"matrix_sparse_half_gain", "x", "FP16 matrix unit: rate with 2:4 zeros over rate without"});
  traits.push_back({"matrix_half_half_over_half", "x", "FP16 matrix unit: rate with sums in FP16 over FP32"});
  traits.push_back({"matrix_e4m3_over_half", "x", "FP8 over FP16 matrix unit; 1 or less: FP8 is emulated"});
  return {
      .name = "matrix_units",
      .question =
          "How fast are the matrix units (tensor cores) in each number format, and is it the hardware's?",
      .brief = "matrix units (tensor cores) by format",
      .axes =
          {{.name = "format",
            .meaning =
                "of the factors; half, bf16, tf32, e4m3 and e5m2 (FP8) are added up in FP32, half_half in "
                "FP16, double in FP64, int8 and int4 in INT32",
            .values = names_of_formats()},
           {.name = "path",
            .meaning = "ptx: NVIDIA's mma.sync; mfma, wmma: AMD's built-in functions for Instinct and "
                       "Radeon; subgroup8, subgroup16: cl_intel_subgroup_matrix_multiply_accumulate with "
                       "8 or 16 work-items",
            .values = {"ptx", "mfma", "wmma", "subgroup8", "subgroup16"}},
           {.name = "zeros",
            .meaning = "structured: two of four neighbours in a row of A, of tf32 one of two, are zeros "
                       "that are not stored (mma.sp, SMFMAC), and their products count",
            .values = {"none", "structured"}},
           {.name = "factors",
            .meaning = "changing: A changes with each product, and each tile has a B of its own; fixed: "
                       "the same for all",
            .values = {"changing", "fixed"}},
           {.name = "ilp",
            .meaning = "tiles of sums per sub-group, each an independent dependency chain",
            .values = {8, 1, 2, 4},
            .domain = whole(1, 16)},
           {.name = "group",
            .meaning = "work-items per work-group",
            .values = {256, 128, 512},
            .domain = multiples_of(32, 32, 1024)},
           {.name = "groups_per_cu",
            .meaning = "work-groups per compute unit",
            .values = {16},
            .domain = whole(1, 1024),
            .per_compute_unit = more_than_zero("groups_per_cu")},
           {.name = "iterations",
            .meaning = "products added to each tile",
            .values = {512},
            .domain = whole(1, 65536)}},
      .presets = {.smoke = {all + " zeros=none,structured ilp=2 group=64 groups_per_cu=1 iterations=1,37",
                            "format=e4m3,int8 factors=fixed ilp=2 group=64 groups_per_cu=1 iterations=37"},
                  .quick = {"format=" + names_of_formats(), "format=half,int8 zeros=structured",
                            "format=e4m3 factors=fixed", "format=half,bf16,double,e4m3,int8 path=mfma",
                            "format=half,bf16,int8 path=wmma ilp=4", "format=bf16,int8 path=subgroup8",
                            "format=bf16,tf32,int8 path=subgroup16"},
                  .paper = {},
                  .full = {all + " zeros=none,structured ilp=1,2,4,8 group=128,256,512",
                           "format=" + names_of_formats() + " factors=fixed"}},
      .view = {.rows = {"format", "path"}, .columns = {"zeros", "factors"}, .quantity = "rate"},
      .is_valid =
          [](const Case& at) {
            const bool fixed = at.is("factors", "fixed"), sparse = at.is("zeros", "structured");
            return has_path(at.text("path"), at.text("format"), sparse) &&
                   !(fixed && (sparse || at.is("format", "half_half")));
          },
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::formats,
      .traits = traits};
}

}  // namespace clweave::families
