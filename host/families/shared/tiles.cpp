// SPDX-License-Identifier: Apache-2.0
#include "families/shared/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "families/shared/loop_limit.hpp"
#include "families/shared/search_values.hpp"

namespace clweave::families {

Tiles tiles_of(const Case& at, const DeviceInfo& device, bool one_work_item) {
  Tiles t = {};
  t.subgroup_impl = subgroup_impl_of(at);
  t.half_width = !device.int64_atomics || at.is("state_width", "half");
  t.group = one_work_item ? 1 : at.count("group", 1, 4096);
  t.window = at.count("window", 1, 4096);
  if (!t.ptx()) t.window = std::min(t.window, t.group);
  t.spin_limit = at.count("spin_limit", 1, 60000);
  t.fault_rate = at.count("fault_rate", 0, 1000000);
  t.groups_per_cu = at.count("groups_per_cu", 0, 1024);
  return t;
}

// Relies on GPUs, which start work-groups in the order of their numbers. Each thread of a processor takes a
// range of work-groups, so that all but the first would look back at tiles that have not been started. A
// work-group that waits must know that the tiles before have been started: that takes a ticket, except on
// NVIDIA's GPUs, which start work-groups in order and where a wait ends after SPIN_LIMIT polls.
bool Tiles::tile_by_group_id(const DeviceInfo& device) const {
  return device.type == "gpu" && !is_persistent && (!needs_forward_progress || ptx());
}

void require_tiles(const Tiles& t, const DeviceInfo& device, std::uint64_t local_bytes) {
  Plan::need(local_bytes <= static_cast<std::uint64_t>(device.local_bytes),
             fmt::format("{} bytes of local memory, the device has {}", local_bytes, device.local_bytes));
  Plan::need(!t.ptx() || !t.half_width, "subgroup_impl=ptx needs 64-bit atomics");
  Plan::need(!t.ptx() || (t.window % subgroup_size == 0 && t.window <= 8 * subgroup_size),
             "with subgroup_impl=ptx, window must be a multiple of 32, up to 256");
  Plan::need(!t.needs_forward_progress || device.groups_make_progress(),
             "a work-group that has started may never proceed while others wait for it");
  const std::uint64_t most_tiles = t.half_width ? 1 << 17 : INT32_MAX / 2;
  Plan::need(t.tiles <= most_tiles, fmt::format("{} tiles, the tickets count to {}", t.tiles, most_tiles));
}

void require_iterations(const DeviceInfo& device, std::uint64_t iterations, std::uint64_t tiles) {
  require_iterations(device, iterations + 128 * tiles, "n");
}

void define_states(Plan& p, const Tiles& t, const DeviceInfo& device) {
  // Ends a wait after seconds: a lost state then makes a wrong result, not an endless run.
  const std::uint64_t seconds = device.type == "cpu" ? 1 << 28 : 1 << 20;
  p.needs_forward_progress = t.needs_forward_progress;
  p.define("STATE_BITS", t.state_bits())
      .define("SPIN_LIMIT", t.needs_forward_progress ? seconds : t.spin_limit);
  p.define("FAULT_RATE", t.fault_rate)
      .define("WINDOW", t.window)
      .define("TILE_BY_GROUP_ID", t.tile_by_group_id(device) ? 1 : 0);
}

void define_streaming(Plan& p, const DeviceInfo& device, std::uint64_t bytes) {
  p.define("STREAMING", bytes > static_cast<std::uint64_t>(device.cache_bytes) ? 2 : 0);
}

Buffer random_scratch(Plan& p, std::uint64_t seed, std::uint64_t bytes) {
  return p.input<std::uint32_t>(ceil_div(bytes, 4), Random<std::uint32_t>(seed, 10 + p.buffers.size()));
}

namespace {

constexpr std::uint64_t control_words = 16;  // CONTROL_WORDS of tile_states.cl

template <class Word>
Buffer words_of_old_epochs(Plan& p, std::uint64_t seed, std::uint64_t words, std::uint64_t wraps) {
  constexpr unsigned bits = 8 * sizeof(Word);
  constexpr unsigned epoch_bits = bits == 64 ? 30 : 14, ticket_bits = bits == 64 ? 32 : 18;
  constexpr std::uint64_t epochs = std::uint64_t{1} << epoch_bits;
  const std::uint64_t first_launch = (epochs - 2) * wraps;  // epoch of its first round
  const Random<std::uint64_t> random(seed, 4);
  return p.input<Word>(control_words + words, [=](std::uint64_t i) {
    if (i == 0) return static_cast<Word>((epochs - 2) << ticket_bits);
    const std::uint64_t earlier = (first_launch - 1 - random(i) % 8) % epochs;
    return static_cast<Word>(random(i) >> (64 - bits) << (bits / 2) | earlier << 2 | (1 + random(i) / 8 % 2));
  });
}

constexpr std::uint64_t registers_per_cu = 65536;  // of NVIDIA's GPUs since 2012

bool heeds_registers(const DeviceInfo& device) { return device.has_extension("cl_nv_compiler_options"); }

}  // namespace

Buffer states_of_old_epochs(Plan& p, std::uint64_t seed, const Tiles& t, std::uint64_t words,
                            std::uint64_t wraps) {
  return t.half_width ? words_of_old_epochs<std::uint32_t>(p, seed, words, wraps)
                      : words_of_old_epochs<std::uint64_t>(p, seed, words, wraps);
}

void limit_registers(Plan& p, const Case& at, const DeviceInfo& device) {
  const std::uint64_t registers = at.count("registers", 0, 255), group = at.count("group", 1, 4096);
  if (registers == 0) return;
  Plan::need(heeds_registers(device), "only NVIDIA's compiler has a register limit");
  Plan::need(round_up(registers, 8) * group <= registers_per_cu,
             fmt::format("{} work-items with {} registers each, where a compute unit has {} registers", group,
                         registers, registers_per_cu));
  p.options += (p.options.empty() ? "" : " ") + ("-cl-nv-maxrregcount=" + std::to_string(registers));
  p.define("REGISTERS_LIMITED", 1);
}

TileAssignment one_tile_per_group(const Tiles& t) {
  return {t.tiles, static_cast<std::uint32_t>(t.tiles), static_cast<std::uint32_t>(t.tiles)};
}

TileAssignment persistent_groups(const Tiles& t, const DeviceInfo& device, std::uint64_t groups_per_cu) {
  const std::uint64_t groups = std::min(device.units() * groups_per_cu, t.tiles);
  return {groups, static_cast<std::uint32_t>(t.tiles), static_cast<std::uint32_t>(t.tiles + groups)};
}

Axis window_axis(std::function<bool(const Case&)> when) {
  const Values windows = {32, 16, 64, 128, 256};
  return {.name = "window",
          .meaning =
              "predecessor tile states inspected per step; with subgroup_impl=portable: at most one per "
              "work-item; ptx: a multiple of 32, up to 256; opencl, amd: always one per work-item of the "
              "sub-group",
          .values = windows,
          .tunable = true,
          .domain = whole(1, 4096),
          .search_values = where(
              [when = std::move(when)](const Case& at) {
                return when(at) && (at.is("subgroup_impl", "portable") || at.is("subgroup_impl", "ptx"));
              },
              windows)};
}

Axis chunk_axis(const std::string& of, const Values& kib, std::int64_t most_kib) {
  return {.name = "chunk_kib",
          .meaning = "KiB of " + of,
          .values = kib,
          .tunable = true,
          .domain = whole(1, most_kib),
          .search_values = where([](const Case& at) { return at.is("kernel", "cpu"); }, kib)};
}

Axis registers_axis(const std::string& kernels, std::function<bool(const Case&)> when) {
  const Values search_values = {0, 40, 48, 64,
                                80};  // 32, of SAM as published, is what two work-groups of 1024 leave
  return {.name = "registers",
          .meaning = "NVIDIA: register limit per work-item (maxrregcount) of " + kernels + "; 0: none",
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

Axis spin_limit_axis(const std::string& kernels, std::function<bool(const Case&)> when) {
  return {.name = "spin_limit",
          .meaning =
              "checks of a predecessor's tile state before the work-group computes the missing aggregate "
              "(the tile's own count or sum) itself; " +
              kernels + ", unless subgroup_impl=ptx",
          .values = {64, 8, 512},
          .tunable = true,
          .domain = whole(1, 60000),
          .when = std::move(when)};
}

Axis state_axis() {
  return {.name = "state_width",
          .meaning =
              "atomic width of a tile state: widest: the widest that the device has atomics for; half: half "
              "of that",
          .values = {"widest", "half"}};
}

Axis fault_rate_axis() {
  return {
      .name = "fault_rate",
      .meaning = "fault injection: drops one tile-state store in N, only where spin_limit applies; 0: none",
      .values = {0},
      .domain = whole(0, 1000000)};
}

}  // namespace clweave::families
