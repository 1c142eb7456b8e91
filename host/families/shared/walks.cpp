// SPDX-License-Identifier: Apache-2.0
#include "families/shared/walks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "families/shared/loop_limit.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t pages_bytes = std::uint64_t{64} * 4096;

// Layout of nodes in memory, in words.
struct Layout {
  Tour tour;
  std::uint64_t node_words, area_words;  // area_words: of the area of one chase

  Layout(std::uint64_t seed, const Walks& walks)
      : tour(seed, walks.bytes / walks.node_bytes,
             (walks.by_pages ? std::min(pages_bytes, walks.bytes) : walks.bytes) / walks.node_bytes),
        node_words(walks.node_bytes / sizeof(Word)),
        area_words(walks.bytes / sizeof(Word)) {}

  bool is_node(std::uint64_t word) const {
    const std::uint64_t within = word % area_words;
    return within % node_words == 0 && within / node_words < tour.nodes();
  }
  Word after(std::uint64_t word, std::uint64_t hops) const {
    const std::uint64_t within = word % area_words;
    return static_cast<Word>(word - within + tour.after(within / node_words, hops) * node_words);
  }
};

// Expects pairs of nodes: where a chase began, which must be in its area, and where it ended.
void expect_walks(Plan& p, Buffer b, const Layout& layout, std::uint64_t areas, std::uint64_t hops) {
  p.checks.push_back(
      {b, [=](std::uint64_t offset, std::span<const std::byte> bytes) {
         ComparisonResult tally;
         const std::uint64_t first = offset / sizeof(Word);
         for (std::uint64_t i = 0; i + 1 < bytes.size() / sizeof(Word); i += 2) {
           std::array<Word, 2> got{};
           std::memcpy(got.data(), &bytes[i * sizeof(Word)], sizeof got);
           const std::uint64_t area = (first + i) / 2 % areas;
           const bool node = got[0] / layout.area_words == area && layout.is_node(got[0]);
           const Word end = node ? layout.after(got[0], hops) : 0;
           tally.elements += 2;
           for (std::uint64_t k = 0; k < 2; ++k)
             tally.written +=
                 std::memcmp(&got.at(k), &poison[(i + k) * sizeof(Word) % poison.size()], sizeof(Word)) != 0
                     ? 1U
                     : 0U;
           if (node && got[1] == end) continue;
           if (tally.wrong == 0) {
             tally.first_wrong = first + i;
             tally.first_text = fmt::format("[{}] is a pointer chase from {} to {}, expected {}", first + i,
                                            got[0], got[1], end);
           }
           tally.wrong += 2;
         }
         return tally;
       }});
}

}  // namespace

Plan plan_of_walks(std::uint64_t seed, const Walks& walks) {
  const Layout layout(seed, walks);
  const std::uint64_t areas = walks.own ? walks.groups : 1, apart = walks.apart / sizeof(Word);
  const Random<Word> noise(seed, 1);
  Plan p;
  const auto next = p.input<Word>(areas * layout.area_words, [=](std::uint64_t i) {
    if (layout.is_node(i)) return apart == 0 ? layout.after(i, 1) : static_cast<Word>(i);
    if (apart > 0 && i >= apart && layout.is_node(i - apart)) return layout.after(i - apart, 1);
    return noise(i);
  });
  // Chases in one area start evenly spread over it.
  const auto place = p.input<Word>(walks.groups, [=, groups = walks.groups](std::uint64_t g) {
    const std::uint64_t spread = areas > 1 ? 0 : g * layout.tour.nodes() / groups;
    return static_cast<Word>(g % areas * layout.area_words +
                             layout.tour.node(seed % layout.tour.nodes() + spread) * layout.node_words);
  });
  const auto out = p.output<Word>(2 * walks.groups);
  if (apart == 0) {
    p.source = "latency";
    p.define("GROUP", 1).define("NODES", 1);
    p.launch("chase", {walks.groups}, {1}, out, next, place, static_cast<Word>(walks.hops));
  } else {
    p.launch("pair", {walks.groups}, {1}, out, next, place, static_cast<Word>(walks.hops),
             static_cast<Word>(apart));
  }
  expect_walks(p, out, layout, areas, walks.hops);
  const std::uint64_t loads = walks.groups * walks.hops * (apart > 0 ? 2 : 1);
  p.cost = {.read = loads * sizeof(Word),
            .written = 2 * sizeof(Word) * walks.groups,
            .flops = 0,
            .items = walks.groups * walks.hops};
  return p;
}

Plan plan_of_address_walk(std::uint64_t seed, const Walks& walks, const DeviceInfo& device) {
  const Layout layout(seed, walks);
  constexpr std::uint64_t words = sizeof(std::uint64_t) / sizeof(Word);
  const std::uint64_t nodes = layout.tour.nodes(), apart = layout.node_words / words;
  const auto group =
      std::bit_floor(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(device.max_group), 1, 256));
  require_iterations(device, nodes / group, "working_set");
  const Random<std::uint64_t> noise(seed, 1);
  Plan p;
  p.source = "lib/address_chase";
  p.may_fail_to_build = true;
  // The offset of each node's successor, and 0 behind the last, to which `link` has added nothing yet.
  const auto chain = p.input<std::uint64_t>(nodes * apart + words, [=](std::uint64_t i) -> std::uint64_t {
    if (i >= nodes * apart) return 0;
    return i % apart == 0 ? sizeof(Word) * std::uint64_t{layout.after(i * words, 1)} : noise(i);
  });
  const auto place = p.input<Word>(1, [=](std::uint64_t) {
    return static_cast<Word>(layout.tour.node(seed % nodes) * layout.node_words);
  });
  const auto out = p.output<Word>(2);
  p.launch("link", {group}, {group}, chain, nodes, static_cast<Word>(apart));
  p.launch("chase", {1}, {1}, out, chain, place, static_cast<Word>(walks.hops));
  expect_walks(p, out, layout, 1, walks.hops);
  p.cost = {.read = walks.hops * sizeof(std::uint64_t),
            .written = 2 * sizeof(Word),
            .flops = 0,
            .items = walks.hops};
  return p;
}

}  // namespace clweave::families
