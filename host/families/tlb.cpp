// SPDX-License-Identifier: Apache-2.0
// tlb: how much memory does each level of the TLB (translation lookaside buffer) reach, and what does a miss
// cost?
//
// One work-item chases pointers through words that lie a stride apart, so that each load needs another page.
// As many words side by side, which need few pages, tell what the caches add; what is above that is the TLB.
// Where pages are larger than the stride the reach is the same for all strides; where they are smaller the
// number of words is.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "base/quantity.hpp"
#include "families/shared/levels.hpp"
#include "families/shared/loop_limit.hpp"
#include "families/shared/monotone.hpp"
#include "families/shared/walks.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

constexpr std::int64_t line_bytes = 128, page_bytes = 4096;
constexpr std::int64_t large_stride = 1 << 21;           // pages of GPUs
constexpr std::int64_t largest = std::int64_t{1} << 34;  // in words of 4 bytes as many as a word counts

bool is_packed(const Case& at) { return at.number("stride") == line_bytes; }

// Where the words of a chase lie: one per stride, each another page and line behind its start, so that not
// all fall into one set of a TLB or a cache.
struct Layout {
  Tour tour;
  std::uint64_t stride;  // in words

  explicit Layout(const Case& at)
      : tour(at.seed, nodes_of(at),
             is_packed(at) ? std::min<std::uint64_t>(nodes_of(at), 2048) : nodes_of(at)),
        stride(at.count("stride") / sizeof(Word)) {}

  static std::uint64_t nodes_of(const Case& at) { return at.count("working_set") / at.count("stride"); }

  std::uint64_t word(std::uint64_t node) const {
    return node * stride + node * ((page_bytes + line_bytes) / sizeof(Word)) % stride;
  }
  bool is_node(std::uint64_t at) const { return at / stride < tour.nodes() && word(at / stride) == at; }
  Word after(std::uint64_t at, std::uint64_t hops) const {
    return static_cast<Word>(word(tour.after(at / stride, hops)));
  }
};

// Returns the loads of a chase: several through all pages, and no multiple of them, as one that ends where it
// began might not have started.
std::uint64_t hops_of(const Case& at) {
  const std::uint64_t wanted = at.count("chain_length"), nodes = Layout::nodes_of(at);
  const std::uint64_t hops = wanted > 0 ? wanted : std::clamp<std::uint64_t>(3 * nodes, 40009, 1 << 20);
  return nodes > 1 && hops % nodes == 0 ? hops + 1 : hops;
}

// Writes the words alone, and zeros between them: pages of gigabytes are filled as fast as memory goes.
void fill(const Layout& layout, std::uint64_t offset, std::span<std::byte> bytes) {
  std::memset(bytes.data(), 0, bytes.size());
  const std::uint64_t begin = offset / sizeof(Word), end = begin + bytes.size() / sizeof(Word);
  for (std::uint64_t node = begin / layout.stride; node < layout.tour.nodes(); ++node) {
    const std::uint64_t at = layout.word(node);
    if (at >= end) return;
    if (at < begin) continue;
    const Word next = layout.after(at, 1);
    std::memcpy(&bytes[(at - begin) * sizeof(Word)], &next, sizeof next);
  }
}

