// SPDX-License-Identifier: Apache-2.0
// lookup_table: through which path are elements of a table read fastest: a buffer, __constant memory, an
// image or a kernel argument?
//
// The paths have caches and hardware of their own: __constant memory and arguments serve one element to all
// work-items at once, images have a sampler and a 2-D layout. The same gather takes each path, in patterns
// that suit one or another. Tables fit a cache, unless `table_bytes` says more.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "base/quantity.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

bool is_linear(const Case& at) { return at.is("kernel", "linear_image"); }

// The table as rows, and the tile of it that a work-group reads at once, in powers of two.
struct Shape {
  unsigned elements, width, tile_width, tile_height;  // logarithms to base 2

  Shape(std::uint64_t bytes, std::uint64_t words)
      : elements(static_cast<unsigned>(std::countr_zero(bytes / (sizeof(Word) * words)))),
        // Reads of all patterns but `tiled` are an eighth of the rows apart.
        width(elements - std::max(3U, elements / 2)),
        // A tile at any corner of the upper left quarter lies in the table, with three rows below it.
        tile_width(std::min(4U, width - 1)),
        tile_height(std::min(4U, elements - width - 2)) {}

  std::uint64_t columns() const { return std::uint64_t{1} << width; }
  std::uint64_t rows() const { return std::uint64_t{1} << (elements - width); }
};

// The elements that a work-item reads: what the kernel computes, one step after the other.
class Reads {
 public:
  Reads(const Case& at, const Shape& shape, Word seed)
      : pattern_(at.text("pattern")),
        shape_(shape),
        group_(at.count("group")),
        down_(is_tiled() ? shape.columns() : std::uint64_t{1} << (shape.elements - 3)),
        seed_(seed) {}

  // Calls f for each element that the work-item reads.
  template <class F>
  void for_each(std::uint64_t item, std::uint64_t iterations, const F& f) const {
    Word state = first_state(item);
    for (std::uint64_t i = 0; i < iterations; i += 4) {
      state = state * 1664525U + 1013904223U;
      const std::uint64_t place = place_of(state, item);
      for (std::uint64_t n = 0; n < 4; ++n) f(place + n * down_);
    }
  }

 private:
  bool is_tiled() const { return pattern_ == "tiled"; }

  Word first_state(std::uint64_t item) const {
    Word x = seed_;
    if (pattern_ == "random") x ^= static_cast<Word>(item);
    if (is_tiled()) x ^= static_cast<Word>(item / group_);
    x = (x ^ (x >> 16U)) * 0x85ebca6bU;
    x = (x ^ (x >> 13U)) * 0xc2b2ae35U;
    return x ^ (x >> 16U);
  }

  std::uint64_t place_of(Word state, std::uint64_t item) const {
    const std::uint64_t elements = std::uint64_t{1} << shape_.elements;
    if (is_tiled()) {
      const Word corner = state >> (34U - shape_.elements);
      const std::uint64_t lane = item % group_, tile_columns = std::uint64_t{1} << shape_.tile_width,
                          tile_rows = std::uint64_t{1} << shape_.tile_height;
      const std::uint64_t x = corner % (shape_.columns() / 2) + lane % tile_columns;
      const std::uint64_t y = corner / (shape_.columns() / 2) + lane / tile_columns % tile_rows;
      return y * shape_.columns() + x;
    }
    const std::uint64_t any = state >> (33U - shape_.elements);
    if (pattern_ != "neighbouring") return any;
    const std::uint64_t aligned = std::min<std::uint64_t>(32, elements / 8);
    return (any / aligned * aligned + item) % (elements / 2);
  }

  std::string pattern_;
  Shape shape_;
  std::uint64_t group_, down_;
  Word seed_;
};

// Numbers of a table that is sampled with a filter: small whole ones, so that sums of weighted ones are
// exact.
struct SmallNumber {
  Random<std::uint8_t> random;
  float operator()(std::uint64_t i) const { return random(i); }
};

// Expects sums of the reads in order, modulo 2^32.
void expect_sums(Plan& p, Buffer out, const Reads& reads, std::uint64_t iterations, std::uint64_t words,
                 const Random<Word>& value) {
  p.expect<Word>(out, [=](std::uint64_t item) {
    Word total = 0;
    for (std::uint64_t w = 0; w < words; ++w) {
      auto sum = static_cast<Word>(item);
      reads.for_each(item, iterations, [&](std::uint64_t e) { sum = sum * 3U + value(e * words + w); });
      total += static_cast<Word>(2 * w + 1) * sum;
    }
    return total;
  });
}

