// SPDX-License-Identifier: Apache-2.0
#include "families/shared/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "families/shared/loop_limit.hpp"
#include "families/shared/search_values.hpp"

namespace clweave::families {

Tiles tiles_of(const Case& at, const DeviceInfo& device, bool one_item) {
  Tiles t = {};
  t.lanes = subgroup_impl_of(at);
  t.halves = !device.int64_atomics || at.is("state_width", "half");
  t.group = one_item ? 1 : at.count("group", 1, 4096);
  t.window = at.count("window", 1, 4096);
  if (!t.ptx()) t.window = std::min(t.window, t.group);
  t.polls = at.count("spin_limit", 1, 60000);
  t.drop = at.count("fault_rate", 0, 1000000);
  t.groups_per_unit = at.count("groups_per_cu", 0, 1024);
  return t;
}

// GPUs start groups in the order of their numbers. A processor's threads take a stretch of groups each, so
// that all but the first would look back at tiles which nobody has begun. Who waits needs to know that the
// tiles before are begun: only a ticket tells, except on NVIDIA's, where the order is known and waits end.
bool Tiles::by_number(const DeviceInfo& device) const {
  return device.type == "gpu" && !is_persistent && (!waits || ptx());
}

void need_tiles(const Tiles& t, const DeviceInfo& device, std::uint64_t local_bytes) {
  Plan::need(local_bytes <= static_cast<std::uint64_t>(device.local_bytes),
             fmt::format("{} bytes of local memory, the device has {}", local_bytes, device.local_bytes));
  Plan::need(!t.ptx() || !t.halves, "subgroup_impl=ptx needs 64-bit atomics");
  Plan::need(!t.ptx() || (t.window % bundle == 0 && t.window <= 8 * bundle),
             "with subgroup_impl=ptx, window must be a multiple of 32, up to 256");
  Plan::need(!t.waits || device.groups_make_progress(),
             "a group that has started may never go on while others wait for it");
  const std::uint64_t most_tiles = t.halves ? 1 << 17 : INT32_MAX / 2;
  Plan::need(t.tiles <= most_tiles, fmt::format("{} tiles, the tickets count to {}", t.tiles, most_tiles));
}

void need_turns(const DeviceInfo& device, std::uint64_t turns, std::uint64_t tiles) {
  need_turns(device, turns + 128 * tiles, "n");
}

void define_states(Plan& p, const Tiles& t, const DeviceInfo& device) {
  // Seconds: a wait that ends without its value makes a wrong result, not an endless run.
  const std::uint64_t enough = device.type == "cpu" ? 1 << 28 : 1 << 20;
  p.define("STATE_BITS", t.state_bits()).define("SPIN_LIMIT", t.waits ? enough : t.polls);
  p.define("FAULT_RATE", t.drop).define("WINDOW", t.window).define("TILE_BY_GROUP_ID", t.by_number(device) ? 1 : 0);
}

void define_streaming(Plan& p, const DeviceInfo& device, std::uint64_t bytes) {
  p.define("STREAMING", bytes > static_cast<std::uint64_t>(device.cache_bytes) ? 2 : 0);
}

Buffer garbage(Plan& p, std::uint64_t seed, std::uint64_t bytes) {
  return p.input<std::uint32_t>(ceil_div(bytes, 4), Random<std::uint32_t>(seed, 10 + p.buffers.size()));
}

namespace {

constexpr std::uint64_t control_words = 16;  // the tickets have a line of their own

template <class Word>
Buffer stale_words(Plan& p, std::uint64_t seed, std::uint64_t words, std::uint64_t rounds) {
  constexpr unsigned bits = 8 * sizeof(Word);
  constexpr unsigned epoch_bits = bits == 64 ? 30 : 14, ticket_bits = bits == 64 ? 32 : 18;
  constexpr std::uint64_t epochs = std::uint64_t{1} << epoch_bits;
  const std::uint64_t stamp = (epochs - 2) * rounds;  // of the first launch
  const Random<std::uint64_t> random(seed, 4);
  return p.input<Word>(control_words + words, [=](std::uint64_t i) {
    if (i == 0) return static_cast<Word>((epochs - 2) << ticket_bits);
    const std::uint64_t other = (stamp - 1 - random(i) % 8) % epochs;
    return static_cast<Word>(random(i) >> (64 - bits) << (bits / 2) | other << 2 | (1 + random(i) / 8 % 2));
  });
}

constexpr std::uint64_t registers_of_unit = 65536;  // of NVIDIA's since 2012

bool heeds_registers(const DeviceInfo& device) { return device.has_extension("cl_nv_compiler_options"); }

}  // namespace

Buffer stale_states(Plan& p, std::uint64_t seed, const Tiles& t, std::uint64_t words, std::uint64_t rounds) {
  return t.halves ? stale_words<std::uint32_t>(p, seed, words, rounds)
                  : stale_words<std::uint64_t>(p, seed, words, rounds);
}

void limit_registers(Plan& p, const Case& at, const DeviceInfo& device) {
  const std::uint64_t registers = at.count("registers", 0, 255), group = at.count("group", 1, 4096);
  if (registers == 0) return;
  Plan::need(heeds_registers(device), "only NVIDIA's compiler is told of registers");
  Plan::need(
      round_up(registers, 8) * group <= registers_of_unit,
      fmt::format("{} items of {} registers, where a unit has {}", group, registers, registers_of_unit));
  p.options += (p.options.empty() ? "" : " ") + ("-cl-nv-maxrregcount=" + std::to_string(registers));
  p.define("REGISTERS_LIMITED", 1);
}

Dealt one_each(const Tiles& t) {
  return {t.tiles, static_cast<std::uint32_t>(t.tiles), static_cast<std::uint32_t>(t.tiles)};
}

Dealt going_on(const Tiles& t, const DeviceInfo& device, std::uint64_t groups_per_unit) {
  const std::uint64_t groups = std::min(device.units() * groups_per_unit, t.tiles);
  return {groups, static_cast<std::uint32_t>(t.tiles), static_cast<std::uint32_t>(t.tiles + groups)};
}

Axis window_axis(std::function<bool(const Case&)> heeded) {
  const Values windows = {32, 16, 64, 128, 256};
  return {.name = "window",
          .meaning =
              "tile states looked at at once: portable no more than a group has items; ptx a multiple of 32, "
              "up to 256; sub-groups and wavefronts look at as many as they have items",
          .values = windows,
          .tunable = true,
          .domain = whole(1, 4096),
          .search_values = where(
              [heeded = std::move(heeded)](const Case& at) {
                return heeded(at) && (at.is("subgroup_impl", "portable") || at.is("subgroup_impl", "ptx"));
              },
              windows)};
}

Axis chunk_axis(const std::string& of, const Values& kib, std::int64_t most_kib) {
  return {.name = "chunk_kib",
          .meaning = "kibibytes of " + of,
          .values = kib,
          .tunable = true,
          .domain = whole(1, most_kib),
          .search_values = where([](const Case& at) { return at.is("kernel", "cpu"); }, kib)};
}

Axis registers_axis(const std::string& kernels, std::function<bool(const Case&)> when) {
  const Values search_values = {0, 40, 48, 64, 80};  // 32 are what two groups of 1024 leave: SAM as published
  return {.name = "registers",
          .meaning = "that NVIDIA's compiler may give an item of " + kernels +
                     "; 0: as many as it likes, and it knows how large a group is",
          .values = {0, 32, 40, 48, 64, 80},
          .tunable = true,
          .domain = whole(16, 255),
          .when = std::move(when),
          .search_values =
              [search_values](const Case&, const DeviceInfo& device) {
                return heeds_registers(device) ? search_values : Values{0};
              },
          .implementation = true};
}

Axis spin_limit_axis(std::function<bool(const Case&)> when) {
  return {.name = "spin_limit",
          .meaning = "how often a state is asked for before it is computed",
          .values = {64, 8, 512},
          .tunable = true,
          .domain = whole(1, 60000),
          .when = std::move(when)};
}

Axis state_axis() {
  return {.name = "state_width",
          .meaning = "words of a tile state: the widest the device has atomics for, or halves of them",
          .values = {"widest", "half"}};
}

Axis fault_rate_axis() {
  return {
      .name = "fault_rate",
      .meaning = "one publication in so many is lost, where nothing is waited for: fault injection; 0: none",
      .values = {0},
      .domain = whole(0, 1000000)};
}

}  // namespace clweave::families
