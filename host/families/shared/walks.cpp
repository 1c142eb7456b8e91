// SPDX-License-Identifier: Apache-2.0
#include "families/shared/walks.hpp"

#include <fmt/format.h>

#include <array>

namespace clweave {

namespace {

using Word = std::uint32_t;
constexpr Word node_words = 32;  // 128 bytes

// Pairs of places: where a walk began, which must be a node, and where it ended.
void expect_walks(Plan& p, Buffer b, const Cycle& cycle, std::uint64_t hops) {
  p.checks.push_back(
      {b, [=](std::uint64_t offset, std::span<const std::byte> bytes) {
         Tally tally;
         const std::uint64_t first = offset / sizeof(Word);
         for (std::uint64_t i = 0; i + 1 < bytes.size() / sizeof(Word); i += 2) {
           std::array<Word, 2> got{};
           std::memcpy(got.data(), &bytes[i * sizeof(Word)], sizeof got);
           const bool node = got[0] % node_words == 0 && got[0] / node_words <= cycle.mask;
           const Word end = cycle.after(got[0] / node_words, hops) * node_words;
           tally.elements += 2;
           for (std::uint64_t k = 0; k < 2; ++k)
             tally.written +=
                 std::memcmp(&got.at(k), &poison[(i + k) * sizeof(Word) % poison.size()], sizeof(Word)) != 0;
           if (node && got[1] == end) continue;
           if (tally.wrong == 0) {
             tally.first_wrong = first + i;
             tally.first_text =
                 fmt::format("[{}] is a walk from {} to {}, expected {}", first + i, got[0], got[1], end);
           }
           tally.wrong += 2;
         }
         return tally;
       }});
}

}  // namespace

Plan plan_of_walks(std::uint64_t seed, std::uint64_t bytes, std::uint64_t hops, std::uint64_t groups) {
  const std::uint64_t nodes = bytes / (node_words * sizeof(Word));
  const Cycle cycle(seed, nodes);
  const Random<Word> noise(seed, 1);
  Plan p;
  p.sources = {"latency"};
  p.define("GROUP", 1).define("NODES", 1);
  const auto next = p.input<Word>(bytes / sizeof(Word), [=](std::uint64_t i) {
    return i % node_words == 0 ? cycle.next(static_cast<Word>(i / node_words)) * node_words : noise(i);
  });
  // The walks begin evenly spread over the cycle.
  const auto place = p.input<Word>(groups, [=](std::uint64_t g) {
    return cycle.after(static_cast<Word>(seed) & cycle.mask, g * nodes / groups) * node_words;
  });
  const auto out = p.output<Word>(2 * groups);
  p.launch("chase", {groups}, {1}, out, next, place, static_cast<Word>(hops));
  expect_walks(p, out, cycle, hops);
  p.cost = {.read = groups * hops * sizeof(Word), .written = 8 * groups, .flops = 0, .items = groups * hops};
  return p;
}

}  // namespace clweave
