// SPDX-License-Identifier: Apache-2.0
// test_health: a device against a reference: what passes, what fails, what nobody can tell.
#include "analysis/fleet/health.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/compared_rows.hpp"
#include "commands/read_results.hpp"
#include "suite/family.hpp"

using namespace clweave::commands;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

namespace {

std::vector<Record> session(double factor, int run = 1, const std::string& only = "") {
  std::vector<Record> out;
  for (const char* family : {"loom", "shuttle"}) {
    for (const char* kernel : {"a", "b", "c"})
      out.push_back(
          row({{"kernel", kernel}}, 1e-3 * (only.empty() || only == family ? factor : 1), run, family));
  }
  for (auto& record : out) record.device_type = "gpu";
  return out;
}

std::vector<Reference> reference() {
  return references_of(set_of(session(1) + session(1.004, 2) + session(0.997, 3)));
}

Health health_with(const std::vector<Record>& records) {
  return health_of(set_of(records), reference()).at(0).health();
}

}  // namespace

TEST(Health, PassesWhatIsAsGoodAndFailsWhatIsSlower) {
  const auto allowed = reference().at(0).families.at("loom").allowed;
  EXPECT_GT(allowed, 1.03);
  EXPECT_LT(allowed, 1.07);
  EXPECT_EQ(health_with(session(1)), Health::pass);
  EXPECT_EQ(health_with(session(0.5)), Health::pass) << "faster is well";
  EXPECT_EQ(health_with(session(0.999 * allowed)), Health::pass);
  EXPECT_EQ(health_with(session(1.002 * allowed)), Health::fail);
}

TEST(Health, NamesTheFamilyThatIsSlower) {
  const auto devices = health_of(set_of(session(1.2, 1, "shuttle")), reference());
  ASSERT_THAT(devices, SizeIs(1));
  ASSERT_THAT(devices[0].metrics, SizeIs(2));
  EXPECT_EQ(devices[0].metrics[0].health, Health::pass);
  EXPECT_EQ(devices[0].metrics[1].family, "shuttle");
  EXPECT_EQ(devices[0].metrics[1].health, Health::fail);
  EXPECT_NEAR(devices[0].metrics[1].ratio, 1.2, 1e-9);
  EXPECT_THAT(shown(report_of(devices), "text"),
              AllOf(HasSubstr("1.200x"), HasSubstr("slower than allowed"), HasSubstr("FAIL")));
}

TEST(Health, IsNotLostByOneSlowProcess) {
  const auto half = health_of(set_of(session(1) + session(1.3, 2)), reference());
  EXPECT_EQ(half.at(0).health(), Health::unmeasured);
  EXPECT_EQ(half[0].metrics[0].reason, "slower than allowed in 1 of 2 processes: measure again");
  EXPECT_EQ(health_with(session(1) + session(1.3, 2) + session(1, 3)), Health::pass) << "the median of three";
  EXPECT_EQ(health_with(session(1.3) + session(1.3, 2)), Health::fail);
  EXPECT_EQ(health_with(session(1.3) + session(1, 2) + session(1.3, 3)), Health::fail) << "in most";
  auto one = session(1, 2);
  *one[1].time_s *= 5;
  EXPECT_EQ(health_with(session(1) + one), Health::unmeasured) << "a case in one of two";
  auto without = session(1), other_without = session(1, 3);
  without.erase(without.begin() + 1);
  other_without.erase(other_without.begin() + 1);
  EXPECT_EQ(health_with(without + one + other_without), Health::fail)
      << "where the others did not measure it";
}

TEST(Health, FailsForOneCaseThatIsFarSlower) {
  auto one = session(1);
  *one[1].time_s *= 5;
  const auto devices = health_of(set_of(one), reference());
  EXPECT_EQ(devices.at(0).metrics[0].health, Health::fail);
  EXPECT_NEAR(devices[0].metrics[0].ratio, 1, 1e-6) << "the family as such";
  EXPECT_THAT(devices[0].metrics[0].reason, StartsWith("loom/kernel=b: 5x, allowed 1."));
  EXPECT_EQ(devices[0].metrics[1].health, Health::pass);
  *one[1].time_s *= 1.03 / 5;
  EXPECT_EQ(health_with(one), Health::pass) << "a case may differ by more than its family";
  auto first = session(1), second = session(1, 2);
  *first[1].time_s *= 1.3;
  EXPECT_GT(references_of(set_of(first + second)).at(0).families.at("loom").cases.at("loom/kernel=b").allowed,
            1.5)
      << "where sessions differ";
}

