// SPDX-License-Identifier: Apache-2.0
#include "families/shared/tile_states.hpp"

namespace clweave {

Buffer garbage(Plan& p, std::uint64_t seed, std::uint64_t bytes) {
  return p.input<std::uint32_t>(ceil_div(bytes, 4), Random<std::uint32_t>(seed, 10 + p.buffers.size()));
}

namespace {

template <class Word>
Buffer stale_states_of(Plan& p, std::uint64_t seed, std::uint64_t words, std::uint64_t rounds) {
  constexpr unsigned bits = 8 * sizeof(Word);
  constexpr unsigned epoch_bits = bits == 64 ? 30 : 14, ticket_bits = bits == 64 ? 32 : 18;
  constexpr std::uint64_t epochs = std::uint64_t{1} << epoch_bits;
  const std::uint64_t stamp = (epochs - 2) * rounds;  // of the first launch
  const Random<std::uint64_t> random(seed, 4);
  return p.input<Word>(words, [=](std::uint64_t i) {
    if (i == 0) return static_cast<Word>((epochs - 2) << ticket_bits);
    const std::uint64_t other = (stamp - 1 - random(i) % 8) % epochs;
    return static_cast<Word>(random(i) >> (64 - bits) << (bits / 2) | other << 2 | (1 + random(i) / 8 % 2));
  });
}

}  // namespace

Buffer stale_states(Plan& p, std::uint64_t seed, std::uint64_t words, std::uint64_t rounds, bool halves) {
  return halves ? stale_states_of<std::uint32_t>(p, seed, words, rounds)
                : stale_states_of<std::uint64_t>(p, seed, words, rounds);
}

void need_turns(const DeviceInfo& device, std::uint64_t turns, std::uint64_t tiles) {
  Plan::need(turns + 128 * tiles <= device.most_turns(), "the device leaves the loops of all groups after " +
                                                             std::to_string(device.most_turns()) +
                                                             " turns together: take a smaller n");
}

Axis window_axis() { return {"window", "tile states looked at at once", {32}, false, true}; }

Axis chunk_axis(std::int64_t kib) {
  return {"chunk_kib", "kibibytes of a tile of cpu", Values(kib), false, true};
}

Axis polls_axis() {
  return {"polls", "how often a state is asked for before it is computed", {64}, false, true};
}

Axis state_axis() {
  return {"state",
          "words of a tile state: the widest the device has atomics for, or halves of them",
          {"widest", "halves"}};
}

Axis drop_axis() {
  return {"drop",
          "one publication in so many is lost, where nothing is waited for: fault injection; 0: none",
          {0}};
}

}  // namespace clweave
