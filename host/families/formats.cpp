// SPDX-License-Identifier: Apache-2.0
// formats: throughput of small number formats and matrix units, by each path to them.
//
// A path exists if its code compiles and its result is right. Reported extensions decide nothing: some are
// slower than emulation, and some are missing although the hardware has the instruction.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "base/parallel.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t tile_rows = 16, tile_columns = 8, tile = tile_rows * tile_columns;
constexpr std::uint64_t distinct_words = 256;
constexpr std::uint64_t words_of_a = 128, words_of_b = 64;  // words of the two factors of a tile

// Rounds x to half precision, ties to even; x is normal and in range.
double to_half(double x) {
  if (x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  return std::nearbyint(x / unit) * unit;
}

double value_of_half(Word bits) {
  const Word exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                                         : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

Word bits_of_half(double x) {
  const Word sign = std::signbit(x) ? 0x8000 : 0;
  x = std::abs(x);
  if (x < std::ldexp(1.0, -14)) return sign | static_cast<Word>(std::ldexp(x, 24));
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return sign |
         (static_cast<Word>(exponent + 14) << 10 | (static_cast<Word>(std::ldexp(fraction, 11)) & 1023));
}

template <class F>
Word of_halves(Word x, Word m, Word c, F step) {
  const auto part = [&](int shift) {
    const auto value = [shift](Word word) { return value_of_half(word >> shift & 0xFFFF); };
    return bits_of_half(step(value(x), value(m), value(c)));
  };
  return part(0) | part(16) << 16;
}

// One step of formats.cl: x = x * m + c, by parts of a word.
using Step = Word (*)(Word x, Word m, Word c);

// A product of halves and its sum with a half are exact in double.
Word half_step(Word x, Word m, Word c) {
  return of_halves(x, m, c, [](double a, double b, double add) { return to_half(a * b + add); });
}

// Rounds to float before it rounds to half.
Word emulated_half_step(Word x, Word m, Word c) {
  return of_halves(x, m, c, [](double a, double b, double add) {
    return to_half(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(add)));
  });
}

Word dot8_step(Word x, Word m, Word c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<Word>(static_cast<std::int8_t>(x >> 8 * i) * static_cast<std::int8_t>(m >> 8 * i));
  return c;
}

Word int16_step(Word x, Word m, Word c) {
  const Word low = (x & 0xFFFF) * (m & 0xFFFF) + (c & 0xFFFF), high = (x >> 16) * (m >> 16) + (c >> 16);
  return high << 16 | (low & 0xFFFF);
}

Word int24_step(Word x, Word m, Word c) { return (x & 0xFFFFFF) * (m & 0xFFFFFF) + c; }

Step step_of(const std::string& kernel, bool emulated) {
  if (kernel == "half") return emulated ? emulated_half_step : half_step;
  if (kernel == "dot8") return dot8_step;
  return kernel == "int16" ? int16_step : int24_step;
}

// Returns the operations of one step.
std::uint64_t operations(const std::string& kernel) {
  return kernel == "half" || kernel == "int16" ? 4 : kernel == "dot8" ? 8 : 2;
}

bool is_matrix(const Case& at) { return at.text("kernel").starts_with("matrix"); }

// Returns the work-items that compute one product of matrices.
std::uint64_t work_items_per_matrix(const Case& at) {
  return at.is("path", "subgroup8") ? 8 : at.is("path", "subgroup16") ? 16 : 32;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

struct Launched {
  std::uint64_t group, items, ilp, trips;
  std::uint64_t width;  // words of a chain
};

// Returns whether a path has vectors of more words; those of halves and ushorts end at 16 elements.
bool has_width(const Case& at) {
  const std::string &kernel = at.text("kernel"), &path = at.text("path");
  const bool pairs = (kernel == "half" || kernel == "int16") && path == "builtin";
  return at.number("width") == 1 || (pairs && at.number("width") <= 8) || kernel == "int24" ||
         (kernel == "int16" && path == "emulation");
}

void define_types(Plan& p, const Case& at) {
  const auto width = at.number("width");
  p.define("V", width > 1 ? fmt::format("uint{}", width) : "uint");
  if (at.is("path", "builtin") && (at.is("kernel", "half") || at.is("kernel", "int16")))
    p.define("PAIRS", fmt::format("{}{}", at.is("kernel", "half") ? "half" : "ushort", 2 * width));
}

void chains(Plan& p, const Case& at, const Launched& l) {
  const std::string kernel = at.text("kernel");
  const bool halves = kernel == "half";
  const Step step = step_of(kernel, at.is("path", "emulation"));
  const Random<Word> random(at.seed, 1), factor(at.seed, 2);
  // Repeats values among words, as the host takes far longer for a chain. Halves have magnitudes between
  // 1 and 2, so that a factor near 1 affects them for a thousand steps.
  const auto value = [=](std::uint64_t i) {
    const Word bits = random(i % (distinct_words * l.ilp));
    return halves ? (bits & 0x83FF83FFu) | 0x3C003C00u : bits;
  };
  constexpr Word nearly_one = 0xBBFE3BFEu, third = 0x34003500u;
  const Word m = halves ? nearly_one : factor(0) | 0x00010001u, c = halves ? third : factor(1);
  const std::uint64_t words = l.items * l.width;  // stored
  const auto in = p.input<Word>(words * l.ilp, value);
  const auto out = p.output<Word>(words);
  p.launch("chains", {l.items}, {l.group}, out, in, m, c, static_cast<Word>(l.trips));
  struct Sums {
    std::once_flag once;
    std::array<Word, distinct_words> of = {};
  };
  const auto sums = std::make_shared<Sums>();
  const auto compute = [=] {
    for_stretches(distinct_words, 1, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        for (std::uint64_t k = 0; k < l.ilp; ++k) {
          Word x = value((i / l.width * l.ilp + k) * l.width + i % l.width);
          for (std::uint64_t t = 0; t < l.trips; ++t) x = step(x, m, c);
          sums->of[i] = sums->of[i] * 31 + x;
        }
      }
    });
  };
  p.expect_from<Word>(out, [=](std::uint64_t begin) {
    std::call_once(sums->once, compute);
    return [sums, i = begin]() mutable { return sums->of[i++ % distinct_words]; };
  });
  p.cost = {.read = words * l.ilp * sizeof(Word),
            .written = words * sizeof(Word),
            .flops = words * l.ilp * l.trips * operations(kernel),
            .items = l.items};
}

