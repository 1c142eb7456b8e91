// SPDX-License-Identifier: Apache-2.0
// test_native: rows of baselines are verified, timed and named as those of kernels are.
#include "baselines/native.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/csv.hpp"
#include "base/exit.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

using namespace clweave;
using testing::HasSubstr;

namespace {

using Words = std::vector<std::string>;

class Baselines : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(csv); }
  void TearDown() override {
    std::filesystem::remove(csv);
    std::filesystem::remove("native.samples.csv");
  }

  // Of a copy that `prepare` makes.
  int measure(const std::function<Prepared(const Work&)>& prepare, Words more = {}) const {
    Words words = {"--family", "copy", "--preset", "smoke", "--set", "n=1009", "--csv", csv};
    words.insert(words.end(), more.begin(), more.end());
    return native_main(words, [&](const Wanted&) -> Natives {
      return {processor(),
              3,
              "a compiler",
              {{"mine",
                "copy",
                "move",
                "kernel=no_loop width=1",
                {"type", "n"},
                [](const Case& at) { return at.is("type", "uint"); },
                prepare}}};
    });
  }
  std::vector<Record> rows() const { return records_of(read_csv(csv), csv); }

  const std::string csv = "native.csv";
};

Prepared copy_of(const Work& work, std::size_t less) {
  const auto from = work.inputs[0];
  const auto to = work.outputs[0];
  return {[=] { std::memcpy(to.data(), from.data(), from.size() - less); }};
}

}  // namespace

TEST_F(Baselines, AreRowsOfTheWorkThatTheyDo) {
  EXPECT_EQ(measure([](const Work& work) { return copy_of(work, 0); }), fine);
  const auto all = rows();
  ASSERT_EQ(all.size(), 1u) << "cases that differ in how alone are the same work";
  const Record& row = all.front();
  EXPECT_EQ(row.case_id, "copy/kernel=move/type=uint/n=1009/threads=3");
  EXPECT_EQ(row.api, "mine");
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_EQ(row.timer, Timer::host);
  EXPECT_EQ(row.bytes, 2 * 4 * 1009);
  EXPECT_EQ(row.build_options, "a compiler");
  EXPECT_GT(*row.time_s, 0);
  EXPECT_NEAR(*row.gb_per_s, 1e-9 * 8072 / *row.time_s, 1e-9);
  const ResultsSet set = read_results({csv}, all_families());
  EXPECT_TRUE(set.devices.empty());
  ASSERT_EQ(set.natives.size(), 1u);
  EXPECT_EQ(set.natives[0].api, "mine");
}

TEST_F(Baselines, ThatAreWrongHaveNoTime) {
  EXPECT_EQ(measure([](const Work& work) { return copy_of(work, 1); }), case_failed);
  const Record row = rows().at(0);
  EXPECT_EQ(row.status, Status::wrong_result);
  EXPECT_THAT(row.reason, HasSubstr("1008 of 1009"));
  EXPECT_FALSE(row.time_s.has_value());
}

TEST_F(Baselines, ThatAreWrongLaterHaveNoTimeEither) {
  int left = 5;
  EXPECT_EQ(measure([&](const Work& work) {
              const auto right = copy_of(work, 0), wrong = copy_of(work, 1);
              return Prepared{[&left, right, wrong] { (left-- > 0 ? right : wrong).execute(); }};
            }),
            case_failed);
  EXPECT_EQ(rows().at(0).status, Status::wrong_result);
  EXPECT_FALSE(rows().at(0).time_s.has_value());
}

TEST_F(Baselines, SayWhatTheyDoNotTake) {
  const auto right = [](const Work& work) { return copy_of(work, 0); };
  EXPECT_EQ(measure(right, {"--set", "type=double"}), bad_usage) << "the work of no case";
  EXPECT_EQ(measure(right, {"--family", "nothing"}), bad_usage);
  EXPECT_FALSE(std::filesystem::exists(csv));
}
