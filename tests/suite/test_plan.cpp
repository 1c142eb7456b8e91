// SPDX-License-Identifier: Apache-2.0
// test_plan: ranges, arguments and checks of a plan.
#include "suite/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <span>

#include "plans.hpp"

using namespace clweave::commands;

TEST(RangeText, ComesBack) {
  EXPECT_EQ(range_of("256"), Range{256});
  EXPECT_EQ(range_of("16x8"), (Range{16, 8}));
  EXPECT_EQ(range_of("1x2x3"), (Range{1, 2, 3}));
  EXPECT_EQ(text_of(Range{256}), "256");
  EXPECT_EQ(text_of(Range{16, 8, 2}), "16x8x2");
  EXPECT_EQ(items_in({16, 8, 2}), 256U);
  EXPECT_EQ(items_in({}), 1U);
}

TEST(RangeText, RefusesWhatIsNoShape) {
  for (const char* text : {"", "x", "0", "16x", "x16", "16x0", "-4", "+4", "4.5", " 4", "4 ", "16X16",
                           "16xx2", "1x2x3x4", "row", "18446744073709551616"}) {
    EXPECT_EQ(complaint([&] { range_of(text); }),
              fmt::format("'{}' is no shape: write 1 to 3 positive numbers joined by x, such as 256 or 16x16",
                          text));
  }
}

TEST(RoundUp, GoesToTheNextMultiple) {
  EXPECT_EQ(round_up(0, 16), 0U);
  EXPECT_EQ(round_up(1, 16), 16U);
  EXPECT_EQ(round_up(16, 16), 16U);
  EXPECT_EQ(round_up(17, 16), 32U);
  EXPECT_EQ(round_up(33, 1), 33U);
}

namespace {

// The elements of `got` against 10, 11, 12 ..
template <class T>
ComparisonResult tally_of(const std::vector<T>& got, double tolerance = 0, std::uint64_t first = 0) {
  Plan plan;
  const Buffer out = plan.output<T>(first + got.size());
  plan.expect<T>(
      out, [](std::uint64_t i) { return static_cast<T>(10 + i); }, tolerance);
  return plan.checks.at(0).compare(first * sizeof(T), std::as_bytes(std::span(got)));
}

template <class T>
T poison_at(std::uint64_t i) {
  T value{};
  std::memcpy(&value, &poison[i * sizeof(T) % poison.size()], sizeof(T));
  return value;
}

template <class T>
Scalar scalar_bytes(T value) {
  Scalar bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

TEST(TallyOf, AStretchCountsWhatIsWrittenAndWhatIsWrong) {
  const ComparisonResult right = tally_of<std::int32_t>({10, 11, 12});
  EXPECT_EQ(right.elements, 3U);
  EXPECT_EQ(right.written, 3U);
  EXPECT_EQ(right.wrong, 0U);
  EXPECT_EQ(right.first_wrong, UINT64_MAX);
  EXPECT_EQ(right.first_text, "");

  const ComparisonResult wrong = tally_of<std::int32_t>({10, 7, poison_at<std::int32_t>(2), 13, 0});
  EXPECT_EQ(wrong.elements, 5U);
  EXPECT_EQ(wrong.written, 4U);
  EXPECT_EQ(wrong.wrong, 3U);
  EXPECT_EQ(wrong.first_wrong, 1U);
  EXPECT_EQ(wrong.first_text, "[1] is 7, expected 11");
  EXPECT_EQ(wrong.text(), "2 of 5 elements correct, 4 written; first wrong: [1] is 7, expected 11");

  // Counts the poison of another offset as written, because the pattern depends on the offset.
  EXPECT_EQ(tally_of<std::int32_t>({poison_at<std::int32_t>(1)}).written, 1U);
}

TEST(TallyOf, AStretchNumbersItsElementsFromTheBuffersStart) {
  const ComparisonResult tally = tally_of<double>({26, 27, 28.5}, 0, 16);
  EXPECT_EQ(tally.first_wrong, 18U);
  EXPECT_EQ(tally.first_text, "[18] is 28.5, expected 28");
}

TEST(TallyOf, StretchesAddsUpInAnyOrder) {
  const ComparisonResult parts[] = {tally_of<float>({10, 11}), tally_of<float>({0, 27, 0}, 0, 16),
                         tally_of<float>({0}, 0, 32)};
  for (const auto& order : {std::array{0, 1, 2}, std::array{2, 1, 0}, std::array{1, 2, 0}}) {
    ComparisonResult total;
    for (const int i : order) total.merge(parts[i]);
    EXPECT_EQ(total.elements, 6U);
    EXPECT_EQ(total.written, 6U);
    EXPECT_EQ(total.wrong, 3U);
    EXPECT_EQ(total.first_wrong, 16U);
    EXPECT_EQ(total.first_text, "[16] is 0, expected 26");
  }
}

TEST(TallyOf, StretchesKnowTheMostThatWasMeasured) {
  ComparisonResult total, nothing, little, much;
  little.measured = -1;
  much.measured = 2.5;
  total.merge(nothing);
  EXPECT_FALSE(total.measured);
  total.merge(little);
  EXPECT_EQ(total.measured, -1);
  total.merge(much);
  total.merge(nothing);
  total.merge(little);
  EXPECT_EQ(total.measured, 2.5);
}

TEST(TallyOf, AToleranceIsRelativeToWhatIsExpected) {
  EXPECT_EQ(tally_of<float>({10.09F, 10.9F}, 0.01).wrong, 0U);
  EXPECT_EQ(tally_of<float>({10.11F, 10.88F}, 0.01).wrong, 2U);
  EXPECT_EQ(tally_of<float>({std::nextafter(10.0F, 11.0F)}).wrong, 1U);
  EXPECT_EQ(tally_of<float>({std::numeric_limits<float>::quiet_NaN()}, 0.01).wrong, 1U);
  EXPECT_EQ(tally_of<float>({std::numeric_limits<float>::quiet_NaN()}).wrong, 1U);
}

TEST(PlanArguments, KeepTheirOrderTypeAndValue) {
  Plan plan;
  const Buffer in = plan.input<float>(4, [](std::uint64_t i) { return static_cast<float>(i); });
  const Buffer out = plan.output<std::int64_t>(3);
  plan.define("N", 3).define("T", "float");
  plan.launch("k", {64}, {32}, out, in, LocalBytes{128}, std::uint32_t{7}, 0.5);
  EXPECT_EQ(plan.buffers.at(0).bytes, 16U);
  EXPECT_EQ(plan.buffers.at(1).bytes, 24U);
  EXPECT_FALSE(plan.buffers.at(1).fill);
  EXPECT_EQ(plan.defines, (std::map<std::string, std::string>{{"N", "3"}, {"T", "float"}}));
  const auto& launch = std::get<Launch>(plan.steps.at(0));
  ASSERT_EQ(launch.args.size(), 5U);
  EXPECT_EQ(std::get<Buffer>(launch.args[0]).index, 1U);
  EXPECT_EQ(std::get<Buffer>(launch.args[1]).index, 0U);
  EXPECT_EQ(std::get<LocalBytes>(launch.args[2]).bytes, 128U);
  EXPECT_EQ(std::get<Scalar>(launch.args[3]), scalar_bytes(std::uint32_t{7}));
  EXPECT_EQ(std::get<Scalar>(launch.args[4]), scalar_bytes(0.5));
  std::array<float, 4> values{};
  plan.buffers[in.index].fill(0, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values[3], 3.0F);
}
