// SPDX-License-Identifier: Apache-2.0
// test_interference: identical devices alone and at once, from invented rows: what is disturbed is named by
// how much, and what is not never.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <random>

#include "analysis/compared_rows.hpp"
#include "analysis/fleet/interference.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

constexpr int cases = 8, runs = 3;
const std::vector<std::string> families = {"copy", "arithmetic", "scan", "reduction"};

// Rows of so many devices, whose cases of a family take `slowdown` times as long. Processes differ by 1 %,
// cases within them by 2 %.
class Invented {
 public:
  explicit Invented(unsigned seed, int devices = 2) : random_(seed), devices_(devices) {}

  std::vector<Record> rows(const std::map<std::string, double>& slowdown) {
    std::vector<Record> out;
    out.reserve(static_cast<std::size_t>(devices_ * runs * cases) * families.size());
    for (int device = 0; device < devices_; ++device) {
      for (int run = 1; run <= runs; ++run) {
        for (const auto& family : families) {
          const double selection_bias = 0.01 * normal_(random_);
          for (int c = 0; c < cases; ++c) {
            const double time_s = 1e-3 * (c + 1) * std::exp(selection_bias + 0.02 * normal_(random_));
            const auto by = slowdown.find(family);
            out.push_back(row({{"kernel", fmt::format("k{}", c)}},
                              time_s * (by == slowdown.end() ? 1 : by->second), run, family));
            out.back().device_id = fmt::format("0000:{}:00.0", 17 + device);
          }
        }
      }
    }
    return out;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  int devices_;
};

const InterferenceOf& of(const Interference& all, const std::string& family) {
  return *std::ranges::find(all.families, family, &InterferenceOf::family);
}

std::vector<Interference> found(const std::vector<Record>& alone, const std::vector<Record>& at_once) {
  return interference_of(alone, at_once, {});
}

}  // namespace

TEST(Interference, IsToldByFamilyByCardAndOverAll) {
  Invented invented(1);
  const auto alone = invented.rows({}), at_once = invented.rows({{"copy", 1.9}, {"scan", 1.3}});
  const auto all = found(alone, at_once);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].devices, ElementsAre("0000:17:00.0", "0000:18:00.0"));
  EXPECT_EQ(all[0].runs, 3U);
  for (const auto& [family, factor] : {std::pair{"copy", 1.9}, {"scan", 1.3}}) {
    const InterferenceOf& one = of(all[0], family);
    EXPECT_NEAR(one.ratio, factor, 0.03 * factor) << family;
    EXPECT_LT(one.low, factor);
    EXPECT_GT(one.high, factor);
    EXPECT_LT(one.p, 0.01);
    EXPECT_EQ(one.cases, 16U);
    EXPECT_EQ(one.slower, 16U);
    EXPECT_GT(one.worst_ratio, one.ratio);
    EXPECT_THAT(one.worst, HasSubstr(family));
  }
  for (const char* family : {"arithmetic", "reduction"}) {
    EXPECT_GT(of(all[0], family).p, 0.01) << family;
    EXPECT_EQ(of(all[0], family).slower, 0U) << family;
  }
  EXPECT_EQ(of(all[0], "").cases, 64U);
  ASSERT_THAT(all[0].each, SizeIs(2));
  EXPECT_EQ(all[0].each[1].device, "0000:18:00.0");
  EXPECT_EQ(all[0].each[1].slower, 16U);
  const std::string text = shown(report_of(all), "text");
  EXPECT_THAT(text, AllOf(HasSubstr("2 x Loom 1"), HasSubstr("They slow each other down"),
                          HasSubstr("2 of 4 families"), HasSubstr("16 of 16")));
}

TEST(Interference, OfOneCardOnlyIsThatCards) {
  Invented invented(2);
  const auto alone = invented.rows({});
  auto at_once = invented.rows({});
  for (auto& record : at_once) {
    if (record.device_id == "0000:18:00.0") *record.time_s *= 1.5;
  }
  const auto all = found(alone, at_once);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_LT(all[0].each[0].ratio, 1.02);
  EXPECT_GT(all[0].each[0].p, 0.01);
  EXPECT_NEAR(all[0].each[1].ratio, 1.5, 0.04);
  EXPECT_LT(all[0].each[1].p, 0.01);
}

