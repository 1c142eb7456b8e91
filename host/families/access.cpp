// SPDX-License-Identifier: Apache-2.0
// access: what does it cost if accesses of neighbouring work-items are not coalesced, that is, served
// together?
//
// In a copy every access is coalesced. Here the same number of elements is copied with strides, misaligned,
// through a permutation, and transposed; the reads, the writes or both are uncoalesced.
//
// Rates count every element as read once and written once, and for gather its index as read once. What a
// device moves beyond that shows as a lower rate.
#include <fmt/format.h>

#include <algorithm>

#include "base/permutation.hpp"
#include "families/shared/search_values.hpp"
#include "suite/device_size.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

constexpr std::size_t rows_of_group = 8;

bool reads_apart(const Case& at) { return at.is("side", "read") || at.is("side", "both"); }
bool writes_apart(const Case& at) { return at.is("side", "write") || at.is("side", "both"); }

// Expects every `stride`-th element to be written, and those between to keep the poison.
template <class T, class F>
void expect_strided(Plan& p, Buffer out, std::uint64_t stride, F value) {
  p.checks.push_back({out, [=](std::uint64_t offset, std::span<const std::byte> bytes) {
                        ComparisonResult tally;
                        const std::uint64_t first = offset / sizeof(T);
                        for (std::uint64_t i = 0; i < bytes.size() / sizeof(T); ++i) {
                          T got, untouched;
                          std::memcpy(&got, &bytes[i * sizeof(T)], sizeof(T));
                          std::memcpy(&untouched, &poison[i * sizeof(T) % poison.size()], sizeof(T));
                          const bool gap = (first + i) % stride != 0;
                          const std::uint64_t element = (first + i) / stride;
                          const T want = gap ? untouched : value(element);
                          if (!gap) {
                            ++tally.elements;
                            tally.written += got != untouched;
                          }
                          if (got == want || tally.wrong++ > 0) continue;
                          tally.first_wrong = element;
                          tally.first_text = "[" + std::to_string(element) + "] is " + std::to_string(got) +
                                             ", expected " + std::to_string(want) + (gap ? " in a gap" : "");
                        }
                        return tally;
                      }});
}

std::uint64_t extent_of(std::uint64_t n) {
  auto extent = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
  while (extent * extent > n) --extent;
  if (extent * extent != n)
    throw Error(ErrorCode::unsupported, "n must be a square number, as transposes take square matrices");
  return extent;
}

template <class T>
void plan_strided(Plan& p, const Case& at, Range global, Range local) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const auto stride = static_cast<std::uint32_t>(at.number("stride"));
  const auto offset = static_cast<std::uint32_t>(static_cast<std::uint64_t>(at.number("offset")) % n);
  const std::uint32_t read_stride = reads_apart(at) ? stride : 1, read_offset = reads_apart(at) ? offset : 0;
  const std::uint32_t write_stride = writes_apart(at) ? stride : 1;
  const std::uint32_t write_offset = writes_apart(at) ? offset : 0;
  const Random<T> value(at.seed, 1);
  const auto in = p.input<T>(n * read_stride, value);
  const auto out = p.output<T>(n * write_stride);
  p.launch("strided", std::move(global), std::move(local), out, in, static_cast<std::uint32_t>(n),
           read_stride, write_stride, read_offset, write_offset);
  expect_strided<T>(p, out, write_stride, [=](std::uint64_t written) {
    return value((written + n - write_offset + read_offset) % n * read_stride);
  });
}

template <class T, class Order>
void plan_gather(Plan& p, const Case& at, const Order& order, Range global, Range local) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const Random<T> value(at.seed, 1);

  const bool reads = reads_apart(at), writes = writes_apart(at);
  // A scatter's input is permuted too, so that checking its output needs no inverse permutation.
  const auto in = p.input<T>(n, [=](std::uint64_t i) { return value(writes && !reads ? order(i) : i); });
  const auto out = p.output<T>(n);
  const auto index =
      p.input<std::uint32_t>(n, [=](std::uint64_t i) { return static_cast<std::uint32_t>(order(i)); });
  p.launch("gather", std::move(global), std::move(local), out, in, index, static_cast<std::uint32_t>(n));
  p.expect<T>(out, [=](std::uint64_t i) { return value(reads && !writes ? order(i) : i); });
  p.cost.read += n * sizeof(std::uint32_t);
}

// Maps 32 neighbouring work-items to `lines` lines of 32 elements, equally many to each. The work-items that
// touch the rest of a line are far away, so that it is no longer in a cache.
class Spread {
 public:
  Spread(std::uint64_t n, std::uint64_t lines, std::uint64_t seed) : lines_(lines), order_(n / line, seed) {}

