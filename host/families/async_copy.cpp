// SPDX-License-Identifier: Apache-2.0
// async_copy: does async_work_group_copy load tiles faster than a loop, and does loading one ahead hide it?
//
// Some vendors advise against the function, others have a copy engine behind it. Each work-group reverses the
// words of its tiles; of `ahead` it loads the next one meanwhile, with a second tile in local memory, which
// may leave room for fewer work-groups at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "families/shared/generator.hpp"
#include "families/shared/loop_limit.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

Plan plan(const Case& at, const DeviceInfo& device) {
  const std::uint64_t n = at.count("n"), tile = at.count("tile"), group = at.count("group"),
                      work = at.count("work");
  Plan::need(n % tile == 0, "n must be a multiple of tile");
  if (!at.is("kernel", "direct"))
    Plan::need_local(device, (at.text("kernel").ends_with("ahead") ? 2 : 1) * tile * sizeof(Word));
  const std::uint64_t tiles = n / tile,
                      groups = std::min<std::uint64_t>(tiles, device.units() * at.count("groups_per_cu"));
  const std::uint64_t tiles_of_group = (tiles + groups - 1) / groups,
                      words_of_item = (tile + group - 1) / group;
  require_iterations(device, tiles_of_group * (1 + words_of_item * (2 + work)), "n or work");
  const Random<Word> value(at.seed, 1);
  Plan p;
  p.define("TILE", fmt::format("{}u", tile)).define("GROUP", fmt::format("{}u", group));
  p.define("WORK", fmt::format("{}u", work));
  if (at.text("kernel").starts_with("async")) {
    p.define("ASYNC", 1);
    p.may_fail_to_build = true;  // clang for AMD's GPUs calls a wait_group_events that libclc does not have
  }
  const auto in = p.input<Word>(n, value), out = p.output<Word>(n);
  p.launch(at.text("kernel"), {groups * group}, {group}, out, in, static_cast<Word>(tiles));
  p.expect<Word>(out,
                 [=](std::uint64_t i) { return after(value(i / tile * tile + tile - 1 - i % tile), work); });
  p.cost = {.read = n * sizeof(Word), .written = n * sizeof(Word), .flops = 2 * n * work, .items = n};
  if (work == 0) p.peak = Peak::copy;
  return p;
}

// Returns the fastest outcome of a kernel with this work for each word.
const Outcome* best_of(const std::vector<Outcome>& outcomes, const char* kernel, std::int64_t work) {
  const Outcome* best = nullptr;
  for (const auto& o : outcomes) {
    if (o.at.is("kernel", kernel) && o.at.number("work") == work &&
        (best == nullptr || o.time_s / as_double(o.items) < best->time_s / as_double(best->items)))
      best = &o;
  }
  return best;
}

constexpr int some_work = 64;

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& /*device*/) {
  struct Gain {
    const char *name, *slow, *fast, *text;
  };
  constexpr std::array<Gain, 4> gains = {
      {{"async_gain", "loop", "async", "time of tiles loaded by a loop / by async_work_group_copy"},
       {"ahead_gain", "loop", "loop_ahead", "time of tiles loaded by a loop, each when needed / one ahead"},
       {"async_ahead_gain", "async", "async_ahead",
        "time of tiles loaded by async_work_group_copy, each when needed / one ahead"},
       {"staging_price", "loop", "direct", "time of tiles that local memory stages / without it"}}};
  std::vector<Finding> out;
  for (const int work : {0, some_work}) {
    for (const auto& gain : gains) {
      const Outcome *slow = best_of(outcomes, gain.slow, work), *fast = best_of(outcomes, gain.fast, work);
      if (slow == nullptr || fast == nullptr || slow->items != fast->items) continue;
      const std::string suffix = work == 0 ? "" : "_work";
      out.push_back(ratio_of(
          gain.name + suffix, *slow, *fast,
          gain.text +
              (work == 0 ? std::string() : fmt::format(", with {} arithmetic steps for each word", work))));
    }
  }
  return out;
}

}  // namespace

Family async_copy() {
  return {
      .name = "async_copy",
      .question =
          "Does async_work_group_copy load tiles faster than a loop, and does loading one ahead hide it?",
      .brief = "async_work_group_copy against a loop",
      .axes = {{.name = "kernel",
                .meaning =
                    "direct: without local memory; loop, async: each tile when it is needed, by a loop or "
                    "by async_work_group_copy; loop_ahead, async_ahead: one tile ahead",
                .values = {"direct", "loop", "async", "loop_ahead", "async_ahead"}},
               {.name = "work",
                .meaning = "arithmetic steps for each word",
                .values = {0, some_work},
                .domain = whole(0, 65536)},
               {.name = "tile",
                .meaning = "32-bit words of a tile",
                .values = {1024, 256, 2048, 4096},
                .tunable = true,
                .domain = whole(1, 65536)},
               {.name = "group",
                .meaning = "work-items per work-group",
                .values = {256, 64, 128, 512},
                .tunable = true,
                .domain = whole(1, 1024)},
               {.name = "groups_per_cu",
                .meaning = "work-groups per compute unit",
                .values = {8, 2, 4, 16},
                .tunable = true,
                .domain = whole(1, 1024),
                .per_compute_unit = [](const Case&) { return true; }},
               {.name = "n",
                .meaning = "32-bit words",
                .values = {1 << 24},
                .domain = whole(1, std::int64_t{1} << 32)}},
      .presets = {.smoke = {"kernel=direct,loop,async,loop_ahead,async_ahead work=3 tile=48 group=32 n=4800",
                            "kernel=loop_ahead,async_ahead tile=64 group=64 groups_per_cu=1 n=64"},
                  .quick = {"kernel=direct,loop,async,loop_ahead,async_ahead work=0,64"},
                  .paper = {},
                  .full = {"kernel=direct,loop,async,loop_ahead,async_ahead work=0,64 tile=256,1024,2048 "
                           "group=64,256 groups_per_cu=4,8,16"},
                  .tune = {"kernel=direct,loop,async,loop_ahead,async_ahead"}},
      .view = {.rows = {"kernel"},
               .columns = {"work"},
               .quantity = "items",
               .graphs = {{.name = "by kernel",
                           .kind = Graph::Kind::bars,
                           .series = {"kernel"},
                           .apart = {"work"},
                           .quantity = "items"}}},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {
          {"async_gain", "x", "time of tiles loaded by a loop / by async_work_group_copy"},
          {"async_ahead_gain_work", "x", "time of async copies when needed / one ahead, with arithmetic"}}};
}

}  // namespace clweave::families
