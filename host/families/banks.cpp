// SPDX-License-Identifier: Apache-2.0
// banks: how many banks has local memory, how wide are they, and what do a bank conflict and a broadcast
// cost?
//
// Work-items that read different words of one bank wait for each other. With B banks of w bytes, words at a
// stride of B
// * w bytes are all in one bank: the time grows with the stride up to there and no further. Then every other
// work-item reads `shift` bytes further: below w bytes all still conflict in one bank; from w on in two,
// which takes half as long.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t words = 4096, lanes = 64, step = 64;

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t group = at.count("group", 1, 65536), stride = at.count("stride", 0, 64);
  const std::uint64_t shift = at.count("shift", 0, 256) / sizeof(Word),
                      trips = at.count("iterations", 1, 65536);
  Plan::need_local(device, words * sizeof(Word));
  const std::uint64_t items = device.units() * 8 * group;
  const Random<Word> value(at.seed, 1);
  Plan p;
  p.define("GROUP", group).define("WORDS", words).define("STEP", step).define("LANES", lanes);
  const auto in = p.input<Word>(words, value);
  const auto out = p.output<Word>(items);
  p.launch("banks", {items}, {group}, out, in, static_cast<Word>(stride), static_cast<Word>(shift),
           static_cast<Word>(trips));
  p.expect_from<Word>(out, [=](std::uint64_t begin) {
    std::vector<Word> sums(lanes);
    for (std::uint64_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t first = lane * stride + lane % 2 * shift;
      constexpr std::uint64_t around = words / step;  // reads until the first address repeats
      for (std::uint64_t i = 0; i < std::min(trips, around); ++i) {
        const std::uint64_t times = trips / around + (i < trips % around ? 1 : 0);
        sums[lane] += static_cast<Word>(times) * value((first + i * step) % words);
      }
    }
    return [=, i = begin]() mutable { return sums[i++ % group % lanes]; };
  });
  p.cost = {.read = items * trips * sizeof(Word),
            .written = items * sizeof(Word),
            .flops = 0,
            .items = items * trips};
  return p;
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  std::map<std::int64_t, Outcome> by_stride, by_shift;  // the fastest, by bytes
  for (const auto& o : outcomes) {
    const bool apart = o.at.number("shift") > 0;
    const std::int64_t bytes = apart ? o.at.number("shift") : 4 * o.at.number("stride");
    const auto [it, first] = (apart ? by_shift : by_stride).emplace(bytes, o);
    if (!first && o.time_s < it->second.time_s) it->second = o;
  }
  std::vector<Finding> out;
  const auto all = by_stride.find(0), each = by_stride.find(4);
  if (all != by_stride.end() && each != by_stride.end())
    out.push_back(
        ratio_of("broadcast_cost", all->second, each->second,
                 "time when all work-items read one 32-bit word of local memory / neighbouring words"));
  if (each == by_stride.end() || by_stride.size() < 5) return out;
  const Outcome& least = each->second;
  const Outcome& most = by_stride.rbegin()->second;
  constexpr double markedly = 1.5;
  out.push_back(ratio_of("bank_conflict_slowdown", most, least,
                         "time of local memory reads at a stride of 256 bytes / of adjacent 32-bit words"));
  if (most.time_s < markedly * least.time_s) {
    constexpr const char* none = "none found: local memory reads take the same time at every stride";
    out.push_back({"banks", {}, "", none});
    out.push_back({"bank_bytes", {}, "B", none});
    return out;
  }
  // Finds the smallest stride at which all conflict.
  const auto row = std::ranges::find_if(by_stride, [&](const auto& entry) {
    return entry.first > 0 && entry.second.time_s > most.time_s / std::sqrt(2.0);
  });
  out.push_back({"bank_row", static_cast<double>(row->first), "B",
                 fmt::format("32-bit words of local memory {} bytes apart are in one bank", row->first)});
  // Finds the smallest shift that moves half of them to another bank.
  const auto width = std::ranges::find_if(
      by_shift, [&](const auto& entry) { return entry.second.time_s < most.time_s / std::sqrt(2.0); });
  if (width == by_shift.end()) return out;
  out.push_back({"bank_bytes", static_cast<double>(width->first), "B",
                 fmt::format("32-bit words {} bytes further are in another bank", width->first)});
  const double banks = static_cast<double>(row->first) / static_cast<double>(width->first);
  out.push_back(
      {"banks", banks, "", fmt::format("local memory has {:.0f} banks of {} bytes", banks, width->first)});
  return out;
}

}  // namespace

Family banks() {
  const Sweeps sweeps = {"stride=0,1,2,3,4,8,16,32,64", "stride=64 shift=4,8,16"};
  return {
      .name = "banks",
      .question = "How many banks has local memory, how wide are they, and what does a bank conflict cost?",
      .axes = {{.name = "stride",
                .meaning = "stride between neighbouring work-items, in 32-bit words; 0: all read the same "
                           "word (broadcast)",
                .values = {1, 0, 2, 3, 4, 8, 16, 32, 64},
                .domain = whole(0, 64)},
               {.name = "shift",
                .meaning = "byte offset added to the addresses of odd work-items",
                .values = {0, 4, 8, 16},
                .domain = multiples_of(4, 0, 252)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 64},
                .domain = whole(1, 65536)},
               {.name = "iterations",
                .meaning = "reads per work-item",
                .values = {4096},
                .domain = whole(1, 65536)}},
      .presets = {.smoke = {"stride=0,1,3,64 group=64 iterations=5,67",
                            "stride=64 shift=4,8 group=64 iterations=67"},
                  .quick = sweeps,
                  .paper = sweeps,
                  .full = sweeps + Sweeps{"stride=1,2,4,8,16,32,64 group=64"}},
      .view = {.rows = {"stride", "shift"},
               .columns = {"group"},
               .quantity = "rate",
               .chapter = "Access and caches",
               .graphs = {{.name = "stride",
                           .x = {"stride"},
                           .series = {"shift"},
                           .quantity = "slowdown",
                           .findings = {"banks", "bank_conflict_slowdown"},
                           .marks = {"banks"}}}},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {
          {"banks", "", "banks of local memory"},
          {"bank_bytes", "B", "width of a bank"},
          {"bank_conflict_slowdown", "x", "time with all work-items in one bank / without bank conflicts"},
          {"broadcast_cost", "x", "time when all work-items read one 32-bit word / one each"}}};
}

}  // namespace clweave::families