  std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t neighbours = i / line, part = i % line / (line / lines_), all = order_.size();
    return order_((neighbours + part * (all / lines_)) % all) * line + i % line;
  }

  static constexpr std::uint64_t line = 32;

 private:
  std::uint64_t lines_;
  Permutation order_;
};

template <class T>
void plan_transpose(Plan& p, const Case& at) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const auto tile = static_cast<std::size_t>(at.number("tile"));
  const std::uint64_t extent = extent_of(n);
  const std::size_t tiles = ceil_div(extent, tile);
  const Random<T> value(at.seed, 1);
  const auto in = p.input<T>(n, value);
  const auto out = p.output<T>(n);
  p.launch(at.text("kernel"), {tiles * tile, tiles * rows_of_group}, {tile, rows_of_group}, out, in,
           static_cast<std::uint32_t>(extent));
  p.expect<T>(out, [=](std::uint64_t i) { return value(i % extent * extent + i / extent); });
}

template <class T>
Plan plan(const Case& at, const DeviceInfo& device) {
  const auto n = static_cast<std::uint64_t>(at.number("n"));
  const auto tile = static_cast<std::uint64_t>(at.number("tile"));
  const auto group = static_cast<std::size_t>(at.number("group"));
  const Range global = {round_up(n, group)};
  Plan p;
  p.define("T", type_name<T>()).define("READ_SIDE", reads_apart(at) ? 1 : 0);
  p.define("WRITE_SIDE", writes_apart(at) ? 1 : 0);
  p.define("TILE", std::to_string(tile) + "u").define("ROWS", std::to_string(rows_of_group) + "u");
  p.cost = {.read = n * sizeof(T), .written = n * sizeof(T), .flops = 0, .items = n};
  p.peak = Peak::copy;
  if (at.is("kernel", "strided")) {
    plan_strided<T>(p, at, global, {group});
  } else if (at.is("kernel", "gather")) {
    plan_gather<T>(p, at, Permutation(n, at.seed), global, {group});
  } else if (at.is("kernel", "gather_lines")) {
    const std::uint64_t lines = at.count("lines", 1, Spread::line);
    if (n % (lines * Spread::line) != 0)
      throw Error(ErrorCode::unsupported, "n must be a multiple of " + std::to_string(lines * Spread::line));
    plan_gather<T>(p, at, Spread(n, lines, at.seed), global, {group});
  } else {
    if (!at.is("kernel", "transpose")) Plan::need_local(device, tile * (tile + 1) * sizeof(T));
    plan_transpose<T>(p, at);
  }
  return p;
}

// Keeps axes that a kernel ignores at their default; `side` names the uncoalesced accesses.
bool is_valid(const Case& at) {
  const bool by_stride = at.is("kernel", "strided"), gather = at.text("kernel").starts_with("gather");
  const bool strided = at.number("stride") != 1, misaligned = at.number("offset") != 0;
  if ((strided || misaligned) && (!by_stride || (strided && misaligned))) return false;
  if ((by_stride || gather) ? at.number("tile") != 32 : at.number("group") != 256) return false;
  if (by_stride) return at.is("side", "neither") == !(strided || misaligned);
  if (at.is("kernel", "gather_lines")) return at.is("side", "read") || at.is("side", "write");
  if (gather) return !at.is("side", "neither");
  if (at.is("kernel", "transpose")) return at.is("side", "read") || at.is("side", "write");
  return at.is("side", "neither");
}

// Computes the time of each further cache line that 32 work-items read from, from the fewest and the most
// lines at the largest n.
void add_line_time(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  std::map<std::int64_t, std::map<std::int64_t, const Outcome*>> by_lines;  // of each n
  for (const auto& o : outcomes) {
    if (o.at.is("kernel", "gather_lines") && o.at.is("side", "read") && o.at.is("type", "uint") &&
        o.at.number("group") == 256)
      by_lines[o.at.number("n")][o.at.number("lines")] = &o;
  }
  if (by_lines.empty() || by_lines.rbegin()->second.size() < 2) return;
  const auto& [n, rows] = *by_lines.rbegin();
  const auto& [few_lines, few] = *rows.begin();
  const auto& [many_lines, many] = *rows.rbegin();
  const double lines = static_cast<double>(many_lines - few_lines) * static_cast<double>(n) / Spread::line;
  const double value = 1e9 * (many->time_s - few->time_s) / lines;
  Finding found{"line_time", value, "ns",
                fmt::format("32 work-items that read from {} cache lines instead of {} take {:.3g} ns per "
                            "additional line, all compute units together, n={}",
                            many_lines, few_lines, value, n)};
  if (few->low_s && few->high_s && many->low_s && many->high_s) {
    found.low = 1e9 * (*many->low_s - *few->high_s) / lines;
    found.high = 1e9 * (*many->high_s - *few->low_s) / lines;
  }
  if (found.low.value_or(value) <= 0) {
    found.value.reset();
    found.text += ": the difference may be nothing";
  }
  out.push_back(std::move(found));
}

