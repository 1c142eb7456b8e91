// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "base/random.hpp"

namespace clweave::base {
namespace {

std::vector<std::byte> random_bytes(std::size_t n) {
  const Random<std::uint32_t> random(7, 1);
  std::vector<std::byte> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(random(i));
  return out;
}

TEST(Hash, OfBytesIsThatOfTheSameBytes) {
  EXPECT_EQ(hash_of_bytes(random_bytes(1000)), hash_of_bytes(random_bytes(1000)));
  EXPECT_EQ(hash_of_bytes({}), hash_of_bytes({}));
}

TEST(Hash, OfBytesDiffersWithEveryBit) {
  for (const std::size_t n : {1U, 7U, 31U, 32U, 33U, 200U}) {
    auto bytes = random_bytes(n);
    const auto hash = hash_of_bytes(bytes);
    for (std::size_t bit = 0; bit < 8 * n; ++bit) {
      const auto flip = static_cast<std::byte>(1U << (bit % 8));
      bytes[bit / 8] ^= flip;
      EXPECT_NE(hash_of_bytes(bytes), hash) << "bit " << bit << " of " << n << " bytes";
      bytes[bit / 8] ^= flip;
    }
  }
}

TEST(Hash, OfBytesDiffersWithTheirOrderAndTheirNumber) {
  const std::vector<std::byte> zeros(64);
  EXPECT_NE(hash_of_bytes(zeros), hash_of_bytes(std::span(zeros).first(32)));
  EXPECT_NE(hash_of_bytes(zeros), hash_of_bytes(std::span(zeros).first(63)));
  for (const std::size_t apart : {1U, 8U, 32U}) {
    auto bytes = random_bytes(96);
    const auto hash = hash_of_bytes(bytes);
    std::swap(bytes[0], bytes[apart]);
    EXPECT_NE(hash_of_bytes(bytes), hash) << apart;
  }
}

}  // namespace
}  // namespace clweave::base
