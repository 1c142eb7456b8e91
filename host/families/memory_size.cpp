// SPDX-License-Identifier: Apache-2.0
// memory_size: how much of its memory does a device give, and is all of it as fast?
//
// Reported memory need not be there: other programs and the driver take a part, some drivers move what does
// not fit to the host's memory, and some devices reach a part of theirs through another path. Each case
// allocates a part of what may be used, in buffers of at most 1 GiB, writes every word of all buffers, then
// reads every word. A CPU never gets more than three quarters of what is free, so that nothing is swapped.
#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.hpp"
#include "suite/family.hpp"

namespace clweave::families {

namespace {

using Word = std::uint32_t;

constexpr std::uint64_t vector_bytes = 16, words = 4;
constexpr std::uint64_t per_item = 64;                           // vectors that a work-item sums
constexpr std::uint64_t grain = vector_bytes * per_item * 256;   // of buffers: 256 sums
constexpr std::uint64_t most_chunk = std::uint64_t{1} << 30;     // so that word numbers fit 32 bits
constexpr std::uint64_t for_sums = vector_bytes * per_item / 4;  // bytes that a byte of sums stands for
constexpr Word spread = 2654435761u;                             // as in the kernel

// Adds up what kernel `read` does: words w of vectors i + k * items, which are linear in their number.
Word sum_of(std::uint64_t i, std::uint64_t items, Word first) {
  Word sum = 0;
  for (std::uint64_t k = 0; k < per_item; ++k) {
    const std::uint64_t vector = i + k * items;
    for (std::uint64_t w = 0; w < words; ++w) sum += static_cast<Word>(words * vector + w) * spread + first;
  }
  return sum;
}

Plan plan(const Case& at, const DeviceInfo& device) {
  Plan::need(device.memory_bytes > 0, "the device does not report the size of its memory");
  constexpr double percent = 0.01;
  const auto usable = static_cast<std::uint64_t>(device.usable_bytes);
  const auto asked =
      static_cast<std::uint64_t>(at.number("mib") > 0 ? static_cast<double>(at.number("mib")) * 0x1p20
                                                      : static_cast<double>(usable) * percent *
                                                            static_cast<double>(at.number("percent")));
  Plan::need(asked <= usable, fmt::format("{} are usable", bytes_text(static_cast<double>(usable))));
  // What the sums and the guards behind the buffers take is left.
  const std::uint64_t total = asked - asked / for_sums;
  const std::uint64_t largest =
      std::min(most_chunk, static_cast<std::uint64_t>(device.max_alloc_bytes) -
                               std::min<std::uint64_t>(static_cast<std::uint64_t>(device.max_alloc_bytes),
                                                       2 * guard_bytes)) /
      grain * grain;
  Plan::need(largest > 0, "its buffers are too small");
  const std::uint64_t bytes = std::max(grain, total / grain * grain), chunks = ceil_div(bytes, largest);
  constexpr std::uint64_t most_chunks = 1024;
  Plan::need(chunks <= most_chunks, fmt::format("it would be in more than {} buffers", most_chunks));
  const Random<Word> first(at.seed, 1);
  Plan p;
  const std::uint64_t sums_in_all = bytes / vector_bytes / per_item,
                      in_chunk = largest / vector_bytes / per_item;
  const auto sums = p.output<Word>(sums_in_all);
  std::vector<Buffer> buffers;
  for (std::uint64_t c = 0; c < chunks; ++c) {
    const std::uint64_t size = std::min(largest, bytes - c * largest);
    buffers.push_back(p.output<Word>(size / sizeof(Word)));
    p.buffers[buffers.back().index].scratch = true;
    p.launch("write", {size / vector_bytes}, {}, buffers.back(), first(c));
  }
  for (std::uint64_t c = 0; c < chunks; ++c) {
    const std::uint64_t size = std::min(largest, bytes - c * largest);
    p.launch("read", {size / vector_bytes / per_item}, {}, sums, buffers[c], static_cast<Word>(c * in_chunk),
             static_cast<Word>(per_item));
  }
  p.expect<Word>(sums, [=](std::uint64_t i) {
    const std::uint64_t c = i / in_chunk, items = std::min(in_chunk, sums_in_all - c * in_chunk);
    return sum_of(i % in_chunk, items, first(c));
  });
  p.cost = {.read = bytes,
            .written = bytes + sums_in_all * sizeof(Word),
            .flops = 0,
            .items = bytes / vector_bytes};
  p.derive("memory_mib", static_cast<std::int64_t>(bytes >> 20));
  return p;
}

// ---- Findings ---------------------------------------------------------------------------------------------

std::vector<Finding> findings(const std::vector<Outcome>& outcomes, const DeviceInfo& device) {
  constexpr double slower = 1.3;
  std::vector<const Outcome*> sizes;
  for (const auto& o : outcomes) sizes.push_back(&o);
  if (sizes.size() < 2) return {};
  std::ranges::sort(sizes, {}, [](const Outcome* o) { return as_double(o->items); });
  const auto bytes = [](const Outcome& o) { return static_cast<double>(vector_bytes) * as_double(o.items); };
  const auto rate = [](const Outcome& o) { return 1e-9 * as_double(o.bytes) / o.time_s; };
  const Outcome *fast = sizes.front(), *knee = nullptr;
  double best = rate(*fast);
  for (const Outcome* o : sizes) {
    best = std::max(best, rate(*o));
    if (rate(*o) < best / slower) {
      knee = o;
      break;
    }
    fast = o;
  }
  const Outcome& last = *sizes.back();
  std::vector<Finding> out;
  out.push_back({"memory_touched", bytes(last), "B",
                 fmt::format("{} were allocated, written and read of {} that the device reports",
                             bytes_text(bytes(last)), bytes_text(static_cast<double>(device.memory_bytes)))});
  Finding& full = out.emplace_back(
      Finding{"memory_full_speed", bytes(*fast), "B",
              knee == nullptr
                  ? fmt::format("no part of {} is slower: {:.4g} GB/s", bytes_text(bytes(last)), rate(last))
                  : fmt::format("{:.4g} GB/s up to {}, {:.4g} GB/s at {}", rate(*fast),
                                bytes_text(bytes(*fast)), rate(*knee), bytes_text(bytes(*knee)))});
  full.from = {fast, knee != nullptr ? knee : &last};
  return out;
}

}  // namespace

Family memory_size() {
  return {
      .name = "memory_size",
      .question = "How much of its memory does a device give, and is all of it as fast?",
      .brief = "how much memory can be used, how fast",
      .axes = {{.name = "percent",
                .meaning =
                    "part of the memory that may be used: of a GPU nine tenths of what it reports, of "
                    "a CPU also no more than three quarters of what is free, and of its cgroup's limit",
                .values = {10},
                .domain = whole(1, 98),
                .when = [](const Case& at) { return at.number("mib") == 0; }},
               {.name = "mib",
                .meaning = "MiB instead; 0: by percent",
                .values = {0},
                .domain = whole(0, std::int64_t{1} << 30)}},
      .presets = {.smoke = {"mib=1,3"},
                  .quick = {"percent=2,10"},
                  .paper = {"percent=10,50,75,90,98"},
                  .full = {"percent=5,10,25,50,75,80,85,90,95,98"}},
      .view = {.rows = {"percent"}, .columns = {"mib"}, .quantity = "rate"},
      .derived = {{"memory_mib", "MiB of all buffers"}},
      .plan = plan,
      .findings = findings,
      .trait_group = TraitGroup::memory,
      .traits = {{"memory_full_speed", "B", "memory that was allocated, written and read at full speed"}}};
}

}  // namespace clweave::families