// Compares reads at the largest stride with unit-stride reads.
void add_stride_slowdown(std::vector<Finding>& out, const std::vector<Outcome>& outcomes) {
  const auto is_strided = [](const Case& at) {
    return at.is("kernel", "strided") && at.is("type", "uint") && at.number("group") == 256 &&
           at.number("offset") == 0;
  };
  const std::int64_t n = common_size(outcomes, is_strided);
  const Outcome *straight = nullptr, *strided = nullptr;
  for (const auto& o : outcomes) {
    if (!is_strided(o.at) || o.at.number("n") != n) continue;
    if (o.at.is("side", "neither")) straight = &o;
    if (o.at.is("side", "read") &&
        (strided == nullptr || o.at.number("stride") > strided->at.number("stride")))
      strided = &o;
  }
  if (straight == nullptr || strided == nullptr) return;
  const std::int64_t stride = strided->at.number("stride");
  out.push_back(
      {.name = "stride_slowdown",
       .value = strided->time_s / straight->time_s,
       .unit = "ratio",
       .text = fmt::format("time of a copy whose reads are {} elements apart / adjacent, n={}", stride, n),
       .note = fmt::format("stride {}", stride),
       .from = {strided, straight}});
}

// Compares, at the most common n, the worst case of each kind of access with the coalesced one.
std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  add_line_time(out, outcomes);
  add_stride_slowdown(out, outcomes);
  const auto is_plain = [](const Case& at) {
    return at.is("type", "uint") && at.number("group") == 256 && !at.is("kernel", "gather_lines");
  };
  const std::int64_t largest = common_size(outcomes, is_plain);
  const auto counts = [&](const Outcome& o) { return o.at.number("n") == largest && is_plain(o.at); };

  const Outcome* straight = nullptr;
  for (const auto& o : outcomes) {
    if (counts(o) && o.at.is("kernel", "strided") && o.at.is("side", "neither")) straight = &o;
  }
  if (straight == nullptr) return out;
  std::map<std::string, const Outcome*> worst;
  for (const auto& o : outcomes) {
    if (!counts(o)) continue;
    std::string kind = o.at.text("kernel");
    if (kind == "strided")
      kind = o.at.number("stride") > 1 ? "stride" : o.at.number("offset") > 0 ? "offset" : "";
    if (kind.empty()) continue;
    const std::string name = kind + (o.at.is("side", "neither") ? "" : "_" + o.at.text("side")) + "_cost";
    const Outcome*& entry = worst[name];
    if (entry == nullptr || o.time_s > entry->time_s) entry = &o;
  }
  for (const auto& [name, o] : worst)
    out.push_back(ratio_of(name, *o, *straight,
                           "time / time of a coalesced copy, worst at stride " +
                               std::to_string(o->at.number("stride")) + ", offset " +
                               std::to_string(o->at.number("offset")) + ", n=" + std::to_string(largest)));
  return out;
}

// Sweeps every kind of access for these types.
Sweeps all_paths(const Values& types, const Values& strides, const Values& offsets, const Values& n,
                 const Values& squares) {
  const Values sides = {"read", "write", "both"};
  return {"kernel=strided side=neither type=" + types + " n=" + n,
          "kernel=strided side=" + sides + " type=" + types + " stride=" + strides + " n=" + n,
          "kernel=strided side=" + sides + " type=" + types + " offset=" + offsets + " n=" + n,
          "kernel=gather side=" + sides + " type=" + types + " n=" + n,
          "kernel=transpose side=read,write type=" + types + " n=" + squares,
          "kernel=transpose_tiled,transpose_padded side=neither type=" + types + " n=" + squares};
}

}  // namespace