// Allows eight false claims in 200 comparisons: at the promised rate of one in a hundred, more have a
// probability of a thousandth.
TEST(Interference, IsNotClaimedWhereThereIsNone) {
  int claimed = 0, told = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Invented invented(100 + seed);
    const auto alone = invented.rows({});
    const auto all = found(alone, invented.rows({}));
    const std::string text = shown(report_of(all), "text");
    claimed += text.find("They slow each other down") != std::string::npos ? 1 : 0;
    told += text.find("They do not slow each other down by more than 3 %") != std::string::npos ? 1 : 0;
  }
  EXPECT_LE(claimed, 7);
  EXPECT_GT(told, 150);
}

TEST(Interference, LeavesOutWhatCannotBeHeldAgainstEachOther) {
  Invented invented(3);
  const auto alone = invented.rows({}), at_once = invented.rows({});
  const auto with_first = [&](const Record& record) {
    auto rows = at_once;
    rows[0] = record;
    return found(alone, rows);
  };
  const auto failed = with_first(bad(at_once[0], "timeout", "no sign of life"));
  EXPECT_EQ(failed[0].failed, 1U);
  EXPECT_EQ(of(failed[0], "").cases, 62U) << "where the one fails the other is alone";
  EXPECT_THAT(shown(report_of(failed), "text"), HasSubstr("1 cases are left out"));
  Record by_host = at_once[0];
  by_host.timer = Timer::host;
  const auto apart = with_first(by_host);
  EXPECT_EQ(apart[0].apart, 1U);
  EXPECT_EQ(of(apart[0], "").cases, 63U);
  EXPECT_THAT(shown(report_of(apart), "text"), HasSubstr("1 cases of a device are left out"));
}

// A busy machine slows the ones alone, and hides what they do to each other.
TEST(Interference, CasesThatWereDisturbedAloneDecideNothing) {
  Invented invented(5);
  auto alone = invented.rows({});
  const auto at_once = invented.rows({{"copy", 1.5}});
  for (auto& record : alone) {
    if (record.family == "copy") record.disturbed = "other processes used 2 processors";
  }
  const auto all = found(alone, at_once);
  EXPECT_EQ(all.at(0).slowed, 16U);
  EXPECT_EQ(of(all[0], "").cases, 48U);
  EXPECT_THAT(shown(report_of(all), "text"),
              HasSubstr("16 cases measured alone are left out: the machine was not quiet"));
  for (auto& record : alone) record.disturbed = "other processes used 2 processors";
  const auto none = found(alone, at_once);
  EXPECT_THAT(shown(report_of(none), "text"), HasSubstr("64 cases measured alone are left out"));
}

TEST(Interference, OfARunThatWasEndedEarlyIsSaidToBeUnknown) {
  Invented invented(4);
  const auto alone = invented.rows({});
  EXPECT_THAT(found(alone, {}), SizeIs(0));
  auto at_once = invented.rows({});
  for (auto& record : at_once) record = bad(record, "device_lost", "not run");
  EXPECT_THAT(shown(report_of(found(alone, at_once)), "text"), HasSubstr("No case was measured both ways"));
}

// Ignores devices that were never measured at the same time as others.
TEST(Interference, ModelsOfDevicesAreToldApart) {
  Invented one(5), other(6, 3);
  auto alone = one.rows({}), at_once = one.rows({{"copy", 2}});
  for (auto* rows : {&alone, &at_once}) {
    for (const auto& record : other.rows({})) rows->push_back(on(record, "Loom 2"));
  }
  for (const auto& record : other.rows({})) alone.push_back(on(record, "Loom 3"));
  const auto all = found(alone, at_once);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].device, "Loom 1");
  EXPECT_LT(of(all[0], "copy").p, 0.01);
  EXPECT_EQ(all[1].device, "Loom 2");
  EXPECT_THAT(all[1].devices, SizeIs(3));
  EXPECT_GT(of(all[1], "copy").p, 0.01);
}