// Expects sums of samples a quarter of the way to the next column and half of the way to the next row. A
// sampler may round its weights.
void expect_samples(Plan& p, Buffer out, const Reads& reads, std::uint64_t iterations, std::uint64_t words,
                    const Shape& shape, const SmallNumber& value) {
  constexpr double of_weights = 0x1p-10;
  p.expect<float>(
      out,
      [=, columns = shape.columns(), elements = shape.columns() * shape.rows()](std::uint64_t item) {
        double total = 0;
        reads.for_each(item, iterations, [&](std::uint64_t e) {
          // The last column and row are their own next ones.
          const std::uint64_t right = (e + 1) % columns == 0 ? 0 : 1;
          const std::uint64_t below = e + columns < elements ? columns : 0;
          for (std::uint64_t w = 0; w < words; ++w) {
            const auto texel = [&](std::uint64_t i) { return double{value(i * words + w)}; };
            total += (3 * texel(e) + texel(e + right) + 3 * texel(e + below) + texel(e + below + right)) / 8;
          }
        });
        return static_cast<float>(total);
      },
      of_weights);
}

constexpr std::uint64_t most_samples = 2048;  // whose sum is exact

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t bytes = at.count("table_bytes"), words = at.count("words"), group = at.count("group"),
                      iterations = at.count("iterations");
  const std::string& path = at.text("kernel");
  const Shape shape(bytes, words);
  const std::uint64_t items = device.units() * at.count("groups_per_cu") * group;
  const Random<Word> value(at.seed, 1);
  const Word seed = Random<Word>(at.seed, 2)(0);
  const Reads reads(at, shape, seed);
  Plan p;
  std::string pattern = at.text("pattern");
  std::ranges::transform(pattern, pattern.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  p.define("WORDS", words).define("LOG_ELEMENTS", shape.elements).define("LOG_WIDTH", shape.width);
  p.define("LOG_TILE_WIDTH", shape.tile_width).define("LOG_TILE_HEIGHT", shape.tile_height);
  p.define("PATTERN", pattern);
  if (is_linear(at)) {
    Plan::need(
        iterations <= most_samples,
        fmt::format("linear_image takes at most {} iterations, as sums are exact up to there", most_samples));
    const SmallNumber small{{at.seed, 1}};
    p.define("IMAGE", 1);
    const auto out = p.output<float>(items);
    p.launch("read_linear_image", {items}, {group}, out,
             p.image<float>(shape.columns(), shape.rows(), words, small), seed,
             static_cast<Word>(iterations));
    expect_samples(p, out, reads, iterations, words, shape, small);
  } else {
    const auto out = p.output<Word>(items);
    p.launch("read_" + path, {items}, {group}, out);
    if (path == "image") {
      p.define("IMAGE", 1);
      p.pass(p.image<Word>(shape.columns(), shape.rows(), words, value));
    } else if (path == "argument") {
      Plan::need(device.parameter_bytes == 0 || bytes <= static_cast<std::uint64_t>(device.parameter_bytes),
                 fmt::format("a table of {} bytes is no kernel argument, the device allows {}", bytes,
                             device.parameter_bytes));
      Plan::need(!device.is_llvmpipe(),
                 "Mesa's llvmpipe ends the process where a kernel indexes an argument");
      p.define("ARGUMENT", 1);
      Scalar table(bytes);
      for (std::uint64_t i = 0; i < bytes / sizeof(Word); ++i) {
        const Word word = value(i);
        std::memcpy(&table[i * sizeof word], &word, sizeof word);
      }
      p.pass(table);
    } else {
      if (path == "constant") Plan::need_constant(device, bytes);
      p.pass(p.input<Word>(bytes / sizeof(Word), value));
    }
    p.pass(seed).pass(static_cast<Word>(iterations));
    expect_sums(p, out, reads, iterations, words, value);
  }
  p.cost = {.read = items * iterations * words * sizeof(Word),
            .written = items * sizeof(Word),
            .flops = 0,
            .items = items * iterations};
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

constexpr std::array<const char*, 4> patterns = {"uniform", "neighbouring", "random", "tiled"};

double lookups_per_s(const Outcome& o) { return as_double(o.items) / o.time_s; }

void keep_faster(const Outcome*& best, const Outcome& o) {
  if (best == nullptr || lookups_per_s(o) > lookups_per_s(*best)) best = &o;
}

std::string rate_text(const Outcome& o) { return number_text(1e-9 * lookups_per_s(o), "G/s"); }

// The fastest outcome of each path, of one table.
using ByPath = std::map<std::string, const Outcome*>;
using Table = std::pair<std::int64_t, std::int64_t>;  // its bytes, and words of an element

// Says how much faster the buffer or the best of the other paths is.
Finding gain_of(const std::string& name, const char* pattern, const Table& table, const ByPath& paths) {
  const Outcome *const buffer = paths.at("buffer"), *other = nullptr;
  std::string all;
  for (const auto& [path, o] : paths) {
    if (o != buffer) keep_faster(other, *o);
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", path, rate_text(*o));
  }
  Finding out{.name = name,
              .value = lookups_per_s(*other) / lookups_per_s(*buffer),
              .unit = "x",
              .text = fmt::format(
                  "{} reads of a table of {}{}: {} is fastest: {}", pattern,
                  bytes_text(static_cast<double>(table.first)), table.second == 1 ? "" : ", of uint4",
                  (lookups_per_s(*other) > lookups_per_s(*buffer) ? other : buffer)->at.text("kernel"), all),
              .note = other->at.text("kernel"),
              .from = {buffer, other}};
  if (buffer->low_s && other->high_s && buffer->items == other->items) {
    out.low = *buffer->low_s / *other->high_s;
    out.high = buffer->high_s.value_or(buffer->time_s) / other->low_s.value_or(other->time_s);
  }
  return out;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  const Outcome* fastest_linear = nullptr;
  for (const auto& o : outcomes) {
    if (is_linear(o.at)) keep_faster(fastest_linear, o);
  }
  const Outcome* nearest = nullptr;                // of the same reads as the fastest linear one
  std::map<std::string, const Outcome*> constant;  // by pattern, of the smallest table
  for (const char* pattern : patterns) {
    std::map<Table, ByPath> tables;
    for (const auto& o : outcomes) {
      if (!o.at.is("pattern", pattern) || is_linear(o.at)) continue;
      keep_faster(tables[{o.at.number("table_bytes"), o.at.number("words")}][o.at.text("kernel")], o);
    }
    // Of one word: the smallest table, which most paths take, and the largest.
    std::vector<std::pair<Table, ByPath>> compared;
    for (const auto& [table, paths] : tables) {
      if (fastest_linear != nullptr && fastest_linear->at.is("pattern", pattern) && paths.contains("image") &&
          table == Table{fastest_linear->at.number("table_bytes"), fastest_linear->at.number("words")})
        nearest = paths.at("image");
      if (table.second != 1) continue;
      if (paths.contains("constant") && !constant.contains(pattern)) constant[pattern] = paths.at("constant");
      if (paths.contains("buffer") && paths.size() > 1) compared.emplace_back(table, paths);
    }
    if (compared.empty()) continue;
    const std::string name = std::string(pattern) + "_path_gain";
    out.push_back(gain_of(name, pattern, compared.front().first, compared.front().second));
    if (compared.size() > 1)
      out.push_back(gain_of(name + "_large", pattern, compared.back().first, compared.back().second));
  }
  if (constant.contains("uniform") && constant.contains("random") &&
      constant["uniform"]->items == constant["random"]->items)
    out.push_back(ratio_of("constant_divergence", *constant["random"], *constant["uniform"],
                           "time of __constant reads at random places / of one element by all"));
  if (fastest_linear != nullptr) {
    out.push_back({.name = "linear_rate",
                   .value = 1e-9 * lookups_per_s(*fastest_linear),
                   .unit = "G/s",
                   .text = "samples of an image with a linear filter: " + rate_text(*fastest_linear),
                   .note = fastest_linear->at.text("pattern"),
                   .from = {fastest_linear}});
    if (nearest != nullptr && nearest->items == fastest_linear->items)
      out.push_back(ratio_of("linear_cost", *fastest_linear, *nearest,
                             "time of samples of an image with a linear filter / without"));
  }
  return out;
}

}  // namespace