Family access() {
  const Values strides = {2, 4, 8, 16, 32, 64};
  Values offsets;
  for (std::int64_t offset = 1; offset < 32; ++offset) offsets.emplace_back(offset);
  const Values sizes = {1 << 22, 1 << 24};
  return {
      .name = "access",
      .question =
          "What does it cost if accesses of neighbouring work-items are not coalesced (served together): "
          "strided, "
          "misaligned, gathered, transposed?",
      .brief = "cost of uncoalesced memory accesses",
      .axes = {{.name = "kernel",
                .meaning =
                    "strided: work-item i accesses element offset + i * stride; gather: in a random order; "
                    "gather_lines: 32 neighbouring work-items access `lines` segments of 32 elements; "
                    "transpose: naive, of a square matrix; transpose_tiled: through local memory; "
                    "transpose_padded: the same without bank conflicts (accesses to one bank of local "
                    "memory, which wait for each other)",
                .values = {"strided", "gather", "transpose", "transpose_tiled", "transpose_padded",
                           "gather_lines"}},
               {.name = "side",
                .meaning = "which accesses are not coalesced",
                .values = {"neither", "read", "write", "both"}},
               {.name = "type", .meaning = "element type", .values = {"uint", "uchar", "ulong"}},
               {.name = "stride",
                .meaning = "elements between neighbouring work-items",
                .values = {1, 2, 4, 8, 16, 32, 64},
                .domain = powers_of_two(1, 64),
                .when = [](const Case& at) { return at.is("kernel", "strided"); }},
               {.name = "offset",
                .meaning = "misalignment, in elements",
                .values = {0, 1, 2, 4, 8, 16, 31},
                .domain = whole(0, 1024),
                .when = [](const Case& at) { return at.is("kernel", "strided"); }},
               {.name = "n",
                .meaning = "elements moved; for transposes a square number",
                .values = {1 << 22},
                .domain = whole(1, INT32_MAX)},
               {.name = "group",
                .meaning = "work-items per work-group of strided and gather",
                .values = {256, 64, 128, 512, 1024},
                .tunable = true,
                .domain = whole(1, 65536),
                .when =
                    [](const Case& at) {
                      return at.is("kernel", "strided") || at.text("kernel").starts_with("gather");
                    },
                .search_values = group_sizes},
               {.name = "tile",
                .meaning = "edge of a transpose tile; a work-group is tile x 8",
                .values = {32, 16, 64},
                .tunable = true,
                .domain = multiples_of(8, 8, 64),
                .when = [](const Case& at) { return at.text("kernel").starts_with("transpose"); }},
               {.name = "lines",
                .meaning = "segments of 32 contiguous elements that 32 neighbouring work-items access",
                .values = {1, 2, 4, 8, 16, 32},
                .domain = powers_of_two(1, 32),
                .when = [](const Case& at) { return at.is("kernel", "gather_lines"); }}},
      .presets =
          {.smoke = all_paths({"uint"}, {2, 64}, {3}, {65, 1009}, {1, 1089}) +
                    Sweeps{"kernel=strided n=1", "kernel=gather_lines side=read,write lines=1,4,32 n=4096",
                           "kernel=gather side=read type=uchar,ulong n=1009",
                           "kernel=transpose_tiled,transpose_padded tile=16 n=289"},
           .quick = {"kernel=strided side=neither n=1048576", "kernel=strided side=read stride=2,8 n=1048576",
                     "kernel=strided side=read,write,both stride=64 n=1048576",
                     "kernel=strided side=read,write,both offset=1 n=1048576",
                     "kernel=gather side=read,write,both n=1048576",
                     "kernel=transpose side=read,write n=1048576",
                     "kernel=transpose_tiled,transpose_padded side=neither n=1048576",
                     "kernel=gather_lines side=read lines=1,32 n=16777216"},
           .profile = {"kernel=strided side=neither n=1048576",
                       "kernel=strided side=read stride=64 n=1048576",
                       "kernel=gather_lines side=read lines=1,32 n=16777216"},
           .paper = {},
           .full = all_paths({"uint"}, strides, offsets, sizes, sizes) +
                   all_paths({"uchar", "ulong"}, {2, 8, 16}, {1, 8, 31}, {1 << 22}, {1 << 22}) +
                   Sweeps{"kernel=gather_lines side=read,write lines=1,2,4,8,16,32 n=16777216,67108864",
                          "kernel=strided group=64,128,512,1024 n=" + sizes,
                          "kernel=transpose_tiled,transpose_padded tile=16,64 n=4194304,9000000,67108864"}},
      .view = {.rows = {"kernel", "side"},
               .columns = {"stride", "offset"},
               .quantity = "rate",
               .chapter = "Access and caches",
               .graphs = {{.name = "stride",
                           .x = {"stride"},
                           .series = {"side"},
                           .where = {"kernel=strided", "offset=0"},
                           .findings = {"stride_read_cost"}},
                          {.name = "order",
                           .kind = Graph::Kind::heat,
                           .x = {"side"},
                           .series = {"kernel"},
                           .quantity = "slowdown",
                           .where = {"stride=1", "offset=0"},
                           .findings = {"gather_read_cost", "transpose_write_cost"}}}},
      .is_valid = is_valid,
      .plan = for_types<std::uint32_t, std::uint8_t, std::uint64_t>(
          []<class T>(const Case& at, const DeviceInfo& device) { return plan<T>(at, device); }),
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {{.finding = "stride_slowdown",
                  .unit = "x",
                  .meaning = "time of a copy whose reads are the largest stride apart / adjacent",
                  .headline = "strided slowdown"},
                 {"line_time", "ns",
                  "time per additional cache line that 32 work-items read from, with the whole device busy: "
                  "reciprocal throughput, not latency"}}};
}

}  // namespace clweave::families
