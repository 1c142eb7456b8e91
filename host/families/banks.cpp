// SPDX-License-Identifier: Apache-2.0
// banks: how many banks has local memory, how wide are they, and what do a bank conflict and a broadcast
// cost?
//
// Work-items that read different words of one bank wait for each other. With B banks of w bytes, words at a
// stride of B * w bytes are all in one bank. Strides that are powers of two tell powers of two apart, 24 and
// 96 other numbers of banks. Where every other work-item reads `shift` bytes further, all still conflict in
// one bank below w bytes; from w on in two, which takes half as long. bank_model has what fits all times
// together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "families/shared/bank_model.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;
constexpr std::uint64_t lanes = 64, step = 64;

// Returns the words of local memory: as few as the lanes reach, for as many work-groups at once as can be,
// but no more than the 32 KiB that every device has.
std::uint64_t words_of(const Case& at) { return at.number("stride") > 64 ? 8192 : 4096; }

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t group = at.count("group", 1, 65536), stride = at.count("stride", 0, 512);
  const std::uint64_t shift = at.count("shift", 0, 256) / sizeof(Word),
                      trips = at.count("iterations", 1, 65536);
  const std::uint64_t words = words_of(at);
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
      const std::uint64_t around = words / step;  // reads until the first address repeats
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

// The fastest outcome of each stride and shift, as others did the same in work-groups of another size.
using Fastest = std::map<std::pair<std::int64_t, std::int64_t>, const Outcome*>;

Fastest fastest_of(const std::vector<Outcome>& outcomes) {
  Fastest out;
  for (const auto& o : outcomes) {
    const Outcome*& entry = out[{o.at.number("stride"), o.at.number("shift")}];
    if (entry == nullptr || o.time_s < entry->time_s) entry = &o;
  }
  return out;
}

double error_of(const Outcome& o) {
  return o.low_s && o.high_s ? std::log(*o.high_s / *o.low_s) / (2 * 1.96) : 0;
}

// All work-items that read one word wait for nobody, or for a broadcast; that row is left out.
BankFit fit_of(const Fastest& rows) {
  std::vector<BankReads> reads;
  for (const auto& [place, outcome] : rows) {
    if (place.first == 0) continue;
    reads.push_back({.stride = place.first,
                     .shift = place.second,
                     .words = static_cast<std::int64_t>(words_of(outcome->at)),
                     .lanes = lanes,
                     .time_s = outcome->time_s,
                     .error = error_of(*outcome)});
  }
  return fit_banks(reads);
}

// Returns the row of the stride with most conflicts by the fit; where nothing fits, of 256 bytes, which are a
// multiple of most devices' banks, or the largest stride.
const Outcome* slowest_of(const Fastest& rows, const BankFit& fit) {
  if (const auto known = rows.find({fit.most_conflicts, 0}); fit.rows.size() == 1 && known != rows.end())
    return known->second;
  const Outcome* out = nullptr;
  for (const auto& [place, outcome] : rows) {
    if (place.second == 0) out = outcome;
  }
  const auto usual = rows.find({64, 0});
  return usual != rows.end() && usual->second->time_s > out->time_s ? usual->second : out;
}

// Makes a finding of what the fit leaves: a value where it leaves one.
Finding told(const char* name, const char* unit, const std::set<int>& left, const std::string& text,
             const std::string& why) {
  Finding out{name, {}, unit, text};
  if (left.size() == 1) {
    out.value = out.low = out.high = *left.begin();
    return out;
  }
  out.text = why;
  if (left.empty()) return out;
  out.low = *left.begin();
  out.high = *left.rbegin();
  if (why.empty())
    out.text = fmt::format("the times fit {} to {} as well: other strides, or less noise, would tell",
                           *left.begin(), *left.rbegin());
  return out;
}

void add_banks(std::vector<Finding>& out, const BankFit& fit) {
  constexpr double no_model = 0.25;  // typical difference to the best model
  const std::string why = fit.banks.empty() ? "too few strides were measured"
                          : fit.misfit > no_model
                              ? "no number of banks explains the times: they are too noisy, or "
                                "addresses map to banks in another way"
                              : "";
  const std::set<int> none;
  const auto left = [&](const std::set<int>& values) { return why.empty() ? values : none; };
  const auto first = [](const std::set<int>& values) { return values.empty() ? 0 : *values.begin(); };
  out.push_back(
      told("bank_row", "B", left(fit.rows),
           fmt::format("32-bit words of local memory {} bytes apart are in one bank", first(fit.rows)), why));
  out.push_back(told("bank_bytes", "B", left(fit.bytes),
                     fmt::format("32-bit words {} bytes further are in another bank", first(fit.bytes)),
                     why));
  out.push_back(told("banks", "", left(fit.banks),
                     fit.bytes.size() == 1 ? fmt::format("local memory has {} banks of {} bytes",
                                                         first(fit.banks), first(fit.bytes))
                                           : fmt::format("local memory has {} banks", first(fit.banks)),
                     why));
}

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  const Fastest rows = fastest_of(outcomes);
  std::vector<Finding> out;
  const auto all = rows.find({0, 0}), each = rows.find({1, 0});
  if (all != rows.end() && each != rows.end())
    out.push_back(
        ratio_of("broadcast_cost", *all->second, *each->second,
                 "time when all work-items read one 32-bit word of local memory / neighbouring words"));
  std::size_t strides = 0;
  for (const auto& [place, outcome] : rows) strides += place.second == 0 ? 1 : 0;
  if (each == rows.end() || strides < 5) return out;
  const Outcome* least = each->second;
  constexpr double markedly = 1.5;
  const Outcome* usual = slowest_of(rows, {});
  const bool none = usual->time_s < markedly * least->time_s;
  const BankFit fit = none ? BankFit() : fit_of(rows);
  const Outcome* most = slowest_of(rows, fit);
  out.push_back(
      ratio_of("bank_conflict_slowdown", *most, *least,
               fmt::format("time of local memory reads at a stride of {} bytes / of adjacent 32-bit words",
                           4 * most->at.number("stride"))));
  if (none) {
    constexpr const char* text = "none found: local memory reads take the same time at every stride";
    out.push_back({"banks", {}, "", text});
    out.push_back({"bank_bytes", {}, "B", text});
    return out;
  }
  add_banks(out, fit);
  return out;
}

}  // namespace

Family banks() {
  // Found by search: with these rows any two pairs of banks and width differ by a factor of 2 somewhere, or
  // by as much together, whatever number of work-items is served at once.
  const Sweeps sweeps = {"stride=0,1,2,3,4,8,16,24,32,64,128,256,320,512", "stride=96,512 shift=4,8,16",
                         "stride=128 shift=16", "stride=256 shift=32"};
  return {
      .name = "banks",
      .question = "How many banks has local memory, how wide are they, and what does a bank conflict cost?",
      .brief = "local memory: banks and their conflicts",
      .axes = {{.name = "stride",
                .meaning = "stride between neighbouring work-items, in 32-bit words; 0: all read the same "
                           "word (broadcast)",
                .values = {1, 0, 2, 3, 4, 8, 16, 24, 32, 64, 96, 128, 256, 320, 512},
                .domain = whole(0, 512)},
               {.name = "shift",
                .meaning = "byte offset added to the addresses of odd work-items",
                .values = {0, 4, 8, 16, 32},
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