TEST(Health, FailsForACaseThatFailedAndIsNotSureOfWhatIsMissing) {
  auto broken = session(1);
  broken[1] = bad(broken[1], "wrong_result", "1 of 1000");
  const auto devices = health_of(set_of(broken), reference());
  EXPECT_EQ(devices.at(0).metrics[0].health, Health::fail);
  EXPECT_EQ(devices[0].metrics[0].reason, "wrong_result in loom/kernel=b");
  auto partial = session(1);
  partial.resize(4);  // of shuttle one case of three
  const auto unsure = health_of(set_of(partial), reference());
  EXPECT_EQ(unsure.at(0).metrics[1].health, Health::unmeasured);
  EXPECT_THAT(unsure[0].metrics[1].reason, HasSubstr("1 of 3 cases"));
  EXPECT_EQ(unsure[0].health(), Health::unmeasured);
}

TEST(Health, CountsATimeThatCannotBeTrueAsNotMeasured) {
  auto one = session(1);
  one[1] = bad(one[1], "implausible", "too fast");
  EXPECT_EQ(health_with(one), Health::pass);
  one[2] = bad(one[2], "implausible", "too fast");
  EXPECT_EQ(health_with(one), Health::unmeasured);
}

TEST(Health, ComparesNoTimesOfOtherClocksOrOtherWork) {
  auto other = session(1);
  for (auto& record : other) record.timer = Timer::host;
  const auto by_host = health_of(set_of(other), reference());
  EXPECT_EQ(by_host.at(0).health(), Health::unmeasured);
  EXPECT_EQ(by_host[0].metrics[0].reason,
            "0 of 3 cases: times are by host, warm, the reference's by event, warm");
  other = session(1);
  for (auto& record : other) record.bytes = 16000;
  EXPECT_EQ(health_with(other), Health::unmeasured);
  other = session(3);
  for (auto& record : other) record.throttled = 0.8;
  EXPECT_EQ(health_with(other), Health::unmeasured) << "while the canary ran slow";
}

TEST(Health, OneSessionByAnotherClockOrThatCannotBeTrueCostsItsOwnTimesAlone) {
  auto by_host = session(2, 2), untrue = session(1.004, 2);
  for (auto& record : by_host) record.timer = Timer::host;
  untrue[0] = bad(untrue[0], "implausible", "too fast");
  for (const auto& odd : {by_host, untrue}) {
    const auto made = references_of(set_of(session(1) + odd + session(1.002, 3))).at(0).families;
    ASSERT_THAT(made, SizeIs(2));
    const auto& cases = made.at("loom").cases;
    ASSERT_THAT(cases, SizeIs(3));
    EXPECT_EQ(cases.at("loom/kernel=a").clock, "event, warm");
    EXPECT_NEAR(cases.at("loom/kernel=a").time_s, 1.001e-3, 1e-9);
  }
  auto processes = session(1, 1) + session(2, 2) + session(1.001, 3);
  for (auto& record : processes)
    if (record.run == 2) record.timer = Timer::host;
  EXPECT_EQ(health_with(processes), Health::pass);
}

TEST(Health, AllowsMoreWhereSessionsDifferMore) {
  const auto allowed = [](double off) {
    return references_of(set_of(session(1 - off) + session(1, 2) + session(1 + off, 3) + session(1, 4)))
        .at(0)
        .families.at("loom")
        .allowed;
  };
  EXPECT_LT(allowed(0.001), allowed(0.02));
  auto cpu = session(1);
  for (auto& record : cpu) record.device_type = "cpu";
  EXPECT_GT(references_of(set_of(cpu)).at(0).families.at("loom").allowed, 2)
      << "of one session of a processor nothing is known";
}