// Expects the word where the chase began, any of them, and the one where it ended.
ComparisonResult compared(const Layout& layout, std::uint64_t hops, std::span<const std::byte> bytes) {
  std::array<Word, 2> got{};
  std::memcpy(got.data(), bytes.data(), sizeof got);
  ComparisonResult out;
  out.elements = got.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    out.written += std::memcmp(&got.at(i), &poison.at(i * sizeof(Word)), sizeof(Word)) != 0 ? 1 : 0;
  const bool node = layout.is_node(got[0]);
  const Word end = node ? layout.after(got[0], hops) : 0;
  if (node && got[1] == end) return out;
  out.wrong = got.size();
  out.first_wrong = 0;
  out.first_text = fmt::format("[0] is a pointer chase from {} to {}, expected {}", got[0], got[1], end);
  return out;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t bytes = at.count("working_set", line_bytes, largest), hops = hops_of(at);
  Plan::need(Layout::nodes_of(at) >= 2,
             fmt::format("{} bytes hold fewer than two pages, {} bytes apart", bytes, at.number("stride")));
  require_iterations(device, hops, "chain_length");
  const Layout layout(at);
  Plan p;
  p.define("GROUP", 1);
  const auto next = p.input<Word>(bytes / sizeof(Word), [](std::uint64_t) { return Word{0}; });
  p.buffers[next.index].fill = [layout](std::uint64_t offset, std::span<std::byte> stretch) {
    fill(layout, offset, stretch);
  };
  const auto first = static_cast<Word>(layout.word(layout.tour.node(at.seed % layout.tour.nodes())));
  const auto place = p.input<Word>(1, [first](std::uint64_t) { return first; });
  const auto out = p.output<Word>(2);
  p.launch("chase", {1}, {1}, out, next, place, static_cast<Word>(hops));
  p.checks.push_back(
      {.buffer = out,
       .compare = {},
       .unit = {},
       .reference = {},
       .compare_all = [=](std::span<const std::byte> got) { return compared(layout, hops, got); }});
  p.cost = {.read = hops * sizeof(Word), .written = 2 * sizeof(Word), .flops = 0, .items = hops};
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

// "4k", "2m"
std::string short_text(std::int64_t bytes) {
  return bytes >= 1 << 20 ? fmt::format("{}m", bytes >> 20) : fmt::format("{}k", bytes >> 10);
}

std::string text_of_bytes(double bytes) { return bytes_text(bytes); }

// Nanoseconds per load by working set, for each stride; the least, as interference only slows down.
std::map<std::int64_t, Curve> curves_of(const std::vector<Outcome>& outcomes) {
  std::map<std::int64_t, Curve> out;
  for (const auto& o : outcomes) {
    const double ns = 1e9 * o.min_s.value_or(o.time_s) / static_cast<double>(hops_of(o.at));
    const auto [at, is_new] = out[o.at.number("stride")].emplace(o.at.number("working_set"), ns);
    if (!is_new) at->second = std::min(at->second, ns);
  }
  return out;
}

// Returns the times of a stride without what the caches add: less those of as many words side by side, but
// for the time of the fewest. Ends where the words side by side were not measured.
Curve without_caches(const Curve& spread, const Curve& packed, std::int64_t stride) {
  Curve out;
  const Curve base = made_monotone(packed);
  double least = 0;
  for (const auto& [bytes, ns] : spread) {
    const auto same = base.lower_bound(bytes / stride * line_bytes);
    if (same == base.end()) break;
    if (out.empty()) least = std::min(ns, same->second);
    out.emplace(bytes, least + std::max(0.0, ns - same->second));
  }
  return out;
}

// How a stride's TLB levels were found.
struct Found {
  std::vector<Level> levels;
  Curve curve;  // monotone
};

Found found_in(const Curve& spread, const Curve& packed, std::int64_t stride) {
  Found out;
  const Curve measured = without_caches(spread, packed, stride);
  constexpr std::size_t least_sizes = 4;
  if (measured.size() < least_sizes) return out;
  out.curve = made_monotone(measured);
  out.levels = levels_of(out.curve, noise_of({spread, packed}));
  return out;
}

// Asks for sizes between one that a level reaches and one that it does not. Of GPUs, whose TLBs reach more
// than what preset quick looks at, also for twice as much memory, until a level ends or the device allows no
// more.
std::vector<Case> refine(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  constexpr double close_enough = 1.3;
  std::vector<Case> out;
  const auto curves = curves_of(outcomes);
  const auto packed = curves.find(line_bytes);
  if (packed == curves.end()) return out;
  const auto ask = [&](std::int64_t stride, std::int64_t bytes) {
    const auto known = curves.find(stride);
    if (known != curves.end() && known->second.contains(bytes)) return;
    out.push_back(outcomes.front()
                      .at.with("stride", stride)
                      .with("working_set", bytes)
                      .with("chain_length", std::int64_t{0}));
  };
  for (const auto& [stride, spread] : curves) {
    if (stride == line_bytes) continue;
    const Found found = found_in(spread, packed->second, stride);
    const std::int64_t more = 2 * spread.rbegin()->first;
    if (device.type == "gpu" && stride >= large_stride && found.levels.size() == 1 && more <= largest &&
        more < device.max_alloc_bytes && 2 * more <= device.usable_bytes) {
      ask(stride, more);
      ask(line_bytes, more / stride * line_bytes);
    }
    for (const auto& level : found.levels) {
      if (level.beyond == 0 ||
          static_cast<double>(level.beyond) <= close_enough * static_cast<double>(level.fits))
        continue;
      const double middle = std::sqrt(static_cast<double>(level.fits) * static_cast<double>(level.beyond));
      const std::int64_t bytes = std::llround(middle / static_cast<double>(stride)) * stride;
      if (bytes <= level.fits || bytes >= level.beyond) continue;
      ask(stride, bytes);
      ask(line_bytes, bytes / stride * line_bytes);
    }
  }
  return out;
}

void add_levels(std::vector<Finding>& out, const Found& found, std::int64_t stride) {
  if (found.levels.empty()) return;
  const std::string apart = text_of_bytes(static_cast<double>(stride)), suffix = short_text(stride);
  bool is_sure = true;  // of this level and of those before it
  for (std::size_t i = 0; i + 1 < found.levels.size(); ++i) {
    const Level &level = found.levels[i], &next = found.levels[i + 1];
    is_sure = is_sure && level.is_sure;
    const double reach = std::sqrt(static_cast<double>(level.fits) * static_cast<double>(level.beyond));
    Finding size{
        fmt::format("tlb{}_reach_{}", i + 1, suffix),
        reach,
        "B",
        fmt::format("level {} of the TLB reaches {:.3g} words {} apart, {} in all: from {} on a load "
                    "takes {:.3g} ns more",
                    i + 1, reach / static_cast<double>(stride), apart, text_of_bytes(reach),
                    text_of_bytes(static_cast<double>(next.first)), next.ns - level.ns),
        static_cast<double>(level.low),
        static_cast<double>(level.high)};
    Finding miss{fmt::format("tlb{}_miss_{}", i + 1, suffix), next.ns - level.ns, "ns",
                 fmt::format("beyond level {} of the TLB, with words {} apart, a load takes {:.3g} ns more",
                             i + 1, apart, next.ns - level.ns)};
    if (!is_sure) {
      for (Finding* one : {&size, &miss}) {
        one->value.reset();
        one->text = fmt::format(
            "the times are too noisy to tell where level {} of the TLB ends; {} explains "
            "them best",
            i + 1, text_of_bytes(reach));
      }
    }
    out.push_back(std::move(size));
    out.push_back(std::move(miss));
  }
  if (found.levels.size() > 1) return;
  out.push_back(
      {fmt::format("tlb1_reach_{}", suffix),
       {},
       "B",
       fmt::format("none found: words {} apart, all over {}, take no longer than as many side by side", apart,
                   text_of_bytes(static_cast<double>(found.curve.rbegin()->first)))});
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::vector<Finding> out;
  const auto curves = curves_of(outcomes);
  const auto packed = curves.find(line_bytes);
  if (packed == curves.end()) return out;
  for (const auto& [stride, spread] : curves) {
    if (stride != line_bytes) add_levels(out, found_in(spread, packed->second, stride), stride);
  }
  return out;
}

// Returns the working sets of so many words.
Values sets(std::int64_t stride, std::int64_t least, std::int64_t most) {
  Values out;
  for (std::int64_t words = least; words <= most; words *= 2) out.emplace_back(words * stride);
  return out;
}

std::string sweep(std::int64_t stride, std::int64_t least, std::int64_t most) {
  return fmt::format("stride={} working_set=", stride) + sets(stride, least, most);
}

}  // namespace

