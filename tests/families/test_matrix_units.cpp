// SPDX-License-Identifier: Apache-2.0
// test_matrix_units: what family matrix_units plans, multiplied here from the words that a device reads, and
// what it concludes of an invented device.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "plans.hpp"

using namespace clweave::commands;
using namespace clweave::families;
using testing::DoubleNear;
using testing::HasSubstr;

namespace {

DeviceInfo able(const Case& at) {
  DeviceInfo device = roomy();
  device.type = "gpu";
  device.fp64 = true;
  if (at.is("path", "ptx")) device.extensions += " cl_nv_pragma_unroll";
  if (at.is("path", "mfma") || at.is("path", "wmma")) device.vendor = "Advanced Micro Devices, Inc.";
  return device;
}

Plan plan_with(Case at, const char* axis, std::int64_t value) {
  at = at.with(axis, Value(value));
  return plan_of(family_named("matrix_units"), at, able(at));
}

Bytes contents(const BufferSpec& buffer) {
  Bytes bytes(buffer.bytes);
  buffer.fill(0, bytes);
  return bytes;
}

template <class T>
T scalar(const Arg& arg) {
  T value;
  std::memcpy(&value, std::get<Scalar>(arg).data(), sizeof value);
  return value;
}

// Reads a number of so many bits of exponent and of fraction, as the formats' standards define it.
double float_of(std::uint64_t bits, int exponent_bits, int fraction_bits) {
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1U << exponent_bits) - 1));
  const auto fraction = static_cast<double>(bits & ((1U << fraction_bits) - 1));
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double size =
      exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                    : std::ldexp(fraction + std::ldexp(1, fraction_bits), exponent - bias - fraction_bits);
  return (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -size : size;
}

struct Reader {
  int bits;
  std::function<double(std::uint64_t)> value;
};
Reader reader_of(const std::string& format) {
  const auto with_sign = [](int bits) {
    return [bits](std::uint64_t x) {
      return static_cast<double>(static_cast<std::int64_t>(x << (64 - bits)) >> (64 - bits));
    };
  };
  const auto with_exponent = [](int exponent, int fraction) {
    return [=](std::uint64_t x) { return float_of(x, exponent, fraction); };
  };
  if (format == "bf16") return {16, with_exponent(8, 7)};
  if (format == "tf32") return {32, with_exponent(8, 23)};
  if (format == "e4m3") return {8, with_exponent(4, 3)};
  if (format == "e5m2") return {8, with_exponent(5, 2)};
  if (format == "double") return {64, [](std::uint64_t x) { return std::bit_cast<double>(x); }};
  if (format == "int8") return {8, with_sign(8)};
  if (format == "int4") return {4, with_sign(4)};
  return {16, with_exponent(5, 10)};
}

// Multiplies what the plan gives a device, and returns the tiles of its first sub-group.
std::vector<double> multiplied(const Plan& plan, const Case& at) {
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  const Reader reader = reader_of(at.text("format"));
  const Bytes in = contents(plan.buffers.at(std::get<Buffer>(launch.args.at(1)).index));
  const auto pattern = scalar<std::uint32_t>(launch.args.at(2)),
             places = scalar<std::uint32_t>(launch.args.at(3));
  const auto iterations = scalar<std::uint32_t>(launch.args.at(4));
  const std::string& path = at.text("path");
  const bool sparse = at.is("zeros", "structured"), fixed = at.is("factors", "fixed");
  const std::uint64_t rows = path.starts_with("subgroup") ? 8 : 16,
                      columns = path == "ptx" || path == "subgroup8" ? 8 : 16, ilp = at.count("ilp"),
                      lanes = path == "mfma"         ? 64
                              : path == "subgroup8"  ? 8
                              : path == "subgroup16" ? 16
                                                     : 32;
  EXPECT_EQ(at.count("group") % lanes, 0U);
  // Of the work that the plan counts.
  const std::uint64_t products = plan.cost.items / lanes * ilp * iterations;
  const std::uint64_t depth = plan.cost.flops / (products * 2 * rows * columns),
                      stored = sparse ? depth / 2 : depth;
  const auto bits_at = [&](std::uint64_t element, std::uint64_t offset_bits) {
    const std::uint64_t bit = offset_bits + element * static_cast<std::uint64_t>(reader.bits);
    std::uint64_t word = 0;
    std::memcpy(&word, &in[bit / 32 * 4], std::min<std::size_t>(8, in.size() - bit / 32 * 4));
    word >>= bit % 32;
    return reader.bits == 64 ? word : word & ((1ULL << reader.bits) - 1);
  };
  const std::uint64_t bits_of_a = rows * stored * static_cast<std::uint64_t>(reader.bits);
  const auto a = [&](bool second, std::uint64_t row, std::uint64_t k) {
    const std::uint64_t i = row * stored + k;
    return reader.value(bits_at(i, 0) ^ (second ? bits_at(i, bits_of_a) : 0));
  };
  const auto b = [&](std::uint64_t tile, std::uint64_t column, std::uint64_t k) {
    return reader.value(bits_at(((fixed ? 0 : tile) * columns + column) * depth + k, 2 * bits_of_a));
  };
  // Of TF32 one of two is kept, as both halves of it; else two of four.
  const bool of_two = at.is("format", "tf32");
  const auto place = [&](std::uint64_t k) {
    if (!sparse) return k;
    return of_two ? k * 2 + (places & 3) / 2 : k / 2 * 4 + (places >> 2 * (k % 2) & 3);
  };
  // Products of both values of A.
  const auto product = [&](bool second, std::uint64_t tile, std::uint64_t row, std::uint64_t column) {
    double sum = 0;
    for (std::uint64_t k = 0; k < stored; ++k) sum += a(second, row, k) * b(tile, column, place(k));
    return sum;
  };
  std::vector<double> out;
  for (std::uint64_t i = 0; i < ilp * rows * columns; ++i) {
    const std::uint64_t tile = i / (rows * columns), row = i / columns % rows, column = i % columns;
    const double first = product(false, tile, row, column), second = product(true, tile, row, column);
    double sum = static_cast<double>(tile) + 1;
    for (std::uint32_t step = 0; step < iterations; ++step) {
      sum += !fixed && (pattern >> step % 32 & 1) != 0 ? second : first;
      if (at.is("format", "half_half")) {
        EXPECT_LE(std::abs(sum), 2048);
      }
    }
    out.push_back(sum);
  }
  return out;
}

