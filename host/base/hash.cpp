// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

namespace clweave::base {

std::string hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

// Multiplies as FNV does, but whole words, in four chains, as a processor multiplies while earlier products
// are on their way. Each step gives different results for different words, which the later ones keep.
std::uint64_t hash_of_bytes(std::span<const std::byte> bytes) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  constexpr int turn = 29;
  const auto step = [](std::uint64_t chain, std::uint64_t word) {
    return std::rotl((chain ^ word) * odd, turn);
  };
  std::array<std::uint64_t, 4> chains = {1, 2, 3, 4};
  std::size_t at = 0;
  for (std::array<std::uint64_t, 4> words{}; bytes.size() - at >= sizeof words; at += sizeof words) {
    std::memcpy(words.data(), &bytes[at], sizeof words);
    for (std::size_t c = 0; c < chains.size(); ++c) chains[c] = step(chains[c], words[c]);
  }
  std::uint64_t hash = bytes.size();
  for (; at < bytes.size(); ++at) hash = step(hash, static_cast<std::uint64_t>(bytes[at]));
  for (const std::uint64_t product : chains) hash = step(hash, product);
  return hash;
}

}  // namespace clweave::base