// Returns packed elements of a factor: small integers, whose sums are exact.
int element(const Random<Word>& random, bool halves, std::uint64_t word, std::uint64_t place, bool of_a) {
  const Word bits = random(word);
  if (!halves) return static_cast<std::int8_t>(bits >> 8 * place);
  const int small = static_cast<int>(bits >> 4 * place & 15);
  return of_a ? small : small / 2 - 4;
}

template <class Sum>
void matrices(Plan& p, const Case& at, const Launched& l) {
  constexpr bool halves = std::is_same_v<Sum, float>;
  constexpr std::uint64_t packed = halves ? 2 : 4, depth = 8 * packed;
  const Random<Word> random(at.seed, 1);
  const auto value = [=](std::uint64_t word) {
    Word bits = 0;
    for (std::uint64_t place = 0; place < packed; ++place) {
      const int v = element(random, halves, word, place, word < words_of_a);
      bits |= halves ? bits_of_half(v) << 16 * place : (static_cast<Word>(v) & 0xFF) << 8 * place;
    }
    return bits;
  };
  std::array<Word, tile> product = {};
  for (std::uint64_t row = 0; row < tile_rows; ++row) {
    for (std::uint64_t column = 0; column < tile_columns; ++column) {
      for (std::uint64_t k = 0; k < depth; ++k) {
        const int a = element(random, halves, row * 8 + k / packed, k % packed, true);
        const int b = element(random, halves, words_of_a + column * 8 + k / packed, k % packed, false);
        product[row * tile_columns + column] += static_cast<Word>(a * b);
      }
    }
  }
  const auto in = p.input<Word>(words_of_a + words_of_b, value);
  const std::uint64_t tiles = l.items / work_items_per_matrix(at) * l.ilp;
  const auto out = p.output<Sum>(tiles * tile);
  p.launch("matrices", {l.items}, {l.group}, out, in, static_cast<Word>(l.trips));
  p.expect<Sum>(out, [=](std::uint64_t i) {
    const Word sum = product[i % tile] * static_cast<Word>(l.trips) + static_cast<Word>(i / tile % l.ilp) + 1;
    return static_cast<Sum>(static_cast<std::int32_t>(sum));
  });
  p.cost = {.read = (words_of_a + words_of_b) * sizeof(Word),
            .written = tiles * tile * sizeof(Sum),
            .flops = tiles * l.trips * 2 * tile * depth,
            .items = l.items};
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const Launched l = {
      .group = at.count("group"),
      .items = device.units() * at.count("groups_per_cu") * at.count("group"),
      .ilp = at.count("ilp"),
      .trips = at.count("iterations", 1,
                        static_cast<std::int64_t>(std::min<std::uint64_t>(65536, device.most_turns()))),
      .width = at.count("width")};
  Plan::need(!at.is("path", "ptx") || device.has_extension("cl_nv_pragma_unroll"),
             "path=ptx needs NVIDIA's compiler");
  // Oclgrind accepts the program and then aborts.
  Plan::need(device.platform != "Oclgrind" || !at.is("kernel", "half") || at.is("path", "emulation"),
             "Oclgrind has no half-precision arithmetic");
  const bool by_subgroup = at.text("path").starts_with("subgroup");
  // Oclgrind accepts what its compiler refuses, and then has no kernel.
  Plan::need(device.platform != "Oclgrind" || !by_subgroup, "Oclgrind has no matrix units");
  Plan p;
  // Recognises NVIDIA's compiler, which implies the instructions.
  p.may_fail_to_build =
      at.is("kernel", "half") ? !at.is("path", "emulation") : at.is("path", "extension") || by_subgroup;
  define_types(p, at);
  p.define("ILP", l.ilp).define(upper(at.text("kernel") + "_" + at.text("path")), 1);
  if (at.is("kernel", "matrix_half")) {
    // Larger sums are not exact.
    Plan::need(l.trips * 16 * 15 * 4 < (1u << 24), "matrix_half adds up at most 17476 products");
    matrices<float>(p, at, l);
  } else if (at.is("kernel", "matrix_int8")) {
    matrices<std::int32_t>(p, at, l);
  } else {
    chains(p, at, l);
  }
  return p;
}