template <class Sum>
Bytes as_bytes(const std::vector<double>& values) {
  Bytes out(values.size() * sizeof(Sum));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto v = static_cast<Sum>(values[i]);
    std::memcpy(&out[i * sizeof(Sum)], &v, sizeof v);
  }
  return out;
}

TEST(MatrixUnitsPlans, ExpectTheProductsOfTheirWords) {
  for (const std::uint64_t seed : {1, 2}) {
    for (const auto& at : preset_of(family_named("matrix_units"), "smoke", seed)) {
      SCOPED_TRACE(at.id());
      const Plan plan = plan_of(family_named("matrix_units"), at, able(at));
      const std::vector<double> sums = multiplied(plan, at);
      const std::string& format = at.text("format");
      const Bytes bytes = format == "double"                     ? as_bytes<double>(sums)
                          : format == "int8" || format == "int4" ? as_bytes<std::int32_t>(sums)
                                                                 : as_bytes<float>(sums);
      EXPECT_EQ(plan.checks.at(0).compare(0, bytes).wrong, 0U) << plan.checks.at(0).compare(0, bytes).text();
    }
  }
}

// A product more or less changes what is expected, and so do two.
TEST(MatrixUnitsPlans, SeeEachProduct) {
  for (const auto& at : preset_of(family_named("matrix_units"), "quick")) {
    // Tells values apart by what is wrong with zeros.
    const auto expected = [&](std::int64_t iterations) {
      const Plan plan = plan_with(at, "iterations", iterations);
      const Bytes zeros(static_cast<std::size_t>(16 * (at.is("format", "double") ? 8 : 4)));
      std::string all;
      for (std::uint64_t i = 0; i < 16; ++i)
        all += plan.checks.at(0).compare(i * zeros.size(), zeros).first_text;
      return all;
    };
    EXPECT_NE(expected(512), expected(511)) << at.id();
    EXPECT_NE(expected(512), expected(510)) << at.id();
  }
}

// Each accepts its elements for good: sums that a format cannot hold are refused.
TEST(MatrixUnitsPlans, RefuseInexactSums) {
  for (const auto& at : preset_of(family_named("matrix_units"), "quick")) {
    if (at.is("format", "half_half")) {
      EXPECT_THAT(complaint([&] { plan_with(at, "iterations", 1000); }), HasSubstr("exact"));
    }
    if (at.is("factors", "fixed")) {
      EXPECT_THAT(complaint([&] { plan_with(at, "iterations", 20000); }), HasSubstr("at most"));
    }
  }
}

TEST(MatrixUnitsFindings, AreRatesAndTheirRatios) {
  const Family& family = family_named("matrix_units");
  std::vector<Outcome> outcomes;
  for (const auto& at : preset_of(family, "quick")) {
    if (!at.is("path", "ptx")) continue;
    const Plan plan = plan_of(family, at, able(at));
    double rate = 4e14;
    if (at.is("format", "e4m3")) rate = at.is("factors", "fixed") ? 1e15 : 3e14;
    if (at.is("zeros", "structured")) rate = 6e14;
    const double time_s = static_cast<double>(plan.cost.flops) / rate;
    outcomes.emplace_back(at, time_s, 0.99 * time_s, 1.01 * time_s);
    outcomes.back().flops = plan.cost.flops;
  }
  const auto found = family.findings(outcomes, roomy());
  const auto named = [&](const std::string& name) {
    const auto it = std::ranges::find(found, name, &Finding::name);
    return it == found.end() ? Finding{} : *it;
  };
  EXPECT_THAT(named("matrix_bf16_rate").value.value_or(0), DoubleNear(4e5, 1));
  EXPECT_LT(named("matrix_bf16_rate").low.value_or(9e9), 4e5);
  EXPECT_GT(named("matrix_bf16_rate").high.value_or(0), 4e5);
  EXPECT_THAT(named("matrix_sparse_half_gain").value.value_or(0), DoubleNear(1.5, 0.001));
  EXPECT_THAT(named("matrix_e4m3_over_half").value.value_or(0), DoubleNear(0.75, 0.001));
  EXPECT_THAT(named("matrix_half_half_over_half").value.value_or(0), DoubleNear(1, 0.001));
  EXPECT_THAT(named("matrix_e4m3_fixed").value.value_or(0), DoubleNear(10.0 / 3, 0.001));
}

}  // namespace