Family tlb() {
  constexpr std::int64_t kib64 = 1 << 16, mib2 = 1 << 21, mib32 = 1 << 25;
  return {
      .name = "tlb",
      .question = "How much memory does each level of the TLB reach, and what does a miss add to a load?",
      .brief = "reach of the TLB and cost of a miss",
      .axes = {{.name = "stride",
                .meaning =
                    "bytes between the words of the pointer chase, one per stride; 128: side by side, which "
                    "tells what the caches add",
                .values = {line_bytes, page_bytes, kib64, mib2, mib32},
                .domain = powers_of_two(line_bytes, mib32)},
               {.name = "working_set",
                .meaning = "bytes from the first to the last word",
                .values = {std::int64_t{1} << 30},
                .domain = multiples_of(line_bytes, 2 * line_bytes, largest)},
               {.name = "chain_length",
                .meaning =
                    "dependent loads; 0: three times through all words, but at least 40009 and at most 2^20",
                .values = {0},
                .domain = whole(0, 1 << 24)}},
      .presets = {.smoke = {"stride=128 working_set=8192 chain_length=101",
                            "stride=4096 working_set=262144,266240 chain_length=101",
                            "stride=65536 working_set=4194304 chain_length=101"},
                  .quick = {sweep(line_bytes, 32, 512), sweep(mib2, 32, 512)},
                  .paper = {sweep(line_bytes, 16, 1 << 18), sweep(page_bytes, 16, 1 << 18),
                            sweep(kib64, 16, 1 << 16), sweep(mib2, 16, 1 << 12), sweep(mib32, 16, 256)},
                  .full = {sweep(line_bytes, 16, 1 << 18), sweep(page_bytes, 16, 1 << 18),
                           sweep(kib64, 16, 1 << 17), sweep(mib2, 16, 1 << 12), sweep(mib32, 16, 256)}},
      .view = {.rows = {"working_set"},
               .columns = {"stride"},
               .quantity = "items",
               .chapter = "Access and caches",
               .graphs = {{.name = "latency",
                           .x = {"working_set"},
                           .series = {"stride"},
                           .quantity = "ns",
                           .where = {"chain_length=0"},
                           .findings = {"tlb1_reach_2m", "tlb2_reach_2m"},
                           .marks = {"tlb1_reach_2m", "tlb2_reach_2m"}}}},
      .plan = plan,
      .refine = refine,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {{"tlb1_reach_4k", "B", "first level of the TLB, words 4 KiB apart"},
                 {"tlb2_reach_4k", "B", "second level"},
                 {"tlb1_reach_2m", "B", "first level of the TLB, words 2 MiB apart"},
                 {"tlb1_miss_2m", "ns", "what a load takes more beyond it"},
                 {"tlb2_reach_2m", "B", "second level"},
                 {"tlb2_miss_2m", "ns", "what a load takes more beyond it"}}};
}

}  // namespace clweave::families