// Returns the fastest path of a kernel.
const Outcome* best(const std::vector<Outcome>& outcomes, const std::string& kernel,
                    const std::string& path = "") {
  const Outcome* found = nullptr;
  const auto rate = [](const Outcome& o) { return as_double(o.flops) / o.time_s; };
  for (const auto& o : outcomes) {
    if (o.at.is("kernel", kernel) && (path.empty() || o.at.is("path", path)) &&
        (found == nullptr || rate(o) > rate(*found)))
      found = &o;
  }
  return found;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  for (const std::string kernel : {"half", "dot8", "int16", "int24", "matrix_half", "matrix_int8"}) {
    const Outcome* fastest = best(outcomes, kernel);
    if (fastest == nullptr) continue;
    const double operations = 1e-9 * as_double(fastest->flops);
    const std::string unit = kernel.ends_with("half") ? "GFLOP/s" : "GOP/s";
    const std::int64_t width = fastest->at.number("width");
    out.push_back(throughput_of(kernel + "_rate", operations, *fastest, unit,
                                fmt::format("{} by path {}{}: {:.4g} {}", kernel, fastest->at.text("path"),
                                            width > 1 ? fmt::format(" in vectors of {} words", width) : "",
                                            operations / fastest->time_s, unit)));
    const Outcome* emulated = best(outcomes, kernel, "emulation");
    if (emulated != nullptr && emulated != fastest && emulated->flops == fastest->flops)
      out.push_back(
          ratio_of(kernel + "_gain", *emulated, *fastest,
                   fmt::format("time of emulated {} / time by path {}", kernel, fastest->at.text("path"))));
  }
  return out;
}

}  // namespace