// Each of four sessions of one H200 passes what the other three allow, and fails with its copies 8 % slower.
TEST(Health, OfRealSessionsPassesEachByTheOthers) {
  for (int left_out = 1; left_out <= 4; ++left_out) {
    std::vector<std::string> others;
    std::string own;
    for (int i = 1; i <= 4; ++i) {
      auto file = fmt::format("{}/results/nvidia-h200/sessions-{}.zip", CLWEAVE_SOURCE_DIR, i);
      if (i == left_out)
        own = file;
      else
        others.push_back(file);
    }
    const auto good = references_of(read_results(clweave::commands::unpacked(others), all_families()));
    ResultsSet set = read_results(clweave::commands::unpacked({own}), all_families());
    EXPECT_EQ(health_of(set, good).at(0).health(), Health::pass) << own;
    for (auto& at : set.devices.at(0).cases) {
      for (auto& run : at.runs) run.time_s *= at.family() == "copy" ? 1.08 : 1;
    }
    std::vector<std::string> failed;
    const auto slowed = health_of(set, good);
    for (const auto& metric : slowed.at(0).metrics) {
      if (metric.health != Health::pass) failed.push_back(metric.family);
    }
    EXPECT_THAT(failed, ElementsAre("copy")) << own;
  }
}

TEST(Health, AReferenceIsReadAsItWasWritten) {
  const auto made = reference();
  const auto read = references_in(reference_text(made), "x.json");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].device, "Loom 1");
  EXPECT_EQ(read[0].sessions, 3U);
  EXPECT_NEAR(read[0].families.at("loom").allowed, made[0].families.at("loom").allowed, 1e-3);
  EXPECT_NEAR(read[0].families.at("loom").cases.at("loom/kernel=b").time_s, 1e-3, 1e-8);
  EXPECT_EQ(read[0].families.at("loom").cases.at("loom/kernel=b").clock, "event, warm");
  EXPECT_NEAR(read[0].families.at("loom").cases.at("loom/kernel=b").allowed,
              made[0].families.at("loom").cases.at("loom/kernel=b").allowed, 1e-3);
  auto older = nlohmann::json::parse(reference_text(made));
  for (auto& family : older["devices"][0]["families"]) {
    for (auto& one : family["cases"]) one.erase("allowed");
  }
  EXPECT_TRUE(std::isinf(
      references_in(older.dump(), "x.json")[0].families.at("loom").cases.at("loom/kernel=b").allowed));
}

TEST(Health, RefusesWhatIsNoReference) {
  const auto complaint = [](const std::string& text) {
    return complaint_of([&] { references_in(text, "x.json"); }, ErrorCode::io);
  };
  EXPECT_THAT(complaint("nonsense"), HasSubstr("x.json: it is no reference of clweave"));
  EXPECT_THAT(complaint("{}"), HasSubstr("no reference"));
  EXPECT_THAT(complaint("{\"schema\":\"clweave-reference-1\"}"), HasSubstr("devices"));
  EXPECT_THAT(complaint(replaced(reference_text(reference()), "\"time_s\": 0.001", "\"time_s\": -1")),
              HasSubstr("is not above 0"));
  EXPECT_THAT(complaint(replaced(reference_text(reference()), "\"clock\": \"event, warm\"", "\"clock\": 3")),
              HasSubstr("type must be string"));
  EXPECT_THAT(complaint_of(
                  [&] {
                    health_of(set_of({on(row({{"kernel", "a"}}, 1), "Loom 2")}), reference());
                  },
                  ErrorCode::usage),
              HasSubstr("no reference of Loom 2; there is Loom 1"));
}

TEST(Health, IsRowsForPrograms) {
  const auto devices = health_of(set_of(session(1.2, 1, "shuttle")), reference());
  const auto rows = parse_csv(shown(report_of(devices), "csv"), "x").rows;
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[1].cells[3], "fail");
  EXPECT_EQ(rows[1].cells[4], "0");
  EXPECT_THAT(shown(report_of(devices), "openmetrics"),
              AllOf(HasSubstr("clweave_passed{location=\"0:0\",device=\"Loom 1\",family=\"loom\"} 1\n"),
                    HasSubstr("family=\"shuttle\"} 0\n")));
}

TEST(ReferenceText, WithoutWhatJudgesIsRefused) {
  for (const char* text :
       {R"({"schema": "clweave-reference-1", "devices": []})",
        R"({"schema": "clweave-reference-1", "devices": [{"device": "a", "sessions": 1, "families": {}}]})",
        R"({"schema": "clweave-reference-1", "devices": [{"device": "a", "sessions": 1,
                              "families": {"copy": {"allowed": 1.1, "cases": {}}}}]})"})
    EXPECT_THROW(references_in(text, "x"), Error) << text;
  EXPECT_THROW(references_in(std::string(100'000, '[') + "1" + std::string(100'000, ']'), "x"), Error);
}