Family lookup_table() {
  const std::string every_path = "kernel=buffer,constant,image,argument",
                    not_argument = "kernel=buffer,constant,image", memory_or_image = "kernel=buffer,image",
                    sampler = "kernel=linear_image";
  const std::string every_pattern = " pattern=uniform,neighbouring,random,tiled",
                    few = " pattern=neighbouring,tiled";
  const std::string tiny = " table_bytes=512", small = " table_bytes=16384", cached = " table_bytes=1048576",
                    large = " table_bytes=67108864";
  return {
      .name = "lookup_table",
      .question =
          "Is a table read faster through a buffer, __constant memory, an image or a kernel argument, and "
          "how fast is an image's sampler?",
      .brief = "tables in buffers, constants and images",
      .axes = {{.name = "kernel",
                .meaning =
                    "path of the reads: buffer: __global memory; constant: __constant memory; image: a 2-D "
                    "image at whole coordinates; argument: a struct by value; linear_image: an image of "
                    "floats between four texels, by a linear filter",
                .values = {"buffer", "constant", "image", "argument", "linear_image"}},
               {.name = "pattern",
                .meaning = "what work-items read at once: uniform: all the same element; neighbouring: "
                           "consecutive ones; random: any; tiled: a work-group a 2-D tile of up to 16x16",
                .values = {"uniform", "neighbouring", "random", "tiled"}},
               {.name = "words", .meaning = "32-bit words of an element", .values = {1, 4}},
               {.name = "table_bytes",
                .meaning = "size of the table",
                .values = {512, 16384, 1 << 20, 1 << 26},
                .domain = powers_of_two(512, 1 << 28)},
               {.name = "iterations",
                .meaning = "reads of a work-item",
                .values = {256},
                .domain = multiples_of(4, 4, 65536)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 32, 64, 128, 512, 1024},
                .tunable = true,
                .domain = powers_of_two(1, 1024)},
               {.name = "groups_per_cu",
                .meaning = "work-groups per compute unit",
                .values = {32, 8, 16, 64},
                .tunable = true,
                .domain = whole(1, 1024),
                .per_compute_unit = [](const Case&) { return true; }}},
      .presets =
          {.smoke = {every_path + every_pattern + tiny + " iterations=8 group=32 groups_per_cu=1",
                     every_path + " pattern=tiled" + tiny + " words=4 iterations=4 group=16 groups_per_cu=1",
                     not_argument + " pattern=neighbouring" + small +
                         " iterations=12 group=64 groups_per_cu=1",
                     sampler + few + tiny + " iterations=8 group=32 groups_per_cu=1",
                     sampler + " pattern=random" + small + " words=4 iterations=8 group=32 groups_per_cu=1"},
           .quick = {every_path + " pattern=uniform" + tiny, "kernel=constant pattern=random" + tiny,
                     "kernel=buffer,image,linear_image pattern=tiled" + cached},
           .paper = {every_path + every_pattern + tiny, not_argument + every_pattern + small + " words=1,4",
                     memory_or_image + every_pattern + cached, memory_or_image + every_pattern + large,
                     sampler + few + small + " words=1,4", sampler + few + cached},
           .full = {not_argument + every_pattern + small + " words=1,4 group=64,256,1024",
                    memory_or_image + every_pattern + cached + " words=1,4 group=64,256,1024",
                    sampler + few + cached + " words=1,4 group=64,256,1024"}},
      .view = {.rows = {"pattern", "kernel"},
               .columns = {"table_bytes"},
               .apart = {"words"},
               .quantity = "items",
               .chapter = "Access and caches",
               .graphs = {{.name = "paths",
                           .kind = Graph::Kind::bars,
                           .series = {"kernel"},
                           .apart = {"pattern"},
                           .quantity = "items",
                           .findings = {"uniform_path_gain", "tiled_path_gain"}},
                          {.name = "size of the table",
                           .x = {"table_bytes"},
                           .series = {"kernel"},
                           .apart = {"pattern"},
                           .quantity = "items",
                           .where = {"words=1"}}}},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {
          {"uniform_path_gain", "x",
           "one element read by all: time through a buffer / through the fastest other path"},
          {"tiled_path_gain", "x", "2-D tiles: time through a buffer / through the fastest other path"},
          {"constant_divergence", "x", "time of __constant reads at random / of one element by all"},
          {"linear_rate", "G/s", "samples of an image with a linear filter"}}};
}

}  // namespace clweave::families