Family formats() {
  const Sweeps all = {"kernel=half path=builtin,ptx,emulation", "kernel=dot8 path=extension,ptx,emulation",
                      "kernel=int16,int24 path=builtin,emulation",
                      "kernel=matrix_half,matrix_int8 path=ptx,subgroup8,subgroup16"};
  // What processors need, whose vectors are not made of work-items.
  const Sweeps wide = {"kernel=half,int16 path=builtin width=8 group=32",
                       "kernel=int24 path=builtin,emulation width=16 group=32"};
  const auto each = [](const Sweeps& sweeps, const std::string& more) {
    Sweeps out;
    for (auto sweep : sweeps) {
      for (const auto& [name, values] : Sweep(more)) sweep[name] = values;
      out.push_back(sweep);
    }
    return out;
  };
  return {
      .name = "formats",
      .question = "How fast are small number formats and matrix units, and by which path?",
      .brief = "small number formats, such as FP16, INT8",
      .axes = {{.name = "kernel",
                .meaning = "half: FP16 FMA of two values; dot8: dot product of four INT8 pairs (dp4a); "
                           "int16: two 16-bit multiply-adds; int24: mad24; matrix_half, matrix_int8: 16 x 8 "
                           "sums of 16 or 32 products by a matrix unit",
                .values = {"half", "dot8", "int16", "int24", "matrix_half", "matrix_int8"}},
               {.name = "path",
                .meaning =
                    "builtin: OpenCL C; extension: cl_khr_integer_dot_product; ptx: NVIDIA's instruction; "
                    "emulation: by float or 32-bit integers; subgroup8, subgroup16: "
                    "cl_intel_subgroup_matrix_multiply_accumulate with 8 or 16 work-items",
                .values = {"builtin", "extension", "ptx", "emulation", "subgroup8", "subgroup16"}},
               {.name = "ilp",
                .meaning = "independent dependency chains per work-item",
                .values = {8, 1, 2, 4},
                .domain = whole(1, 16)},
               {.name = "width",
                .meaning = "32-bit words of a vector, each a dependency chain: of int16 and half by OpenCL C "
                           "up to 8, of int24 up to 16",
                .values = {1, 4, 8, 16},
                .domain = powers_of_two(1, 16),
                .when =
                    [](const Case& at) { return at.is("path", "builtin") || at.is("path", "emulation"); }},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 128, 1024},
                .domain = multiples_of(32, 32, 1024)},
               {.name = "groups_per_cu",
                .meaning = "work-groups per compute unit",
                .values = {16},
                .domain = whole(1, 1024),
                .per_compute_unit = more_than_zero("groups_per_cu")},
               {.name = "iterations",
                .meaning = "steps of each dependency chain",
                .values = {512},
                .domain = whole(1, 65536)}},
      .presets = {.smoke = each(all, "group=32 groups_per_cu=1 iterations=1,37 ilp=2") +
                           each({"kernel=half path=builtin,emulation"},
                                "group=32 groups_per_cu=1 iterations=611 ilp=1") +
                           each({"kernel=half,int16,int24 path=builtin", "kernel=int16 path=emulation"},
                                "group=32 groups_per_cu=1 iterations=37 ilp=2 width=4"),
                  .quick = all + wide,
                  .paper = {},
                  .full = each(all, "ilp=1,2,4,8 group=128,256,1024") + each(wide, "ilp=2,4,8 width=4,8,16")},
      .view = {.rows = {"kernel", "path"}, .columns = {"ilp", "group"}, .quantity = "rate"},
      .is_valid =
          [](const Case& at) {
            const std::string &kernel = at.text("kernel"), &path = at.text("path");
            const bool by_subgroup = path.starts_with("subgroup");
            if (!has_width(at)) return false;
            if (is_matrix(at)) return path == "ptx" || by_subgroup;
            if (by_subgroup) return false;
            if (path == "extension") return kernel == "dot8";
            if (path == "ptx") return kernel == "half" || kernel == "dot8";
            return path == "emulation" || kernel != "dot8";
          },
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::formats,
      .traits = {{"half_rate", "GFLOP/s", "FP16 FMA, fastest path"},
                 {"dot8_rate", "GOP/s", "INT8 dot product (dp4a)"},
                 {"matrix_half_rate", "GFLOP/s", "FP16 matrix unit"},
                 {"matrix_int8_rate", "GOP/s", "INT8 matrix unit"}}};
}

}  // namespace clweave::families
